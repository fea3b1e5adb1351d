package table

import (
	"slices"
	"testing"

	"sluice/dataplane/api"
)

func TestScheduleIsSmoothAndExact(t *testing.T) {
	for _, tc := range []struct {
		name    string
		weights []uint32
		want    []uint32
	}{
		{"nobody", nil, []uint32{}},
		{"one", []uint32{7}, []uint32{1}},
		{"equal", []uint32{1, 1, 1}, []uint32{1, 2, 3}},
		{"equal and reduced", []uint32{50, 50}, []uint32{1, 2}},
		{"5 1 1", []uint32{5, 1, 1}, []uint32{1, 1, 2, 1, 3, 1, 1}},
		{"2 4, reduced", []uint32{2, 4}, []uint32{2, 1, 2}},
	} {
		var list []Member
		for i, w := range tc.weights {
			list = append(list, Member{Service: uint32(i + 1), Weight: w})
		}
		if got := schedule(list); !slices.Equal(got, tc.want) {
			t.Errorf("%s: %v, not %v", tc.name, got, tc.want)
		}
	}
}

func TestScheduleGivesEachServiceItsWeight(t *testing.T) {
	list := []Member{{1, 100}, {2, 37}, {3, 1}, {4, 60}}
	got := map[uint32]uint32{}
	for _, id := range schedule(list) {
		got[id]++
	}
	for _, m := range list {
		if got[m.Service] != m.Weight {
			t.Errorf("service %d of weight %d has %d places", m.Service, m.Weight, got[m.Service])
		}
	}
}

func TestPoolOfLeastConnectionListsTheServicesThatAreUp(t *testing.T) {
	c := sample()
	c.Vservers[0].Method = api.LeastConnection
	s := mustBuild(t, &api.Tables{Config: c, Health: &api.Health{Up: []uint32{1, 3}}}, empty(t))
	defer s.Free(nil)
	p := s.Pool(s.Vserver(ip4(ip("10.1.0.50")), net16(80), api.ProtoTCP))
	if p.N != 2 || *p.Member(0) != (Member{1, 1}) || *p.Member(1) != (Member{3, 2}) {
		t.Errorf("the pool has %d members", p.N)
	}
	down := mustBuild(t, &api.Tables{Health: &api.Health{}}, s)
	defer down.Free(s)
	if p := down.Pool(down.Vserver(ip4(ip("10.1.0.50")), net16(80), api.ProtoTCP)); p.N != 0 {
		t.Errorf("with nothing up the pool has %d members", p.N)
	}
}
