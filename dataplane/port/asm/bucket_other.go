//go:build !amd64

package asm

import "unsafe"

// Match is a bit for each of the 15 words at p that is tag in the bits of mask.
func Match(p uintptr, tag, mask uint32) (found uint32) { return match(p, tag, mask) }

// Locate finds, for each of n hashes, the line that the first word of the hash leads to, and has it fetched. At in, and each
// stride bytes on, are a hash and the address of the bucket where the search starts; the addresses of the lines go to out.
func Locate(in unsafe.Pointer, n, stride int, x *Buckets, out unsafe.Pointer) {
	locate(in, n, stride, x, out)
	PrefetchN(out, n)
}
