package transfer

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pkg/sftp"
	"golang.org/x/sys/unix"

	"sluice/mgmt/sshd"
)

// handlerOf serves one folder of a test, to whom everything is allowed.
func handlerOf(t *testing.T) (*handler, string) {
	dir := t.TempDir()
	log := slog.New(slog.DiscardHandler)
	return &handler{ctx: t.Context(), o: Options{Folders: []Folder{{Name: "config", Path: dir}}, May: func(sshd.Login, string) error { return nil }, Log: log}, log: log}, dir
}

// TestListingsAreBounded: who opens folders and never closes them is refused more, and closing makes room.
func TestListingsAreBounded(t *testing.T) {
	for name, x := range map[string]struct {
		path        string
		files, most int
	}{"many": {"/", 0, maxOpen}, "large": {"/config", maxNames/4 - 1, 4}} {
		t.Run(name, func(t *testing.T) {
			h, dir := handlerOf(t)
			for i := range x.files {
				if err := os.WriteFile(filepath.Join(dir, strings.Repeat("f", 1+i%100)+string(rune('a'+i/100%26))+string(rune('a'+i/2600))), nil, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			var last sftp.ListerAt
			for i := range x.most {
				l, err := h.Filelist(sftp.NewRequest("List", x.path))
				if err != nil {
					t.Fatalf("folder %d: %v", i+1, err)
				}
				last = l
			}
			if _, err := h.Filelist(sftp.NewRequest("List", x.path)); err == nil || !strings.Contains(err.Error(), "too many folders") {
				t.Errorf("one more is opened: %v", err)
			}
			last.(*openFolder).Close()
			last.(*openFolder).Close()
			if _, err := h.Filelist(sftp.NewRequest("List", x.path)); err != nil {
				t.Errorf("after one was closed: %v", err)
			}
		})
	}
}

// TestNothingIsDoneForWhoHasGone: what a client has asked for before its session was ended waits in the library, and is not done.
func TestNothingIsDoneForWhoHasGone(t *testing.T) {
	h, dir := handlerOf(t)
	ctx, cancel := context.WithCancel(t.Context())
	h.ctx = ctx
	cancel()
	r := sftp.NewRequest("Put", "/config/x")
	r.Flags = 0x1a
	if _, err := h.Filewrite(r); err == nil {
		t.Error("a file is written")
	}
	if _, err := h.Filelist(sftp.NewRequest("List", "/config")); err == nil {
		t.Error("a folder is listed")
	}
	if h.Filecmd(sftp.NewRequest("Mkdir", "/config/y")) == nil {
		t.Error("a folder is made")
	}
	if all, _ := os.ReadDir(dir); len(all) != 0 {
		t.Errorf("%d are left", len(all))
	}
}

// TestFilesNeedRoom: neither empty files nor folders take the last room of a disk.
func TestFilesNeedRoom(t *testing.T) {
	defer func() { statfs = unix.Fstatfs }()
	h, dir := handlerOf(t)
	for name, x := range map[string]struct {
		disk unix.Statfs_t
		want bool
	}{
		"room":      {unix.Statfs_t{Bsize: 4096, Bavail: 1 << 20, Files: 1 << 20, Ffree: 1 << 20}, true},
		"no bound":  {unix.Statfs_t{Bsize: 4096, Bavail: 1 << 20}, true},
		"few bytes": {unix.Statfs_t{Bsize: 4096, Bavail: 100, Files: 1 << 20, Ffree: 1 << 20}, false},
		"few files": {unix.Statfs_t{Bsize: 4096, Bavail: 1 << 20, Files: 1 << 20, Ffree: 10}, false},
	} {
		statfs = func(_ int, s *unix.Statfs_t) error { *s = x.disk; return nil }
		r := sftp.NewRequest("Put", "/config/"+name)
		r.Flags = 0x1a // write, create, truncate
		w, err := h.Filewrite(r)
		if (err == nil) != x.want {
			t.Errorf("%s: %v", name, err)
		}
		if err == nil {
			err = errors.Join(w.(*file).Close(), h.Filecmd(sftp.NewRequest("Mkdir", "/config/in "+name)))
		} else if h.Filecmd(sftp.NewRequest("Mkdir", "/config/in "+name)) == nil {
			t.Errorf("%s: the folder is made", name)
		}
		if x.want && err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if all, _ := os.ReadDir(dir); len(all) != 4 {
		t.Errorf("%d are left", len(all))
	}
}
