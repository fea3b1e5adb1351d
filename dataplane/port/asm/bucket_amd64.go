package asm

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

// avx2: the CPU has what the assembly needs. It is asked here, not of the compiler, since an appliance's image is built for CPUs
// of every age.
var avx2 = cpu.X86.HasAVX2

// Match is a bit for each of the 15 words at p that is tag in the bits of mask.
func Match(p uintptr, tag, mask uint32) (found uint32) {
	if avx2 {
		return matchAVX2(p, tag, mask)
	}
	return match(p, tag, mask)
}

// Locate finds, for each of n hashes, the line that the first word of the hash leads to, and has it fetched. At in, and each
// stride bytes on, are a hash and the address of the bucket where the search starts; the addresses of the lines go to out.
func Locate(in unsafe.Pointer, n, stride int, x *Buckets, out unsafe.Pointer) {
	if avx2 {
		locateAVX2(in, n, stride, x, out)
		return
	}
	locate(in, n, stride, x, out)
	PrefetchN(out, n)
}

func matchAVX2(p uintptr, tag, mask uint32) (found uint32)

//go:noescape
func locateAVX2(in unsafe.Pointer, n, stride int, x *Buckets, out unsafe.Pointer)
