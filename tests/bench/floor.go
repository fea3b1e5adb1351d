package main

import (
	"math/rand/v2"
	"unsafe"

	"sluice/dataplane/flow"
	"sluice/dataplane/port/asm"
)

// floor is the least that memory takes for a packet of a known flow: one cache line of the flow table at random, fetched and
// written, with the worker's discipline (a burst of prefetches, then a burst of writes) and nothing else. It works on the memory of
// a subject's table: what it writes there is the byte count of an entry, or of none.
type floor struct {
	base  uintptr
	n     uint64
	lines []uintptr
	rng   *rand.Rand
}

func newFloor(base uintptr, n uint64) *floor {
	return &floor{base: base, n: n, lines: make([]uintptr, passLen), rng: rand.New(rand.NewPCG(3, n))}
}

// pass times passLen lines.
func (f *floor) pass() (uint64, error) {
	for i := range f.lines {
		f.lines[i] = f.base + uintptr(f.rng.Uint64N(f.n))*flow.EntrySize
	}
	start := asm.Rdtsc()
	for i := 0; i < passLen; i += burst {
		asm.PrefetchN(unsafe.Pointer(&f.lines[i]), burst)
		for _, line := range f.lines[i : i+burst] {
			flow.At(line).Bytes++
		}
	}
	return asm.Rdtsc() - start, nil
}

func (f *floor) check() error { return nil }
