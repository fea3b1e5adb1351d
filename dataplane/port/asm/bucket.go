package asm

import (
	"math/bits"
	"unsafe"
)

// Buckets is where a flow index lies and what it leads to (see package flow): buckets of 64 bytes from Base to End, each of 15
// words of 32 bits and a count. The low bits of a word, which Numbers masks, are the number of a line of 64 bytes from Lines on, 0
// in a word that is not in use; its other bits are those of the upper half of a hash, 1 instead of 0. The count says whether what
// is not in this bucket may be in the next one.
type Buckets struct {
	Base, End uintptr
	Lines     uintptr
	Numbers   uint32 // 2^n - 1
}

const (
	bucketSize  = 64
	bucketWords = 15
	countAt     = 60 // in a bucket
	lineSize    = 64
)

// What Locate gives where it has found no line: numbers of lines that nobody uses.
const (
	Nowhere = 0 // there is none
	Unsure  = 1 // it has not looked everywhere
)

// maxHops is how many buckets beyond the first of each hash Locate looks at in one call.
const maxHops = 32

// Tag is what words of a hash have in their upper bits: as much of it as there is room for, and never nothing.
func (x *Buckets) Tag(hash uint64) uint32 { return max(uint32(hash>>32)&^x.Numbers, x.Numbers+1) }

func match(p uintptr, tag, mask uint32) (found uint32) {
	for i := range uintptr(bucketWords) {
		if *word(p + i*4)&mask == tag {
			found |= 1 << i
		}
	}
	return found
}

func locate(in unsafe.Pointer, n, stride int, x *Buckets, out unsafe.Pointer) {
	hops := maxHops
	for i := range n {
		hash, b := *(*uint64)(unsafe.Add(in, i*stride)), *(*uintptr)(unsafe.Add(in, i*stride+8))
		number := uint32(Nowhere)
		for {
			if m := match(b, x.Tag(hash), ^x.Numbers); m != 0 {
				number = *word(b + uintptr(bits.TrailingZeros32(m))*4) & x.Numbers
				break
			}
			if *word(b + countAt) == 0 {
				break
			}
			if hops--; hops < 0 {
				number = Unsure
				break
			}
			if b += bucketSize; b == x.End {
				b = x.Base
			}
		}
		*(*uintptr)(unsafe.Add(out, i*8)) = x.Lines + uintptr(number)*lineSize
	}
}

func word(p uintptr) *uint32 { return (*uint32)(unsafe.Add(unsafe.Pointer(nil), p)) }
