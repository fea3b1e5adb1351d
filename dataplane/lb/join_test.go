package lb

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"sluice/dataplane/api"
)

// joined are the states of n workers that know of each other.
func joined(t testing.TB, n int) (all []*bed) {
	t.Helper()
	var states []*State
	for range n {
		b := newBed(t)
		all, states = append(all, b), append(states, b.State)
	}
	if err := Join(states); err != nil {
		t.Fatal(err)
	}
	return all
}

// TestLeastConnectionOfManyWorkers: whichever worker chooses, it chooses as one worker would that has all flows.
func TestLeastConnectionOfManyWorkers(t *testing.T) {
	for _, n := range []int{1, 2, 4} {
		r := rand.New(rand.NewPCG(uint64(n), 1))
		weights := []uint16{1, 3, 2, 7}
		tab, v := set(t, nil, api.LeastConnection, weights, []uint32{1, 2, 3, 4})
		all := joined(t, n)
		var open [5]int
		var flows [][2]int // worker, service
		for step := range 4000 {
			if len(flows) > 0 && r.IntN(5) < 2 {
				i := r.IntN(len(flows))
				f := flows[i]
				all[f[0]].Closed(0, uint32(f[1]))
				open[f[1]]--
				flows[i] = flows[len(flows)-1]
				flows = flows[:len(flows)-1]
				continue
			}
			w := r.IntN(n)
			got := int(all[w].Pick(tab, v, 0, 0))
			for id := 1; id <= 4; id++ {
				if open[id]*int(weights[got-1]) < open[got]*int(weights[id-1]) {
					t.Fatalf("%d workers, step %d: worker %d chose %d, but open are %v", n, step, w, got, open)
				}
			}
			all[w].Opened(0, uint32(got))
			open[got]++
			flows = append(flows, [2]int{w, got})
		}
		tab.Free(nil)
	}
}

// TestLoadOfManyWorkers: a worker's figure lies between all that was seen up to a second ago and all that was seen, its own
// part being exact; and with every worker at the beginning of a second all have the same figure.
func TestLoadOfManyWorkers(t *testing.T) {
	for _, n := range []int{2, 4} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			r := rand.New(rand.NewPCG(uint64(n), 2))
			all := joined(t, n)
			var counted [][]int // packets by second and worker
			for now := range uint32(60) {
				counted = append(counted, make([]int, n))
				order := r.Perm(n)
				for _, w := range order {
					all[w].second(now)
				}
				if now > 20 && now < 40 {
					order = nil // quiet, so that the window runs empty
				}
				for range r.IntN(50) {
					if order == nil {
						break
					}
					w := r.IntN(n)
					all[w].account(1, 3).In.Packets++
					counted[now][w]++
				}
				for w := range all {
					// Others have said last what they saw in the 13 seconds before this one.
					want := counted[now][w]
					for back := 1; back < Window && back <= int(now); back++ {
						for o := range n {
							want += counted[int(now)-back][o]
						}
					}
					if got := int(all[w].carried(3).Packets); got != want {
						t.Fatalf("second %d: worker %d has %d packets, want %d", now, w, got, want)
					}
				}
			}
		})
	}
}

// TestStartupOfManyWorkers: the workers share the flows of a start-up.
func TestStartupOfManyWorkers(t *testing.T) {
	for n, want := range map[int]int{1: 9, 2: 10, 4: 12} { // 3 flows for each of 3 services, rounded up by worker
		all := joined(t, n)
		tab, v := factored(t, nil, 3, api.LeastConnection, []uint16{1, 1, 1}, []uint32{1, 2, 3})
		got := 0
		for _, b := range all {
			startup, turns := tab.Startup(0)
			left, _ := b.Startup(1, startup, turns)
			for ; left > 0; left, _ = b.Startup(1, startup, turns) {
				b.Pick(tab, v, 0, 0)
				got++
			}
		}
		if got != want {
			t.Errorf("%d workers: %d flows, want %d", n, got, want)
		}
		tab.Free(nil)
	}
}

func TestJoinRefusesTooMany(t *testing.T) {
	if err := Join(make([]*State, MaxStates+1)); err == nil {
		t.Error("more states than there is room for were joined")
	}
}
