package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// TestCommandsOnAFullDisk: what needs room on a disk that has none is refused in one sentence that says how to make room, leaves
// nothing half behind and loses nothing; it works when there is room again.
func TestCommandsOnAFullDisk(t *testing.T) {
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=512k"); err != nil {
		t.Fatalf("a small disk: %v (root is needed)", err)
	}
	t.Cleanup(func() { _ = unix.Unmount(dir, unix.MNT_DETACH) })
	d := backupDesk(t, dir)
	d.do("add server s1 10.1.0.11")
	if err := os.Mkdir(filepath.Join(dir, "ssl"), 0o700); err != nil {
		t.Fatal(err)
	}
	put(t, dir, "ssl/a.pem", strings.Repeat("old", 10000))
	d.is("create system backup b", "The backup is b")
	put(t, dir, "ssl/a.pem", "new")
	d.do("add server s2 10.1.0.12")
	put(t, dir, "new.xml", aServer)
	if err := d.o.Alias("nsroot", "one", "show server"); err != nil {
		t.Fatal(err)
	}
	d.do("save ns config")
	d.do("load config new.xml")
	d.flush()

	fill := filepath.Join(dir, "fill")
	_ = os.WriteFile(fill, make([]byte, 1<<20), 0o600) // as far as it goes
	refuses := func(line, want, got string) {
		t.Helper()
		if !strings.HasPrefix(got, "ERROR: ") || !strings.Contains(got, want) || strings.Contains(got, "\n") || !strings.Contains(got, "remov") {
			t.Errorf("%s: %q, want %q and how to make room in one line", line, got, want)
		}
	}
	for line, want := range map[string]string{
		"create system backup c":              "The backup is not made, nothing has changed: no space left",
		"restore system backup b":             "The backup is not made, nothing has changed: no space left",
		"restore system backup b -skipbackup": "The backup is not restored, nothing has changed: no space left",
		"commit confirmed 5":                  "Nothing was changed, since the way back cannot be kept",
		"save ns config":                      "is not saved, the earlier startup configuration is unchanged",
		"start nstrace":                       "the disk of the configuration has",
	} {
		if line == "save ns config" {
			d.do("add server s3 10.1.0.13")
		}
		refuses(line, want, d.do(line))
	}
	refuses("alias", "the alias cannot be kept", "ERROR: "+d.o.Alias("nsroot", "two", strings.Repeat("show server ", 900)).Error())
	d.is("show ns runningConfig", "server s2")
	d.is("show ns savedConfig", "server s2")
	d.is("show ns config -candidate", "server s9")
	d.lacks("show ns runningConfig", "s9")
	if got := content(t, dir, "ssl/a.pem"); got != "new" {
		t.Errorf("the certificate: %.20q", got)
	}
	for _, pattern := range []string{".restore*", "*.tmp-*", "backup/c*", "return.xml", "traces/*"} {
		if left, _ := filepath.Glob(filepath.Join(dir, pattern)); len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
	}
	if all, err := d.o.Aliases("nsroot"); err != nil || len(all) != 1 {
		t.Errorf("aliases: %v %v", all, err)
	}

	if err := os.Remove(fill); err != nil {
		t.Fatal(err)
	}
	if err := d.o.Alias("nsroot", "two", "show service"); err != nil {
		t.Error(err)
	}
	d.is("create system backup c", "The backup is c")
	d.is("rebase", "")
	d.is("commit confirmed 5", "waits to be confirmed")
	if got := d.do("commit"); strings.HasPrefix(got, "ERROR") {
		t.Error(got)
	}
	d.is("restore system backup b", "What was in force is kept")
	d.lacks("show ns runningConfig", "server s2")
	if got := content(t, dir, "ssl/a.pem"); got != strings.Repeat("old", 10000) {
		t.Errorf("the certificate: %.20q", got)
	}
}
