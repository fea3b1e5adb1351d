package lb

import (
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"sluice/dataplane/api"
	"sluice/dataplane/table"
)

// TestCustomLoadAgainstNaive compares choices with those by exact fractions: of the members that are up, in the order of their turns,
// the first of those with the smallest load by weight.
func TestCustomLoadAgainstNaive(t *testing.T) {
	for seed := range uint64(30) {
		r := rand.New(rand.NewPCG(seed, 3))
		n := 1 + r.IntN(6)
		weights := make([]uint16, n)
		for i := range weights {
			weights[i] = uint16(1 + r.IntN(100))
			if seed%3 == 0 {
				weights[i] = 1
			}
		}
		s := state(t)
		var prev *table.Set
		last := 0
		for range 60 {
			var up []uint32
			var loads []api.Load
			known := map[uint32]int64{}
			for id := uint32(1); id <= uint32(n); id++ {
				if r.IntN(5) > 0 {
					up = append(up, id)
				}
				if r.IntN(4) > 0 {
					load := r.Uint32N(4) * (1 + r.Uint32N(2)*(1<<30-1))
					known[id] = int64(load)
					loads = append(loads, api.Load{Service: id, Load: load})
				}
			}
			set, _ := set(t, prev, api.CustomLoad, weights, up)
			next, err := table.Build(&api.Tables{Health: &api.Health{Up: up, Loads: loads}}, set)
			if err != nil {
				t.Fatal(err)
			}
			v := next.Vserver(0x0100000a, 80<<8, api.ProtoTCP)
			for range 4 {
				want := naiveLightest(up, known, weights, last)
				got := s.Pick(next, v, 0, 0)
				if got != want {
					t.Fatalf("seed %d: of %v with loads %v and weights %v, after place %d, %d is chosen, want %d", seed, up, known, weights, last, got, want)
				}
				if want != 0 {
					last = slices.Index(up, want) + 1
				}
			}
			if prev != nil {
				prev.Free(next)
			}
			prev = next
		}
		prev.Free(nil)
	}
}

// naiveLightest is the service to choose; last is the place after the last choice.
func naiveLightest(up []uint32, known map[uint32]int64, weights []uint16, last int) uint32 {
	return naiveLeast(up, known, 0, last, func(id uint32, load int64) *big.Rat { return big.NewRat(load, int64(weights[id-1])) })
}

// naiveLeast is the first service with the least figure from the place last on. It depends on what is known of the service, or on the
// most that is known of any, at least so much.
func naiveLeast(up []uint32, known map[uint32]int64, least int64, last int, figure func(id uint32, known int64) *big.Rat) uint32 {
	if len(up) == 0 {
		return 0
	}
	most := least
	for _, id := range up {
		most = max(most, known[id])
	}
	type candidate struct {
		id   uint32
		load *big.Rat
	}
	var list []candidate
	for k := range up {
		id := up[(last+k)%len(up)]
		n, ok := known[id]
		if !ok {
			n = most
		}
		list = append(list, candidate{id, figure(id, n)})
	}
	return slices.MinFunc(list, func(a, b candidate) int { return a.load.Cmp(b.load) }).id
}
