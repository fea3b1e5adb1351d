package asm

import "unsafe"

// Rdtsc reads the cycle counter after all earlier loads have finished: for measuring.
func Rdtsc() uint64

// RdtscFast reads the cycle counter without waiting: for clocks and coarse sums.
func RdtscFast() uint64

// Prefetch1 prefetches the cache line at p. A bad address does no harm.
func Prefetch1(p uintptr)

// PrefetchN prefetches the n addresses stored at p.
//
//go:noescape
func PrefetchN(p unsafe.Pointer, n int)

// PrefetchData prefetches the first cache line of the frames of the n mbufs whose addresses are stored at p.
//
//go:noescape
func PrefetchData(p unsafe.Pointer, n int)

// PrefetchStride prefetches n addresses: the first is stored at p, each other one stride bytes behind the one before.
//
//go:noescape
func PrefetchStride(p unsafe.Pointer, n, stride int)

// PrefetchIndexed prefetches what n structs lead to: their addresses are stored at p, and each has, field bytes from its beginning,
// the index (32 bits) of an element of 8 bytes of the array at base. The structs are read and must be mapped.
//
//go:noescape
func PrefetchIndexed(p unsafe.Pointer, n int, field, base uintptr)
