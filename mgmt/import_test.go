package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"sluice/cli/grammar"
	"sluice/mgmt/render"
	"sluice/mgmt/store"
)

func parsed(t *testing.T, line string) *grammar.Op {
	t.Helper()
	op, err := grammar.Parse(line)
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	return op
}

// put writes a file beside the desk's startup configuration.
func (d *desk) put(name, text string) {
	d.t.Helper()
	if err := os.WriteFile(filepath.Join(filepath.Dir(d.o.store.Path()), name), []byte(text), 0o600); err != nil {
		d.t.Fatal(err)
	}
}

// deviceFile has a line of each fate.
const deviceFile = `#NS13.1 Build 37.29
add ns ip 10.1.0.5 255.255.255.0
add server s1 10.1.0.11
add server s2 10.1.0.300
add service w s1 HTTP 80 -CKA YES
add lb vserver v HTTP 10.1.0.50 80
bind lb vserver v w
set ns rpcNode 10.1.0.5 -password 8a7b -encrypted
`

func TestImport(t *testing.T) {
	dir := t.TempDir()
	d := newDesk(t, dir)
	d.do("add server old 10.1.0.9")
	d.put("ns.conf", deviceFile)
	got := d.do("import ns.conf ns.conf")
	if got != "ERROR: Lines rejected [1 of 7]: the others are taken over; put these right and import the file again" {
		t.Errorf("import: %s", got)
	}
	op := parsed(t, "import ns.conf /config/ns.conf")
	text, err := d.o.Do("nsroot", op)
	if err == nil || text != `line 4: rejected: add server s2 10.1.0.300: Invalid IP address [IPAddress, 10.1.0.300]
line 5: stored: add service w s1 HTTP 80 -CKA YES: Feature not supported in this release [CKA, YES]
line 7: stored: bind lb vserver v w: it needs w, which is stored only
line 8: stored: set ns rpcNode 10.1.0.5 -password ******** -encrypted: [ns rpcNode] is not built in this release
7 lines: 3 applied, 3 stored, 1 rejected
Warning: 3 lines are not in force, since what is asked for is not built in this release; it is kept and written back
Warning: The dataplane is not connected; the change takes effect as soon as it is.
` {
		t.Errorf("import once more: %v\n%s", err, text)
	}
	for _, want := range []string{"add server old 10.1.0.9", "add lb vserver v HTTP 10.1.0.50 80", "bind lb vserver v w", "add service w s1 HTTP 80 -CKA YES", "-password ******** -encrypted"} {
		d.is("show ns runningConfig", want)
	}
	if got := d.do("show ns runningConfig"); strings.Count(got, "bind lb vserver v w") != 1 {
		t.Errorf("a line that is imported twice is kept twice:\n%s", got)
	}
	d.is("show ns line", "2)\tbind lb vserver v w\n\tNot in force: it needs w, which is stored only")
	d.is("rm ns line 2", "")
	d.is("show ns line 2", "ERROR: No such resource [")
	d.do("save ns config")
	again := newDesk(t, dir)
	again.is("show ns line 1", "add service w s1 HTTP 80 -CKA YES")
	for _, want := range []string{"msg=import user=nsroot source=192.0.2.7 file=ns.conf applied=3 stored=3 rejected=1", `line="import ns.conf ns.conf"`} {
		if !strings.Contains(d.log.String(), want) {
			t.Errorf("the log lacks %s:\n%s", want, d.log)
		}
	}
	if strings.Contains(d.log.String(), "8a7b") {
		t.Error("a secret is in the log")
	}
}

// TestImportOfWhatCannotBeCompiled: a port that is missing here is the fault of one line, not of the file.
func TestImportOfWhatCannotBeCompiled(t *testing.T) {
	d := newDesk(t, t.TempDir())
	d.put("x.conf", "add vlan 2\nbind vlan 2 -ifnum 1/8\nadd server s1 10.1.0.11\nsave ns config\n")
	text, err := d.o.Do("nsroot", parsed(t, "import ns.conf x.conf"))
	if err == nil || !strings.Contains(text, "line 2: rejected: bind vlan 2 -ifnum 1/8: No such resource [ifnum, 1/8]") || !strings.Contains(text, "4 lines: 3 applied, 0 stored, 1 rejected") {
		t.Errorf("%v\n%s", err, text)
	}
	d.is("show ns savedConfig", "add server s1 10.1.0.11")
}

// TestImportOfWhatIsNoConfiguration: nothing of such a file is told, since it may be anything, and nothing changes.
func TestImportOfWhatIsNoConfiguration(t *testing.T) {
	dir := t.TempDir()
	d := newDesk(t, dir)
	d.put("key", "-----BEGIN KEY-----\nc2VjcmV0\n")
	d.put("script", "#!/bin/sh\nset -e\nDB_PASSWORD=c2VjcmV0\nif [ x ]; then\n  curl -u x:c2VjcmV0 host\nfi\n")
	d.put("mixed", "add server s1 10.0.0.1\nset x\nexport DB_PASSWORD=c2Vj\nc2VjcmV0 x\n\"c2Vj\n")
	d.put("host_key", "add server k c2Vj\nadd server s1 10.0.0.1\n")
	d.o.store.Hide("host_key")
	if err := os.Link(filepath.Join(dir, "host_key"), filepath.Join(dir, "other")); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(dir, "ssl"), 0o700); err != nil {
		t.Fatal(err)
	}
	d.put("ssl/a.key", "add server k c2Vj\nadd server s1 10.0.0.1\n")
	d.put("big", "")
	if err := os.Truncate(filepath.Join(dir, "big"), render.MaxText+1); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/etc/passwd", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, row := range [][2]string{
		{"key", "ERROR: Invalid argument [file, key]: no line of it is a command of a configuration file"},
		{"script", "ERROR: Invalid argument [file, script]: most lines of it are no commands, so it is no file of a configuration"},
		{"host_key", "ERROR: host_key is not imported: there is no such file in /config"},
		{"./host_key", "ERROR: ./host_key is not imported: there is no such file in /config"},
		{"other", "ERROR: other is not imported: there is no such file in /config"},
		{"ssl/a.key", "ERROR: ssl/a.key is not imported: there is no such file in /config"},
		{"missing", "ERROR: missing is not imported: there is no such file in /config: copy it there first"},
		{"link", "ERROR: link is not imported: only files in /config can be read: "},
		{"../../etc/passwd", "ERROR: ../../etc/passwd is not imported: only files in /config can be read: "},
		{"/etc/passwd", "ERROR: /etc/passwd is not imported: only files in /config can be read: "},
		{"pipe", "ERROR: pipe is not imported: it is not a file"},
		{".", "ERROR: . is not imported: it is not a file"},
		{"big", "ERROR: big is not imported: it is larger than 64 MiB"},
	} {
		if got := d.do("import ns.conf " + row[0]); !strings.HasPrefix(got, row[1]) || strings.Contains(got, "c2Vj") {
			t.Errorf("%s: %s", row[0], got)
		}
	}
	for _, line := range []string{"load config host_key", "load config other", "diff ns config other", "validate ssl/a.key", "load config key", "load config script", "load config mixed"} {
		if got := d.do(line); !strings.HasPrefix(got, "ERROR: ") || strings.Contains(got, "c2Vj") {
			t.Errorf("%s: %s", line, got)
		}
	}
	if _, _, version, _, _ := d.o.engine.Snapshot(); version > 1 {
		t.Errorf("the configuration has changed: version %d", version)
	}
	text, err := d.o.Do("nsroot", parsed(t, "import ns.conf mixed"))
	if err == nil || strings.Contains(text+err.Error(), "c2Vj") || !strings.Contains(text, "line 4: rejected: it begins with no command\n") {
		t.Errorf("a file with some lines that are none: %v\n%s", err, text)
	}
}

// TestStartupFromCommands: a file of commands beside no startup.xml is the startup configuration, until the first save.
func TestStartupFromCommands(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, store.Commands), []byte(deviceFile), 0o600); err != nil {
		t.Fatal(err)
	}
	d := newDesk(t, dir)
	d.is("show ns runningConfig", "add lb vserver v HTTP 10.1.0.50 80")
	d.is("show ns runningConfig", "add service w s1 HTTP 80 -CKA YES")
	d.is("show ns savedConfig", "add lb vserver v HTTP 10.1.0.50 80")
	d.is("show version", "DEGRADED: ns.conf: line 4: Invalid IP address [IPAddress, 10.1.0.300]")
	d.do("add server s3 10.1.0.13")
	d.end()
	again := newDesk(t, dir) // on the same machine it goes on with what was running
	again.is("show ns runningConfig", "add server s3 10.1.0.13")
	again.end()
	if err := os.WriteFile(filepath.Join(dir, store.Commands), []byte(deviceFile+"add server s4 10.1.0.14\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	again = newDesk(t, dir) // and with the file that was changed by hand
	again.is("show ns runningConfig", "add server s4 10.1.0.14")
	if got := again.do("show ns runningConfig"); strings.Contains(got, "s3") {
		t.Errorf("the changed file is not in force: %s", got)
	}
	again.do("rm server s4")
	again.do("save ns config")
	again.end()
	last := newDesk(t, dir) // which startup.xml is from now on
	if got := last.do("show version") + last.do("show ns runningConfig"); strings.Contains(got, "ns.conf") || strings.Contains(got, "s4") {
		t.Errorf("the file of commands is still in force: %s", got)
	}
	last.is("show ns line 2", "bind lb vserver v w")
}

// TestImportOfManyLines: a long file is taken over in one go.
func TestImportOfManyLines(t *testing.T) {
	d := newDesk(t, t.TempDir())
	var b strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&b, "add server s%d 10.9.%d.%d\nadd service w%d s%d TCP 80 -healthMonitor NO\nadd foo %d\nadd service x%d nobody%d TCP 80\n", i, i>>8, i&255, i, i, i, i, i)
	}
	d.put("long.conf", b.String())
	began := time.Now()
	text, err := d.o.Do("nsroot", parsed(t, "import ns.conf long.conf"))
	if err == nil || !strings.Contains(text, "8000 lines: 4000 applied, 2000 stored, 2000 rejected") || !strings.Contains(text, "and 1000 more lines are rejected") {
		t.Errorf("%v\n%.500s", err, text)
	}
	t.Logf("8,000 lines in %v", time.Since(began))
}
