package slot

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"sluice/image/bundle"
)

func TestUpgradeThatIsKept(t *testing.T) {
	m := newMachine(t)
	if s := m.state(); s.Running != A || s.Current != A || s.Tried != "" || s.Images[A].Version != "1.0" || s.Images[B].Manifest != nil || s.Trial != nil {
		t.Fatal(text(s))
	}
	if _, err := m.install("1.1", 'b'); err != nil {
		t.Fatal(err)
	}
	if s := m.state(); s.Running != A || s.Current != A || s.Tried != B || s.Images[B].Version != "1.1" || s.Trial.Outcome != Waiting || s.Trial.FromVersion != "1.0" {
		t.Fatal(text(s))
	}
	if at := m.grub(); at != B {
		t.Fatalf("%s is started", at)
	}
	tr, err := m.Trial()
	if err != nil || tr.Outcome != Trying {
		t.Fatal(text(tr), err)
	}
	_, err = m.install("1.2", 'c')
	has(t, "an upgrade in a trial", err, "Slot B is being tried")
	_, err = m.Switch(B, "nsroot", time.Now(), 0)
	has(t, "a switch in a trial", err, "Slot B is being tried")
	if err := m.Keep(tr); err != nil {
		t.Fatal(err)
	}
	if s := m.state(); s.Current != B || s.Trial.Outcome != Kept {
		t.Fatal(text(s))
	}
	if at := m.grub(); at != B {
		t.Fatalf("%s is started after B is kept", at)
	}
	m.put(ReleaseFile, `{"version":"1.1","flavour":"vm"}`)
	if _, err := m.Switch(A, "nsroot", time.Now(), 0); err != nil { // the way back
		t.Fatal(err)
	}
	if at := m.grub(); at != A {
		t.Fatalf("%s is started", at)
	}
	if got, err := m.Verify(B); err != nil || got.Version != "1.1" {
		t.Errorf("B after all that: %v %v", got, err)
	}
}

// TestUpgradeThatReturns: with a reason, and without one because it did not live to tell.
func TestUpgradeThatReturns(t *testing.T) {
	for _, why := range []string{"the dataplane does not come up", ""} {
		m := newMachine(t)
		if _, err := m.install("1.1", 'b'); err != nil {
			t.Fatal(err)
		}
		m.grub()
		if why != "" {
			tr, err := m.Trial()
			if err == nil {
				err = m.GiveUp(tr, why)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		for n := range 2 { // what is said once is said at the next start, too
			if at := m.grub(); at != A {
				t.Fatalf("%s is started", at)
			}
			tr, err := m.Trial()
			if err != nil || tr.Outcome != Returned || why != "" && tr.Why != why || why == "" && tr.Why != silent {
				t.Fatal(text(tr), err)
			}
			if first, err := m.Settle(tr); err != nil || first != (n == 0) {
				t.Fatal(first, err)
			}
		}
		if s := m.state(); s.Current != A || s.Tried != "" || s.Images[B].Version != "1.1" {
			t.Error(text(s))
		}
		if _, err := m.Switch(B, "nsroot", time.Now(), 0); err != nil || m.grub() != B { // once more
			t.Errorf("B cannot be tried again: %v", err)
		}
	}
}

func TestSwitchIsTakenBack(t *testing.T) {
	m := newMachine(t)
	if _, err := m.install("1.1", 'b'); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Switch(A, "nsroot", time.Now(), 0); err != nil {
		t.Fatal(err)
	}
	if s := m.state(); s.Tried != "" || s.Trial.Outcome != Withdrawn || m.grub() != A {
		t.Error(text(s))
	}
}

func TestInstallsThatAreRefused(t *testing.T) {
	m := newMachine(t)
	before := m.snapshot()
	refused := func(what, want string, data []byte) {
		t.Helper()
		_, err := m.Install(m.open(bytes.NewReader(data)))
		has(t, what, err, want)
		m.unchanged(what, before)
	}
	refused("another flavour", "The image is of flavour metal and this appliance of vm", m.bundle("1.1", "metal", 'b', 1000))
	refused("too large", "The image is too large: root.sqfs has 2 MiB, and slot B has room for 1 MiB", m.bundle("1.1", "vm", 'b', slotSize+1))
	room := m.ops.room
	m.ops.room = func(string) (int64, error) { return spare + 10_000, nil }
	refused("a full ESP", "The image is too large: kernel and initial RAM disk have 1 MiB", m.bundle("1.1", "vm", 'b', 1000))
	m.ops.room = room

	_, err := m.Switch(B, "nsroot", time.Now(), 0)
	has(t, "a switch to nothing", err, "There is no whole image in slot B: install one first")
	m.unchanged("a switch to nothing", before)

	unlock, err := m.lock("slot.lock", unix.LOCK_NB)
	if err != nil {
		t.Fatal(err)
	}
	refused("two at once", ErrBusy.Error(), m.bundle("1.1", "vm", 'b', 1000))
	unlock()

	m.put("sys/class/block/sdb4/uevent", "DEVNAME=sdb4\nPARTNAME=sluice-root-B\n")
	m.put("sys/class/block/sdb4/size", "8\n")
	refused("a second disk", "two disks have a partition sluice-root-B", m.bundle("1.1", "vm", 'b', 1000))
	m.put("sys/class/block/sdb4/uevent", "")
	m.put("proc/cmdline", "BOOT_IMAGE=/vmlinuz quiet\n")
	refused("no slots", ErrNoSlots.Error(), m.bundle("1.1", "vm", 'b', 1000))
}

// TestInstallThatFails: the stream ends or lies. The slot is empty, and the one that runs is what is started.
func TestInstallThatFails(t *testing.T) {
	m := newMachine(t)
	m.fill(B, "0.9", 'z')
	good := m.bundle("1.1", "vm", 'b', 300_000)
	bad := bytes.Clone(good)
	bad[len(bad)-5000] ^= 1
	for what, r := range map[string]io.Reader{
		"is damaged": bytes.NewReader(bad),
		"is cut off": bytes.NewReader(good[:len(good)/2]),
	} {
		m.fill(B, "0.9", 'z')
		_, err := m.Install(m.open(r))
		has(t, "a stream that "+what, err, "The image is not installed, slot B is empty and slot A stays what is started: ")
		s := m.state()
		if s.Images[B].Manifest != nil || s.Current != A || s.Tried != "" || m.grub() != A {
			t.Errorf("a stream that %s: %s", what, text(s))
		}
		if _, err := m.Verify(A); err != nil {
			t.Errorf("a stream that %s: %v", what, err)
		}
	}
	if _, err := m.install("1.1", 'b'); err != nil {
		t.Errorf("the next one: %v", err)
	}
}

// TestSlotThatIsDamaged: a switch reads the image first.
func TestSlotThatIsDamaged(t *testing.T) {
	for _, name := range []string{"dev/vda4", "esp/B/vmlinuz", "esp/B/initrd.img", "esp/B/" + bundle.ManifestName} {
		m := newMachine(t)
		m.fill(B, "0.9", 'z')
		data, err := os.ReadFile(m.path(name))
		if err != nil {
			t.Fatal(err)
		}
		data[len(data)/4] ^= 0x80
		m.put(name, string(data))
		_, err = m.Switch(B, "nsroot", time.Now(), 0)
		has(t, name, err, "slot B")
		if at := m.grub(); at != A {
			t.Errorf("%s: %s is started", name, at)
		}
	}
}

// TestBlockIsMadeAnew: what runs is started again, whatever has become of the boot loader's block.
func TestBlockIsMadeAnew(t *testing.T) {
	for _, damage := range []string{"", string(make([]byte, blockSize)), string(block("cur=A\n")) + "more"} {
		m := newMachine(t)
		m.fill(B, "0.9", 'z')
		m.start(B)
		m.put("esp/"+envFile, damage)
		if s := m.state(); s.Fault == "" {
			t.Error("nothing is said of the block")
		}
		if err := m.Change(func(e *Env) error { e.Set("hp", "8"); return nil }); err != nil {
			t.Fatal(err)
		}
		if s := m.state(); s.Fault != "" || s.Current != B || m.grub() != B {
			t.Error(text(s))
		}
	}
	m := newMachine(t)
	if err := os.Remove(filepath.Join(m.esp, envFile)); err != nil {
		t.Fatal(err)
	}
	if err := m.Change(func(*Env) error { return nil }); err != nil || m.state().Current != A {
		t.Errorf("a block that is missing: %v", err)
	}
}
