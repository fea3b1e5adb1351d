package main

import (
	"bytes"
	"strings"
	"testing"

	"sluice/cli/grammar"
	"sluice/cli/shell"
	"sluice/mgmt/aaa"
	"sluice/mgmt/netconf"
	"sluice/mgmt/sshd"
	"sluice/vendor-config/schema"
)

// guarded puts the desk's appliance under the accounts of its configuration and gives the session of one of its users.
func (d *desk) guarded(user string) *desk {
	d.t.Helper()
	accounts, err := aaa.New([]aaa.Account{{Name: "nsroot", AuthorizedKeys: "none"}}, d.o.engine.Config, d.o.log)
	if err != nil {
		d.t.Fatal(err)
	}
	d.o.guard = accounts
	d.o.login = sshd.Login{User: "nsroot", Person: aaa.Person{Name: "nsroot"}}
	other := *d
	other.o = &operator{appliance: d.o.appliance, source: "192.0.2.8", login: sshd.Login{User: user, Person: aaa.Person{Name: user}}}
	return &other
}

// peer is another desk's user in a session of NETCONF.
func (d *desk) peer(of *desk) netconf.Peer {
	return netconf.Peer{User: of.o.login.User, May: func(command string) error { return d.o.guard.(*aaa.Accounts).MayDo(of.o.login.Person, command) }}
}

// half may do everything but with accounts.
var half = []string{"add system user eve pw", `add system cmdPolicy noaccounts DENY "^\\S+ system .*"`, "bind system user eve noaccounts 1", "bind system user eve superuser 2"}

const climbing = "add system user eva pw\nbind system user eva superuser 1\nunbind system user eve noaccounts\n"

// TestNoWayAroundPolicies: what somebody may not type he does not get by a file, a candidate or a version either.
func TestNoWayAroundPolicies(t *testing.T) {
	dir := t.TempDir()
	d := newDesk(t, dir)
	for _, l := range half {
		d.is(l, "")
	}
	eve := d.guarded("eve")
	for _, name := range []string{"climb.conf", "ns.conf"} {
		put(t, dir, name, climbing)
	}
	eve.is("add server s1 10.1.0.11", "Warning")
	before := d.version()
	for _, line := range []string{"add system user eva pw", "import ns.conf climb.conf", "import ns.conf ns.conf", "load config climb.conf", "load config climb.conf merge"} {
		eve.is(line, "ERROR: Not authorized to execute this command")
	}
	eve.is("show ns config -candidate", "There is no candidate")
	// A version with other accounts.
	d.is("add system user late pw", "Warning")
	d.flush()
	eve.is("rollback config "+before, "ERROR: Not authorized to execute this command [rm system user late")
	// A commit of accounts that waits.
	put(t, dir, "more.conf", "add system user waits pw\n")
	d.is("load config more.conf", "")
	d.is("commit confirmed 5", "waits to be confirmed")
	eve.is("commit cancel", "ERROR: Not authorized to execute this command [rm system user waits")
	if err := (datastores{d.o.appliance}).Cancel(d.peer(eve)); err == nil || !strings.HasPrefix(err.Error(), "Not authorized") {
		t.Errorf("by NETCONF: %v", err)
	}
	d.is("commit", "")
	d.is("show system user", "waits")
	d.lacks("show system user", "eva")
	// The end of a file asks to save, which not everybody may.
	d.is(`add system cmdPolicy nosave DENY "^save .*"`, "Warning")
	d.is("bind system user eve nosave 0", "Warning")
	put(t, dir, "saves.conf", "add server s2 10.1.0.12\nsave ns config\n")
	eve.is("import ns.conf saves.conf", "ERROR: Not authorized to execute this command [save")
	d.lacks("show ns savedConfig", "s2")
	eve.is("import ns.conf more.conf", "")
}

// TestKeptLinesAreNoWayAroundPolicies: a line that is kept word for word is asked for as such, not as the command that it is.
func TestKeptLinesAreNoWayAroundPolicies(t *testing.T) {
	d := newDesk(t, t.TempDir())
	for _, l := range []string{"add system user r pw", "bind system user r read-only 1", "add system user n pw", "bind system user n network 1"} {
		d.is(l, "")
	}
	running := d.o.engine.Config()
	to := running.Clone()
	schema.Put(to, &schema.NSLine{Number: 1, Text: "show version"})
	for _, user := range []string{"r", "n"} {
		u := d.guarded(user)
		changes := datastores{d.o.appliance}.Changes(running, to)
		if len(changes) != 1 {
			t.Fatalf("%q", changes)
		}
		if err := d.peer(u).May(changes[0]); err == nil {
			t.Errorf("%s may by NETCONF: %q", user, changes)
		}
		if err := u.o.mayChange(to); err == nil {
			t.Errorf("%s may in the shell", user)
		}
		u.is(`add ns line 3 "add system user eva pw"`, "ERROR: Not authorized to execute this command [add ns line 3")
		for _, line := range []string{"show ns line", "show ns config -history", "show ns config -version 1", "show ns config -candidate"} {
			u.is(line, "ERROR: Not authorized")
		}
	}
	c, err := configured(grammar.Steps(running, to))
	if err != nil || c.Len(schema.Of[schema.NSLine]()) != 1 {
		t.Errorf("the difference cannot be given: %v", err)
	}
}

func configured(lines []string) (*schema.Config, error) {
	c := schema.New()
	for _, l := range lines {
		op, err := grammar.Parse(l)
		if err == nil {
			err = op.Apply(c)
		}
		if err != nil {
			return nil, err
		}
	}
	return c, nil
}

// TestRefusalsHideSecrets: who may not have a configuration put in force does not read its secrets in the answer.
func TestRefusalsHideSecrets(t *testing.T) {
	dir := t.TempDir()
	d := newDesk(t, dir)
	for _, l := range []string{"add system user r pw", "bind system user r read-only 1", "add lb monitor m RADIUS -userName a -password s3cret -radKey s3cret",
		`add ns line 7 "set ns rpcNode 10.1.0.5 -password s3cret"`} {
		d.is(l, "")
	}
	r := d.guarded("r")
	for _, c := range [][2]*schema.Config{{schema.New(), d.o.engine.Config()}, {d.o.engine.Config(), schema.New()}} {
		for _, line := range (datastores{d.o.appliance}).Changes(c[0], c[1]) {
			if err := d.peer(r).May(line); err == nil || strings.Contains(err.Error(), "s3cret") {
				t.Errorf("%v", err)
			}
		}
	}
	put(t, dir, "empty.conf", "# nothing\n")
	d.flush()
	for _, line := range []string{"diff ns config empty.conf running", "show ns line", "show ns runningConfig", "show ns config -version " + d.version()} {
		if line != "show ns line" {
			d.is(line, "add lb monitor m RADIUS")
		}
		d.is(line, "********")
		d.lacks(line, "s3cret")
	}
	d.flush()
	d.lacks("show ns config -history", "s3cret")
	if strings.Contains(d.log.String(), "s3cret") {
		t.Errorf("in the log:\n%s", d.log)
	}
}

// TestBuiltinRolesOutliveARestart: a binding to a role that is no row is saved, restored and rolled back like any other.
func TestBuiltinRolesOutliveARestart(t *testing.T) {
	dir := t.TempDir()
	d := newDesk(t, dir)
	for _, l := range []string{"add system user r pw", "bind system user r read-only 1", "add system group g", "bind system group g -policyName network 5", "save ns config"} {
		d.is(l, "")
	}
	version := d.version()
	d.is("add server s1 10.1.0.11", "Warning")
	d.flush()
	d.is("rollback config "+version, "Warning")
	d.end()
	again := newDesk(t, dir)
	for _, want := range []string{"bind system user r read-only 1", "bind system group g -policyName network 5"} {
		again.is("show ns runningConfig", want)
	}
}

// TestShellIsHeldAgainstPolicies: opening the system's shell is a command like any other, and only a superuser's.
func TestShellIsHeldAgainstPolicies(t *testing.T) {
	d := newDesk(t, t.TempDir())
	for _, l := range append(half, "add system user net pw", "bind system user net network 1") {
		d.is(l, "")
	}
	for _, user := range []string{"nsroot", "eve", "net"} {
		u := d.guarded(user)
		var out, errs bytes.Buffer
		code := shell.Exec(t.Context(), u.o, user, "shell echo in", &out, &errs)
		if user == "nsroot" && (code != 0 || out.String() != "in\n Done\n") || user != "nsroot" && (code != 1 || !strings.HasPrefix(errs.String(), "ERROR: Not authorized to execute this command [shell echo in]: ")) {
			t.Errorf("%s: %q %q", user, out.String(), errs.String())
		}
	}
	if log := d.log.String(); !strings.Contains(log, "shell begins") || strings.Count(log, "shell begins") != 1 {
		t.Errorf("the log: %s", log)
	}
}
