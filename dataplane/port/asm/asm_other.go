//go:build !amd64

package asm

import (
	"time"
	"unsafe"
)

var started = time.Now()

// Rdtsc returns nanoseconds of the monotonic clock.
func Rdtsc() uint64 { return uint64(time.Since(started)) }

// RdtscFast returns nanoseconds of the monotonic clock.
func RdtscFast() uint64 { return uint64(time.Since(started)) }

// Prefetch1 loads the 8 bytes at p, which must be mapped.
func Prefetch1(p uintptr) { early1(p) }

// PrefetchN loads 8 bytes at each of the n addresses stored at p, which must be mapped.
func PrefetchN(p unsafe.Pointer, n int) { earlyN(p, n) }

// PrefetchData loads the first 8 bytes of the frames of the n mbufs whose addresses are stored at p.
func PrefetchData(p unsafe.Pointer, n int) { earlyData(p, n) }

// PrefetchStride loads 8 bytes at each of n addresses, which must be mapped: the first is stored at p, each other one stride
// bytes behind the one before.
func PrefetchStride(p unsafe.Pointer, n, stride int) { earlyStride(p, n, stride) }

// PrefetchIndexed loads 8 bytes of what n structs lead to, which must be mapped: their addresses are stored at p, and each has, field
// bytes from its beginning, the index (32 bits) of an element of 8 bytes of the array at base.
func PrefetchIndexed(p unsafe.Pointer, n int, field, base uintptr) { earlyIndexed(p, n, field, base) }
