package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"os"
	"strings"
	"testing"
	"time"

	"sluice/cli/grammar"
	"sluice/dataplane/api"
	"sluice/image/slot"
	"sluice/mgmt/candidate"
	"sluice/mgmt/capture"
	"sluice/mgmt/compile"
	"sluice/mgmt/engine"
	"sluice/mgmt/host"
	"sluice/mgmt/show"
	"sluice/mgmt/store"
)

// stillKernel is a kernel's side that does nothing but fail when told to.
type stillKernel struct{ fail error }

func (k *stillKernel) Apply(context.Context, compile.HostPlan) error     { return k.fail }
func (k *stillKernel) Resolve(context.Context, string, netip.Addr) error { return nil }
func (k *stillKernel) Set([]compile.Probe)                               {}
func (k *stillKernel) Faults() []string                                  { return []string{"device db is not there"} }
func (k *stillKernel) Neighbors() ([]host.Neighbor, error) {
	return []host.Neighbor{{Port: "1/2", IP: netip.MustParseAddr("10.2.0.11"), MAC: [6]byte{2, 0, 0, 0, 0, 1}, Origin: "DYNAMIC"},
		{Port: "1/2", IP: netip.MustParseAddr("10.2.0.12"), State: "INCOMPLETE", Origin: "DYNAMIC"}}, nil
}

type desk struct {
	t      *testing.T
	o      *operator
	kernel *stillKernel
	log    *bytes.Buffer
	end    func() // of management
	kill   func() // of management, at once
}

// slotsOf are the slots of the machines that tests have made.
var slotsOf = map[string]*slot.Disk{}

// newDesk is an operator's session on an appliance without dataplane whose startup configuration lies in dir.
func newDesk(t *testing.T, dir string) *desk {
	st, err := store.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	d := &desk{t: t, kernel: &stillKernel{}, log: &bytes.Buffer{}}
	log := slog.New(slog.NewTextHandler(d.log, nil))
	a := &appliance{store: st, kernel: d.kernel, log: log, now: time.Now, system: show.System{Release: "0.1", Build: "test"},
		images: images{disk: slotsOf[t.Name()]}}
	if a.images.disk == nil {
		a.images.disk = slot.New(t.TempDir()) // a machine without slots
	}
	a.engine = engine.New(engine.Options{Ports: []compile.Port{{Name: "1/1", Twin: "tw0"}, {Name: "1/2", Twin: "tw1"}},
		Host: d.kernel, Prober: d.kernel, Log: log, Check: grammar.Check,
		Note: func(n engine.Noted) { st.Record(n.Config, changeOf(n)) }, Version: st.LastVersion()})
	a.candidate = candidate.New(a.engine, st, log)
	a.capture = capture.New(a.engine, dir, []string{"1/1", "1/2"}, log)
	a.load()
	ctx, end := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { st.Journal(ctx); close(ended) }()
	d.end = func() { end(); <-ended }
	d.kill = func() { a.candidate.Forget(); d.end() }
	t.Cleanup(d.kill)
	d.o = &operator{appliance: a, source: "192.0.2.7"}
	return d
}

// restarted is the desk of the next run of management, which finds all that this one was to write.
func (d *desk) restarted(dir string) *desk {
	d.t.Helper()
	if err := d.o.store.Flush(); err != nil {
		d.t.Fatal(err)
	}
	d.end()
	return newDesk(d.t, dir)
}

// do executes a line; an error is returned as the shell prints it.
func (d *desk) do(line string) string {
	d.t.Helper()
	op, err := grammar.Parse(line)
	if err != nil {
		d.t.Fatalf("%s: %v", line, err)
	}
	text, err := d.o.Do("nsroot", op)
	if err != nil {
		return "ERROR: " + err.Error()
	}
	return text
}

func (d *desk) is(line, want string) {
	d.t.Helper()
	if got := d.do(line); !strings.Contains(got, want) {
		d.t.Errorf("%s: %q, want %q in it", line, got, want)
	}
}

func TestOperator(t *testing.T) {
	dir := t.TempDir()
	d := newDesk(t, dir)
	d.is("show ns ns.conf", "Nothing has been saved")
	d.is("add ns ip 10.1.0.5 255.255.255.0", "Warning: The dataplane is not connected")
	d.is("add ns ip 192.168.77.1 255.255.255.0 -type NSIP", "Warning")
	d.is("add service s 10.1.0.11 HTTP 80", "Warning")
	d.is("add service s 10.1.0.11 HTTP 80", "ERROR: Resource already exists")
	d.is("add lb vserver v HTTP 10.1.0.50 80", "Warning")
	d.is("bind lb vserver v s", "Warning")
	d.is("bind lb vserver v nothere", "ERROR: No such resource [")
	d.is("show lb vserver v", "1 (Total)")
	d.is("show arp", "1 configured arps")
	d.is("stat ns", "ERROR: The dataplane is not connected: it is starting or has ended, see its log")
	if got, want := flat(fmt.Errorf("%w (EOF): dial again", api.ErrDisconnected)).Error(), "The dataplane did not answer: give the command again"; got != want {
		t.Errorf("a lost connection: %q, want %q", got, want)
	}
	d.is("show version", "DEGRADED: device db is not there")
	if got := d.do("save ns config"); got != "" {
		t.Errorf("save: %q", got)
	}
	d.is("show ns ns.conf", "add lb vserver v HTTP 10.1.0.50 80")
	d.is("rm lb vserver v", "Warning")
	d.is("show lb vserver v", "ERROR: No such resource [vserver, v]")
	d.is("show ns ns.conf", "add lb vserver v HTTP 10.1.0.50 80")
	d.is("clear ns config -force full", "Warning")
	if got := d.do("show ns runningConfig"); strings.Contains(got, "service") || !strings.Contains(got, "192.168.77.1") {
		t.Errorf("after clear full: %s", got)
	}
	d.kernel.fail = errors.Join(errors.New("twin tw0: no"), errors.New("twin tw1: no"))
	if got := d.do("add ns ip 10.3.0.5 255.255.255.0"); got != "ERROR: twin tw0: no; twin tw1: no" {
		t.Errorf("a kernel that fails: %q", got)
	}
	for _, want := range []string{`user=nsroot source=192.0.2.7 line="bind lb vserver v s" version=`, `result="ERROR: No such resource`, `msg=save user=nsroot`} {
		if !strings.Contains(d.log.String(), want) {
			t.Errorf("%s is not in the log:\n%s", want, d.log)
		}
	}
	d.end()
	// Management alone was restarted: it goes on with what was not saved.
	d = newDesk(t, dir)
	if got := d.do("show ns runningConfig"); strings.Contains(got, "service") || !strings.Contains(got, "192.168.77.1") {
		t.Errorf("after a restart of management: %s", got)
	}
	if !strings.Contains(d.o.greeting(), "changes that are not saved") || strings.Contains(d.do("show version"), "journal") {
		t.Errorf("greeting %q", d.o.greeting())
	}
	d.end()
	// The next start of the machine has what was saved.
	if err := os.Remove(dir + "/" + store.JournalFile); err != nil {
		t.Fatal(err)
	}
	newDesk(t, dir).is("show ns runningConfig", "bind lb vserver v s")
}

// TestStartupEditedByHand: whoever replaces the startup file and restarts management wants that file.
func TestStartupEditedByHand(t *testing.T) {
	dir := t.TempDir()
	d := newDesk(t, dir)
	d.do("add server s1 10.1.0.11")
	d.do("save ns config")
	d.do("add server s2 10.1.0.12")
	d.end()
	path := dir + "/" + store.File
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, bytes.Replace(text, []byte("10.1.0.11"), []byte("10.1.0.19"), 1), 0o600); err != nil {
		t.Fatal(err)
	}
	d = newDesk(t, dir)
	d.is("show ns runningConfig", "add server s1 10.1.0.19")
	if got := d.do("show ns runningConfig"); strings.Contains(got, "s2") {
		t.Errorf("the edited file is not in force: %s", got)
	}
	if aside, err := os.ReadFile(dir + "/running.xml.unused"); err != nil || !bytes.Contains(aside, []byte("s2")) {
		t.Errorf("the changes that were not saved are not put aside: %v", err)
	}
}

// TestStartupThatThisApplianceCannotCompile: a port that is missing here is the fault of one row, not of all.
func TestStartupThatThisApplianceCannotCompile(t *testing.T) {
	dir := t.TempDir()
	d := newDesk(t, dir)
	for _, line := range []string{"add ns ip 10.1.0.5 255.255.255.0", "add vlan 2", "bind vlan 2 -ifnum 1/2", "add server s1 10.1.0.11", "save ns config"} {
		d.do(line)
	}
	path := dir + "/" + store.File
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, bytes.Replace(text, []byte("1/2"), []byte("1/8"), 1), 0o600); err != nil {
		t.Fatal(err)
	}
	d = newDesk(t, dir)
	d.is("show ns runningConfig", "add server s1 10.1.0.11")
	d.is("show version", "No such resource [ifnum, 1/8]")
	if !strings.Contains(d.o.greeting(), "degraded: startup.xml: line ") {
		t.Errorf("greeting %q", d.o.greeting())
	}
	d.do("clear ns config -force basic")
	d.do("save ns config")
	d = newDesk(t, dir)
	d.is("show version", "No such resource [ifnum, 1/8]")
	d.is("clear ns config -force full", "not in force (1) are left out when the configuration is saved")
	d.do("save ns config")
	if got := newDesk(t, dir).do("show version"); strings.Contains(got, "1/8") {
		t.Errorf("what was cleared and saved is back: %s", got)
	}
}

// TestUnreadableStartup: what cannot be read at all is told, and the appliance starts without.
func TestUnreadableStartup(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(dir+"/"+store.File, 0o700); err != nil {
		t.Fatal(err)
	}
	d := newDesk(t, dir)
	d.is("show version", "DEGRADED: the startup configuration")
	d.is("add server s1 10.1.0.11", "Warning")
}

// TestStoredObject: what is not built is kept over a restart, and everything says that it is not in force.
func TestStoredObject(t *testing.T) {
	dir := t.TempDir()
	d := newDesk(t, dir)
	const warning = "Warning: [cs vserver] is stored, but its function is not built in this release\n"
	d.is("add cs vserver web HTTP 10.1.0.60 80 -comment x", warning)
	d.is("bind cs vserver web -policyName p1 -priority 10", warning)
	d.is("add cs vserver web HTTP 10.1.0.60 80", "ERROR: Resource already exists [vserver, web]")
	d.is("show ns runningConfig", "# stored, not in force:\nadd cs vserver web HTTP 10.1.0.60 80 -comment x\nbind cs vserver web -policyName p1 -priority 10\n")
	d.is("show cs vserver web", "cs vserver web  (stored, not in force)")
	d.is("show cs vserver web", "bind cs vserver web -policyName p1 -priority 10")
	d.do("save ns config")
	d.end()
	if err := os.Remove(dir + "/" + store.JournalFile); err != nil {
		t.Fatal(err)
	}
	d = newDesk(t, dir)
	d.is("show cs vserver", "cs vserver web")
	if got := d.do("show version"); strings.Contains(got, "web") {
		t.Errorf("a stored row is told as a problem: %s", got)
	}
	if got := d.do("rm cs vserver web"); strings.Contains(got, "stored") {
		t.Errorf("rm: %q", got)
	}
	if got := d.do("show ns runningConfig"); strings.Contains(got, "stored") {
		t.Errorf("after rm: %s", got)
	}
}
