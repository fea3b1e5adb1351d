// Package disk makes the appliance's disk: a GPT with boot loaders for BIOS and UEFI, the slots and the configuration, and
// from it the files that hypervisors take. It needs no loop device and mounts nothing.
package disk

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"sluice/image/tool"
)

// MiB is the unit of sizes and of where partitions begin.
const MiB = 1 << 20

// sector is the unit of a GPT, in bytes.
const sector = 512

// The types of partitions, by which firmware and boot loaders know theirs. What is ours has the plain Linux type, which
// systemd does not mount by itself.
const (
	typeBIOS  = "21686148-6449-6E6F-744E-656564454649"
	typeESP   = "C12A7328-F81F-11D2-BA4B-00A0C93EC93B"
	typeLinux = "0FC63DAF-8483-4772-8E79-3D69D8477DE4"
)

// Sizes are those of the partitions in MiB. The appliance makes the last one larger at its first start.
type Sizes struct{ ESP, Slot, Config, Data int }

// DefaultSizes are the product's.
var DefaultSizes = Sizes{ESP: 512, Slot: 512, Config: 256, Data: 256}

// Check says what of the sizes cannot be.
func (s Sizes) Check() error {
	switch {
	case s.ESP < 48:
		return fmt.Errorf("the boot partition has %d MiB: two kernels need 48 at least", s.ESP)
	case s.Slot < 16, s.Config < 8, s.Data < 8:
		return fmt.Errorf("slots of %d MiB, %d for the configuration and %d for data: 16, 8 and 8 are the least", s.Slot, s.Config, s.Data)
	case s.ESP+2*s.Slot+s.Config+s.Data > 1<<20:
		return fmt.Errorf("partitions of more than a TiB in all")
	}
	return nil
}

type partition struct {
	name, kind string
	mib        int
}

func (s Sizes) partitions() []partition {
	return []partition{
		{"bios", typeBIOS, 1}, {"sluice-esp", typeESP, s.ESP}, {"sluice-root-A", typeLinux, s.Slot}, {"sluice-root-B", typeLinux, s.Slot},
		{"sluice-config", typeLinux, s.Config}, {"sluice-data", typeLinux, s.Data},
	}
}

// total is the size of the disk: a MiB before the first partition and one behind the last for the second GPT.
func (s Sizes) total() int64 {
	sum := 2
	for _, p := range s.partitions() {
		sum += p.mib
	}
	return int64(sum) * MiB
}

// The identities of disk and partitions are the same in every build, so that builds can be compared. Nothing looks for
// them: partitions are found by name.
const diskID = "51C0CE00-0000-4000-8000-000000000000"

func partitionID(i int) string { return fmt.Sprintf("51C0CE00-0000-4000-8000-%012d", i+1) }

// script is the layout as sfdisk reads it.
func (s Sizes) script() string {
	var b strings.Builder
	fmt.Fprintf(&b, "label: gpt\nlabel-id: %s\nfirst-lba: 2048\n", diskID)
	start := 1
	for i, p := range s.partitions() {
		fmt.Fprintf(&b, "start=%d, size=%d, type=%s, uuid=%s, name=%s\n", start*MiB/sector, p.mib*MiB/sector, p.kind, partitionID(i), p.name)
		start += p.mib
	}
	return b.String()
}

// open is the layout without the size of the last partition, which takes what the disk has.
func (s Sizes) open() string {
	lines := strings.Split(strings.TrimSuffix(s.script(), "\n"), "\n")
	words := strings.Split(lines[len(lines)-1], ", ") // start, size, ...
	lines[len(lines)-1] = strings.Join(append(words[:1:1], words[2:]...), ", ")
	return strings.Join(lines, "\n") + "\n"
}

// makeTable makes an empty disk with the partitions and returns where each begins, in bytes.
func (s Sizes) makeTable(ctx context.Context, box tool.Box, file string) (map[string]int64, error) {
	f, err := os.Create(file)
	if err != nil {
		return nil, err
	}
	err = f.Truncate(s.total())
	if e := f.Close(); err == nil {
		err = e
	}
	if err != nil {
		return nil, fmt.Errorf("a disk of %d MiB cannot be made: %w", s.total()/MiB, err)
	}
	if err := box.Pipe(ctx, strings.NewReader(s.script()), nil, "sfdisk", "-q", "--no-reread", "--no-tell-kernel", file); err != nil {
		return nil, err
	}
	out, err := box.Output(ctx, "sfdisk", "-J", file)
	if err != nil {
		return nil, err
	}
	var table struct {
		PartitionTable struct {
			Partitions []struct {
				Name  string `json:"name"`
				Start int64  `json:"start"`
			} `json:"partitions"`
		} `json:"partitiontable"`
	}
	if err := json.Unmarshal([]byte(out), &table); err != nil {
		return nil, fmt.Errorf("sfdisk says nothing that is understood of %s: %w", filepath.Base(file), err)
	}
	at := map[string]int64{}
	for _, p := range table.PartitionTable.Partitions {
		at[p.Name] = p.Start * sector
	}
	for _, p := range s.partitions() {
		if at[p.name] == 0 {
			return nil, fmt.Errorf("%s has no partition %s", filepath.Base(file), p.name)
		}
	}
	return at, nil
}
