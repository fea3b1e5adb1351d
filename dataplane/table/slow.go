package table

import (
	"unsafe"

	"sluice/dataplane/api"
)

// slow tells whether a vserver has slow start. Without flows, where every packet is balanced, there is none.
func slow(c *config) bool {
	for i := range c.src.Vservers {
		if slowly(&c.src.Vservers[i]) {
			return true
		}
	}
	return false
}

func slowly(v *api.Vserver) bool { return v.SlowRate != 0 && !v.Sessionless }

// slowStart tells, for every service that a vserver with slow start leads to, which slow start it is in as the tables change from
// prev to s: a new one if it has come up or was bound, or that which it has begun before. A vserver that is given slow start has it
// for services that come later.
func (s *Set) slowStart(prev *Set) {
	if s.pools.slow == 0 {
		return
	}
	next := s.slows + 1
	for i := range s.conf.src.Vservers {
		v, p := &s.conf.src.Vservers[i], s.poolAt(i)
		if !slowly(v) {
			continue
		}
		p.SlowRate, p.SlowSeconds, p.SlowShare = v.SlowRate, v.SlowSeconds, s.slowShare(v)
		p.Flags |= PoolLimited
		j := prev.placeOf(v.ID)
		for k := range v.Bindings {
			id := v.Bindings[k].Service
			w := u32(s.pools.slow + uintptr(id)*4)
			switch {
			case *w == next || !s.Up(id):
			case j < 0 || !bound(&prev.conf.src.Vservers[j], id, k) || !prev.Up(id):
				*w, s.slows = next, next
			default:
				*w = prev.SlowStart(id)
			}
		}
	}
}

// slowShare is Pool.SlowShare of a vserver. Round robin and hash methods come to a service by its weight alone; the least ones would
// choose a new one every time, since it has nothing to do.
func (s *Set) slowShare(v *api.Vserver) (share uint32) {
	switch {
	case !v.SlowPercent:
		return 0
	case !loadAware(v.Method):
		return 1
	}
	for _, b := range v.Bindings {
		if s.Up(b.Service) {
			share += uint32(b.Weight)
		}
	}
	return max(share, 1)
}

// SlowStart is what tells the slow start of a service from its earlier ones; 0: it has never begun one.
func (s *Set) SlowStart(service uint32) uint32 {
	if s.pools.slow == 0 || service > s.pools.top {
		return 0
	}
	return *(*uint32)(unsafe.Add(nil, s.pools.slow+uintptr(service)*4))
}
