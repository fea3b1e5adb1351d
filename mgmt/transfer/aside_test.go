package transfer

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pkg/sftp"
	"golang.org/x/sys/unix"

	"sluice/mgmt/sshd"
)

// TestFilesComeWhole: a file has the old text until all of the new one is there; a connection that breaks or a disk without room in
// the middle leaves it as it was, and nothing beside it.
func TestFilesComeWhole(t *testing.T) {
	h, dir := handlerOf(t)
	config := h.o.Folders[0]
	startup := filepath.Join(dir, "startup.xml")
	is := func(want string) {
		t.Helper()
		if b, err := os.ReadFile(startup); err != nil || string(b) != want {
			t.Errorf("%q %v, want %q", b, err, want)
		}
	}
	left := func(want int) {
		t.Helper()
		if all, _ := os.ReadDir(dir); len(all) != want {
			t.Errorf("%d files are there, want %d: %v", len(all), want, all)
		}
	}
	if err := os.WriteFile(startup, []byte("old"), 0o640); err != nil {
		t.Fatal(err)
	}
	// session writes a part of the file and goes on with what end does.
	session := func(end func(*sftp.Client, *sftp.File, net.Conn)) {
		t.Helper()
		near, far := net.Pipe()
		done := make(chan int)
		go func() {
			done <- Subsystem(Options{Folders: []Folder{config}, May: h.o.May, Log: h.log})(t.Context(), sshd.Login{}, far)
			far.Close()
		}()
		c, err := sftp.NewClientPipe(near, near)
		if err != nil {
			t.Fatal(err)
		}
		f, err := c.OpenFile("/config/startup.xml", os.O_WRONLY|os.O_CREATE|os.O_TRUNC)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write([]byte("new")); err != nil {
			t.Fatal(err)
		}
		is("old")
		if all, err := c.ReadDir("/config"); err != nil || len(all) != 1 {
			t.Errorf("clients see %v, %v", all, err)
		}
		if info, err := c.Stat("/config/startup.xml"); err != nil || info.Size() != 3 {
			t.Errorf("the file in writing is %v, %v", info, err)
		}
		end(c, f, near)
		near.Close()
		<-done
	}
	session(func(*sftp.Client, *sftp.File, net.Conn) {})
	is("old")
	left(1)
	session(func(_ *sftp.Client, f *sftp.File, _ net.Conn) {
		defer func() { statfs = unix.Fstatfs }()
		statfs = func(_ int, s *unix.Statfs_t) error { *s = unix.Statfs_t{Bsize: 4096}; return nil }
		for deadline := time.Now().Add(30 * time.Second); ; { // the disk is asked once in a while
			if _, err := f.Write([]byte("more")); err != nil {
				break
			}
			if time.Now().After(deadline) {
				t.Fatal("it is written without room")
			}
		}
		if err := f.Close(); err == nil || !strings.Contains(err.Error(), "as it was") {
			t.Errorf("a part is closed: %v", err)
		}
	})
	is("old")
	left(1)
	session(func(_ *sftp.Client, f *sftp.File, _ net.Conn) {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	is("new")
	left(1)
	if info, err := os.Stat(startup); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("mode %v %v, want that of the old one", info.Mode(), err)
	}
	// What a killed management left goes with the next start, and no client gets at it.
	part := filepath.Join(dir, asidePrefix+"X")
	if err := os.WriteFile(part, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := h.find("/config/" + asidePrefix + "X"); err == nil {
		t.Error("a client finds what another writes")
	}
	Subsystem(Options{Folders: []Folder{config}})
	left(1)
}
