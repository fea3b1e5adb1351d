package table

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"strings"
	"testing"

	"sluice/dataplane/api"
)

// TestTablesThatDoNotFitAreRefused: for every part that may be large, one byte too little is refused with the size, before any
// memory is taken, and the set before goes on; with just enough it is built.
func TestTablesThatDoNotFitAreRefused(t *testing.T) {
	many := hashConfig(1, backends(651)).Config // one table of the largest class: 1.25 MiB
	var routes []api.Route
	for i := range 2000 { // 2000 chunks of 1 KiB below the root
		routes = append(routes, api.Route{Prefix: netip.PrefixFrom(addrOf(0x0a000000+uint32(i)<<8), 25)})
	}
	up := &api.Health{Up: []uint32{1, 2, 3}}
	for _, row := range []struct {
		name string
		tab  *api.Tables
		says string
	}{
		{"configuration", &api.Tables{Config: &api.Config{Version: 5, Services: []api.Service{{ID: MaxID, Name: "far", IP: ip("10.0.0.1")}}}},
			"the tables need 8.3 MiB of memory (configuration 5: 8.1, balancing: 0.3)"},
		{"Maglev table", &api.Tables{Config: many, Health: up}, "the tables need 1.3 MiB of memory (configuration 0: 0.1, balancing: 1.3)"},
		{"routes", &api.Tables{FIB: &api.FIB{Version: 6, Routes: routes}}, "the tables need 2.3 MiB of memory (forwarding table 6: 2.3)"},
		{"neighbors", &api.Tables{Neighbors: &api.Neighbors{Version: 7}}, "the tables need 1.1 MiB of memory (neighbors 7: 1.1)"},
	} {
		t.Run(row.name, func(t *testing.T) {
			prev := mustBuild(t, hashConfig(1, backends(3)), empty(t))
			defer prev.Free(nil)
			was := *prev.pools.tables[digestOf(t, prev)]
			parts, err := new(*prev).draft(row.tab, prev)
			if err != nil {
				t.Fatal(err)
			}
			need := uint64(0)
			for _, p := range parts {
				need += uint64(p.size)
			}
			release(parts)
			s, err := BuildWithin(row.tab, prev, need-1)
			if err == nil || s != nil || !strings.HasPrefix(err.Error(), row.says) || !strings.Contains(err.Error(), "nothing has changed") {
				t.Fatalf("says %v, which lacks %q", err, row.says)
			}
			if now := *prev.pools.tables[digestOf(t, prev)]; now.owners != was.owners || now.mem != was.mem || prev.Pool(vserverNumber(t, prev, 1)).N == 0 {
				t.Error("a refusal has changed the set in force")
			}
			s, err = BuildWithin(row.tab, prev, need)
			if err != nil {
				t.Fatal(err)
			}
			s.Free(prev)
		})
	}
}

// digestOf is the digest of the only table of a set.
func digestOf(t *testing.T, s *Set) uint64 {
	t.Helper()
	for d := range s.pools.tables {
		return d
	}
	t.Fatal("the set has no table")
	return 0
}

// TestSizesAreExact compares what is counted before with what is mapped after, for random tables.
func TestSizesAreExact(t *testing.T) {
	r := rand.New(rand.NewPCG(14, 1))
	s := empty(t)
	for range 60 {
		var pools [][]backend
		for range 1 + r.IntN(5) {
			list := backends(1 + r.IntN(40))
			for i := range list {
				list[i].weight, list[i].down = 1+r.IntN(3), i%7 == 0
			}
			pools = append(pools, list)
		}
		tab := hashConfig(1+uint32(r.IntN(9)), pools...)
		tab.FIB, tab.Neighbors = &api.FIB{Routes: randomRoutes(r, r.IntN(200))}, &api.Neighbors{}
		for i := range tab.Config.Vservers {
			tab.Config.Vservers[i].Method = []api.Method{api.RoundRobin, api.LeastConnection, api.SourceIPHash}[r.IntN(3)]
		}
		for i := range r.IntN(50) {
			tab.Neighbors.Entries = append(tab.Neighbors.Entries, api.Neighbor{IP: addrOf(0x0a010000 + uint32(i)), MAC: [6]byte{2, 1}})
		}
		next := mustBuild(t, tab, s)
		mapped := 0
		for _, a := range []*arena{next.conf.mem, next.pools.mem, next.fib.mem, next.neigh.mem} {
			mapped += len(a.mem)
		}
		for _, m := range next.pools.tables {
			mapped += len(m.mem.mem)
		}
		if next.Bytes() != uint64(mapped) {
			t.Fatalf("%d bytes are mapped, %d were counted", mapped, next.Bytes())
		}
		for _, a := range []*arena{next.conf.mem, next.pools.mem, next.fib.mem, next.neigh.mem} {
			if pad(a.used) != pad(uintptr(len(a.mem))) {
				t.Fatalf("an arena of %d bytes is filled up to %d", len(a.mem), a.used)
			}
		}
		s.Free(next)
		s = next
	}
	s.Free(nil)
}

func TestSizesAreWrittenRoundedUp(t *testing.T) {
	err := fits([]part{{name: "a", size: 1}, {name: "b", size: 3<<20 + 1}}, 2<<20+5)
	if err == nil || !strings.HasPrefix(err.Error(), "the tables need 3.1 MiB of memory (a: 0.1, b: 3.1) and 2.0 MiB are free: ") {
		t.Error(fmt.Sprint(err))
	}
	if err := fits([]part{{size: 5}}, 5); err != nil {
		t.Error(err)
	}
}
