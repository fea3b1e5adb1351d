package table

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"sluice/dataplane/api"
)

func neighborSet(t *testing.T, prev *Set, list ...api.Neighbor) *Set {
	t.Helper()
	return mustBuild(t, &api.Tables{Neighbors: &api.Neighbors{Entries: list}}, prev)
}

func TestAdjacencyHoldsTheFirstTwelveBytesOfTheFrame(t *testing.T) {
	s := neighborSet(t, empty(t), api.Neighbor{Port: 1, IP: ip("10.2.0.11"), MAC: [6]byte{0x02, 1, 2, 3, 4, 5}})
	defer s.Free(nil)
	i, ok := s.Neighbor(1, ip4(ip("10.2.0.11")))
	if !ok {
		t.Fatal("the neighbor is unknown")
	}
	a := s.Adjacency(i)
	var b [12]byte
	binary.LittleEndian.PutUint64(b[:], a.MACs)
	binary.LittleEndian.PutUint32(b[8:], a.Rest)
	if want := [12]byte{2, 1, 2, 3, 4, 5, 2, 0, 0, 0, 0, 2}; b != want {
		t.Errorf("the frame begins %x, not %x", b, want)
	}
	if a.Lane != 2 || a.MTU != 1500 {
		t.Errorf("lane %d, MTU %d", a.Lane, a.MTU)
	}
	if _, ok := s.Neighbor(0, ip4(ip("10.2.0.11"))); ok {
		t.Error("the neighbor is known on another port too")
	}
}

// TestAdjacencyIndexesStay changes neighbors at random: an index may mean another neighbor only under a new generation.
func TestAdjacencyIndexesStay(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	type place struct {
		gen   uint16
		index uint16
	}
	meant := map[place]api.Neighbor{}
	known := map[byte]api.Neighbor{}
	s := empty(t)
	kept := 0
	for step := 0; step < 400; step++ {
		last := byte(r.IntN(30))
		if _, ok := known[last]; ok && r.IntN(3) == 0 {
			delete(known, last)
		} else {
			known[last] = api.Neighbor{Port: uint16(last & 1), IP: addrOf(0x0a010000 + uint32(last)), MAC: [6]byte{2, byte(r.IntN(256)), 0, 0, 0, last}}
		}
		var list []api.Neighbor
		for _, n := range known {
			list = append(list, n)
		}
		next := neighborSet(t, s, list...)
		if next.Gen == s.Gen {
			kept++
		}
		s.Free(next)
		s = next
		for _, n := range list {
			i, ok := s.Neighbor(n.Port, ip4(n.IP))
			if !ok {
				t.Fatalf("step %d: %v is unknown", step, n.IP)
			}
			if byte(s.Adjacency(i).MACs>>8) != n.MAC[1] {
				t.Fatalf("step %d: %v has an old MAC", step, n.IP)
			}
			p := place{s.Gen, i}
			if o, ok := meant[p]; ok && (o.IP != n.IP || o.Port != n.Port) {
				t.Fatalf("step %d: index %d meant %v and means %v within generation %d", step, i, o.IP, n.IP, s.Gen)
			}
			meant[p] = n
		}
	}
	if kept < 50 {
		t.Errorf("the generation survived %d of 400 changes: new neighbors and new MACs must not change it", kept)
	}
	s.Free(nil)
}
