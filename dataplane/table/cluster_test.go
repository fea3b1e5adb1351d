package table

import (
	"encoding/binary"
	"math/bits"
	"math/rand/v2"
	"testing"
)

// naiveSipHash is SipHash-c-d as its paper (Aumasson, Bernstein 2012, 2.1) defines it, for messages of any length.
func naiveSipHash(c, d int, k0, k1 uint64, m []byte) uint64 {
	v := [4]uint64{k0 ^ 0x736f6d6570736575, k1 ^ 0x646f72616e646f6d, k0 ^ 0x6c7967656e657261, k1 ^ 0x7465646279746573}
	rounds := func(n int) {
		for range n {
			v[0] += v[1]
			v[1] = bits.RotateLeft64(v[1], 13)
			v[1] ^= v[0]
			v[0] = bits.RotateLeft64(v[0], 32)
			v[2] += v[3]
			v[3] = bits.RotateLeft64(v[3], 16)
			v[3] ^= v[2]
			v[0] += v[3]
			v[3] = bits.RotateLeft64(v[3], 21)
			v[3] ^= v[0]
			v[2] += v[1]
			v[1] = bits.RotateLeft64(v[1], 17)
			v[1] ^= v[2]
			v[2] = bits.RotateLeft64(v[2], 32)
		}
	}
	padded := append([]byte(nil), m...)
	for len(padded)%8 != 7 {
		padded = append(padded, 0)
	}
	padded = append(padded, byte(len(m)))
	for ; len(padded) > 0; padded = padded[8:] {
		w := binary.LittleEndian.Uint64(padded)
		v[3] ^= w
		rounds(c)
		v[0] ^= w
	}
	v[2] ^= 0xff
	rounds(d)
	return v[0] ^ v[1] ^ v[2] ^ v[3]
}

func TestClusterHashIsSipHash(t *testing.T) {
	var key, m [16]byte
	for i := range key {
		key[i], m[i] = byte(i), byte(i)
	}
	k := ClusterKey{binary.LittleEndian.Uint64(key[:]), binary.LittleEndian.Uint64(key[8:])}
	// The example of the paper's appendix A tells that the definition above is the right one.
	if got := naiveSipHash(2, 4, k[0], k[1], m[:15]); got != 0xa129ca6149be45e5 {
		t.Fatalf("the naive SipHash-2-4 of the paper's example is %#x", got)
	}
	r := rand.New(rand.NewPCG(9, 1))
	for range 1000 {
		k, word := ClusterKey{r.Uint64(), r.Uint64()}, r.Uint64()
		if got, want := k.Hash(word), naiveSipHash(1, 3, k[0], k[1], binary.LittleEndian.AppendUint64(nil, word)); got != want {
			t.Fatalf("the hash of %#x is %#x, not %#x", word, got, want)
		}
	}
}
