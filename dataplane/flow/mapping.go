package flow

import (
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"math/bits"
	"unsafe"

	"golang.org/x/sys/unix"

	"sluice/dataplane/packet"
	"sluice/dataplane/port/asm"
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

// maxEntries bounds a table to 18 GiB, and leaves bits for the hash in the words of its index.
const maxEntries = 1 << 28

// header describes the mapping to whoever maps it next: a restarted dataplane may adopt flows of the same layout.
type header struct {
	magic     uint64
	version   uint32
	entrySize uint32
	buckets   uint64
	limit     uint64
	seed      [2]uint64
	lines     uint64 // where the entries begin, from here
}

const (
	headerMagic   = 0x73776f6c66636c73 // "slcflows" in memory
	headerVersion = 2
	headerSize    = 4096 // before the index
	pageSize      = 4096
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
	buckets, lines, stack := layout(s.Entries)
	t = &Table{limit: uint64(s.Entries), fresh: firstNumber, Limits: Usual}
	size := Size(s.Entries)
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
		buckets: uint64(buckets), limit: t.limit, seed: [2]uint64{t.Seed0, t.Seed1}, lines: uint64(lines)}
	t.Base, t.Buckets = uintptr(start)+headerSize, uint64(buckets)
	t.buckets = asm.Buckets{Base: t.Base, End: t.Base + uintptr(buckets)*packet.BucketSize, Lines: uintptr(start) + uintptr(lines),
		Numbers: 1<<bits.Len(uint(s.Entries+firstNumber-1)) - 1}
	t.stack = uintptr(start) + uintptr(stack)
	return t, note, nil
}

// layout is the number of buckets of a table for so many entries, and where in its mapping the entries and the stack of free
// ones begin; the stack is the last.
func layout(entries int) (buckets, lines, stack int) {
	buckets = (entries + bucketShare - 1) / bucketShare
	lines = (headerSize + buckets*packet.BucketSize + pageSize - 1) &^ (pageSize - 1)
	return buckets, lines, lines + (entries+firstNumber)*EntrySize
}

// Size is the bytes that a table for so many entries takes.
func Size(entries int) int {
	_, _, stack := layout(entries)
	return stack + entries*4
}

// Close unmaps the table; no entry may be used afterwards.
func (t *Table) Close() error {
	m := t.mapping
	if m.mem == nil {
		return nil
	}
	t.mapping = mapping{}
	t.Base, t.Buckets, t.count, t.limit = 0, 0, 0, 0
	t.buckets, t.fresh, t.freed = asm.Buckets{}, firstNumber, 0
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
