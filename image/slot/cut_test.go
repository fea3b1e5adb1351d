package slot

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"testing"
	"time"
)

// errCut is what everything returns once the power is gone.
var errCut = errors.New("the power is cut")

// cut is a disk whose power goes at one of its steps. Of what was written and not yet synced, each sector is then the old or the new one.
type cut struct {
	ops
	left  int // steps until then
	steps []string
	dice  *rand.Rand
	undo  map[string][]old
}

// old is what a sector held before it was written and not yet synced.
type old struct {
	at   int64
	data []byte
}

// step is one on the disk. half is what is done of it when the power goes.
func (c *cut) step(name string, half func()) error {
	if c.left <= 0 {
		return errCut
	}
	c.steps = append(c.steps, name)
	if c.left--; c.left > 0 {
		return nil
	}
	half()
	for name, undo := range c.undo {
		f, err := os.OpenFile(name, os.O_RDWR, 0)
		if err != nil {
			continue // removed since
		}
		for _, o := range undo {
			if c.dice.IntN(2) == 0 {
				f.WriteAt(o.data, o.at)
			}
		}
		f.Close()
	}
	return errCut
}

// perhaps does a step that is done whole or not at all.
func (c *cut) perhaps(do func() error) func() {
	return func() {
		if c.dice.IntN(2) == 0 {
			_ = do()
		}
	}
}

func (c *cut) whole(name string, do func() error) error {
	if err := c.step(name, c.perhaps(do)); err != nil {
		return err
	}
	return do()
}

// armed is a machine whose power goes at the n-th step.
func (m *machine) armed(n int, seed uint64) *cut {
	c := &cut{ops: m.ops, left: n, dice: rand.New(rand.NewPCG(seed, uint64(n))), undo: map[string][]old{}}
	m.ops.open = func(name string, flag int) (file, error) {
		if flag&(os.O_CREATE|os.O_TRUNC) == 0 {
			if c.left <= 0 {
				return nil, errCut
			}
		} else if err := c.step("open", func() {}); err != nil {
			return nil, err
		}
		f, err := c.ops.open(name, flag)
		return cutFile{f, c, name}, err
	}
	m.ops.remove = func(name string) error { return c.whole("remove", func() error { return c.ops.remove(name) }) }
	m.ops.rename = func(from, to string) error {
		return c.whole("rename", func() error { return c.ops.rename(from, to) })
	}
	m.ops.mkdir = func(name string) error { return c.whole("mkdir", func() error { return c.ops.mkdir(name) }) }
	m.ops.replace = func(name string, text []byte) error {
		return c.whole("replace", func() error { return c.ops.replace(name, text) })
	}
	return c
}

type cutFile struct {
	file
	c    *cut
	name string
}

func (f cutFile) remember(at, end int64) {
	for at -= at % sector; at < end; at += sector {
		data := make([]byte, sector)
		n, _ := f.ReadAt(data, at)
		f.c.undo[f.name] = append(f.c.undo[f.name], old{at, data[:n]})
	}
}

func (f cutFile) WriteAt(b []byte, at int64) (int, error) {
	if f.c.left > 0 {
		f.remember(at, at+int64(len(b)))
	}
	err := f.c.step("write", func() { _, _ = f.file.WriteAt(b, at) }) // some sectors of it are undone
	if err != nil {
		return 0, err
	}
	return f.file.WriteAt(b, at)
}

func (f cutFile) Truncate(size int64) error {
	return f.c.whole("truncate", func() error { return f.file.Truncate(size) })
}

func (f cutFile) Sync() error {
	if err := f.c.step("sync", func() {}); err != nil {
		return err
	}
	delete(f.c.undo, f.name)
	return nil // what a cut leaves is said by undo; the test's own disk need not write
}

// life is what a machine does between two starts; each is cut at each of its steps.
var lives = []struct {
	name    string
	before  func(m *machine) // without a cut
	life    func(m *machine) error
	perhaps Slot // may be started after it, besides A
	must    Slot // is started after the whole of it
	steps   int  // at least
}{
	{"install and switch", func(m *machine) {}, func(m *machine) error { _, err := m.install("1.1", 'b'); return err }, B, B, 18},
	{"install over an older one", func(m *machine) { m.fill(B, "0.9", 'z') }, func(m *machine) error { _, err := m.install("1.1", 'b'); return err }, B, B, 18},
	{"install over one that waits", func(m *machine) { m.must(m.install("1.0.5", 'x')) }, func(m *machine) error { _, err := m.install("1.1", 'b'); return err }, B, B, 18},
	{"take it back", func(m *machine) { m.must(m.install("1.1", 'b')) }, func(m *machine) error { _, err := m.Switch(A, "", time.Now(), 0); return err }, B, A, 3},
	{"keep", func(m *machine) { m.must(m.install("1.1", 'b')); m.grub() }, func(m *machine) error {
		t, err := m.Trial()
		if err != nil {
			return err
		}
		return m.Keep(t)
	}, B, B, 3},
	{"give up", func(m *machine) { m.must(m.install("1.1", 'b')); m.grub() }, func(m *machine) error {
		t, err := m.Trial()
		if err != nil {
			return err
		}
		return m.GiveUp(t, "no dataplane")
	}, A, A, 2},
	{"settle", func(m *machine) { m.must(m.install("1.1", 'b')); m.grub(); m.grub() }, func(m *machine) error {
		t, err := m.Trial()
		if err != nil {
			return err
		}
		_, err = m.Settle(t)
		return err
	}, A, A, 2},
}

func (m *machine) must(_ *Trial, err error) {
	m.t.Helper()
	if err != nil {
		m.t.Fatal(err)
	}
}

// TestPowerCutAtEveryStep: whatever was being done, the boot loader finds a slot with a whole image; the one that was running unless the
// other one was asked for. What is said of the last trial fits, and another image can be installed.
func TestPowerCutAtEveryStep(t *testing.T) {
	for _, l := range lives {
		for n := 1; ; n++ {
			m := newMachine(t)
			l.before(m)
			whole := m.ops
			c := m.armed(n, 7)
			err := l.life(m)
			m.ops = whole
			if err == nil { // it came to its end before
				if at := m.grub(); at != l.must {
					t.Errorf("%s: %s is started after it", l.name, at)
				}
				if n <= l.steps {
					t.Errorf("%s: only %d steps: %v", l.name, n-1, c.steps)
				}
				break
			}
			if c.left > 0 {
				t.Fatalf("%s: %v", l.name, err)
			}
			m.survives(n%3 == 0, fmt.Sprintf("%s, step %d (%s)", l.name, n, c.steps[len(c.steps)-1]), l.perhaps)
		}
	}
}

// survives looks at a machine after a cut; again: another image is installed, too.
func (m *machine) survives(again bool, where string, perhaps Slot) {
	m.t.Helper()
	at := m.grub()
	if at != A && at != perhaps {
		m.t.Fatalf("%s: %s is started", where, at)
	}
	if _, err := m.Verify(at); err != nil {
		m.t.Fatalf("%s: %v", where, err)
	}
	tr, err := m.Trial()
	if err != nil {
		m.t.Fatalf("%s: %v", where, err)
	}
	current, err := m.Current(at)
	if err != nil {
		m.t.Fatalf("%s: %v", where, err)
	}
	switch {
	case at == B && (tr == nil || tr.Slot != B || !current && tr.Outcome != Trying):
		m.t.Fatalf("%s: B is started, and nothing says why: %s", where, text(tr))
	case at == B:
		if err := m.Keep(tr); err != nil {
			m.t.Fatalf("%s: %v", where, err)
		}
	case tr != nil && tr.Outcome == Returned:
		if _, err := m.Settle(tr); err != nil {
			m.t.Fatalf("%s: %v", where, err)
		}
	case tr != nil && tr.Outcome != Withdrawn:
		m.t.Fatalf("%s: A is started, and the trial is %s", where, text(tr))
	}
	if next := m.grub(); next != at {
		m.t.Fatalf("%s: %s is started after %s", where, next, at)
	}
	if !again {
		return
	}
	m.must(m.install("1.2", 'c'))
	if next := m.grub(); next != at.Other() {
		m.t.Fatalf("%s: the next image is not tried", where)
	}
}
