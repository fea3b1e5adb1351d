package store

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"sluice/mgmt/render"
	"sluice/vendor-config/schema"
)

// JournalFile is the name of the journal, the running configuration as it was last noted.
const JournalFile = "running.xml"

// unusedJournal is where a journal goes that was due and could not be used.
const unusedJournal = JournalFile + ".unused"

// bootID is the kernel's name of this run of the machine.
const bootID = "/proc/sys/kernel/random/boot_id"

const (
	// journalPause is the least time between two writes of the journal; what is noted in between is written as one.
	journalPause = 100 * time.Millisecond
	// journalShare bounds the time spent on writing: after each write as many times its length is paused.
	journalShare = 4
	// journalRetry is the time to the next attempt after one that failed.
	journalRetry = time.Second
)

// journal is what is to be written and what became of it.
type journal struct {
	path  string        // of the boot id
	news  chan struct{} // there is something to write
	next  *schema.Config
	noted *schema.Config // the last, for who changes the startup file
	err   error          // of the last write

	versions []kept // for the history
}

// ErrReplaced says that the startup file was changed by someone else since the journal was written.
var ErrReplaced = errors.New("the startup configuration was changed by hand since, and is in force")

// Note makes c what the journal is to hold. It never waits; Journal does the writing.
func (s *Store) Note(c *schema.Config) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.note(c)
}

func (s *Store) note(c *schema.Config) {
	s.journal.next, s.journal.noted = c, c
	s.wake()
}

// wake has Journal write what there is to write; it never waits.
func (s *Store) wake() {
	select {
	case s.journal.news <- struct{}{}:
	default:
	}
}

// Journal writes what is noted until ctx ends, and what is still to be written then.
func (s *Store) Journal(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			s.writeNoted()
			return
		case <-s.journal.news:
		}
		began := time.Now()
		pause := journalRetry
		if s.writeNoted() {
			pause = max(journalPause, journalShare*time.Since(began))
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
}

// JournalTrouble is why the journal or the history does not hold the running configuration, or nil.
func (s *Store) JournalTrouble() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.journal.err
}

// Flush writes what is noted and waits until it is written.
func (s *Store) Flush() error {
	s.writeNoted()
	return s.JournalTrouble()
}

// writeNoted writes what is to be written, if anything.
func (s *Store) writeNoted() (ok bool) {
	s.writing.Lock()
	defer s.writing.Unlock()
	s.mu.Lock()
	c, sum := s.journal.next, s.sum
	s.journal.next = nil
	s.mu.Unlock()
	var err error
	if c != nil {
		if err = s.writeJournal(c, sum); err != nil {
			err = fmt.Errorf("changes that are not saved would not survive a restart of management: %w", err)
		}
		if e := s.writeHistory(); err == nil {
			err = e
		}
	}
	did := c != nil
	if err == nil {
		var drafted bool
		drafted, err = s.writeDraft()
		did = did || drafted
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if did {
		s.journal.err = err
	}
	if err == nil {
		return true
	}
	if c != nil && s.journal.next == nil {
		s.note(c)
	}
	s.wake() // to try again
	return false
}

func (s *Store) writeJournal(c *schema.Config, sum string) error {
	boot, err := s.boot()
	if err != nil {
		return err
	}
	text, err := s.writer.Text(c, nil, Meta{})
	if err != nil {
		return err
	}
	// A power cut that loses the name makes the journal void anyway.
	return s.put(JournalFile, slices.Insert(text, 1, []byte(journalHead(boot, sum))))
}

func journalHead(boot, sum string) string {
	return fmt.Sprintf("<?sluice-journal boot=%q startup=%q?>\n", boot, sum)
}

// boot tells which run of the machine this is.
func (s *Store) boot() (string, error) {
	b, err := os.ReadFile(s.journal.path)
	if err != nil {
		return "", fmt.Errorf("the run of the machine is not known: %w", err)
	}
	return strings.TrimSpace(string(b)), nil
}

// sumOf names the content of a file.
func sumOf(data []byte) string { return sumOfText(render.Text{data}) }

func sumOfText(text render.Text) string {
	h := sha256.New()
	_, _ = text.WriteTo(h) // which cannot fail
	return hex.EncodeToString(h.Sum(nil))
}

// Restore reads the journal for a management that was restarted while the machine went on. It returns nil when the
// startup configuration is to be used: there is no journal, the machine was restarted since, or the startup file is
// another one than when the journal was written. Load must have been called before. The error says why a journal that
// was due cannot be used; it is put aside as running.xml.unused, as is one of which some rows could not be used.
func (s *Store) Restore() (*schema.Config, []Problem, error) {
	name := filepath.Join(s.dir, JournalFile)
	data, err := readLimited(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, fmt.Errorf("the journal %s is not used: %w", name, err)
	}
	boot, err := s.boot()
	if err != nil {
		return nil, nil, fmt.Errorf("the journal %s is not used: %w", name, err)
	}
	s.mu.Lock()
	sum := s.sum
	s.mu.Unlock()
	whole := []byte(render.Head + journalHead(boot, sum))
	switch {
	case bytes.HasPrefix(data, whole):
		r := render.ReadXML(data, render.Options{Check: s.Check, Own: true})
		if r.Newer != nil {
			err = r.Newer
			break
		}
		if !r.Torn {
			return r.Config, nil, nil
		}
		if len(r.Held) == len(r.Problems) { // rows that do not fit this program or the appliance's addresses any more
			return r.Config, r.Problems, os.Rename(name, filepath.Join(s.dir, unusedJournal))
		}
		err = errors.New("it is damaged")
	case bytes.HasPrefix(data, []byte(render.Head+"<?sluice-journal boot=\""+boot+"\"")):
		err = ErrReplaced
	case bytes.HasPrefix(data, []byte(render.Head+"<?sluice-journal boot=\"")):
		return nil, nil, nil // of an earlier run of the machine
	default:
		err = errors.New("it is damaged")
	}
	return nil, nil, s.putAside(JournalFile, unusedJournal, fmt.Errorf("the journal %s is put aside as %s: %w", name, unusedJournal, err))
}
