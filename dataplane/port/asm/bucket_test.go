package asm

import (
	"math/rand/v2"
	"testing"
	"unsafe"
)

// lined returns n 64-byte lines of zeros, each on a cache line, as 32-bit words.
func lined(n int) []uint32 {
	mem := make([]uint32, n*16+15)
	for uintptr(unsafe.Pointer(&mem[0]))&63 != 0 {
		mem = mem[1:]
	}
	return mem[:n*16]
}

// searches are hashes and the buckets where their search starts, as Locate reads them, with something in between.
type searches [40]struct {
	_      uint64
	hash   uint64
	bucket uintptr
}

func TestLocateIsSearch(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 5))
	const buckets = 5
	words, lines := lined(buckets), lined(1<<10)
	base := uintptr(unsafe.Pointer(&words[0]))
	x := Buckets{Base: base, End: base + buckets*bucketSize, Lines: uintptr(unsafe.Pointer(&lines[0]))}
	var found, hopped, unsure int
	for round := range 3000 {
		x.Numbers = 1<<(3+r.UintN(8)) - 1
		for i := range words {
			// Few values, so that tags meet often; the counts make chains now and then, also around all buckets.
			if words[i] = r.Uint32N(3)<<30 | r.Uint32N(x.Numbers+1); i&15 == countAt/4 {
				words[i] = uint32(round%3) * r.Uint32N(2)
			}
		}
		var in searches
		for i := range in {
			in[i].hash, in[i].bucket = uint64(r.Uint32N(4))<<62|uint64(r.Uint32()), base+uintptr(r.UintN(buckets))*bucketSize
		}
		n := r.IntN(len(in) + 1)
		var got, inGo, want [len(in)]uintptr // equal beyond n
		Locate(unsafe.Pointer(&in[0].hash), n, int(unsafe.Sizeof(in[0])), &x, unsafe.Pointer(&got))
		naive(&in, n, &x, &want)
		locate(unsafe.Pointer(&in[0].hash), n, int(unsafe.Sizeof(in[0])), &x, unsafe.Pointer(&inGo))
		if got != want || inGo != want {
			t.Fatalf("numbers %#x, buckets %#x, searches %#x:\n  found %#x\n  in Go %#x\n  want  %#x", x.Numbers, words, in[:n], got, inGo, want)
		}
		for i := range n {
			switch got[i] {
			case x.Lines + Unsure*lineSize:
				unsure++
			case x.Lines:
			default:
				if found++; *word(in[i].bucket + countAt) != 0 {
					hopped++
				}
			}
		}
	}
	if found < 1000 || hopped < 100 || unsure < 100 {
		t.Errorf("%d lines found, %d of them perhaps in another bucket, %d searches given up: the test has lost its point", found, hopped, unsure)
	}
	Locate(nil, 0, 16, &x, nil)
	Locate(nil, -1, 16, &x, nil)
}

// naive is Locate word by word.
func naive(in *searches, n int, x *Buckets, out *[len(searches{})]uintptr) {
	hops := maxHops
	for i := range in[:n] {
		b := in[i].bucket
		tag := uint32(in[i].hash>>32) &^ x.Numbers
		if tag == 0 {
			tag = x.Numbers + 1
		}
		number := ^uint32(0)
		for number == ^uint32(0) {
			for w := uintptr(0); w < bucketWords && number == ^uint32(0); w++ {
				if v := *word(b + w*4); v&^x.Numbers == tag {
					number = v & x.Numbers
				}
			}
			if number != ^uint32(0) {
				break
			}
			if *word(b + countAt) == 0 {
				number = Nowhere
			} else if hops == 0 {
				number = Unsure
			} else {
				hops--
				b += bucketSize
				if b == x.End {
					b = x.Base
				}
			}
		}
		out[i] = x.Lines + uintptr(number)*lineSize
	}
}

func TestMatchIsComparison(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 7))
	words := lined(1)
	for range 20000 {
		mask := ^uint32(0) << r.UintN(32)
		for i := range words {
			words[i] = r.Uint32N(3)<<30 | r.Uint32N(2)
		}
		tag := (r.Uint32N(3)<<30 | r.Uint32N(2)) & mask
		want := uint32(0)
		for i, v := range words[:bucketWords] {
			if v&mask == tag {
				want |= 1 << i
			}
		}
		p := uintptr(unsafe.Pointer(&words[0]))
		if got := Match(p, tag, mask); got != want || match(p, tag, mask) != want {
			t.Fatalf("%#x in the bits %#x of %#x: %015b and in Go %015b, want %015b", tag, mask, words, got, match(p, tag, mask), want)
		}
	}
}
