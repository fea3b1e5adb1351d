package netconf

import (
	"bytes"
	"fmt"
	"strconv"
	"time"

	"sluice/vendor-config/schema"
)

// Names of datastores.
const (
	running   = "running"
	candidate = "candidate"
	startup   = "startup"
)

// datastore is the name in a <source> or <target>; inline is the <config> that stands in its place.
func datastore(op *element, where string) (name string, inline *element, err error) {
	e := op.kid(where)
	if e == nil || len(e.kids) != 1 {
		return "", nil, refuse("missing-element", where+" names one datastore", "bad-element", where)
	}
	switch k := e.kids[0]; k.name.Local {
	case running, candidate, startup:
		return k.name.Local, nil, nil
	case "config":
		return "", k, nil
	default:
		return "", nil, refuse("operation-not-supported", fmt.Sprintf("%s is no datastore of this server", valid(k.name.Local)), "bad-element", k.name.Local)
	}
}

// content is the configuration in a datastore.
func (ss *session) content(name string) (*schema.Config, error) {
	switch name {
	case startup:
		return ss.server.appliance.Startup()
	case candidate:
		c, _ := ss.server.appliance.Candidate()
		return c, nil
	}
	return ss.server.appliance.Running(), nil
}

// source is the configuration that an operation reads.
func (ss *session) source(op *element) (*schema.Config, error) {
	name, inline, err := datastore(op, "source")
	if err != nil {
		return nil, err
	}
	if inline == nil {
		return ss.content(name)
	}
	shown, err := ss.content(candidate)
	if err != nil {
		return nil, err
	}
	e := editor{c: schema.New(), secrets: shown}
	return e.c, e.edit(inline, "merge")
}

// free refuses when another session has locked the datastore.
func (ss *session) free(name string) error {
	if by, locked := ss.server.Holder(name); locked && by.ID != ss.who.ID {
		return refuse("in-use", fmt.Sprintf("%s is locked by %s in session %d", name, by.User, by.ID))
	}
	return nil
}

// change makes what change makes of a datastore, if who works here may.
func (ss *session) change(name, what string, change func(*schema.Config) error) error {
	if err := ss.free(name); err != nil {
		return err
	}
	a := ss.server.appliance
	allowed := func(c *schema.Config) error {
		before := c.Clone()
		if err := change(c); err != nil {
			return err
		}
		return ss.mayChange(before, c)
	}
	switch name {
	case running:
		var tried *schema.Config
		err := a.EditRunning(ss.who, what, func(c *schema.Config) error {
			tried = c
			return allowed(c)
		})
		return located(err, tried)
	case candidate:
		return a.EditCandidate(ss.who, what, allowed)
	}
	c, err := a.Startup()
	if err != nil {
		return err
	}
	if err := ss.may("save ns config"); err != nil {
		return err
	}
	c = c.Clone()
	if err := allowed(c); err != nil {
		return err
	}
	if err := a.Check(c); err != nil {
		return located(err, c)
	}
	return a.Save(ss.who, c)
}

// may tells why who works here may not give a command, or nil.
func (ss *session) may(command string) error {
	if err := ss.who.May(command); err != nil {
		return wrong("access-denied", "", err.Error())
	}
	return nil
}

// mayChange tells why who works here may not make of one configuration another, or nil: every command that would do it must
// be allowed.
func (ss *session) mayChange(from, to *schema.Config) error {
	for _, command := range ss.server.appliance.Changes(from, to) {
		if err := ss.may(command); err != nil {
			return err
		}
	}
	return nil
}

func (ss *session) editConfig(_ *bytes.Buffer, op *element) error {
	ss.server.changing.Lock()
	defer ss.server.changing.Unlock()
	name, inline, err := datastore(op, "target")
	if err != nil {
		return err
	}
	if inline != nil || name == startup {
		return refuse("operation-not-supported", "running and candidate can be edited, startup can be copied to")
	}
	config := op.kid("config")
	if config == nil {
		return refuse("missing-element", "edit-config has no <config> in the namespace of NETCONF ("+baseNS+")", "bad-element", "config")
	}
	defaultOp, err := oneOf(op, "default-operation", "merge", "replace", "none")
	if err != nil {
		return err
	}
	test, err := oneOf(op, "test-option", "", "test-then-set", "set", "test-only")
	if err != nil {
		return err
	}
	// Every edit is all or nothing; so after an error nothing is done, whatever the option.
	if _, err := oneOf(op, "error-option", "stop-on-error", "continue-on-error", "rollback-on-error"); err != nil {
		return err
	}
	change := func(c *schema.Config) error {
		if err := edit(c, config, defaultOp); err != nil {
			return err
		}
		if test == "test-only" || test == "test-then-set" && name == candidate {
			return located(ss.server.appliance.Check(c), c)
		}
		return nil
	}
	if test == "test-only" {
		c, err := ss.content(name)
		if err != nil {
			return err
		}
		tried := c.Clone()
		if err := change(tried); err != nil {
			return err
		}
		return ss.mayChange(c, tried)
	}
	return ss.change(name, "edit-config", change)
}

// oneOf is the value of a parameter, the first of the allowed ones when it is left out.
func oneOf(op *element, name string, allowed ...string) (string, error) {
	e := op.kid(name)
	if e == nil {
		return allowed[0], nil
	}
	for _, a := range allowed {
		if a != "" && a == e.value() {
			return a, nil
		}
	}
	return "", refuse("invalid-value", fmt.Sprintf("%q is no %s", valid(e.value()), name), "bad-element", name)
}

func (ss *session) copyConfig(_ *bytes.Buffer, op *element) error {
	ss.server.changing.Lock()
	defer ss.server.changing.Unlock()
	to, inline, err := datastore(op, "target")
	if err != nil {
		return err
	}
	if inline != nil {
		return refuse("invalid-value", "the target is a datastore", "bad-element", "config")
	}
	from, _, err := datastore(op, "source")
	if err != nil {
		return err
	}
	if from == to {
		return refuse("invalid-value", "source and target are the same", "bad-element", "target")
	}
	c, err := ss.source(op)
	if err != nil {
		return err
	}
	if from == running && to == startup { // the same as save ns config, whoever has made the changes
		if err := ss.free(startup); err != nil {
			return err
		}
		if err := ss.may("save ns config"); err != nil {
			return err
		}
		return ss.server.appliance.Save(ss.who, c)
	}
	return ss.change(to, "copy-config", func(into *schema.Config) error { into.Replace(c); return nil })
}

func (ss *session) deleteConfig(_ *bytes.Buffer, op *element) error {
	ss.server.changing.Lock()
	defer ss.server.changing.Unlock()
	name, inline, err := datastore(op, "target")
	if err != nil {
		return err
	}
	if inline != nil || name != startup {
		return refuse("operation-not-supported", "startup is the only datastore that can be deleted")
	}
	return ss.change(startup, "delete-config", func(c *schema.Config) error { c.Replace(schema.New()); return nil })
}

func (ss *session) validate(_ *bytes.Buffer, op *element) error {
	if err := ss.may("validate ns config"); err != nil {
		return err
	}
	c, err := ss.source(op)
	if err != nil {
		return err
	}
	return located(ss.server.appliance.Check(c), c)
}

func (ss *session) lock(_ *bytes.Buffer, op *element) error {
	s := ss.server
	s.changing.Lock()
	defer s.changing.Unlock()
	name, inline, err := datastore(op, "target")
	if err != nil {
		return err
	}
	if inline != nil {
		return refuse("invalid-value", "the target is a datastore", "bad-element", "config")
	}
	if err := ss.may("set ns config"); err != nil {
		return err
	}
	denied := func(by uint32, why string) error {
		return refuse("lock-denied", why, "session-id", strconv.FormatUint(uint64(by), 10))
	}
	if by, locked := s.Holder(name); locked {
		return denied(by.ID, fmt.Sprintf("%s is locked by %s in session %d", name, by.User, by.ID))
	}
	id, waits := s.appliance.Unconfirmed()
	switch _, modified := s.appliance.Candidate(); {
	case name == candidate && modified:
		return denied(0, "the candidate has been changed: commit or discard the changes first")
	case name == running && waits && s.confirmer(id) != ss.who.ID:
		return denied(s.confirmer(id), "a commit waits to be confirmed")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.locks[name] = ss.who
	return nil
}

// confirmer is the session that is to confirm the commit that waits, 0 if it is none in particular.
func (s *Server) confirmer(id uint64) uint32 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.waiting.id != id {
		return 0
	}
	return s.waiting.session
}

func (ss *session) unlock(_ *bytes.Buffer, op *element) error {
	s := ss.server
	s.changing.Lock()
	defer s.changing.Unlock()
	name, _, err := datastore(op, "target")
	if err != nil {
		return err
	}
	if by, locked := s.Holder(name); !locked || by.ID != ss.who.ID {
		return refuse("operation-failed", fmt.Sprintf("this session has not locked %s", name))
	}
	if name == candidate {
		if _, modified := s.appliance.Candidate(); modified { // RFC 6241 section 8.3.5.2
			s.appliance.Discard(ss.who)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.locks, name)
	return nil
}

func (ss *session) discard(*bytes.Buffer, *element) error {
	ss.server.changing.Lock()
	defer ss.server.changing.Unlock()
	if err := ss.free(candidate); err != nil {
		return err
	}
	if err := ss.may("discard ns config"); err != nil {
		return err
	}
	ss.server.appliance.Discard(ss.who)
	return nil
}

// Time to confirm a commit in, in seconds (RFC 6241 section 8.4.5.1): when it is not given, and at most.
const (
	confirmTimeout = 600
	confirmMost    = 24 * 60 * 60
)

func (ss *session) commit(_ *bytes.Buffer, op *element) error {
	s := ss.server
	s.changing.Lock()
	defer s.changing.Unlock()
	for _, name := range []string{candidate, running} {
		if err := ss.free(name); err != nil {
			return err
		}
	}
	if err := ss.confirms(op.kid("persist-id")); err != nil {
		return err
	}
	if err := ss.may("commit ns config"); err != nil {
		return err
	}
	c, _ := s.appliance.Candidate()
	if err := ss.mayChange(s.appliance.Running(), c); err != nil {
		return err
	}
	if op.kid("confirmed") == nil {
		for _, only := range []string{"confirm-timeout", "persist"} {
			if op.kid(only) != nil {
				return refuse("bad-element", only+" is for confirmed commits", "bad-element", only)
			}
		}
		return located(s.appliance.Commit(ss.who), c)
	}
	seconds := uint64(confirmTimeout)
	if e := op.kid("confirm-timeout"); e != nil {
		var err error
		if seconds, err = strconv.ParseUint(e.value(), 10, 32); err != nil || seconds < 1 || seconds > confirmMost {
			return refuse("invalid-value", fmt.Sprintf("confirm-timeout is a number of seconds from 1 to %d", confirmMost), "bad-element", "confirm-timeout")
		}
	}
	persist := ""
	if e := op.kid("persist"); e != nil {
		if persist = e.value(); persist == "" || len(persist) > 255 {
			return refuse("invalid-value", "persist is a word of at most 255 characters", "bad-element", "persist")
		}
	}
	if err := s.appliance.CommitConfirmed(ss.who, time.Duration(seconds)*time.Second); err != nil {
		return located(err, c)
	}
	id, _ := s.appliance.Unconfirmed()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waiting = waiting{id: id, session: ss.who.ID, persist: persist}
	return nil
}

// confirms refuses who is not the one to confirm the commit that waits, if one does. One that was made in the shell, or
// before management was started again, anybody may confirm who may commit.
func (ss *session) confirms(persistID *element) error {
	s := ss.server
	id, waits := s.appliance.Unconfirmed()
	s.mu.Lock()
	w := s.waiting
	s.mu.Unlock()
	switch {
	case !waits && persistID != nil:
		return refuse("invalid-value", "no commit waits for this persist-id", "bad-element", "persist-id")
	case !waits || w.id != id:
		return nil
	case persistID != nil && persistID.value() != w.persist:
		return refuse("invalid-value", "the commit that waits has another persist-id", "bad-element", "persist-id")
	case persistID == nil && (w.persist != "" || w.session != ss.who.ID):
		return refuse("in-use", fmt.Sprintf("the commit of session %d waits to be confirmed", w.session))
	}
	return nil
}

func (ss *session) cancelCommit(_ *bytes.Buffer, op *element) error {
	s := ss.server
	s.changing.Lock()
	defer s.changing.Unlock()
	if err := ss.free(running); err != nil {
		return err
	}
	if _, waits := s.appliance.Unconfirmed(); !waits && op.kid("persist-id") == nil {
		return refuse("operation-failed", "no commit waits to be confirmed")
	}
	if err := ss.confirms(op.kid("persist-id")); err != nil {
		return err
	}
	if err := ss.may("commit ns config"); err != nil {
		return err
	}
	return s.appliance.Cancel(ss.who)
}
