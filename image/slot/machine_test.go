package slot

import (
	"bytes"
	"crypto/ed25519"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sluice/image/bundle"
)

// machine is one whose partitions are files and whose ESP is a directory.
type machine struct {
	*Disk
	t    testing.TB
	key  ed25519.PrivateKey
	boot int
}

const (
	slotSize = 1 << 20
	espSize  = 40 << 20
)

// partitions are those of a machine, by their GPT names.
var partitions = map[string]string{espPartition: "vda2", "sluice-root-A": "vda3", "sluice-root-B": "vda4", "sluice-config": "vda5"}

func newMachine(t testing.TB) *machine {
	t.Helper()
	dir := t.TempDir()
	m := &machine{Disk: Mounted(dir, filepath.Join(dir, "esp")), t: t, key: ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))}
	for name, node := range partitions {
		m.put("sys/class/block/"+node+"/uevent", "MAJOR=252\nDEVNAME="+node+"\nDEVTYPE=partition\nPARTNAME="+name+"\n")
		m.put("sys/class/block/"+node+"/size", fmt.Sprint(slotSize/512)+"\n")
	}
	m.put("dev/vda4", string(make([]byte, slotSize)))
	m.put("sys/class/block/vda/uevent", "DEVNAME=vda\nDEVTYPE=disk\n")
	m.put(ReleaseFile, `{"version":"1.0","commit":"c1","flavour":"vm"}`)
	open := m.ops.open
	m.ops.open = func(name string, flag int) (file, error) {
		f, err := open(name, flag)
		return unsynced{f}, err
	}
	m.ops.replace = func(name string, text []byte) error { return os.WriteFile(name, text, 0o600) }
	m.ops.room = func(string) (int64, error) { return espSize, nil }
	var e Env
	e.boot(A)
	e.Set("hp", "96")
	b, err := e.Block()
	if err != nil {
		t.Fatal(err)
	}
	m.put("esp/"+envFile, string(b))
	m.fill(A, "1.0", 'a')
	m.start(A)
	return m
}

// unsynced is a file that needs not outlive the test's machine.
type unsynced struct{ file }

func (unsynced) Sync() error   { return nil }
func (unsynced) Forget() error { return nil }

func (m *machine) put(name, text string) {
	m.t.Helper()
	name = m.path(name)
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		m.t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		m.t.Fatal(err)
	}
}

// start is what a start of that slot shows.
func (m *machine) start(s Slot) {
	m.boot++
	m.put("proc/cmdline", "BOOT_IMAGE=/"+string(s)+"/vmlinuz sluice.slot="+string(s)+" quiet\n")
	m.put("proc/sys/kernel/random/boot_id", fmt.Sprintf("boot-%d\n", m.boot))
}

// parts are the files of an image, each of that letter.
func (m *machine) parts(letter byte, root int) bundle.Files {
	dir := m.t.TempDir()
	f := bundle.Files{Kernel: filepath.Join(dir, "k"), Initrd: filepath.Join(dir, "i"), Root: filepath.Join(dir, "r")}
	for name, size := range map[string]int{f.Kernel: 3_000, f.Initrd: 9_000, f.Root: root} {
		if err := os.WriteFile(name, bytes.Repeat([]byte{letter}, size), 0o600); err != nil {
			m.t.Fatal(err)
		}
	}
	return f
}

// fill puts an image into a slot as the build does.
func (m *machine) fill(s Slot, version string, letter byte) {
	m.t.Helper()
	f := m.parts(letter, 300_000)
	_, text, err := bundle.Describe(bundle.Manifest{Version: version, Flavour: "vm"}, f)
	if err != nil {
		m.t.Fatal(err)
	}
	m.put("esp/"+string(s)+"/"+bundle.ManifestName, string(text))
	for from, to := range map[string]string{f.Kernel: "esp/" + string(s) + "/vmlinuz", f.Initrd: "esp/" + string(s) + "/initrd.img", f.Root: "dev/" + partitions[s.partition()]} {
		data, err := os.ReadFile(from)
		if err != nil {
			m.t.Fatal(err)
		}
		if to[:3] == "dev" {
			data = append(data, make([]byte, slotSize-len(data))...)
		}
		m.put(to, string(data))
	}
}

// bundle is one of that version.
func (m *machine) bundle(version, flavour string, letter byte, root int) []byte {
	m.t.Helper()
	var b bytes.Buffer
	if _, err := bundle.Write(&b, bundle.Manifest{Version: version, Flavour: flavour}, m.parts(letter, root), m.key); err != nil {
		m.t.Fatal(err)
	}
	return b.Bytes()
}

func (m *machine) open(r io.Reader) *bundle.Bundle {
	m.t.Helper()
	b, err := bundle.Open(r, m.key.Public().(ed25519.PublicKey))
	if err != nil {
		m.t.Fatal(err)
	}
	return b
}

// grub starts the machine as image/files' grub.cfg does, and tells which slot that was.
func (m *machine) grub() Slot {
	m.t.Helper()
	name := filepath.Join(m.esp, envFile)
	b, err := os.ReadFile(name)
	if err != nil {
		m.t.Fatal(err)
	}
	at := A
	if e, err := ParseEnv(b); err == nil {
		if at = e.current(); e.tried() != "" {
			at = e.tried()
			e.Set(keyTry, "0")
			b, err := e.Block()
			if err != nil {
				m.t.Fatal(err)
			}
			if err := os.WriteFile(name, b, 0o644); err != nil {
				m.t.Fatal(err)
			}
		}
	}
	m.start(at)
	return at
}

func (m *machine) state() *State {
	m.t.Helper()
	s, err := m.State()
	if err != nil {
		m.t.Fatal(err)
	}
	return s
}

// install puts a bundle in and has it tried.
func (m *machine) install(version string, letter byte) (*Trial, error) {
	to, err := m.Install(m.open(bytes.NewReader(m.bundle(version, "vm", letter, 300_000))))
	if err != nil {
		return nil, err
	}
	return m.Switch(to, "nsroot", time.Unix(1_800_000_000, 0), 0)
}

// snapshot is all that a machine has on its disk.
func (m *machine) snapshot() map[string]string {
	all := map[string]string{}
	for _, top := range []string{"dev", "esp", "config"} {
		err := filepath.Walk(m.path(top), func(name string, info os.FileInfo, err error) error {
			if err != nil || info.IsDir() {
				return nil
			}
			data, err := os.ReadFile(name)
			all[name] = string(data)
			return err
		})
		if err != nil {
			m.t.Fatal(err)
		}
	}
	return all
}

func (m *machine) unchanged(what string, before map[string]string) {
	m.t.Helper()
	after := m.snapshot()
	for name, was := range before {
		if after[name] != was {
			m.t.Errorf("%s: %s has changed", what, name)
		}
	}
	if len(after) != len(before) {
		m.t.Errorf("%s: there were %d files and are %d", what, len(before), len(after))
	}
}

func has(t testing.TB, what string, err error, want string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%s: %v, want %q", what, err, want)
	}
}

func text(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(b)
}
