package hash_test

import (
	"hash/crc32"
	"math/rand/v2"
	"testing"

	"github.com/yerden/go-dpdk/hash"
)

// DPDK's CRC is the plain Castagnoli register, without the complements at both ends of Go's.
func TestCrcUpdateIsCastagnoli(t *testing.T) {
	table := crc32.MakeTable(crc32.Castagnoli)
	rng := rand.New(rand.NewPCG(1, 2))
	for n := range 70 {
		data := make([]byte, n)
		for i := range data {
			data[i] = byte(rng.Uint32())
		}
		acc := rng.Uint32()
		if got, want := hash.CrcUpdate(data, acc), ^crc32.Update(^acc, table, data); got != want {
			t.Errorf("%d bytes: %#x, want %#x", n, got, want)
		}
	}
}
