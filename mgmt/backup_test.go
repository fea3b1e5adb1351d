package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sluice/cli/grammar"
	"sluice/mgmt/aaa"
	"sluice/mgmt/show"
	"sluice/vendor-config/schema"
)

// backupDesk is a desk whose appliance has a certificate, a host key's place and a banner.
func backupDesk(t *testing.T, dir string) *desk {
	t.Helper()
	d := newDesk(t, dir)
	d.o.hostKey, d.o.banner = filepath.Join(dir, "ssh_host_key"), filepath.Join(dir, "banner")
	return d
}

func content(t *testing.T, dir, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Error(err)
	}
	return string(b)
}

func TestBackup(t *testing.T) {
	dir := t.TempDir()
	d := backupDesk(t, dir)
	d.is("show system backup", "No backups yet")
	d.do("add server s1 10.1.0.11")
	d.do("add system user alice S3cret-word")
	if err := os.Mkdir(filepath.Join(dir, "ssl"), 0o700); err != nil {
		t.Fatal(err)
	}
	put(t, dir, "ssl/a.pem", "old")
	put(t, dir, "banner", "hello")
	d.is(`create system backup first -level full -comment "ticket 7"`, "Warning: The backup is first")
	d.is("create system backup first", "ERROR: Resource already exists [fileName, first]")
	d.is("create system backup", "Warning: The backup is backup_basic_")
	d.is("show system backup first", "ticket 7")
	d.is("add system backup first.tgz", "")
	d.is("restore system backup nosuch", "ERROR: No such resource [fileName, nosuch]")
	d.do("rm server s1")
	d.do("add server s2 10.1.0.12")
	put(t, dir, "ssl/a.pem", "new")
	put(t, dir, "banner", "other")
	before := d.version()
	d.is("restore system backup first", "What was in force is kept as system backup before_restore_")
	if now := d.version(); now != fmt.Sprint(number(t, before)+1) {
		t.Errorf("version %s after %s: it is no single commit", now, before)
	}
	d.is("show ns runningConfig", "add server s1 10.1.0.11")
	d.lacks("show ns runningConfig", "server s2")
	d.is("show ns savedConfig", "add server s1 10.1.0.11")
	if a, b := content(t, dir, "ssl/a.pem"), content(t, dir, "banner"); a != "old" || b != "hello" {
		t.Errorf("files after the restore: %q, %q", a, b)
	}
	if d.flush(); !strings.Contains(d.do("show ns config -history"), "restore system backup first") {
		t.Error("the history does not tell of the restore")
	}
	all, err := d.o.store.Backups("")
	if err != nil || len(all) != 3 {
		t.Fatalf("%v, %v", all, err)
	}
	var kept string
	for _, b := range all {
		if strings.HasPrefix(b.Name, "before_restore_") {
			kept = b.Name
		}
	}
	d.is("restore system backup "+kept+" -skipbackup", "")
	d.is("show ns runningConfig", "add server s2 10.1.0.12")
	if a := content(t, dir, "ssl/a.pem"); a != "new" {
		t.Errorf("the certificate after the way back: %q", a)
	}
	d.do("rm system backup " + kept)
	d.is("show system backup "+kept, "ERROR: No such resource")
	if strings.Contains(d.log.String()+show.Backups(all), "S3cret-word") {
		t.Error("a secret is told")
	}
}

func number(t *testing.T, s string) (n int) {
	t.Helper()
	if _, err := fmt.Sscan(s, &n); err != nil {
		t.Fatal(err)
	}
	return n
}

// TestBackupRefused: what cannot be restored changes nothing and keeps nothing.
func TestBackupRefused(t *testing.T) {
	dir := t.TempDir()
	d := backupDesk(t, dir)
	d.do("add server s1 10.1.0.11")
	d.do("create system backup b")
	d.do("add server s2 10.1.0.12")
	good := content(t, dir, "backup/b.tgz")
	for n := 0; n < len(good); n += 1 + len(good)/50 {
		put(t, dir, "backup/b.tgz", good[:n]+string(good[n]^0x55)+good[n+1:])
		text := d.do("restore system backup b -skipbackup")
		if !strings.HasPrefix(text, "ERROR: ") && (n < 4 || n > 9) { // the time and the system in gzip's head are nobody's concern
			t.Errorf("byte %d changed: %q", n, text)
		}
		if strings.HasPrefix(text, "ERROR: ") {
			d.is("show ns runningConfig", "server s2")
		} else {
			d.do("add server s2 10.1.0.12")
		}
	}
	put(t, dir, "backup/b.tgz", good)
	put(t, dir, "backup/junk.tgz", "junk")
	d.is("show system backup", "Unfit: it is no backup")
	d.is("restore system backup junk", "ERROR: Invalid argument [fileName, junk]: it is no backup")
	if err := os.Symlink("b.tgz", filepath.Join(dir, "backup/link.tgz")); err != nil {
		t.Fatal(err)
	}
	d.is("restore system backup link", "it is no plain file")
	put(t, dir, "ssh_host_key", "no key")
	d.do("create system backup f -level full")
	d.is("restore system backup f", "its SSH host key is no key")
	d.do("load config backup/none") // no candidate comes of it
	d.o.guard = allBut("rm server")
	d.is("restore system backup b", "ERROR: Not authorized")
	d.is("show ns runningConfig", "server s2")
	all, err := d.o.store.Backups("")
	if err != nil || len(all) != 4 {
		t.Errorf("%v, %v", all, err)
	}
	for _, name := range []string{"../b", ".b", "-b", "a/b", ""} {
		if _, err := grammar.Parse(`create system backup "` + name + `"`); err == nil {
			t.Errorf("the name %q is taken", name)
		}
	}
}

// allBut is a guard who refuses commands that begin so.
type allBut string

func (b allBut) May(_ aaa.Person, op *grammar.Op) error {
	if command := aaa.Command(op); strings.HasPrefix(command, string(b)) {
		return schema.Refuse(aaa.NotAuthorized, command)
	}
	return nil
}

// TestRestoreAfterAKill: the backup whose restore was cut off is in force after the next start, not the journal's configuration.
func TestRestoreAfterAKill(t *testing.T) {
	dir := t.TempDir()
	d := backupDesk(t, dir)
	d.do("add server s1 10.1.0.11")
	d.do("create system backup b")
	d.do("rm server s1")
	d.do("add server s2 10.1.0.12")
	d.do("save ns config")
	d.flush()
	a, err := d.o.store.ReadBackup("b", nil)
	if err == nil {
		err = d.o.store.Stage(a)
	}
	if err != nil {
		t.Fatal(err)
	}
	d.kill()
	d = backupDesk(t, dir)
	d.is("show ns runningConfig", "server s1")
	d.lacks("show ns runningConfig", "server s2")
	d.is("show ns savedConfig", "server s1")
}
