package asm

import (
	"sync/atomic"
	"unsafe"
)

// Offsets of buf_addr and data_off in an mbuf, as in package port.
const (
	offBufAddr = 0
	offDataOff = 16
)

// unlikely counts loads whose words happen to add up to a magic number: a use of the loaded values which the compiler
// cannot remove and which practically never writes.
var unlikely atomic.Uint64

const magic = 0x9e3779b97f4a7c15

func load(p uintptr) uint64 { return *(*uint64)(unsafe.Add(unsafe.Pointer(nil), p)) }

func early1(p uintptr) {
	if load(p) == magic {
		unlikely.Add(1)
	}
}

func earlyN(p unsafe.Pointer, n int) { earlyStride(p, n, 8) }

func earlyStride(p unsafe.Pointer, n, stride int) {
	var x uint64
	for i := 0; i < n; i++ {
		x += load(*(*uintptr)(unsafe.Add(p, i*stride)))
	}
	if x == magic {
		unlikely.Add(1)
	}
}

func earlyData(p unsafe.Pointer, n int) {
	var x uint64
	for i := 0; i < n; i++ {
		m := *(*unsafe.Pointer)(unsafe.Add(p, i*8))
		data := *(*uintptr)(unsafe.Add(m, offBufAddr)) + uintptr(*(*uint16)(unsafe.Add(m, offDataOff)))
		x += load(data)
	}
	if x == magic {
		unlikely.Add(1)
	}
}

func earlyIndexed(p unsafe.Pointer, n int, field, base uintptr) {
	var x uint64
	for i := 0; i < n; i++ {
		s := *(*uintptr)(unsafe.Add(p, i*8))
		x += load(base + uintptr(*word(s + field))*8)
	}
	if x == magic {
		unlikely.Add(1)
	}
}
