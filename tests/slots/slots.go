// Package slots makes machines with two slots whose disk is a folder, for tests of what is done with images: partitions are files,
// and the boot loader is a function.
package slots

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sluice/image/bundle"
	"sluice/image/slot"
)

// Machine is one whose slot A runs version 1.0 and whose slot B is empty.
type Machine struct {
	*slot.Disk
	Dir string
	Key ed25519.PrivateKey

	t      testing.TB
	starts int
}

// size is that of a slot, in bytes.
const size = 64 << 10

// New makes a machine.
func New(t testing.TB) *Machine {
	t.Helper()
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	m := &Machine{Dir: t.TempDir(), Key: key, t: t}
	m.Disk = slot.Mounted(m.Dir, filepath.Join(m.Dir, "esp"))
	for node, name := range map[string]string{"vda3": "sluice-root-A", "vda4": "sluice-root-B"} {
		m.Put("sys/class/block/"+node+"/uevent", "DEVNAME="+node+"\nPARTNAME="+name+"\n")
		m.Put("sys/class/block/"+node+"/size", fmt.Sprintln(size/512))
		m.Put("dev/"+node, strings.Repeat("\x00", size))
	}
	m.Put("esp/grubenv", "")
	m.start(slot.A)
	m.Release("1.0")
	_, text, err := bundle.Describe(bundle.Manifest{Version: "1.0", Flavour: "vm"}, m.files("1.0", "dev/vda3", "esp/A/vmlinuz", "esp/A/initrd.img"))
	if err != nil {
		t.Fatal(err)
	}
	m.Put("esp/A/"+bundle.ManifestName, string(text))
	if err := m.Change(func(*slot.Env) error { return nil }); err != nil {
		t.Fatal(err)
	}
	return m
}

// Put writes a file below the machine's root.
func (m *Machine) Put(name, text string) {
	m.t.Helper()
	name = filepath.Join(m.Dir, name)
	err := os.MkdirAll(filepath.Dir(name), 0o755)
	if err == nil {
		err = os.WriteFile(name, []byte(text), 0o644)
	}
	if err != nil {
		m.t.Fatal(err)
	}
}

// Release is what the running image says of itself from now on.
func (m *Machine) Release(version string) {
	m.t.Helper()
	m.Put(slot.ReleaseFile, `{"version":"`+version+`","flavour":"vm"}`)
}

// files writes the parts of an image.
func (m *Machine) files(version, root, kernel, initrd string) bundle.Files {
	m.t.Helper()
	f := bundle.Files{Kernel: filepath.Join(m.Dir, kernel), Initrd: filepath.Join(m.Dir, initrd), Root: filepath.Join(m.Dir, root)}
	m.Put(root, strings.Repeat("root of "+version+"\n", 1000)[:9000])
	m.Put(kernel, "kernel of "+version)
	m.Put(initrd, "initrd of "+version)
	return f
}

// Bundle is the file of a release, signed by the machine's key.
func (m *Machine) Bundle(version string) []byte {
	m.t.Helper()
	var b bytes.Buffer
	if _, err := bundle.Write(&b, bundle.Manifest{Version: version, Flavour: "vm"}, m.files(version, "made/r", "made/k", "made/i"), m.Key); err != nil {
		m.t.Fatal(err)
	}
	return b.Bytes()
}

// KeyFile writes the machine's public key to a file.
func (m *Machine) KeyFile() string {
	m.t.Helper()
	text, err := bundle.PublicText(m.Key)
	if err != nil {
		m.t.Fatal(err)
	}
	m.Put("bundle.pub", string(text))
	return filepath.Join(m.Dir, "bundle.pub")
}

func (m *Machine) start(s slot.Slot) {
	m.t.Helper()
	m.starts++
	m.Put("proc/cmdline", "quiet sluice.slot="+string(s))
	m.Put("proc/sys/kernel/random/boot_id", fmt.Sprintln("start", m.starts))
}

// Boot does what grub.cfg of image/files does, and tells which slot it has started.
func (m *Machine) Boot() slot.Slot {
	m.t.Helper()
	at := slot.A
	err := m.Change(func(e *slot.Env) error {
		if at = slot.Slot(e.Get("cur")); e.Get("try") == "1" {
			at = slot.Slot(e.Get("next"))
			e.Set("try", "0")
		}
		return nil
	})
	if err != nil {
		m.t.Fatal(err)
	}
	m.start(at)
	return at
}
