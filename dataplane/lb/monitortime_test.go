package lb

import (
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"sluice/dataplane/api"
	"sluice/dataplane/table"
)

// TestMonitorTimeAgainstNaive compares choices of LRTM with those by exact fractions: of the members that are up, in the order of
// their turns, the first with the smallest product of open flows and response time by weight. Of a service that no monitor knows the
// time is the longest of the others.
func TestMonitorTimeAgainstNaive(t *testing.T) {
	for seed := range uint64(30) {
		r := rand.New(rand.NewPCG(seed, 4))
		n := 1 + r.IntN(6)
		weights := make([]uint16, n)
		for i := range weights {
			weights[i] = uint16(1 + r.IntN(50)*int(seed%3))
		}
		s := state(t)
		var prev *table.Set
		open, last := make([]int64, n+1), 0
		for range 40 {
			h := &api.Health{}
			known := map[uint32]int64{}
			for id := uint32(1); id <= uint32(n); id++ {
				if r.IntN(5) > 0 {
					h.Up = append(h.Up, id)
				}
				if r.IntN(4) > 0 {
					micros := r.Uint32N(4) * (1 + r.Uint32N(2)*(1<<30-1))
					known[id] = max(int64(micros), 1)
					h.Times = append(h.Times, api.Load{Service: id, Load: micros})
				}
			}
			first, _ := set(t, prev, api.LeastMonitorTime, weights, h.Up)
			next, err := table.Build(&api.Tables{Health: h}, first)
			if err != nil {
				t.Fatal(err)
			}
			v := next.Vserver(0x0100000a, 80<<8, api.ProtoTCP)
			for range 4 {
				want := naiveQuickest(h.Up, known, open, weights, last)
				got := s.Pick(next, v, 0, 0)
				if got != want {
					t.Fatalf("seed %d: of %v with times %v, open flows %v and weights %v, after place %d, %d is chosen, want %d", seed, h.Up, known, open, weights, last, got, want)
				}
				if want != 0 {
					last = slices.Index(h.Up, want) + 1
					s.Opened(v.ID, want)
					open[want]++
				}
				if id := 1 + r.IntN(n); open[id] > 0 {
					s.Closed(v.ID, uint32(id))
					open[id]--
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

func naiveQuickest(up []uint32, known map[uint32]int64, open []int64, weights []uint16, last int) uint32 {
	return naiveLeast(up, known, 1, last, func(id uint32, time int64) *big.Rat {
		return new(big.Rat).Mul(big.NewRat(open[id], int64(weights[id-1])), big.NewRat(time, 1))
	})
}
