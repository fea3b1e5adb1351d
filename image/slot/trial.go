package slot

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"sluice/image/record"
)

// ConfigDir is the folder of the configuration partition with what belongs to slots.
const ConfigDir = "config/slots"

// trialFile is in it the record of the last trial.
const trialFile = "trial.json"

// Outcome is what became of a trial.
type Outcome string

// The outcomes.
const (
	Waiting   Outcome = ""          // for the next start
	Trying    Outcome = "trying"    // it runs, and is not found healthy yet
	Kept      Outcome = "kept"      // it was healthy, and is what is started
	Returned  Outcome = "returned"  // it was not, and what ran before runs again
	Withdrawn Outcome = "withdrawn" // somebody thought better of it before the start
)

// Trial is one start of the other slot that is returned from unless it turns out well.
type Trial struct {
	Slot        Slot      `json:"slot"`
	Version     string    `json:"version"`
	From        Slot      `json:"from"`
	FromVersion string    `json:"from-version"`
	By          string    `json:"by"`
	At          time.Time `json:"at"`
	Boot        string    `json:"boot"`     // the kernel's name for the run of the machine in which it was asked for
	Problems    int       `json:"problems"` // of the startup configuration in it: the slot that is tried may have as many
	Outcome     Outcome   `json:"outcome,omitempty"`
	Why         string    `json:"why,omitempty"` // it returned
}

// silent is why a slot returned that did not live to say it.
const silent = "it did not come up: it did not start, hung, or lost power before it was found healthy"

// Trial is the last trial and what became of it, or nil.
func (d *Disk) Trial() (*Trial, error) {
	text, err := os.ReadFile(d.path(filepath.Join(ConfigDir, trialFile)))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var t Trial
	if err == nil {
		err = json.Unmarshal(text, &t)
	}
	if err != nil {
		return nil, fmt.Errorf("what became of the last trial of an image cannot be read: %w", plain(err))
	}
	running, err := d.Running()
	if err != nil || t.Outcome != Waiting || t.Boot == d.bootID() {
		return &t, nil
	}
	if t.Outcome = Trying; running != t.Slot {
		if t.Outcome = Returned; t.Why == "" {
			t.Why = silent
		}
	}
	return &t, nil
}

// keep writes the record.
func (d *Disk) keep(t *Trial) error {
	if t.Outcome == Trying { // what follows from the run of the machine is not written
		t.Outcome = Waiting
	}
	text, err := json.MarshalIndent(t, "", " ")
	if err != nil {
		return err
	}
	if err := d.ops.mkdir(d.path(ConfigDir)); err != nil {
		return err
	}
	return d.ops.replace(d.path(filepath.Join(ConfigDir, trialFile)), append(text, '\n'))
}

// replace is the real step of it.
func replace(name string, text []byte) error { return record.Put(name, text) }

// Switch has the next start try the image of a slot, which is read whole first. For the slot that runs it takes back what was
// asked for.
func (d *Disk) Switch(to Slot, by string, at time.Time, problems int) (*Trial, error) {
	running, err := d.Running()
	if err != nil {
		return nil, err
	}
	unlock, err := d.lock("slot.lock", unix.LOCK_NB)
	if err != nil {
		return nil, err
	}
	defer unlock()
	if err := d.untried(running); err != nil {
		return nil, err
	}
	if to == running {
		return nil, d.withdraw(running)
	}
	m, err := d.Verify(to)
	if err != nil {
		return nil, err
	}
	r, err := d.Release()
	if err != nil {
		return nil, err
	}
	t := &Trial{Slot: to, Version: m.Version, From: running, FromVersion: r.Version, By: by, At: at.UTC().Truncate(time.Second), Boot: d.bootID(), Problems: problems}
	if err := d.keep(t); err != nil { // first: who is tried must find it
		return nil, fmt.Errorf("Slot %s stays what is started: %w", running, plain(err))
	}
	err = d.Change(func(e *Env) error {
		e.boot(running)
		e.try(to)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("Slot %s stays what is started: %w", running, plain(err))
	}
	return t, nil
}

// withdraw takes back a trial that waits.
func (d *Disk) withdraw(running Slot) error {
	if err := d.Change(func(e *Env) error { e.boot(running); return nil }); err != nil {
		return err
	}
	t, err := d.Trial()
	if err != nil || t == nil || t.Outcome != Waiting {
		return err
	}
	t.Outcome = Withdrawn
	return d.keep(t)
}

// Keep makes the slot that runs and is tried what is started.
func (d *Disk) Keep(t *Trial) error {
	if err := d.Change(func(e *Env) error { e.boot(t.Slot); return nil }); err != nil {
		return err
	}
	t.Outcome, t.Why = Kept, ""
	return d.keep(t)
}

// GiveUp notes why the slot that runs is not kept. The next start is that of the slot before.
func (d *Disk) GiveUp(t *Trial, why string) error {
	t.Outcome, t.Why = Waiting, why
	return errors.Join(d.keep(t), d.Change(func(e *Env) error { e.boot(t.From); return nil }))
}

// Settle writes down what became of a trial that returned; first tells that this had not been done yet.
func (d *Disk) Settle(t *Trial) (first bool, err error) {
	text, err := os.ReadFile(d.path(filepath.Join(ConfigDir, trialFile)))
	var was Trial
	if err == nil && json.Unmarshal(text, &was) == nil && was.Outcome == t.Outcome {
		return false, nil
	}
	return true, errors.Join(d.keep(t), d.Change(func(e *Env) error { e.boot(t.From); return nil }))
}

// Current tells whether the slot is what is started as things stand.
func (d *Disk) Current(s Slot) (is bool, err error) {
	err = d.withESP(func(esp string) error {
		e, _, err := d.readEnv(esp)
		is = e.current() == s
		return err
	})
	return is, err
}
