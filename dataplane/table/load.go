package table

import "unsafe"

// loadKnown marks a load that somebody has said, be it 0.
const loadKnown = 1 << 32

// fillLoads writes what monitors say of the services' load, if they say anything.
func (p *pools) fillLoads(d *poolDraft) {
	if len(d.loads) == 0 {
		return
	}
	p.loads = p.mem.take(uintptr(len(d.up)) * 8)
	for _, l := range d.loads {
		if int(l.Service) < len(d.up) { // health may be older than the configuration
			*u64(p.loads + uintptr(l.Service)*8) = loadKnown | uint64(l.Load)
		}
	}
}

// Load is what monitors say of a service's load; known is false if they say nothing.
func (s *Set) Load(service uint32) (load uint32, known bool) {
	if s.pools.loads == 0 || service > s.pools.top {
		return 0, false
	}
	n := *(*uint64)(unsafe.Add(nil, s.pools.loads+uintptr(service)*8))
	return uint32(n), n != 0
}
