// Package store keeps the startup configuration on disk: one XML file with NETCONF `<config>` content (package render),
// written atomically and read with forgiveness. It also keeps earlier versions. It decides nothing about the
// running configuration and knows neither commands nor the dataplane.
//
// Beside it lies a journal, running.xml: the running configuration after the last change, saved or not. A management
// that ends and is started again goes on with it, so that a crash loses no change; a machine that is started again
// begins with startup.xml, as operators expect of changes that they have not saved. Which of the two has happened is
// told by the kernel's boot id, which the journal bears (/proc/sys/kernel/random/boot_id). The journal also bears the
// checksum of the startup.xml beside which it was written: with another one, someone has edited or replaced
// startup.xml by hand, and that is what they want. Changes are written within moments, many at once as one, and no
// change waits for it: a crash may lose those of about the last tenth of a second (longer with thousands of objects).
package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"sluice/mgmt/render"
	"sluice/vendor-config/schema"
)

// File is the name of the startup configuration in the store's directory. Earlier versions have .0 (the newest) to
// .9 behind it; originals that were damaged have .broken-1, .broken-2 and so on.
const File = "startup.xml"

// Private are the names in the store's directory that it alone reads and writes; an operator has commands for what they hold. Those
// with an end of their own are what could not be used and was put aside.
var Private = []string{
	JournalFile, unusedJournal, DraftFile, unusedDraft, MaintenanceFile, unusedMaintenance, ReturnFile, brokenReturn, RestoreDir, restoreMade, lockFile,
	SlotsDir,
}

// Commands is the name of a file of commands, as a device saves it. It is the startup configuration as long as there is no File:
// whoever brings one along copies it there, starts management and saves.
const Commands = "ns.conf"

// Versions is how many earlier versions are kept.
const Versions = 10

// ErrBusy is the answer to a save while another one runs.
var ErrBusy = errors.New("A configuration save is in progress")

// ErrOwned says that another management works on the directory.
var ErrOwned = errors.New("another management works on the configuration directory")

// Meta is what a saved file says about itself.
type Meta = render.Meta

// Problem is one thing in a startup file that could not be put in force.
type Problem = render.Problem

// Startup is what a startup file holds.
type Startup struct {
	Config   *schema.Config
	Problems []Problem
	Meta     Meta
}

// Store is the directory of the startup configuration.
type Store struct {
	// Check tests a whole configuration; rows that it refuses are held back one by one with its reason. It may be nil
	// and must be set before the first call.
	Check func(*schema.Config) error

	// Import reads a file of commands. It may be nil, and must be set before the first call.
	Import func(text []byte, check func(*schema.Config) error) (*schema.Config, []Problem)

	dir    string
	secret []string // names of files in it that are not read as configurations
	disk   disk
	owned  *os.File // see Own

	saving    sync.Mutex // held during a save
	returning bool       // there is a way back: see KeepReturn; guarded by saving
	mu        sync.Mutex
	seen      bool          // Load has looked at the file
	sum       string        // of the startup file's content when it was last read or written by us; "" if there is none
	torn      bool          // the file that was loaded holds text that a save would not write back
	held      []render.Held // what the file holds and is not in force

	commands bool // the file that was loaded is one of commands

	journal journal // guarded by mu
	drafts  drafts
	writer  render.Writer

	writing   sync.Mutex // held while the journal and the history are written, before mu
	sumOfLast string     // version of the history; guarded by writing
}

// Open prepares dir as a store, creating it when it is missing. Remains of a save that was cut off are removed.
func Open(dir string) (*Store, error) {
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return nil, fmt.Errorf("the configuration directory %s cannot be created: %w", dir, err)
	}
	s := &Store{dir: dir, disk: realDisk, journal: journal{path: bootID, news: make(chan struct{}, 1)}}
	unlock, err := lockDir(dir)
	if errors.Is(err, ErrBusy) {
		return s, nil // another program is writing; its temporary file is not ours to remove
	}
	if err != nil {
		return nil, fmt.Errorf("the configuration directory %s cannot be used: %w", dir, err)
	}
	defer unlock()
	left, _ := filepath.Glob(filepath.Join(dir, File+".tmp-*"))
	for _, f := range left {
		// A journal of the management that ends just now may have taken its own away.
		if err := os.Remove(f); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("the remains of an unfinished save cannot be removed: %w", err)
		}
	}
	return s, nil
}

// Dir is the store's directory.
func (s *Store) Dir() string { return s.dir }

// Path is where the startup configuration lies.
func (s *Store) Path() string { return filepath.Join(s.dir, File) }

// Load reads the startup configuration for the appliance to start with. Every row that is well-formed and valid is in
// the configuration; for everything else there is a problem. A missing file is an empty configuration. The error is
// for a file that exists and cannot be read at all; the configuration is then empty. What is not in force is
// remembered, and written back by Save.
func (s *Store) Load() (*schema.Config, []Problem, error) {
	r, err := s.read()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen, s.sum, s.torn, s.held, s.commands = true, r.sum, r.Torn || err != nil && !r.commands, r.Held, r.commands
	return r.Config, r.Problems, err
}

// Saved reads the startup file for display and changes nothing.
func (s *Store) Saved() (*Startup, error) {
	r, err := s.read()
	return &Startup{r.Config, r.Problems, r.Meta}, err
}

// Loaded is the name of the file that Load has read.
func (s *Store) Loaded() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.commands {
		return Commands
	}
	return File
}

// Forget drops the rows that are kept though they are not in force, so that the next save leaves them out. It returns
// how many there were.
func (s *Store) Forget() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := len(s.held)
	s.held = nil
	return n
}

// result is what the startup file holds.
type result struct {
	*render.Document
	sum      string // of the file's content
	commands bool   // the file is one of commands
}

func (s *Store) read() (*result, error) {
	data, err := readLimited(s.Path())
	nothing := &result{Document: &render.Document{Config: schema.New()}}
	switch {
	case errors.Is(err, os.ErrNotExist):
		return s.readCommands()
	case err != nil:
		return nothing, fmt.Errorf("the startup configuration %s cannot be read: %w", s.Path(), err)
	}
	r := &result{Document: render.ReadXML(data, render.Options{Check: s.Check, Own: true}), sum: sumOf(data)}
	if r.Newer != nil {
		nothing.Config, nothing.sum = render.Reachable(data), r.sum
		return nothing, fmt.Errorf("the startup configuration %s is not read, %w: start that release again, or save this configuration, which puts the file aside; only its NSIP and default route are in force", File, r.Newer)
	}
	for i, p := range r.Problems {
		if p.Reason == render.Empty {
			r.Problems[i].Reason += fmt.Sprintf("; earlier versions are in %s.0 to .%d", File, Versions-1)
		}
	}
	return r, nil
}

// readCommands reads the file of commands that stands for a startup file that is missing.
func (s *Store) readCommands() (*result, error) {
	r := &result{Document: &render.Document{Config: schema.New()}, commands: true}
	if s.Import == nil {
		r.commands = false
		return r, nil
	}
	name := filepath.Join(s.dir, Commands)
	data, err := readLimited(name)
	switch {
	case errors.Is(err, os.ErrNotExist):
		r.commands = false
		return r, nil
	case err != nil:
		return r, fmt.Errorf("the startup configuration %s cannot be read: %w", name, err)
	}
	r.Config, r.Problems = s.Import(data, s.Check)
	r.sum = sumOf(data)
	return r, nil
}

// Save writes c as the startup configuration. Until it has returned without error the file on disk is the earlier one,
// whole; afterwards it is the new one, and the earlier one is startup.xml.0. Two saves at once are refused (ErrBusy).
func (s *Store) Save(c *schema.Config, m Meta) error {
	if !s.saving.TryLock() {
		return ErrBusy
	}
	defer s.saving.Unlock()
	if s.returning {
		return ErrUnconfirmed
	}
	unlock, err := lockDir(s.dir)
	if err != nil {
		return notSaved(err)
	}
	defer unlock()
	s.mu.Lock()
	seen := s.seen
	s.mu.Unlock()
	if !seen { // nothing that the file holds may be lost, even by who never looked
		_, _, _ = s.Load() // a file that cannot be read is put aside below
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	kept := render.Outdated(s.held, c)
	data, err := s.writer.XML(c, kept, m)
	if err != nil {
		return notSaved(err)
	}
	if s.torn {
		if err := s.preserve(); err != nil {
			return notSaved(fmt.Errorf("the damaged %s cannot be put aside first: %w", File, err))
		}
		s.torn = false
	}
	if err := s.replace(data); err != nil {
		return notSaved(err)
	}
	s.held, s.sum = kept, sumOf(data)
	if s.journal.noted != nil {
		s.note(s.journal.noted) // beside the new startup file
	}
	return nil
}

func notSaved(err error) error {
	if errors.Is(err, ErrBusy) {
		return err
	}
	return fmt.Errorf("The configuration is not saved, the earlier startup configuration is unchanged: %w", err)
}
