// Package candidate holds the configuration that is being prepared before it comes in force, one for all operators, and sees to
// it that a commit which nobody confirms is undone. The running configuration is the engine's, files are the store's.
package candidate

import (
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"sluice/mgmt/compile"
	"sluice/mgmt/engine"
	"sluice/mgmt/store"
	"sluice/vendor-config/schema"
)

// Engine owns the running configuration.
type Engine interface {
	Snapshot() (c *schema.Config, s *compile.State, number uint64, by string, at time.Time)
	Check(c *schema.Config) error
	Commit(who engine.Author, change func(*schema.Config) error) (engine.Result, error)
}

// Files keep the candidate and the way back.
type Files interface {
	NoteDraft(d *store.Draft) // nil: there is none
	KeepReturn(r *store.Return) error
	DropReturn() error
	Flush() error // what is in force is on the disk when it returns
}

// ErrMoved is the answer to a commit of a candidate that began from another configuration than the one in force.
var ErrMoved = errors.New("The running configuration has changed since the candidate was begun: give rebase to carry the candidate's changes over, or discard")

// Candidate is the configuration that is being prepared.
type Candidate struct {
	engine Engine
	files  Files
	log    *slog.Logger
	clock  func() time.Duration // since the machine has started

	mu      sync.Mutex
	passing bool           // it ends with the session that works on it, see EditPassing
	config  *schema.Config // nil: there is none, and the next change begins with the running one
	base    *schema.Config // the running configuration that it began from
	version uint64         // of base
	by      string         // who has begun it
	at      time.Time

	undo  *store.Return // what comes back unless it is confirmed, or nil
	alarm *time.Timer
}

// New returns an empty candidate.
func New(e Engine, f Files, log *slog.Logger) *Candidate {
	return &Candidate{engine: e, files: f, log: log, clock: store.SinceStart}
}

// State tells of the candidate and of the commit that waits.
type State struct {
	Config  *schema.Config // the candidate, or running if there is none
	Running *schema.Config
	Begun   bool
	Version uint64 // of running when it was begun
	Moved   bool   // running is another one by now
	By      string // who has begun it
	At      time.Time

	Unconfirmed bool
	Left        time.Duration  // until the commit is undone
	Undo        uint64         // the version that comes back then
	Return      *schema.Config // which is this
	Committed   string         // by whom
}

// State is what there is at the moment.
func (c *Candidate) State() State {
	c.mu.Lock()
	defer c.mu.Unlock()
	running, _, number, _, _ := c.engine.Snapshot()
	s := State{Config: running, Running: running, Version: number}
	if c.config != nil {
		s.Config, s.Begun, s.Version, s.By, s.At = c.config, true, c.version, c.by, c.at
		s.Moved = !running.Equal(c.base)
	}
	if c.undo != nil {
		s.Unconfirmed, s.Left, s.Undo, s.Committed = true, max(c.undo.Until-c.clock(), 0), c.undo.Version, c.undo.By
		s.Return = c.undo.Config
	}
	return s
}

// Edit changes the candidate, all or nothing. The first change begins it with the running configuration.
func (c *Candidate) Edit(who engine.Author, change func(*schema.Config) error) error {
	return c.edit(who, change, false)
}

// EditPassing is Edit by a session that has locked the candidate, with whose end the candidate goes (RFC 6241, 7.5): it does not
// outlive management.
func (c *Candidate) EditPassing(who engine.Author, change func(*schema.Config) error) error {
	return c.edit(who, change, true)
}

func (c *Candidate) edit(who engine.Author, change func(*schema.Config) error, passing bool) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	running, _, number, _, _ := c.engine.Snapshot()
	from := c.config
	if from == nil {
		from = running
	}
	next := from.Clone()
	if err := change(next); err != nil {
		return err
	}
	if c.config == nil {
		c.base, c.version, c.by, c.at = running, number, who.User, time.Now()
	}
	c.config, c.passing = next, passing
	c.note()
	return nil
}

// note has the candidate written to the disk as it is. The caller holds mu.
func (c *Candidate) note() {
	if c.config == nil || c.passing {
		c.files.NoteDraft(nil)
		return
	}
	c.files.NoteDraft(&store.Draft{Config: c.config, Base: c.base, Version: c.version, By: c.by, At: c.at})
}

// Continue goes on with the candidate that an earlier run of management has left; it tells whether there is anything to go on with:
// one that has come in force meanwhile is over.
func (c *Candidate) Continue(d *store.Draft) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	running, _, _, _, _ := c.engine.Snapshot()
	if d.Config.Equal(running) {
		c.note()
		return false
	}
	c.config, c.base, c.version, c.by, c.at = d.Config, d.Base, d.Version, d.By, d.At
	return true
}

// Discard drops the candidate; it tells whether there was one.
func (c *Candidate) Discard() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	was := c.config != nil
	c.config, c.base = nil, nil
	if was {
		c.note()
	}
	return was
}

// Validate tells why the candidate cannot be put in force, or nil.
func (c *Candidate) Validate() error { return c.engine.Check(c.State().Config) }

// Rebase carries the candidate's changes over to what is running by now.
func (c *Candidate) Rebase() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.config == nil {
		return errNone("rebase")
	}
	running, _, number, _, _ := c.engine.Snapshot()
	next, clash := schema.Rebase(c.base, c.config, running)
	if clash != "" {
		return schema.Refuse(schema.NotPermitted, "rebase").Because(clash + " was changed in the candidate and in the running configuration: discard, and make the change anew")
	}
	c.config, c.base, c.version = next, running, number
	c.note()
	return nil
}

func errNone(what string) error {
	return schema.Refuse(schema.NotPermitted, what).Because("there is no candidate, load config begins one")
}

// Commit puts the candidate in force and confirms the commit that waits, if one does.
func (c *Candidate) Commit(who engine.Author) (engine.Result, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.config == nil && c.undo == nil {
		return engine.Result{}, errNone("commit")
	}
	r, err := c.commit(who)
	if err != nil {
		return r, err
	}
	return r, c.confirm(who)
}

// commit puts the candidate in force, if there is one. The caller holds mu.
func (c *Candidate) commit(who engine.Author) (engine.Result, error) {
	if c.config == nil {
		return engine.Result{}, nil
	}
	if running, _, _, _, _ := c.engine.Snapshot(); !running.Equal(c.base) {
		return engine.Result{}, ErrMoved
	}
	if err := c.engine.Check(c.config); err != nil {
		return engine.Result{}, err
	}
	base, next := c.base, c.config
	r, err := c.engine.Commit(who, func(running *schema.Config) error {
		if !running.Equal(base) {
			return ErrMoved
		}
		running.Replace(next)
		return nil
	})
	if err == nil {
		c.config, c.base = nil, nil
		c.note()
	}
	return r, err
}

// Confirmed puts the candidate in force; unless Commit follows within the time, everything that has changed since is undone.
// The way back is on the disk before anything changes. While a commit waits already it begins its time anew and keeps its
// way back (RFC 6241, 8.4.1).
func (c *Candidate) Confirmed(who engine.Author, within time.Duration) (engine.Result, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.config == nil && c.undo == nil {
		return engine.Result{}, errNone("commit confirmed")
	}
	// What was typed in the last moment is on the disk before the way back is: a restart never goes beyond it.
	if err := c.files.Flush(); err != nil {
		return engine.Result{}, fmt.Errorf("Nothing was changed, since the way back cannot be kept: %w", err)
	}
	before := c.undo
	running, _, number, _, _ := c.engine.Snapshot()
	undo := &store.Return{Config: running, Version: number}
	if before != nil {
		undo = &store.Return{Config: before.Config, Version: before.Version}
	}
	undo.Until, undo.By, undo.At = c.clock()+within, who.User, time.Now()
	if err := c.files.KeepReturn(undo); err != nil {
		return engine.Result{}, errors.Join(fmt.Errorf("Nothing was changed, since the way back cannot be kept: %w", err), c.keep(before))
	}
	r, err := c.commit(who)
	if err != nil {
		return r, errors.Join(err, c.keep(before))
	}
	c.wait(undo)
	if err := c.files.Flush(); err != nil {
		r.Warnings = append(r.Warnings, err.Error())
	}
	return r, nil
}

// keep makes the way back on the disk be the one of before.
func (c *Candidate) keep(before *store.Return) error {
	if before == nil {
		return c.files.DropReturn()
	}
	return c.files.KeepReturn(before)
}

// confirm makes the commit that waits final. The caller holds mu.
func (c *Candidate) confirm(who engine.Author) error {
	if c.undo == nil {
		return nil
	}
	if err := c.files.Flush(); err != nil { // or a restart would begin with what was before
		return fmt.Errorf("The commit is not confirmed: %w", err)
	}
	if err := c.files.DropReturn(); err != nil {
		return fmt.Errorf("The commit is not confirmed: %w", err)
	}
	c.log.Info("commit confirmed", "user", who.User, "source", who.Source)
	c.forget()
	return nil
}

// forget ends the waiting.
func (c *Candidate) forget() {
	c.undo = nil
	if c.alarm != nil {
		c.alarm.Stop()
	}
}
