package volume

import (
	"bytes"
	"compress/gzip"
	"crypto/rand"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"sluice/tests/apart"
)

// TestMain has everything mounted out of sight of other programs: one that copied what is mounted would keep it mounted.
func TestMain(m *testing.M) { apart.Main(m, apart.Mounts) }

// bed is a machine with two partitions that are files, behind loop devices of the kernel.
type bed struct {
	*testing.T
	*Volumes
	devices map[string]string
}

const configSize, dataSize = 16 << 20, 64 << 20

func newBed(t *testing.T) *bed {
	dir := t.TempDir()
	b := &bed{T: t, devices: map[string]string{}}
	for name, size := range map[string]int64{Config: configSize, Data: dataSize} {
		b.devices[name] = apart.Loop(t, filepath.Join(dir, name), size)
	}
	b.Volumes = &Volumes{Sys: "/sys", Dev: "/dev", Config: filepath.Join(dir, "config"), Data: filepath.Join(dir, "data"), Log: t.Output(), Now: time.Now,
		Find: func(name string) (string, error) {
			if d := b.devices[name]; d != "" {
				return d, nil
			}
			return "", fmt.Errorf("no disk has a partition %s", name)
		}}
	t.Cleanup(b.down)
	return b
}

// down unmounts everything, as a machine does that is switched off.
func (b *bed) down() {
	b.Helper()
	for _, dir := range []string{b.Config, b.Data} {
		if Mounted(dir) {
			if err := unix.Unmount(dir, 0); err != nil {
				b.Fatal(err)
			}
		}
	}
}

// ready starts the machine. What it says must hold these words, one each sentence; without any it says nothing.
func (b *bed) ready(want ...string) {
	b.Helper()
	said := b.Ready()
	ok := len(said) == len(want)
	for i := range min(len(said), len(want)) {
		ok = ok && strings.Contains(said[i], want[i])
	}
	if !ok {
		b.Errorf("it says\n%s\nwant\n%s", strings.Join(said, "\n"), strings.Join(want, "\n"))
	}
	if !Mounted(b.Config) {
		b.Error("there is no configuration to write to")
	}
}

// used has the machine started and a configuration saved.
func (b *bed) used() *bed {
	b.Helper()
	b.ready()
	b.write("startup.xml", "precious")
	b.down()
	return b
}

func (b *bed) write(name, text string) {
	b.Helper()
	if err := os.WriteFile(filepath.Join(b.Config, name), []byte(text), 0o600); err != nil {
		b.Fatal(err)
	}
}

func (b *bed) startup() string {
	text, _ := os.ReadFile(filepath.Join(b.Config, "startup.xml"))
	return string(text)
}

// damage writes over a partition; nil is noise.
func (b *bed) damage(name string, at int64, size int, with []byte) {
	b.Helper()
	if with == nil {
		with = make([]byte, size)
		rand.Read(with)
	}
	f, err := os.OpenFile(b.devices[name], os.O_WRONLY, 0)
	if err == nil {
		_, err = f.WriteAt(with, at)
		err = joined(err, f.Sync(), f.Close())
	}
	if err != nil {
		b.Fatal(err)
	}
}

func joined(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func TestFirstStartAndNext(t *testing.T) {
	b := newBed(t).used()
	b.ready()
	b.ready() // everything is mounted already
	if b.startup() != "precious" || InMemory(b.Config) {
		t.Errorf("%q", b.startup())
	}
	etc := t.TempDir()
	if err := b.KeepIdentity(etc); err == nil {
		t.Error("an identity is kept that there is not")
	}
	for _, id := range []string{strings.Repeat("a1", 16), strings.Repeat("b2", 16)} { // the first one stays
		if err := os.WriteFile(filepath.Join(etc, "machine-id"), []byte(id+"\n"), 0o444); err != nil {
			t.Fatal(err)
		}
		if err := b.KeepIdentity(etc); err != nil {
			t.Error(err)
		}
	}
	if text, _ := os.ReadFile(filepath.Join(b.Config, "machine-id")); string(text) != strings.Repeat("a1", 16)+"\n" {
		t.Errorf("%q", text)
	}
}

// TestConfigThatIsNoise: it is made anew, and what was there is kept to the byte.
func TestConfigThatIsNoise(t *testing.T) {
	b := newBed(t).used()
	b.damage(Config, 0, configSize, nil)
	was, err := os.ReadFile(b.devices[Config])
	if err != nil {
		t.Fatal(err)
	}
	b.ready("a copy of it as it was is", "is empty now")
	kept, _ := filepath.Glob(filepath.Join(b.Data, "config-damaged-*.img.gz"))
	if len(kept) != 1 {
		t.Fatal(kept)
	}
	f, err := os.Open(kept[0])
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(z); err != nil || !bytes.Equal(got, was) {
		t.Errorf("the copy is another: %d bytes, %v", len(got), err)
	}
	b.write("startup.xml", "new")
	f.Close()
	b.down()
	b.ready()
	if b.startup() != "new" {
		t.Errorf("%q", b.startup())
	}
}

// TestConfigThatCanBeRepaired: the beginning is gone, and the configuration is still there afterwards.
func TestConfigThatCanBeRepaired(t *testing.T) {
	b := newBed(t).used()
	b.damage(Config, 0, 0, make([]byte, 4096)) // the first superblock; a copy of it lies further on
	b.ready("a copy of it as it was is", "repaired by force")
	if b.startup() != "precious" {
		t.Errorf("the configuration is %q", b.startup())
	}
	if kept, _ := filepath.Glob(filepath.Join(b.Data, "config-damaged-*")); len(kept) != 1 {
		t.Error(kept)
	}
}

// TestConfigWhoseBeginningIsWiped: nothing at its beginning does not make it new.
func TestConfigWhoseBeginningIsWiped(t *testing.T) {
	b := newBed(t).used()
	b.damage(Config, 0, 0, make([]byte, 128<<10))
	b.Ready()
	if kept, _ := filepath.Glob(filepath.Join(b.Data, "config-damaged-*")); len(kept) != 1 || !Mounted(b.Config) {
		t.Errorf("kept %v", kept)
	}
}

// TestNoRoomForTheCopy: nothing is done to a damaged configuration that cannot be kept, and the box comes up all the same.
func TestNoRoomForTheCopy(t *testing.T) {
	for name, spoil := range map[string]func(*bed) []string{
		"no partition of data": func(b *bed) []string {
			b.devices[Data] = ""
			return []string{"no room for data", "no copy of it can be kept", "in memory only"}
		},
		"a full one": func(b *bed) []string {
			if err := mount(b.devices[Data], b.Data); err != nil {
				b.Fatal(err)
			}
			f, err := os.Create(filepath.Join(b.Data, "large"))
			if err != nil {
				b.Fatal(err)
			}
			_, _ = io.Copy(f, io.LimitReader(rand.Reader, dataSize))
			f.Close()
			b.down()
			return []string{"no copy of it can be kept", "in memory only"}
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBed(t).used()
			want := spoil(b)
			b.damage(Config, 0, configSize, nil)
			was, err := os.ReadFile(b.devices[Config])
			if err != nil {
				t.Fatal(err)
			}
			b.ready(want...)
			if !InMemory(b.Config) {
				t.Error("it is not in memory")
			}
			b.write("startup.xml", "for now")
			if now, err := os.ReadFile(b.devices[Config]); err != nil || !bytes.Equal(now, was) {
				t.Error("something was done to it")
			}
			if left, _ := filepath.Glob(filepath.Join(b.Data, "config-damaged-*")); len(left) > 0 {
				t.Error(left)
			}
		})
	}
}

func TestNoPartitions(t *testing.T) {
	b := newBed(t)
	clear(b.devices)
	b.ready("no room for data", "no partition for the configuration", "in memory only")
}

func TestDataThatIsNoise(t *testing.T) {
	b := newBed(t).used()
	b.damage(Data, 0, dataSize, nil)
	b.ready("repaired by force", "made anew")
	if !Mounted(b.Data) || b.startup() != "precious" {
		t.Error("data or configuration are not there")
	}
}

// TestGrow: a disk that was made larger; the last partition reaches its end afterwards, file system and all, and nothing else has moved.
func TestGrow(t *testing.T) {
	file := filepath.Join(t.TempDir(), "disk")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(file, 96<<20); err != nil {
		t.Fatal(err)
	}
	if err := must("label: gpt\nstart=2048, size=32768, name="+Config+"\nsize=65536, name="+Data+"\n", "sfdisk", "-q", file); err != nil {
		t.Fatal(err)
	}
	small, disk := table(t, file), apart.Loop(t, file, 160<<20)
	if err := must("", "partx", "--add", disk); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = must("", "partx", "--delete", disk) })
	b := newBed(t)
	b.devices[Data] = disk + "p2"
	b.ready()
	var s unix.Statfs_t
	if err := unix.Statfs(b.Data, &s); err != nil || s.Blocks*uint64(s.Bsize) < 100<<20 {
		t.Errorf("it has %d MiB, %v", s.Blocks*uint64(s.Bsize)>>20, err)
	}
	b.down()
	large := table(t, file)
	if small[0] != large[0] || small[1] == large[1] {
		t.Errorf("%q became %q", small, large)
	}
	b.ready() // and there is nothing left to grow
	if again := table(t, file); again[1] != large[1] {
		t.Errorf("%q became %q", large, again)
	}
	if err := Grow("/sys", disk+"p1"); err != nil || table(t, file)[0] != small[0] {
		t.Errorf("a partition in the middle was grown, %v", err)
	}
}

// table are the partitions of a disk, a line each.
func table(t *testing.T, file string) (lines []string) {
	t.Helper()
	out, err := exec.Command("sfdisk", "-d", file).Output()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(out)) {
		if _, what, ok := strings.Cut(line, " : "); ok {
			lines = append(lines, what)
		}
	}
	return lines
}

// TestVolumeInUse: one that another program holds is neither damaged nor made anew.
func TestVolumeInUse(t *testing.T) {
	for _, name := range []string{Config, Data} {
		b := newBed(t).used()
		f, err := os.OpenFile(b.devices[name], os.O_RDONLY|unix.O_EXCL, 0)
		if err != nil {
			t.Fatal(err)
		}
		b.Ready()
		f.Close()
		b.down()
		b.ready()
		if b.startup() != "precious" {
			t.Errorf("%s in use: the configuration is %q afterwards", name, b.startup())
		}
	}
}

func TestPartitionByName(t *testing.T) {
	sys := t.TempDir()
	for dev, text := range map[string]string{"vda": "DEVNAME=vda\n", "vda5": "DEVNAME=vda5\nPARTNAME=sluice-config\n", "vda6": "PARTNAME=sluice-config-x\n"} {
		dir := filepath.Join(sys, "class/block", dev)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "uevent"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if d, err := Partition(sys, "/dev", Config); err != nil || d != "/dev/vda5" {
		t.Errorf("%s %v", d, err)
	}
	if d, err := Partition(sys, "/dev", Data); err == nil {
		t.Errorf("%s", d)
	}
}
