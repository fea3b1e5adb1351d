package flow

import (
	"math/bits"
	"unsafe"

	"sluice/dataplane/packet"
	"sluice/dataplane/port/asm"
)

// bucket is a part of the index, which tells where the entry of a key is: a cache line of 15 words and a count. A word is the number of
// an entry and, in the bits above, as much of its key's hash as there is room for; 0 is no entry's. So one line that is near at
// hand tells which far one to fetch, or that there is none, and is wrong about a few keys in a thousand.
//
// An entry is in the bucket that its key's hash gives, or in the next one that had room. The count is how many entries went past,
// so that a search ends at the first bucket which is complete. Nothing ever moves.
type bucket struct {
	words  [bucketWords]uint32
	passed uint32
}

const (
	bucketWords = 15
	// bucketShare is how many words of a bucket a full table uses in the mean: 3 entries of 100 are not in their first bucket then.
	bucketShare = 12
)

var _ = [1]struct{}{}[unsafe.Sizeof(bucket{})-packet.BucketSize]

func bucketAt(p uintptr) *bucket { return (*bucket)(unsafe.Add(unsafe.Pointer(nil), p)) }

// next is the bucket behind a bucket, around the end.
func (t *Table) next(b uintptr) uintptr {
	if b += packet.BucketSize; b == t.buckets.End {
		return t.Base
	}
	return b
}

// Find searches from bucket, which BucketOf or Parse gave for the key; nil if the key is not in the table.
func (t *Table) Find(bucket uintptr, a, b uint64) *Entry {
	numbers := t.buckets.Numbers
	tag := t.buckets.Tag(t.Hash(a, b))
	for range t.Buckets {
		x := bucketAt(bucket)
		for m := asm.Match(bucket, tag, ^numbers); m != 0; m &= m - 1 {
			e := t.entry(x.words[bits.TrailingZeros32(m)] & numbers)
			if e.B == b && e.A == a {
				return e
			}
		}
		if x.passed == 0 {
			break
		}
		bucket = t.next(bucket)
	}
	return nil
}

// enter puts a new entry of a key into the index; false if the key is there already. There is room: the index has more words than the
// table has entries. After one round every bucket has been looked at: in a small table entries may have gone past each of them.
func (t *Table) enter(a, b uint64, number uint32) bool {
	hash, numbers := t.Hash(a, b), t.buckets.Numbers
	tag, home := t.buckets.Tag(hash), t.BucketOf(hash)
	var in uintptr // the first bucket with a free word
	var free *uint32
	p := home
	for range t.Buckets {
		x := bucketAt(p)
		for m := asm.Match(p, tag, ^numbers); m != 0; m &= m - 1 {
			if e := t.entry(x.words[bits.TrailingZeros32(m)] & numbers); e.B == b && e.A == a {
				return false
			}
		}
		if free == nil {
			if m := asm.Match(p, 0, ^uint32(0)); m != 0 {
				in, free = p, &x.words[bits.TrailingZeros32(m)]
			}
		}
		if x.passed == 0 && free != nil {
			break
		}
		p = t.next(p)
	}
	for p := home; p != in; p = t.next(p) {
		bucketAt(p).passed++
	}
	*free = tag | number
	return true
}

// leave takes an entry out of the index.
func (t *Table) leave(hash uint64, number uint32) {
	for b := t.BucketOf(hash); ; b = t.next(b) {
		x := bucketAt(b)
		if is := asm.Match(b, t.buckets.Tag(hash)|number, ^uint32(0)); is != 0 {
			x.words[bits.TrailingZeros32(is)] = 0
			return
		}
		x.passed--
	}
}
