package table

import (
	"unsafe"

	"sluice/dataplane/api"
)

// A vserver with a load-aware method starts up when it or a service of it is new, a service has come up, or its method has
// changed: a service that has carried nothing yet would otherwise take every new flow. While it starts up its services
// take turns, whatever their weights, for Config.StartupFactor flows each.

// StartupBits is how many of the low bits of Pool.Startup are its api.Startup.
const StartupBits = 3

// startUp tells, for every pool of s, whether it starts up as the tables change from prev to s, or goes on with what it has
// begun before.
func (s *Set) startUp(prev *Set) {
	factor := s.conf.src.StartupFactor
	if factor == 0 {
		return
	}
	for i := range s.conf.src.Vservers {
		v, p := &s.conf.src.Vservers[i], s.poolAt(i)
		if !loadAware(v.Method) || p.SlowRate != 0 {
			continue
		}
		p.Turns = uint32(min(uint64(factor)*uint64(p.N), 1<<32-1))
		j := prev.placeOf(v.ID)
		if why := s.startReason(prev, v, j); why != 0 {
			s.startups++
			p.Startup = s.startups<<StartupBits | uint32(why)
		} else {
			p.Startup = prev.poolAt(j).Startup
		}
	}
}

func loadAware(m api.Method) bool {
	switch m {
	case api.LeastConnection, api.LeastPackets, api.LeastBandwidth, api.LeastResponseTime, api.CustomLoad, api.LeastMonitorTime:
		return true
	}
	return false
}

// startReason is why vserver v starts up, whose place in prev is j; 0: it does not.
func (s *Set) startReason(prev *Set, v *api.Vserver, j int) api.Startup {
	if j < 0 {
		return api.StartupVserver
	}
	was := &prev.conf.src.Vservers[j]
	why := api.Startup(0)
	if was.Method != v.Method {
		why = api.StartupMethod
	}
	for k := range v.Bindings {
		id := v.Bindings[k].Service
		if why != 0 || !s.Up(id) {
			continue
		}
		switch {
		case !bound(was, id, k):
			why = api.StartupBound
		case !prev.Up(id):
			why = api.StartupUp
		}
	}
	return why
}

// bound tells whether a service is bound to v, most likely at place k.
func bound(v *api.Vserver, service uint32, k int) bool {
	if k < len(v.Bindings) && v.Bindings[k].Service == service {
		return true
	}
	for i := range v.Bindings {
		if v.Bindings[i].Service == service {
			return true
		}
	}
	return false
}

// placeOf is the index of a vserver in the configuration, or -1.
func (s *Set) placeOf(id uint32) int {
	if s.conf == nil || id > s.conf.topV {
		return -1
	}
	return int(*u32(s.conf.places + uintptr(id)*4)) - 1
}

func (s *Set) poolAt(i int) *Pool { return (*Pool)(unsafe.Add(nil, s.pools.pool+uintptr(i)*poolSize)) }

// Startup is the start-up of the vserver at a place of Vservers: see Pool.
func (s *Set) Startup(i int) (startup, turns uint32) {
	p := s.poolAt(i)
	return p.Startup, p.Turns
}
