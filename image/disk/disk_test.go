package disk

import (
	"bytes"
	"encoding/binary"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"sluice/image/tool"
)

func box() tool.Box { return tool.Box{Epoch: time.Unix(1764460800, 0), Log: io.Discard} }

func TestSizesThatCannotBe(t *testing.T) {
	if err := DefaultSizes.Check(); err != nil {
		t.Error(err)
	}
	for _, s := range []Sizes{{}, {ESP: 10, Slot: 512, Config: 256, Data: 64}, {ESP: 512, Slot: 1, Config: 256, Data: 64}, {ESP: 512, Slot: 512, Config: 256, Data: -1}, {ESP: 512, Slot: 1 << 19, Config: 256, Data: 64}} {
		if s.Check() == nil {
			t.Errorf("%+v is taken", s)
		}
	}
}

// TestPartitions asks sfdisk whether the table is one, and where the partitions lie.
func TestPartitions(t *testing.T) {
	s := Sizes{ESP: 48, Slot: 16, Config: 8, Data: 8}
	file := filepath.Join(t.TempDir(), "disk")
	at, err := s.makeTable(t.Context(), box(), file)
	if err != nil {
		t.Fatal(err)
	}
	for name, mib := range map[string]int64{"bios": 1, "sluice-esp": 2, "sluice-root-A": 50, "sluice-root-B": 66, "sluice-config": 82, "sluice-data": 90} {
		if at[name] != mib*MiB {
			t.Errorf("%s begins at %d, want %d MiB", name, at[name], mib)
		}
	}
	out, err := box().Output(t.Context(), "sfdisk", "--verify", file)
	if err != nil || !strings.Contains(out, "No errors") {
		t.Errorf("sfdisk does not like the table: %s %v", out, err)
	}
}

// TestTheLastPartitionTakesWhatTheDiskHas gives sfdisk the layout of an installation on a disk of 1 GiB.
func TestTheLastPartitionTakesWhatTheDiskHas(t *testing.T) {
	s := Sizes{ESP: 48, Slot: 16, Config: 8, Data: 8}
	file := filepath.Join(t.TempDir(), "disk")
	if err := newFile(file, 1024*MiB); err != nil {
		t.Fatal(err)
	}
	if err := box().Pipe(t.Context(), strings.NewReader(s.open()), nil, "sfdisk", "-q", file); err != nil {
		t.Fatal(err)
	}
	out, err := box().Output(t.Context(), "sfdisk", "-d", file)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out), "\n")
	last := strings.Join(strings.Fields(lines[len(lines)-1]), " ")
	if !strings.Contains(last, `name="sluice-data"`) || !strings.Contains(last, "size= 19") { // 934 MiB less the second table, in sectors
		t.Errorf("the last partition is %s", last)
	}
}

func TestTheBootLoaderIsToldWhereItLies(t *testing.T) {
	dir := t.TempDir()
	core := filepath.Join(dir, "core.img")
	if err := os.WriteFile(core, bytes.Repeat([]byte{7}, 3*sector+1), 0o644); err != nil {
		t.Fatal(err)
	}
	disk, err := os.Create(filepath.Join(dir, "disk"))
	if err != nil {
		t.Fatal(err)
	}
	defer disk.Close()
	table := bytes.Repeat([]byte{9}, sector-bootTable)
	if _, err := disk.WriteAt(table, bootTable); err != nil {
		t.Fatal(err)
	}
	if err := installBIOS(disk, core, MiB, MiB); err != nil {
		t.Fatal(err)
	}
	first, head := make([]byte, sector), make([]byte, sector)
	if _, err := disk.ReadAt(first, 0); err != nil {
		t.Fatal(err)
	}
	if _, err := disk.ReadAt(head, MiB); err != nil {
		t.Fatal(err)
	}
	if got := binary.LittleEndian.Uint64(first[0x5c:]); got != 2048 {
		t.Errorf("the core is said to lie in sector %d", got)
	}
	if first[0x66] != 0x90 || first[0x67] != 0x90 {
		t.Error("the drive that the BIOS names is not believed")
	}
	if !bytes.Equal(first[bootTable:], table) {
		t.Error("the partition table was overwritten")
	}
	if at, n := binary.LittleEndian.Uint64(head[0x1f4:]), binary.LittleEndian.Uint16(head[0x1fc:]); at != 2049 || n != 3 {
		t.Errorf("the rest of the core is said to be %d sectors from %d", n, at)
	}
	if err := installBIOS(disk, core, MiB, sector); err == nil {
		t.Error("a core larger than its partition is taken")
	}
}

func TestTheEnvironmentBlock(t *testing.T) {
	block, err := env("sluice.health=600")
	if err != nil || len(block) != envSize {
		t.Fatalf("%d bytes, %v", len(block), err)
	}
	text := strings.TrimRight(string(block), "#")
	if text != "# GRUB Environment Block\ncur=A\nnext=A\ntry=0\nhp=\nisol=\nextra=sluice.health=600\n" {
		t.Errorf("%q", text)
	}
	if _, err := env(strings.Repeat("x", 500)); err == nil {
		t.Error("arguments that do not fit the first sector are taken")
	}
	file := filepath.Join(t.TempDir(), "grubenv")
	if err := os.WriteFile(file, block, 0o644); err != nil {
		t.Fatal(err)
	}
	out, err := box().Output(t.Context(), "grub-editenv", file, "list")
	if err != nil || !strings.Contains(out, "cur=A\n") || !strings.Contains(out, "extra=sluice.health=600\n") {
		t.Errorf("grub-editenv reads %q, %v", out, err)
	}
}

func TestZerosAreLeftOut(t *testing.T) {
	dir := t.TempDir()
	content := make([]byte, 8*MiB)
	content[0], content[5*MiB+3], content[8*MiB-1] = 1, 2, 3
	if err := os.WriteFile(filepath.Join(dir, "part"), content, 0o644); err != nil {
		t.Fatal(err)
	}
	disk, err := os.Create(filepath.Join(dir, "disk"))
	if err != nil {
		t.Fatal(err)
	}
	defer disk.Close()
	if err := disk.Truncate(10 * MiB); err != nil {
		t.Fatal(err)
	}
	if err := put(disk, filepath.Join(dir, "part"), MiB, 8*MiB); err != nil {
		t.Fatal(err)
	}
	got := make([]byte, 8*MiB)
	if _, err := disk.ReadAt(got, MiB); err != nil || !bytes.Equal(got, content) {
		t.Errorf("the content differs: %v", err)
	}
	info, err := disk.Stat()
	if err != nil {
		t.Fatal(err)
	}
	if used := info.Sys().(*syscall.Stat_t).Blocks * 512; used > 2*MiB {
		t.Errorf("%d bytes are used of the disk's file", used)
	}
	if err := put(disk, filepath.Join(dir, "part"), 0, 4*MiB); err == nil || !strings.Contains(err.Error(), "larger") {
		t.Errorf("what does not fit its partition: %v", err)
	}
}
