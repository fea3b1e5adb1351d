package lb

import (
	"slices"
	"testing"

	"sluice/dataplane/api"
	"sluice/dataplane/table"
)

// startup is a step: how the tables change, and what is chosen then.
type startup struct {
	factor  uint32
	method  api.Method
	weights []uint16 // services bound
	up      []uint32
	why     api.Startup
	want    []uint32
}

var (
	one = []uint16{1, 1}
	two = []uint16{1, 9, 1}
)

const least = api.LeastConnection

var startups = []struct {
	name  string
	steps []startup
}{
	{"off", []startup{{0, least, one, []uint32{1, 2}, 0, []uint32{2, 2, 2}}}},
	{"a new vserver", []startup{{2, least, one, []uint32{1, 2}, api.StartupVserver, []uint32{1, 2, 1, 2, 2, 2}}}},
	{"a new vserver without services", []startup{
		{2, least, one, nil, api.StartupVserver, []uint32{0, 0}},
		{2, least, one, []uint32{1, 2}, api.StartupUp, []uint32{1, 2, 1, 2, 2, 2}}}},
	{"weights do not count", []startup{{2, least, two, []uint32{1, 2, 3}, api.StartupVserver, []uint32{1, 2, 3, 1, 2, 3, 2, 3}}}},
	{"round robin needs none", []startup{{5, api.RoundRobin, one, []uint32{1, 2}, 0, []uint32{1, 2, 1, 2}}}},
	{"a service comes up", []startup{
		{1, least, two, []uint32{2, 3}, api.StartupVserver, []uint32{2, 3, 2}},
		{1, least, two, []uint32{1, 2, 3}, api.StartupUp, []uint32{2, 3, 1, 2}}}},
	{"a service goes down", []startup{
		{1, least, one, []uint32{1, 2}, api.StartupVserver, []uint32{1, 2, 2}},
		{1, least, one, []uint32{1}, 0, []uint32{1, 1}}}},
	{"a service goes down meanwhile", []startup{
		{2, least, one, []uint32{1, 2}, api.StartupVserver, []uint32{1}},
		{2, least, one, []uint32{2}, api.StartupVserver, []uint32{2}}}},
	{"a service is bound", []startup{
		{1, least, one, []uint32{1, 2}, api.StartupVserver, []uint32{1, 2, 2}},
		{1, least, two, []uint32{1, 2, 3}, api.StartupBound, []uint32{3, 1, 2, 3}}}},
	{"another method", []startup{
		{1, least, one, []uint32{1, 2}, api.StartupVserver, []uint32{1, 2, 2}},
		{1, api.LeastResponseTime, one, []uint32{1, 2}, api.StartupMethod, []uint32{1, 2, 2}}}},
	{"the same tables again", []startup{
		{1, least, one, []uint32{1, 2}, api.StartupVserver, []uint32{1, 2, 2}},
		{1, least, one, []uint32{1, 2}, 0, []uint32{2, 2}}}},
	{"switched off meanwhile, and on again", []startup{
		{9, least, one, []uint32{1, 2}, api.StartupVserver, []uint32{1, 2, 1}},
		{0, least, one, []uint32{1, 2}, 0, []uint32{2, 2}},
		{9, least, one, []uint32{1, 2}, 0, []uint32{2, 2}}}},
	{"more than can be counted", []startup{{1<<32 - 1, least, one, []uint32{1, 2}, api.StartupVserver, []uint32{1, 2, 1}}}},
}

// TestStartup: what starts a vserver up, for how long, and that it goes by its method afterwards.
func TestStartup(t *testing.T) {
	for _, row := range startups {
		t.Run(row.name, func(t *testing.T) {
			s := state(t)
			for range 5 {
				s.Opened(0, 1) // by its method a vserver would always choose another
			}
			var tab *table.Set
			for i, at := range row.steps {
				next, v := factored(t, tab, at.factor, at.method, at.weights, at.up)
				if tab != nil {
					tab.Free(next)
				}
				tab = next
				startup, turns := tab.Startup(0)
				if left, why := s.Startup(1, startup, turns); left > 0 && why != at.why || left == 0 && at.why != 0 && len(at.up) > 0 {
					t.Errorf("step %d: %d flows are left for reason %d, want reason %d", i, left, why, at.why)
				}
				var got []uint32
				for range at.want {
					got = append(got, s.Pick(tab, v, 0, 0))
				}
				if !slices.Equal(got, at.want) {
					t.Errorf("step %d: chose %v, want %v", i, got, at.want)
				}
			}
			tab.Free(nil)
		})
	}
}
