package compile

import (
	"math/bits"
	"slices"

	"sluice/vendor-config/schema"
)

// LoadOf is the load of a service: what its monitors of type LOAD say, added up by their weights. known is false if none says
// anything.
func (x *Index) LoadOf(s *State, service string) (load uint32, known bool) {
	svc := x.Service(service)
	if svc == nil {
		return 0, false
	}
	return x.loadOf(s, svc)
}

// loadOf looks at the monitors that are bound alone: a default monitor tells no load.
func (x *Index) loadOf(s *State, svc *schema.Service) (load uint32, known bool) {
	if svc.HealthMonitor == "NO" {
		return 0, false
	}
	sum := uint64(0)
	for _, m := range x.boundTo(svc) {
		if r := s.Services[svc.Name].Monitors[m.Name]; r.LoadKnown && !m.Off {
			sum, known = sum+uint64(r.Load)*uint64(max(m.Weight, 1)), true
		}
	}
	return uint32(min(sum, 1<<32-1)), known
}

// MonitorTime is how many microseconds a service that vservers with the method LRTM may choose takes to answer its monitors: the
// mean of what those with -LRTM ENABLED have learnt; 0 if none has. It is cut to its first four binary digits, so that small
// changes, of which each probe brings one, do not make new tables.
func (x *Index) MonitorTime(s *State, service string) uint32 {
	if !x.timed {
		return 0
	}
	svc := x.Service(service)
	if svc == nil {
		return 0
	}
	return x.monitorTime(s, svc)
}

func (x *Index) monitorTime(s *State, svc *schema.Service) uint32 {
	if !x.timed || svc.HealthMonitor == "NO" || !slices.ContainsFunc(x.users[svc.Name], x.isTimed) {
		return 0
	}
	sum, n := uint64(0), uint64(0)
	for _, m := range x.boundTo(svc) {
		if r := s.Services[svc.Name].Monitors[m.Name]; m.LRTM == "ENABLED" && !m.Off && r.Average > 0 {
			sum, n = sum+uint64(r.Average.Microseconds()), n+1
		}
	}
	if n == 0 {
		return 0
	}
	mean := min(max(sum/n, 1), 1<<32-1)
	cut := max(bits.Len64(mean)-4, 0)
	return uint32(mean >> cut << cut)
}

// isTimed tells whether a vserver has the method LRTM.
func (x *Index) isTimed(vserver string) bool {
	row, ok := x.c.Row(vserverRows, vserver)
	return ok && row.(*schema.LBVserver).LBMethod == "LRTM"
}
