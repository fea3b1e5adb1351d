package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// enter is a start in a slot, as management does it.
func enter(t *testing.T, dir, slot string) (*Store, string, bool) {
	t.Helper()
	s, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	left, restored, err := s.EnterSlot(slot, Manifest{})
	if err == nil {
		_, err = s.FinishRestore()
	}
	if err != nil {
		t.Fatal(err)
	}
	return s, left, restored
}

func saved(t *testing.T, s *Store, name string) {
	t.Helper()
	if err := s.Save(servers(name), Meta{By: "x"}); err != nil {
		t.Fatal(err)
	}
	putFile(t, s.dir, "ssl/a.pem", name, 0o600)
}

func loads(t *testing.T, s *Store, where, want string) {
	t.Helper()
	c, problems, err := s.Load()
	if err != nil || len(problems) > 0 || names(c) != want {
		t.Errorf("%s: %q, want %q: %v %v", where, names(c), want, problems, err)
	}
	holds(t, s.dir, "ssl/a.pem", want)
}

// TestSlotsHaveTheirOwnConfigurations: a new image goes on with what is there, and each way between two slots brings back what the slot
// was left with.
func TestSlotsHaveTheirOwnConfigurations(t *testing.T) {
	dir := t.TempDir()
	s, left, restored := enter(t, dir, "A")
	if left != "" || restored {
		t.Errorf("the first start: %q %v", left, restored)
	}
	saved(t, s, "a1")
	if s, left, restored = enter(t, dir, "A"); left != "" || restored {
		t.Errorf("the second start: %q %v", left, restored)
	}
	loads(t, s, "A", "a1")
	if s, left, restored = enter(t, dir, "B"); left != "A" || restored || s.SlotKept("A").IsZero() || !s.SlotKept("B").IsZero() {
		t.Errorf("a new image: %q %v", left, restored)
	}
	loads(t, s, "B", "a1")
	saved(t, s, "b1")
	if s, left, restored = enter(t, dir, "A"); left != "B" || !restored {
		t.Errorf("the way back: %q %v", left, restored)
	}
	loads(t, s, "A again", "a1")
	saved(t, s, "a2")
	if s, left, restored = enter(t, dir, "B"); left != "A" || !restored {
		t.Errorf("and forth: %q %v", left, restored)
	}
	loads(t, s, "B again", "b1")
	if s, _, _ = enter(t, dir, "A"); true {
		loads(t, s, "A for the third time", "a2")
	}
	name, err := s.RetireSlot("B")
	if err != nil || !strings.HasPrefix(name, "slot_B_") {
		t.Fatal(name, err)
	}
	if none, err := s.RetireSlot("B"); none != "" || err != nil {
		t.Error(none, err)
	}
	if a, err := s.ReadBackup(name, nil); err != nil || string(a.File("ssl/a.pem")) != "b1" {
		t.Errorf("the backup: %v", err)
	}
	if s, _, restored = enter(t, dir, "B"); restored {
		t.Error("another image in B has a configuration of before")
	}
	loads(t, s, "another image in B", "a2")
}

// TestSlotWithoutAStartupFile: commands that stand for it are kept as what they mean, and a damaged copy stops nobody.
func TestSlotWithoutAStartupFile(t *testing.T) {
	dir := t.TempDir()
	enter(t, dir, "A")
	s, _, _ := enter(t, dir, "B")
	saved(t, s, "b1")
	s, _, restored := enter(t, dir, "A")
	if c, _, err := s.Load(); err != nil || names(c) != "" || !restored {
		t.Errorf("%q %v", names(c), err)
	}
	putFile(t, dir, slotArchive("B"), "junk", 0o600)
	left, restored, err := s.EnterSlot("B", Manifest{})
	if left != "A" || restored || err == nil || !strings.Contains(err.Error(), "The configuration that is kept for slot B cannot be used, what slot A has left goes on: it is no backup") {
		t.Error(left, restored, err)
	}
	if owner, err := s.slotOwner(); owner != "B" || err != nil {
		t.Error(owner, err)
	}
}

// enterAt is a start in the slot that the environment names, which is killed on the way.
func enterAt(dir string) {
	s, err := Open(dir)
	if err != nil {
		fmt.Println(err)
		os.Exit(2)
	}
	did := s.deadly()
	fmt.Println("enter")
	_, _, err = s.EnterSlot(os.Getenv("STORE_TEST_SLOT"), Manifest{})
	did(err)
	fmt.Println("finish")
	_, err = s.FinishRestore()
	did(err)
	os.Exit(0)
}

// TestSlotsKilledAtEveryStep: the machine dies at each step of a start in the other slot. Whichever slot is started then has its own
// configuration, whole.
func TestSlotsKilledAtEveryStep(t *testing.T) {
	for _, next := range []string{"A", "B"} {
		n := 1
		for ; ; n++ {
			dir := t.TempDir()
			s, _, _ := enter(t, dir, "B")
			saved(t, s, "b1")
			s, _, _ = enter(t, dir, "A")
			saved(t, s, "a1")
			during, killed := killedAt(t, "enter", dir, n, "STORE_TEST_SLOT=B")
			if !killed {
				break
			}
			where := fmt.Sprintf("step %d, %s, then %s", n, during, next)
			s, _, _ = enter(t, dir, next)
			loads(t, s, where, strings.ToLower(next)+"1")
			other := string('A' + 'B' - next[0])
			s, _, _ = enter(t, dir, other)
			loads(t, s, where+", then "+other, strings.ToLower(other)+"1")
		}
		if n < 15 {
			t.Errorf("only %d steps", n-1)
		}
	}
}

// TestSlotOnAFullDisk: what cannot be kept is not replaced.
func TestSlotOnAFullDisk(t *testing.T) {
	dir := t.TempDir()
	s, _, _ := enter(t, dir, "B")
	saved(t, s, "b1")
	s, _, _ = enter(t, dir, "A")
	saved(t, s, "a1")
	full := errors.New("no space left on device")
	s.disk = failing(s.disk, func(name string) error {
		if name == "write" || name == "create" {
			return full
		}
		return nil
	})
	if left, restored, err := s.EnterSlot("B", Manifest{}); left != "A" || restored || !errors.Is(err, full) {
		t.Error(left, restored, err)
	}
	s, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	loads(t, s, "after it", "a1")
	if _, err := os.Stat(filepath.Join(dir, RestoreDir)); err == nil {
		t.Error("files are laid ready")
	}
}
