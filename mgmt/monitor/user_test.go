package monitor

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"sluice/mgmt/compile"
)

// scripts are files in a folder that everybody can read; that of t.TempDir is closed to others.
func scripts(t *testing.T, files map[string]string) *Scripts {
	t.Helper()
	dir, err := os.MkdirTemp("", "sluice-scripts-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+text), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return NewScripts(dir)
}

func TestScripts(t *testing.T) {
	noLeaks(t)
	s := scripts(t, map[string]string{
		"good.sh":   `echo "$1 $2 $3 $4"`,
		"quiet.sh":  "",
		"bad.sh":    "echo 'no route to the moon.' >&2; echo more; exit 3",
		"mute.sh":   "exit 4",
		"hang.sh":   "sleep 60 & echo $! >/tmp/sluice-hang.$4; sleep 60",
		"loud.sh":   "yes",
		"left.sh":   "sleep 60 & echo done",
		"killed.sh": "kill -9 $$",
		"open.sh":   "exit 0",
		"who.sh":    "id -u",
		"evil.sh":   `printf 'a\033[2Jb\nc'`,
	})
	os.Chmod(filepath.Join(s.Folder, "open.sh"), 0o777)
	os.Symlink("/bin/true", filepath.Join(s.Folder, "link.sh"))
	tag := strings.ReplaceAll(t.Name(), "/", "") + filepath.Base(s.Folder)
	rows := []struct {
		script   string
		ok       bool
		response string
	}{
		{"good.sh", true, "Success - 10.2.0.11 80 2 " + tag + "."},
		{"quiet.sh", true, "Success - Script quiet.sh succeeded."},
		{"bad.sh", false, "Failure - no route to the moon."},
		{"mute.sh", false, "Failure - script mute.sh ended with code 4."},
		{"hang.sh", false, "Failure - script hang.sh did not end in time and was killed."},
		{"loud.sh", false, "Failure - script loud.sh was killed: it wrote more than 65536 bytes."},
		{"left.sh", true, "Success - done."},
		{"killed.sh", false, `Failure - script killed.sh was ended by the signal "killed".`},
		{"evil.sh", true, "Success - a?[2Jb."},
		{"open.sh", false, "Failure - script open.sh can be changed by everybody: chmod go-w it."},
		{"link.sh", false, "Failure - script link.sh is no plain file of " + s.Folder + "."},
		{"none.sh", false, "Failure - script none.sh is not in " + s.Folder + "."},
		{"../etc/passwd", false, "Failure - script ../etc/passwd cannot be read: path escapes from parent."},
	}
	if os.Geteuid() == 0 {
		rows = append(rows, struct {
			script   string
			ok       bool
			response string
		}{"who.sh", true, "Success - 65534."})
	}
	for _, row := range rows {
		ctx, cancel := timeout(t, 30*time.Second)
		if row.script == "hang.sh" {
			ctx, cancel = timeout(t, 2*time.Second)
		}
		o := s.Check(ctx, &compile.Probe{Target: netip.MustParseAddrPort("10.2.0.11:80"), Ask: &compile.Ask{Script: row.script, ScriptArgs: tag}})
		cancel()
		if o.OK != row.ok || o.Response != row.response {
			t.Errorf("%s: %+v, want %s", row.script, o, row.response)
		}
	}
	file := "/tmp/sluice-hang." + tag
	defer os.Remove(file)
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	pid := 0
	for _, c := range strings.TrimSpace(string(b)) {
		pid = pid*10 + int(c-'0')
	}
	for end := time.Now().Add(30 * time.Second); pid > 1 && alive(pid); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the child of the script that hung lives on")
		}
	}
}

func timeout(t *testing.T, d time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(t.Context(), d)
}

// alive tells whether a process runs; one that nobody has reaped yet does not.
func alive(pid int) bool {
	b, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	return err == nil && syscall.Kill(pid, 0) == nil && !strings.Contains(string(b), ") Z ")
}

func TestDispatcher(t *testing.T) {
	noLeaks(t)
	var asked string
	d := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = r.URL.String()
		if strings.Contains(asked, "sick") {
			w.WriteHeader(500)
		}
		io.WriteString(w, "all is as it must be\nmore")
	}))
	defer d.Close()
	at := d.Listener.Addr().(*net.TCPAddr).AddrPort()
	for script, want := range map[string]Outcome{
		"well.pl": {OK: true, Response: "Success - all is as it must be."},
		"sick.pl": {Response: "Failure - all is as it must be."},
	} {
		ctx, cancel := timeout(t, 30*time.Second)
		o := NewScripts("").Check(ctx, &compile.Probe{Target: netip.MustParseAddrPort("10.2.0.11:80"), Source: netip.MustParseAddr("192.0.2.1"),
			Ask: &compile.Ask{Script: script, ScriptArgs: "a=1;b c", Dispatcher: at}})
		cancel()
		if o != want || !strings.HasPrefix(asked, "/"+script+"?args=a%3D1%3Bb+c&ip=10.2.0.11&port=80&timeout=2") {
			t.Errorf("%s: %+v, asked %s", script, o, asked)
		}
	}
}
