package table

import (
	"encoding/binary"
	"math/rand/v2"
	"net/netip"
	"testing"

	"sluice/dataplane/api"
)

// naiveRoute walks all routes for the longest prefix and returns the ways that share it.
func naiveRoute(list []api.Route, a netip.Addr) map[api.Route]bool {
	best, ways := -1, map[api.Route]bool{}
	for _, r := range list {
		if r.Prefix.Contains(a) && r.Prefix.Bits() >= best {
			if r.Prefix.Bits() > best {
				best, ways = r.Prefix.Bits(), map[api.Route]bool{}
			}
			ways[r] = true
		}
	}
	return ways
}

func randomRoutes(r *rand.Rand, n int) []api.Route {
	var list []api.Route
	for range n {
		// Few distinct high bits, so that prefixes nest and overwrite each other.
		a := r.Uint32() & 0x0303_0fff
		p := netip.PrefixFrom(addrOf(a), r.IntN(33)).Masked()
		e := api.Route{Prefix: p, Port: uint16(r.IntN(2))}
		if r.IntN(2) == 0 {
			e.Gateway = addrOf(0x0a000001 + uint32(r.IntN(3)))
		}
		list = append(list, e)
	}
	return list
}

func addrOf(hostOrder uint32) netip.Addr {
	var b [4]byte
	binary.BigEndian.PutUint32(b[:], hostOrder)
	return netip.AddrFrom4(b)
}

// TestLongestPrefixAgainstNaive compares the trie with a scan of all routes, at random addresses and at both edges of
// every prefix.
func TestLongestPrefixAgainstNaive(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for round := 0; round < 40; round++ {
		list := randomRoutes(r, 1+r.IntN(120))
		s := mustBuild(t, &api.Tables{FIB: &api.FIB{Routes: list}}, empty(t))
		var probe []uint32
		for _, e := range list {
			b := e.Prefix.Addr().As4()
			low := binary.BigEndian.Uint32(b[:])
			high := low + uint32(uint64(1)<<(32-e.Prefix.Bits())-1)
			probe = append(probe, low, low-1, high, high+1)
		}
		for range 300 {
			probe = append(probe, r.Uint32()&0x0303_0fff, r.Uint32())
		}
		for _, a := range probe {
			want := naiveRoute(list, addrOf(a))
			h := s.Route(ip4(addrOf(a)), r.Uint64())
			if h == nil {
				if len(want) != 0 {
					t.Fatalf("%v has no route, the naive scan finds %v", addrOf(a), want)
				}
				continue
			}
			ok := false
			for w := range want {
				gw := uint32(0)
				if w.Gateway.IsValid() {
					gw = ip4(w.Gateway)
				}
				ok = ok || (w.Port == h.Port && gw == h.Gateway)
			}
			if !ok {
				t.Fatalf("%v goes by port %d gateway %v, the naive scan finds %v", addrOf(a), h.Port, Addr(h.Gateway), want)
			}
		}
		s.Free(nil)
	}
}

func TestSharedRoutesSpreadFlowsAndKeepEachOnItsWay(t *testing.T) {
	p := netip.MustParsePrefix("0.0.0.0/0")
	s := mustBuild(t, &api.Tables{FIB: &api.FIB{Routes: []api.Route{
		{Prefix: p, Port: 0, Gateway: ip("10.1.0.1")}, {Prefix: p, Port: 0, Gateway: ip("10.1.0.2")}, {Prefix: p, Port: 1, Gateway: ip("10.2.0.1")},
		{Prefix: p, Port: 1, Gateway: ip("10.2.0.1")}, // once more: says nothing new
	}}}, empty(t))
	defer s.Free(nil)
	r := rand.New(rand.NewPCG(5, 6))
	got := map[uint32]int{}
	for range 3000 {
		flow := r.Uint64()
		a := s.Route(1, flow)
		if b := s.Route(1, flow); *a != *b {
			t.Fatal("one flow takes two ways")
		}
		got[a.Gateway]++
	}
	if len(got) != 3 {
		t.Fatalf("%d of 3 ways are taken", len(got))
	}
	for gw, n := range got {
		if n < 850 || n > 1150 {
			t.Errorf("%v takes %d flows of 3000", Addr(gw), n)
		}
	}
}

func TestGenerationChangesWithTheForwardingTableOnlyIfItForwardsOtherwise(t *testing.T) {
	route := api.Route{Prefix: netip.MustParsePrefix("10.0.0.0/8")}
	a := mustBuild(t, &api.Tables{FIB: &api.FIB{Version: 1, Routes: []api.Route{route}}}, empty(t))
	b := mustBuild(t, &api.Tables{FIB: &api.FIB{Version: 2, Routes: []api.Route{route}}}, a)
	if b.Gen != a.Gen {
		t.Error("the same routes again changed the generation")
	}
	route.Port = 1
	c := mustBuild(t, &api.Tables{FIB: &api.FIB{Version: 3, Routes: []api.Route{route}}}, b)
	if c.Gen == b.Gen {
		t.Error("another port did not change the generation")
	}
	if c.FIBVersion() != 3 {
		t.Errorf("version %d", c.FIBVersion())
	}
	c.Gen = MaxGen
	d := mustBuild(t, &api.Tables{FIB: &api.FIB{}}, c)
	if d.Gen != 1 {
		t.Errorf("after the last generation comes %d; 0 marks entries that are not resolved", d.Gen)
	}
}
