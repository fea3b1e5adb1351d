package table

import (
	"fmt"
	"math/bits"
	"syscall"
	"unsafe"
)

// arena is memory off the Go heap for one part: the collector never scans or moves it, and it is given back at once
// when the last worker has left the part. It is filled front to back and never grows.
type arena struct {
	mem  []byte
	used uintptr
}

// line is the size of a cache line in bytes: every array in an arena begins on one.
const line = 64

// pad rounds a size up to whole cache lines.
func pad(n uintptr) uintptr { return (n + line - 1) &^ (line - 1) }

func newArena(size uintptr) (*arena, error) {
	if size == 0 {
		size = line
	}
	// Populated, since all of it is written at once: one call instead of a fault for each page.
	m, err := syscall.Mmap(-1, 0, int(size), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANON|syscall.MAP_POPULATE)
	if err != nil {
		return nil, fmt.Errorf("no memory for tables of %d bytes: %w", size, err)
	}
	return &arena{mem: m}, nil
}

// take returns n zeroed bytes that begin on a cache line. The caller has counted before: asking too much is a fault of
// this package, never of its input.
func (a *arena) take(n uintptr) uintptr {
	p := a.used
	a.used += pad(n)
	if a.used > pad(uintptr(len(a.mem))) {
		panic("table: an arena was counted too small")
	}
	return uintptr(unsafe.Pointer(&a.mem[0])) + p
}

func (a *arena) free() {
	if a == nil || a.mem == nil {
		return
	}
	// The only error is a wrong address or length, and both come from Mmap.
	_ = syscall.Munmap(a.mem)
	a.mem = nil
}

// slots returns the number of hash slots for n keys: a power of two, at most half full, so that a probe is short.
func slots(n int) uintptr {
	return uintptr(1) << bits.Len(uint(2*n|1))
}

// mix spreads a key over 64 bits: a full 128-bit product folded, so that every bit of the key reaches every bit used.
func mix(k uint64) uint64 {
	hi, lo := bits.Mul64(k^0x9e3779b97f4a7c15, 0xd6e8feb86659fd93)
	return hi ^ lo
}

// hash is an open-addressed table of 16-byte slots: a key, never 0, and a value.
type hash struct {
	base uintptr
	mask uintptr
}

const slotSize = 16

func newHash(a *arena, n int) hash {
	m := slots(n)
	return hash{base: a.take(m * slotSize), mask: m - 1}
}

// get returns the value of k and whether k is there.
func (h *hash) get(k uint64) (uint64, bool) {
	for i := uintptr(mix(k)); ; i++ {
		p := h.base + (i&h.mask)*slotSize
		switch *u64(p) {
		case k:
			return *u64(p + 8), true
		case 0:
			return 0, false
		}
	}
}

// put adds k and reports false if it was there already.
func (h *hash) put(k, v uint64) bool {
	for i := uintptr(mix(k)); ; i++ {
		p := h.base + (i&h.mask)*slotSize
		switch *u64(p) {
		case k:
			return false
		case 0:
			*u64(p), *u64(p + 8) = k, v
			return true
		}
	}
}
