package main

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"sluice/mgmt/engine"
	"sluice/mgmt/store"
	"sluice/vendor-config/schema"
)

// put writes a file into the desk's configuration directory.
func put(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// version is the number of the running configuration.
func (d *desk) version() string {
	_, _, n, _, _ := d.o.engine.Snapshot()
	return strconv.FormatUint(n, 10)
}

// flush waits until what has changed is on the disk.
func (d *desk) flush() {
	d.t.Helper()
	if err := d.o.store.Flush(); err != nil {
		d.t.Fatal(err)
	}
}

func (d *desk) lacks(line, word string) {
	d.t.Helper()
	if got := d.do(line); strings.Contains(got, word) {
		d.t.Errorf("%s: %q has %q in it", line, got, word)
	}
}

func TestRollback(t *testing.T) {
	dir := t.TempDir()
	d := newDesk(t, dir)
	d.do("add server s1 10.1.0.11")
	first := d.version()
	d.do("add server s2 10.1.0.12")
	d.do("rm server s1")
	d.is("show ns config -history", "rm server s1")
	d.is("show ns config -history", "192.0.2.7")
	d.is("show ns config -version "+first, "add server s1 10.1.0.11")
	d.is("diff ns config "+first+" running", "rm server s1\nadd server s2 10.1.0.12")
	d.is("rollback ns config "+first+` -comment "ticket 7"`, "Warning: The dataplane")
	d.is("show ns runningConfig", "add server s1")
	d.lacks("show ns runningConfig", "server s2")
	d.is("show ns config -history", "rollback ns config "+first+` -comment "ticket 7"`+"\n")
	d.is("rollback ns config 77777", "ERROR: No such resource [version, 77777]: the oldest that is kept is ")
	d.end()
	// Numbers go on after a restart, and the versions of before can be returned to.
	before, _ := strconv.Atoi(d.version())
	d = newDesk(t, dir)
	if now, _ := strconv.Atoi(d.version()); now <= before {
		t.Errorf("version %d after %d", now, before)
	}
	d.is("rollback config "+first, "Warning")
	d.is("show ns runningConfig", "add server s1")
}

const aServer = `<config><sluice xmlns="urn:sluice:config"><server><name>s9</name><ip-address>10.9.0.9</ip-address></server></sluice></config>`

func TestCandidate(t *testing.T) {
	dir := t.TempDir()
	d := newDesk(t, dir)
	d.do("add server s1 10.1.0.11")
	put(t, dir, "new.xml", aServer)
	d.is("show ns config -candidate", "There is no candidate")
	d.is("commit", "ERROR: Operation not permitted [commit]: there is no candidate")
	d.is("discard", "ERROR: Operation not permitted [discard]")
	for _, name := range []string{"new.xml", "/config/new.xml", dir + "/new.xml"} {
		if got := d.do("load config " + name); got != "" {
			t.Fatalf("load config %s: %s", name, got)
		}
	}
	d.is("show ns config -candidate", "add server s9 10.9.0.9")
	d.is("show ns config -candidate", "add server s1 10.1.0.11")
	d.lacks("show ns runningConfig", "s9")
	d.is("diff ns config", "# These commands make candidate of running:\nadd server s9 10.9.0.9\n")
	d.is("validate", "")
	d.is(`commit -comment "a new server"`, "Warning: The dataplane")
	d.is("show ns runningConfig", "s9")
	d.is("show ns config -candidate", "There is no candidate")
	d.is("show ns config -history", `commit -comment "a new server"`+"\n")

	d.do("load config new.xml replace")
	d.is("diff ns config", "rm server s1\n")
	d.do("discard")
	d.is("diff ns config saved running", "# These commands make running of saved:\nadd server s1 10.1.0.11\nadd server s9 10.9.0.9\n")
	d.do("save ns config")
	d.is("diff ns config", "# saved and running are the same.")

	// Running moves on.
	put(t, dir, "more.conf", "# by hand\nadd server s3 10.1.0.13\nbind lb vserver v nothere\n")
	d.is("load config more.conf", "ERROR: Invalid argument [more.conf]: line 3: No such resource")
	put(t, dir, "more.conf", "# by hand\nadd server s3 10.1.0.13\nset server s9 -comment x\nsave config\n")
	d.do("load config more.conf")
	d.do("add server s4 10.1.0.14")
	d.is("commit", "ERROR: The running configuration has changed since the candidate was begun")
	d.is("show ns config -candidate", "has changed since")
	if got := d.do("rebase"); got != "" {
		t.Fatalf("rebase: %s", got)
	}
	d.is("commit", "Warning: The dataplane")
	for _, s := range []string{"server s3", "server s4", "-comment x"} {
		d.is("show ns runningConfig", s)
	}
	// The same row twice.
	put(t, dir, "more.conf", "set server s9 -comment mine\n")
	d.do("load config more.conf")
	d.do("set server s9 -comment theirs")
	d.is("rebase", "ERROR: Operation not permitted [rebase]: server s9 was changed in the candidate and in the running configuration")
	d.do("discard")
}

// TestLoadRefuses: what is wrong with a file changes nothing, whatever it is and wherever it lies.
func TestLoadRefuses(t *testing.T) {
	dir := t.TempDir()
	outside := t.TempDir()
	put(t, outside, "secret", "add server s1 10.1.0.11\n")
	d := newDesk(t, dir)
	d.do("add server s1 10.1.0.11")
	d.flush()
	put(t, dir, "half.xml", aServer[:90])
	put(t, dir, "word.json", `{"sluice:sluice":{"server":[{"name":"a","ip-address":"10.0.0.1","colour":"blue"}]}}`)
	put(t, dir, "dangling.xml", `<config><sluice xmlns="urn:sluice:config"><service><name>a</name><server>gone</server><service-type>TCP</service-type><port>80</port></service></sluice></config>`)
	put(t, dir, "show.conf", "show server\n")
	put(t, dir, "clear.conf", "clear ns config -force full\n")
	if err := os.Symlink(filepath.Join(outside, "secret"), filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	for line, want := range map[string]string{
		"load config nothere":                      "ERROR: No such resource [fileName, nothere]",
		"load config ../secret":                    "ERROR: Invalid value [fileName, ../secret]: files of configurations lie below /config",
		"load config /etc/passwd":                  "ERROR: Invalid value [fileName, /etc/passwd]",
		"load config /config/../../etc/passwd":     "ERROR: Invalid value",
		"load config link":                         "ERROR: Operation not permitted [link]",
		"load config history":                      "ERROR: Operation not permitted [history]: it is no file",
		"load config half.xml":                     "ERROR: Invalid argument [half.xml]: line 1: ",
		"load config word.json":                    "colour",
		"load config dangling.xml":                 "gone",
		"load config show.conf":                    "line 1: Operation not permitted [show server]",
		"load config clear.conf":                   "line 1: Operation not permitted [clear ns config",
		"validate ns config dangling.xml":          "gone",
		"diff ns config nothere running":           "ERROR: No such resource",
		"load config " + outside + "/secret merge": "ERROR: Invalid value",
	} {
		d.is(line, want)
	}
	d.is("show ns config -candidate", "There is no candidate")
}

// confirmed commits the candidate with a time that no operator can give.
func (d *desk) confirmed(within time.Duration) {
	d.t.Helper()
	who := engine.Author{User: "nsroot", Source: "192.0.2.7", Line: "commit confirmed"}
	if _, err := d.o.candidate.Confirmed(who, within); err != nil {
		d.t.Fatal(err)
	}
}

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within 30 s: %s", what)
		}
	}
}

func (d *desk) has(server string) bool {
	return schema.Get[schema.Server](d.o.engine.Config(), server) != nil
}

func TestCommitConfirmed(t *testing.T) {
	dir := t.TempDir()
	d := newDesk(t, dir)
	d.do("add server s1 10.1.0.11")
	put(t, dir, "new.xml", aServer)
	d.do("load config new.xml")
	d.is("commit cancel", "ERROR: Operation not permitted [commit cancel]: no commit waits")
	d.is("commit confirmed 5", "A commit of nsroot waits to be confirmed: in 5m0s version ")
	d.is("show ns runningConfig", "s9")
	d.is("save ns config", "ERROR: Operation not permitted [save ns config]: a commit waits to be confirmed")
	if !strings.Contains(d.o.greeting(), "waits to be confirmed") {
		t.Errorf("greeting %q", d.o.greeting())
	}
	d.do("add server later 10.1.0.12")
	d.is("commit cancel", "Warning: The dataplane")
	if d.has("s9") || d.has("later") || !d.has("s1") {
		t.Error(d.do("show ns runningConfig"))
	}
	// Confirmed.
	d.do("load config new.xml")
	d.do("commit confirmed")
	if got := d.do("commit"); got != "" {
		t.Fatalf("commit: %s", got)
	}
	if got := d.do("save ns config"); got != "" {
		t.Fatalf("save: %s", got)
	}
	d.do("rm server s9")
	// Not confirmed.
	d.do("load config new.xml")
	d.confirmed(50 * time.Millisecond)
	eventually(t, "the commit is undone", func() bool { return !d.has("s9") })
	eventually(t, "a save is possible", func() bool { return d.do("save ns config") == "" })
	d.is("show ns config -history", "the commit of nsroot was not confirmed")
	// Twice: the second one begins the time anew and keeps the way back.
	d.do("load config new.xml")
	d.confirmed(time.Hour)
	put(t, dir, "more.conf", "add server s3 10.1.0.13\n")
	d.do("load config more.conf")
	d.confirmed(50 * time.Millisecond)
	eventually(t, "both commits are undone", func() bool { return !d.has("s9") && !d.has("s3") })
}

// TestCommitConfirmedOutlivesManagement: a killed management comes back with the commit that waits, or with what was before if
// its time has passed meanwhile; a machine that was started again has the saved configuration.
func TestCommitConfirmedOutlivesManagement(t *testing.T) {
	dir := t.TempDir()
	d := newDesk(t, dir)
	d.do("add server s1 10.1.0.11")
	put(t, dir, "new.xml", aServer)
	d.do("load config new.xml")
	d.do("commit confirmed 60")
	d.kill()
	d = newDesk(t, dir)
	if !d.has("s9") {
		t.Fatal("its time has not come")
	}
	d.is("show ns config -candidate", "A commit of nsroot waits to be confirmed")
	d.is("save ns config", "ERROR: Operation not permitted")
	d.is("commit", "")
	d.do("rm server s9")
	d.do("load config new.xml")
	d.confirmed(0)
	d.kill()
	d = newDesk(t, dir)
	eventually(t, "the commit is undone", func() bool { return !d.has("s9") && d.has("s1") })
	eventually(t, "the way back is gone", func() bool {
		_, err := os.Stat(filepath.Join(dir, store.ReturnFile))
		return os.IsNotExist(err)
	})
	d.do("load config new.xml")
	d.do("commit confirmed 60")
	d.kill()
	for _, name := range []string{store.ReturnFile, store.JournalFile} { // as after a start of the machine
		path := filepath.Join(dir, name)
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		text := string(b)
		i := strings.Index(text, ` boot="`) + len(` boot="`)
		put(t, dir, name, text[:i]+"x"+text[i+1:])
	}
	d = newDesk(t, dir)
	if d.has("s9") || d.o.candidate.State().Unconfirmed {
		t.Error("the machine was started again, and nothing was saved")
	}
	d.is("save ns config", "")
}

// TestDamagedWayBack: the appliance starts, says so, and goes on with what was running.
func TestDamagedWayBack(t *testing.T) {
	dir := t.TempDir()
	d := newDesk(t, dir)
	put(t, dir, "new.xml", aServer)
	d.do("load config new.xml")
	d.do("commit confirmed 60")
	d.kill()
	b, err := os.ReadFile(filepath.Join(dir, store.ReturnFile))
	if err != nil {
		t.Fatal(err)
	}
	put(t, dir, store.ReturnFile, string(b[:len(b)-20]))
	d = newDesk(t, dir)
	d.is("show version", "DEGRADED: the way back of a commit that was not confirmed is damaged")
	if !d.has("s9") {
		t.Error("the commit is not in force")
	}
	if got := d.do("save ns config"); got != "" {
		t.Error(got)
	}
}

// TestCandidateSurvives: the candidate is there after a restart of management, with who has begun it and what it began from; also
// when the running configuration has moved on, and not when it has come in force.
func TestCandidateSurvives(t *testing.T) {
	dir := t.TempDir()
	d := newDesk(t, dir)
	d.do("add server s1 10.1.0.11")
	put(t, dir, "new.xml", aServer)
	d.do("load config new.xml")
	d = d.restarted(dir)
	d.is("show ns config -candidate", "nsroot")
	d.is("diff ns config", "add server s9 10.9.0.9\n")
	d.lacks("show ns runningConfig", "s9")
	d.do("add server s2 10.1.0.12")
	d = d.restarted(dir)
	d.is("commit", "ERROR: The running configuration has changed since the candidate was begun")
	d.is("rebase", "")
	d.end()
	d = newDesk(t, dir)
	d.is("commit", "Warning: The dataplane")
	d.is("show ns runningConfig", "s9")
	d.is("show ns runningConfig", "s2")
	// Killed between the journal and the candidate's end: what is in force is no candidate any more.
	d.o.store.NoteDraft(&store.Draft{Config: d.o.engine.Config(), Base: schema.New(), Version: 1, By: "nsroot"})
	d = d.restarted(dir)
	d.is("show ns config -candidate", "There is no candidate")
	d.do("load config new.xml replace")
	d.do("discard")
	d.end()
	put(t, dir, store.DraftFile, "nothing")
	d = newDesk(t, dir)
	d.is("show ns config -candidate", "There is no candidate")
	d.is("show version", "the candidate of before cannot be used and is put aside as candidate.xml.unused: it is damaged")
}
