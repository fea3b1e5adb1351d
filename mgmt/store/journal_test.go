package store

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"sluice/vendor-config/schema"
)

// keep notes the servers and waits until the journal is written.
func keep(t *testing.T, s *Store, names ...string) {
	t.Helper()
	s.Note(servers(names...))
	if !s.writeNoted() {
		t.Fatal(s.JournalTrouble())
	}
}

// restored is what a management that starts in the same directory goes on with; "" is the startup file.
func restored(t *testing.T, s *Store, boot string) (string, error) {
	t.Helper()
	next, err := Open(s.dir)
	if err != nil {
		t.Fatal(err)
	}
	if boot != "" {
		next.journal.path = filepath.Join(t.TempDir(), "boot_id")
		if err := os.WriteFile(next.journal.path, []byte(boot+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := next.Load(); err != nil {
		t.Fatal(err)
	}
	c, problems, err := next.Restore()
	if c == nil {
		return "", err
	}
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	return names(c), err
}

func TestJournal(t *testing.T) {
	s := open(t)
	if got, err := restored(t, s, ""); got != "" || err != nil {
		t.Fatalf("without a journal: %q, %v", got, err)
	}
	keep(t, s, "a")
	if got, err := restored(t, s, ""); got != "a" || err != nil {
		t.Fatalf("nothing saved: %q, %v", got, err)
	}
	if got, err := restored(t, s, "another-boot"); got != "" || err != nil {
		t.Fatalf("after a start of the machine: %q, %v", got, err)
	}
	save(t, s, "a")
	if !s.writeNoted() { // the save has asked for it
		t.Fatal(s.JournalTrouble())
	}
	if got, err := restored(t, s, ""); got != "a" || err != nil {
		t.Fatalf("saved: %q, %v", got, err)
	}
	keep(t, s, "a", "b")
	if got, err := restored(t, s, ""); got != "a b" || err != nil {
		t.Fatalf("changed since the save: %q, %v", got, err)
	}
	if got := loaded(t, s); got != "a" {
		t.Fatalf("the journal has touched the startup file: %q", got)
	}
	write(t, s, doc(server("z")))
	if got, err := restored(t, s, ""); got != "" || !errors.Is(err, ErrReplaced) {
		t.Fatalf("edited by hand: %q, %v", got, err)
	}
	if got, err := restored(t, s, ""); got != "" || err != nil {
		t.Fatalf("the next time it is no news: %q, %v", got, err)
	}
}

func TestDamagedJournal(t *testing.T) {
	for name, bend := range map[string]func([]byte) []byte{
		"empty":     func([]byte) []byte { return nil },
		"cut off":   func(b []byte) []byte { return b[:len(b)-20] },
		"zeros":     func(b []byte) []byte { return make([]byte, len(b)) },
		"bad value": func(b []byte) []byte { return []byte(strings.Replace(string(b), "<server>", "<<server>", 1)) },
	} {
		s := open(t)
		keep(t, s, "a", "b")
		path := filepath.Join(s.dir, JournalFile)
		data, err := os.ReadFile(path)
		if err == nil {
			err = os.WriteFile(path, bend(data), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		got, err := restored(t, s, "")
		if got != "" || err == nil || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), "it is damaged") {
			t.Errorf("%s: %q, %v", name, got, err)
		}
		if _, err := os.Stat(filepath.Join(s.dir, unusedJournal)); err != nil || !slices.Contains(Private, unusedJournal) {
			t.Errorf("%s: %v, private are %q", name, err, Private)
		}
	}
}

// TestJournalGathers: what is noted while the journal is being written is written as one, the last of it always.
func TestJournalGathers(t *testing.T) {
	s := open(t)
	writes := 0
	s.disk = failing(s.disk, func(step string) error {
		if step == "create" {
			writes++
		}
		return nil
	})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { s.Journal(ctx); close(done) }()
	began := time.Now()
	for range 1000 {
		s.Note(servers("x"))
	}
	s.Note(servers("last"))
	if took := time.Since(began); took > time.Second {
		t.Errorf("noting takes %s", took)
	}
	cancel()
	<-done
	if got, err := restored(t, s, ""); got != "last" || err != nil || writes > 5 {
		t.Errorf("%q after %d writes, %v", got, writes, err)
	}
}

// TestJournalMeetsAFullDisk: it is told, and written as soon as there is room.
func TestJournalMeetsAFullDisk(t *testing.T) {
	s := open(t)
	full := s.disk
	s.disk = failing(full, func(string) error { return errDisk })
	s.Note(servers("a"))
	if s.writeNoted() || !errors.Is(s.JournalTrouble(), errDisk) {
		t.Fatalf("trouble %v", s.JournalTrouble())
	}
	s.disk = full
	if !s.writeNoted() || s.JournalTrouble() != nil {
		t.Fatalf("trouble %v", s.JournalTrouble())
	}
	if got, _ := restored(t, s, ""); got != "a" {
		t.Fatal(got)
	}
}

// TestJournalOfAnotherProgram: rows that are refused by now are told and the rest is in force.
func TestJournalOfAnotherProgram(t *testing.T) {
	s := open(t)
	keep(t, s, "a", "b")
	s.Check = func(c *schema.Config) error {
		if schema.Get[schema.Server](c, "b") != nil {
			return errors.New("no b here")
		}
		return nil
	}
	c, problems, err := s.Restore()
	if err != nil || c == nil || names(c) != "a" || len(problems) != 1 {
		t.Fatalf("%v, %v", problems, err)
	}
}

// TestOneOwner: a second management must not touch the directory of one that runs.
func TestOneOwner(t *testing.T) {
	s := open(t)
	if err := s.Own(); err != nil {
		t.Fatal(err)
	}
	other, err := Open(s.dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := other.Own(); !errors.Is(err, ErrOwned) || !strings.Contains(err.Error(), s.dir) {
		t.Fatal(err)
	}
	s.owned.Close() // as the kernel does when a program ends
	if err := other.Own(); err != nil {
		t.Fatal(err)
	}
}
