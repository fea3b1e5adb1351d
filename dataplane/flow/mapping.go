package flow

import (
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"math/bits"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Settings of a table.
type Settings struct {
	Name     string // of the memory mapping, e.g. "sluice-flows-0"
	Entries  int    // that the table holds; a flow has two
	Huge     bool   // ask for huge pages
	Populate bool   // have all memory now instead of at first use
	// Seed fixes the hash seed, for tests; zero draws a random one.
	Seed [2]uint64
}

// maxEntries bounds a table to 64 GiB.
const maxEntries = 1 << 29

// header describes the mapping to whoever maps it next: a restarted dataplane may adopt flows of the same layout.
type header struct {
	magic     uint64
	version   uint32
	entrySize uint32
	slots     uint64
	limit     uint64
	seed      [2]uint64
}

const (
	headerMagic   = 0x73776f6c66636c73 // "slcflows" in memory
	headerVersion = 1
	headerSize    = 4096 // before slot 0
	hugePage      = 2 << 20
)

// mapping is a table's memory: a memfd, so that it has a name and can outlive the process in another one's hands.
type mapping struct {
	fd  int
	mem []byte
}

// Open maps an empty table. note, if not empty, is a sentence about a wish that could not be met.
func Open(s Settings) (t *Table, note string, err error) {
	if s.Entries < 2 || s.Entries > maxEntries {
		return nil, "", fmt.Errorf("flow table %q: %d entries asked for; give a number from 2 to %d", s.Name, s.Entries, maxEntries)
	}
	// At most 3/4 full, and 8 slots at least, so that a search always meets an empty slot.
	slots := max(uint64(1)<<bits.Len64(uint64(s.Entries)*4/3), 8)
	t = &Table{limit: uint64(s.Entries)}
	size := headerSize + int(slots)*EntrySize
	if s.Huge {
		if t.mapping, err = mapNamed(s.Name, (size+hugePage-1)&^(hugePage-1), true, s.Populate); err != nil {
			note = fmt.Sprintf("flow table %q uses ordinary pages, for huge pages could not be had (%v)", s.Name, err)
		}
	}
	if t.mapping.mem == nil {
		if t.mapping, err = mapNamed(s.Name, size, false, s.Populate); err != nil {
			return nil, "", fmt.Errorf("flow table %q: no %d MiB of memory for %d entries; lower flows: %w", s.Name, size>>20, s.Entries, err)
		}
	}
	t.Seed0, t.Seed1 = s.Seed[0], s.Seed[1]
	if s.Seed == [2]uint64{} {
		t.Seed0, t.Seed1 = randomSeed(), randomSeed()
	}
	start := unsafe.Pointer(unsafe.SliceData(t.mapping.mem))
	*(*header)(start) = header{magic: headerMagic, version: headerVersion, entrySize: EntrySize,
		slots: slots, limit: t.limit, seed: [2]uint64{t.Seed0, t.Seed1}}
	t.Base, t.Mask = uintptr(start)+headerSize, uintptr(slots)-1
	return t, note, nil
}

// Close unmaps the table; no entry may be used afterwards.
func (t *Table) Close() error {
	m := t.mapping
	if m.mem == nil {
		return nil
	}
	t.mapping = mapping{}
	t.Base, t.Mask, t.count, t.limit = 0, 0, 0, 0
	if err := unix.Munmap(m.mem); err != nil {
		return fmt.Errorf("unmapping a flow table: %w", err)
	}
	return unix.Close(m.fd)
}

func mapNamed(name string, size int, huge, populate bool) (mapping, error) {
	flags, share := unix.MFD_CLOEXEC, unix.MAP_SHARED
	if huge {
		flags |= unix.MFD_HUGETLB
	}
	if populate {
		share |= unix.MAP_POPULATE
	}
	fd, err := unix.MemfdCreate(name, flags)
	if err != nil {
		return mapping{}, err
	}
	if err = unix.Ftruncate(fd, int64(size)); err == nil {
		var mem []byte
		if mem, err = unix.Mmap(fd, 0, size, unix.PROT_READ|unix.PROT_WRITE, share); err == nil {
			// A wish only: kernels that back memfds with large pages on request do so here.
			_ = unix.Madvise(mem, unix.MADV_HUGEPAGE)
			return mapping{fd: fd, mem: mem}, nil
		}
	}
	unix.Close(fd)
	return mapping{}, err
}

// randomSeed never fails: crypto/rand.Read does not return on a system that has no randomness.
func randomSeed() uint64 {
	var b [8]byte
	rand.Read(b[:])
	return binary.LittleEndian.Uint64(b[:])
}
