package lb

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"testing"

	"sluice/dataplane/api"
	"sluice/dataplane/table"
)

// set builds a vserver of ID 1 over services 1, 2, ... of the given weights, those listed being up.
func set(t testing.TB, prev *table.Set, method api.Method, weights []uint16, up []uint32) (*table.Set, *table.Vserver) {
	t.Helper()
	return factored(t, prev, 0, method, weights, up)
}

// factored is set with a factor of start-ups.
func factored(t testing.TB, prev *table.Set, factor uint32, method api.Method, weights []uint16, up []uint32) (*table.Set, *table.Vserver) {
	t.Helper()
	if prev == nil {
		var err error
		if prev, err = table.Empty(nil); err != nil {
			t.Fatal(err)
		}
	}
	c := &api.Config{StartupFactor: factor, Vservers: []api.Vserver{{ID: 1, Name: "v", Proto: api.ProtoTCP, IP: netip.MustParseAddr("10.0.0.1"), Port: 80, Method: method}}}
	for i, w := range weights {
		c.Services = append(c.Services, api.Service{ID: uint32(i + 1), Name: fmt.Sprint("s", i+1), Proto: api.ProtoTCP, IP: netip.MustParseAddr("10.0.0.2")})
		c.Vservers[0].Bindings = append(c.Vservers[0].Bindings, api.Binding{Service: uint32(i + 1), Weight: w})
	}
	s, err := table.Build(&api.Tables{Config: c, Health: &api.Health{Up: up}}, prev)
	if err != nil {
		t.Fatal(err)
	}
	v := s.Vserver(0x0100000a, 80<<8, api.ProtoTCP)
	if v == nil {
		t.Fatal("the vserver is not found")
	}
	return s, v
}

func state(t testing.TB) *State {
	t.Helper()
	s, err := New()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func TestPickSequences(t *testing.T) {
	for _, tc := range []struct {
		name    string
		method  api.Method
		weights []uint16
		up      []uint32
		open    map[uint32]int // flows open before
		keep    bool           // every flow chosen stays open
		want    []uint32
	}{
		{"round robin", api.RoundRobin, []uint16{1, 1, 1}, []uint32{1, 2, 3}, nil, true, []uint32{1, 2, 3, 1, 2, 3, 1}},
		{"round robin passes over what is down", api.RoundRobin, []uint16{1, 1, 1}, []uint32{1, 3}, nil, true, []uint32{1, 3, 1, 3}},
		{"round robin by weight", api.RoundRobin, []uint16{3, 1}, []uint32{1, 2}, nil, true, []uint32{1, 1, 2, 1, 1, 1, 2, 1}},
		{"round robin ignores open flows", api.RoundRobin, []uint16{1, 1}, []uint32{1, 2}, map[uint32]int{1: 9}, true, []uint32{1, 2, 1}},
		{"nobody is up", api.RoundRobin, []uint16{1}, nil, nil, true, []uint32{0, 0}},
		{"least: nobody is up", api.LeastConnection, []uint16{1}, nil, nil, true, []uint32{0}},
		{"least: equals take turns", api.LeastConnection, []uint16{1, 1, 1}, []uint32{1, 2, 3}, nil, false, []uint32{1, 2, 3, 1, 2, 3}},
		{"least: open flows stay", api.LeastConnection, []uint16{1, 1, 1}, []uint32{1, 2, 3}, nil, true, []uint32{1, 2, 3, 1, 2, 3}},
		{"least: the emptiest catches up", api.LeastConnection, []uint16{1, 1}, []uint32{1, 2}, map[uint32]int{1: 3}, true, []uint32{2, 2, 2, 1, 2, 1}},
		{"least: by weight", api.LeastConnection, []uint16{1, 2}, []uint32{1, 2}, nil, true, []uint32{1, 2, 2, 1, 2, 2}},
		{"least: a tie by weight goes on after the last", api.LeastConnection, []uint16{1, 2}, []uint32{1, 2}, map[uint32]int{1: 1, 2: 2}, false, []uint32{1, 2, 1}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tab, v := set(t, nil, tc.method, tc.weights, tc.up)
			defer tab.Free(nil)
			s := state(t)
			for id, n := range tc.open {
				for range n {
					s.Opened(0, id)
				}
			}
			var got []uint32
			for range tc.want {
				id := s.Pick(tab, v, 0, 0)
				got = append(got, id)
				if tc.keep && id != 0 {
					s.Opened(0, id)
				}
			}
			if !slices.Equal(got, tc.want) {
				t.Errorf("chose %v, not %v", got, tc.want)
			}
		})
	}
}

func TestRoundRobinIsExact(t *testing.T) {
	tab, v := set(t, nil, api.RoundRobin, []uint16{1, 1, 1}, []uint32{1, 2, 3})
	defer tab.Free(nil)
	s, got := state(t), map[uint32]int{}
	for range 300 {
		got[s.Pick(tab, v, 0, 0)]++
	}
	if got[1] != 100 || got[2] != 100 || got[3] != 100 {
		t.Errorf("300 flows went %v", got)
	}
}

// TestLeastConnectionAgainstNaive opens and closes flows at random: whoever is chosen has no rival with fewer flows by
// weight, and among equals the one that waited longest in turn is chosen.
func TestLeastConnectionAgainstNaive(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	weights := []uint16{1, 3, 2, 2, 7}
	up := []uint32{1, 2, 4, 5}
	tab, v := set(t, nil, api.LeastConnection, weights, up)
	defer tab.Free(nil)
	s := state(t)
	open := map[uint32]int{}
	var flows []uint32
	last := len(up) - 1
	for step := 0; step < 5000; step++ {
		if len(flows) > 0 && r.IntN(5) < 2 {
			i := r.IntN(len(flows))
			s.Closed(0, flows[i])
			open[flows[i]]--
			flows = slices.Delete(flows, i, i+1)
			continue
		}
		want := -1
		for k := 1; k <= len(up); k++ {
			i := (last + k) % len(up)
			load := func(i int) float64 { return float64(open[up[i]]) / float64(weights[up[i]-1]) }
			if want < 0 || load(i) < load(want)-1e-12 {
				want = i
			}
		}
		id := s.Pick(tab, v, 0, 0)
		if id != up[want] {
			t.Fatalf("step %d: chose %d, the naive rule says %d (open %v)", step, id, up[want], open)
		}
		last = want
		s.Opened(0, id)
		open[id]++
		flows = append(flows, id)
		if int(s.Open(id)) != open[id] {
			t.Fatalf("service %d has %d open, not %d", id, s.Open(id), open[id])
		}
	}
}

func TestPoolThatShrinksKeepsTurns(t *testing.T) {
	tab, v := set(t, nil, api.RoundRobin, []uint16{1, 1, 1}, []uint32{1, 2, 3})
	s := state(t)
	for range 3 {
		s.Pick(tab, v, 0, 0)
	}
	less, v2 := set(t, tab, api.RoundRobin, []uint16{1, 1, 1}, []uint32{2})
	for range 3 {
		if id := s.Pick(less, v2, 0, 0); id != 2 {
			t.Fatalf("chose %d while only 2 is up", id)
		}
	}
	less.Free(tab)
	tab.Free(nil)
}

func TestClosedNeverGoesBelowNothing(t *testing.T) {
	s := state(t)
	s.Closed(0, 4)
	s.Opened(0, 4)
	if s.Open(4) != 1 || s.Open(1<<31) != 0 {
		t.Errorf("open %d", s.Open(4))
	}
}

// TestChooseForetellsPick asks any number of times before each choice: the answer is what Pick then does, and asking changes nothing.
func TestChooseForetellsPick(t *testing.T) {
	for _, method := range []api.Method{api.RoundRobin, api.LeastConnection, api.LeastPackets, api.LeastResponseTime} {
		r := rand.New(rand.NewPCG(uint64(method), 3))
		tab, v := factored(t, nil, 9, method, []uint16{1, 3, 2, 2, 7}, []uint32{1, 2, 4, 5})
		asked, silent := state(t), state(t)
		for step := range 500 {
			var foretold uint32
			for range 1 + r.IntN(3) {
				foretold, _ = asked.Choose(tab, v, 0, 0)
			}
			got, want := asked.Pick(tab, v, 0, 0), silent.Pick(tab, v, 0, 0)
			if got != foretold || got != want {
				t.Fatalf("method %d, step %d: foretold %d, chose %d; nobody asked: %d", method, step, foretold, got, want)
			}
			if r.IntN(3) > 0 {
				asked.Opened(0, got)
				silent.Opened(0, got)
			}
		}
		tab.Free(nil)
	}
}

func TestPickAllocatesNothing(t *testing.T) {
	tab, v := set(t, nil, api.LeastConnection, []uint16{1, 1, 1}, []uint32{1, 2, 3})
	defer tab.Free(nil)
	s := state(t)
	if n := testing.AllocsPerRun(100, func() { s.Opened(0, s.Pick(tab, v, 0, 0)) }); n != 0 {
		t.Errorf("%v allocations a choice", n)
	}
}
