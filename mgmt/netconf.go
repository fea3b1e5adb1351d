package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"sluice/cli/grammar"
	"sluice/mgmt/engine"
	"sluice/mgmt/netconf"
	"sluice/mgmt/sshd"
	"sluice/mgmt/store"
	"sluice/vendor-config/schema"
)

// datastores are what NETCONF sessions work on: the same running configuration, candidate and startup file as the shell.
type datastores struct{ *appliance }

// netconfDoor is the subsystem "netconf" of the SSH door. mayDo tells why a session's user may not give a command.
func (a *appliance) netconfDoor(mayDo func(l sshd.Login, command string) error) sshd.Subsystem {
	server := netconf.New(datastores{a}, a.log)
	a.locks = server
	return func(ctx context.Context, l sshd.Login, rw io.ReadWriter) int {
		server.Serve(ctx, netconf.Peer{ID: uint32(l.ID), User: l.User, Source: l.Source, May: func(command string) error { return mayDo(l, command) }}, rw)
		return 0
	}
}

// locks are what NETCONF sessions have locked.
type locks interface {
	Holder(datastore string) (who netconf.Peer, locked bool)
}

// lockedOut tells why an operation has to wait: a session of NETCONF has locked what it would change.
func (a *appliance) lockedOut(op *grammar.Op) error {
	if a.locks == nil {
		return nil
	}
	var touched []string
	switch {
	case op.Verb == "load" || op.Verb == "discard" || op.Verb == "rebase":
		touched = []string{"candidate"}
	case op.Verb == "commit":
		touched = []string{"candidate", "running"}
	case op.Verb == "save":
		touched = []string{"startup"}
	case op.Verb == "restore":
		touched = []string{"running", "startup"}
	case op.Changes() || op.Verb == "rollback" || op.Verb == "import":
		touched = []string{"running"}
	}
	for _, name := range touched {
		if by, locked := a.locks.Holder(name); locked {
			return schema.Refuse(schema.NotPermitted, op.Verb).Because(fmt.Sprintf("the %s configuration is locked by %s in NETCONF session %d; wait, or give kill system session %d",
				name, by.User, by.ID, by.ID))
		}
	}
	return nil
}

func author(who netconf.Peer, what string) engine.Author {
	return engine.Author{User: who.User, Source: who.Source, Line: "netconf " + what}
}

func (d datastores) Running() *schema.Config { return d.engine.Config() }

// Startup is what is in force after a start of the machine.
func (d datastores) Startup() (*schema.Config, error) {
	s, err := d.store.Saved()
	return s.Config, err
}

func (d datastores) Candidate() (c *schema.Config, modified bool) {
	s := d.candidate.State()
	return s.Config, s.Begun
}

func (d datastores) Check(c *schema.Config) error { return flat(d.engine.Check(c)) }

func (d datastores) EditRunning(who netconf.Peer, what string, change func(*schema.Config) error) error {
	_, err := d.engine.Commit(author(who, what), func(c *schema.Config) error {
		if err := change(c); err != nil {
			return err
		}
		return grammar.Check(c)
	})
	return flat(err)
}

func (d datastores) EditCandidate(who netconf.Peer, what string, change func(*schema.Config) error) error {
	if by, locked := d.locks.Holder("candidate"); locked && by.ID == who.ID {
		return d.candidate.EditPassing(author(who, what), change)
	}
	return d.candidate.Edit(author(who, what), change)
}

func (d datastores) Discard(netconf.Peer) { d.candidate.Discard() }

// Commit of nothing is no error in NETCONF.
func (d datastores) Commit(who netconf.Peer) error {
	if s := d.candidate.State(); !s.Begun && !s.Unconfirmed {
		return nil
	}
	_, err := d.candidate.Commit(author(who, "commit"))
	return flat(err)
}

// CommitConfirmed of nothing makes what is running come back, whatever is changed until then.
func (d datastores) CommitConfirmed(who netconf.Peer, within time.Duration) error {
	if s := d.candidate.State(); !s.Begun && !s.Unconfirmed {
		if err := d.candidate.Edit(author(who, "commit confirmed"), func(*schema.Config) error { return nil }); err != nil {
			return err
		}
	}
	_, err := d.candidate.Confirmed(author(who, "commit confirmed"), within)
	return flat(err)
}

// Cancel is refused to who may not make the changes that it makes. Without a policy in who it is the session's end that cancels.
func (d datastores) Cancel(who netconf.Peer) error {
	if s := d.candidate.State(); s.Unconfirmed && who.May != nil {
		for _, command := range d.Changes(s.Running, s.Return) {
			if err := who.May(command); err != nil {
				return err
			}
		}
	}
	_, err := d.candidate.Cancel(author(who, "cancel-commit"))
	return flat(err)
}

// Unconfirmed names a commit by the version that comes back without a confirmation.
func (d datastores) Unconfirmed() (id uint64, waits bool) {
	s := d.candidate.State()
	return s.Undo, s.Unconfirmed
}

func (d datastores) Save(who netconf.Peer, c *schema.Config) error {
	return d.store.Save(c, store.Meta{By: who.User, At: d.now()})
}

func (d datastores) Changes(from, to *schema.Config) []string {
	lines, rest := grammar.Diff(from, to)
	return append(lines, rest...)
}
