package table

import (
	"unsafe"

	"sluice/dataplane/api"
)

// loadKnown marks a load that somebody has said, be it 0.
const loadKnown = 1 << 32

// sizeLoads is the memory for what monitors say of the services, if they say anything.
func (d *poolDraft) sizeLoads(list []api.Load) uintptr {
	if len(list) == 0 {
		return 0
	}
	return pad(uintptr(len(d.up)) * 8)
}

// fillLoads writes it, and returns where; 0 is nowhere.
func (p *pools) fillLoads(d *poolDraft, list []api.Load) uintptr {
	if len(list) == 0 {
		return 0
	}
	at := p.mem.take(uintptr(len(d.up)) * 8)
	for _, l := range list {
		if int(l.Service) < len(d.up) { // health may be older than the configuration
			*u64(at + uintptr(l.Service)*8) = loadKnown | uint64(l.Load)
		}
	}
	return at
}

// Load is what monitors say of a service's load; known is false if they say nothing.
func (s *Set) Load(service uint32) (load uint32, known bool) { return s.said(s.pools.loads, service) }

// MonitorTime is how many microseconds a service takes to answer monitors; known is false if none has learnt it.
func (s *Set) MonitorTime(service uint32) (micros uint32, known bool) {
	return s.said(s.pools.times, service)
}

func (s *Set) said(at uintptr, service uint32) (n uint32, known bool) {
	if at == 0 || service > s.pools.top {
		return 0, false
	}
	v := *(*uint64)(unsafe.Add(nil, at+uintptr(service)*8))
	return uint32(v), v != 0
}
