package table

import (
	"fmt"
	"unsafe"

	"sluice/dataplane/api"
)

// Pool is who may take the new flows of one vserver now: its services that are up.
type Pool struct {
	first uintptr // ROUNDROBIN: uint32 service IDs; else: Member records
	N     uint32  // length of the schedule or the list; 0: no service is up

	Startup uint32 // what tells this start-up from others, with its api.Startup in StartupBits; 0: there is none
	Turns   uint32 // flows that go round robin then
	_       uint32
}

// Member is a service that a vserver may choose, with its weight.
type Member struct {
	Service uint32
	Weight  uint32
}

const (
	poolSize   = unsafe.Sizeof(Pool{})
	memberSize = unsafe.Sizeof(Member{})
)

// pools depend on the configuration and on health, and are rebuilt when either changes.
type pools struct {
	mem  *arena
	pool uintptr // array of Pool by Vserver.pool
	up   uintptr // one byte per service ID
	top  uint32
}

// checkHealth refuses a health part that names what the configuration does not have. A part that came before the
// configuration changed may name services that are gone: they are passed over.
func checkHealth(h *api.Health, c *config) error {
	have := make(map[uint32]bool, len(c.src.Services))
	for i := range c.src.Services {
		have[c.src.Services[i].ID] = true
	}
	for _, id := range h.Up {
		if !have[id] {
			return fmt.Errorf("service %d is up, but the configuration has no such service", id)
		}
	}
	return nil
}

func newPools(c *config, h *api.Health) (*pools, error) {
	up := make([]bool, c.top+1)
	for _, id := range h.Up {
		if id <= c.top {
			up[id] = true
		}
	}
	lists := make([][]Member, len(c.src.Vservers))
	orders := make([][]uint32, len(c.src.Vservers))
	size := pad(uintptr(len(lists))*poolSize) + pad(uintptr(len(up)))
	for i := range lists {
		for _, b := range c.src.Vservers[i].Bindings {
			if up[b.Service] {
				lists[i] = append(lists[i], Member{Service: b.Service, Weight: uint32(b.Weight)})
			}
		}
		if c.src.Vservers[i].Method == api.RoundRobin {
			orders[i] = schedule(lists[i])
			size += pad(uintptr(len(orders[i])) * 4)
		} else {
			size += pad(uintptr(len(lists[i])) * memberSize)
		}
	}
	mem, err := newArena(size)
	if err != nil {
		return nil, err
	}
	p := &pools{mem: mem, top: c.top}
	p.pool = mem.take(uintptr(len(lists)) * poolSize)
	p.up = mem.take(uintptr(len(up)))
	for id, is := range up {
		if is {
			*(*uint8)(unsafe.Add(nil, p.up+uintptr(id))) = 1
		}
	}
	for i := range lists {
		r := (*Pool)(unsafe.Add(nil, p.pool+uintptr(i)*poolSize))
		if n := len(orders[i]); n > 0 {
			r.first, r.N = mem.take(uintptr(n)*4), uint32(n)
			copy(unsafe.Slice((*uint32)(unsafe.Add(nil, r.first)), n), orders[i])
		} else if n := len(lists[i]); n > 0 {
			r.first, r.N = mem.take(uintptr(n)*memberSize), uint32(n)
			copy(unsafe.Slice((*Member)(unsafe.Add(nil, r.first)), n), lists[i])
		}
	}
	return p, nil
}

func (p *pools) free() {
	if p != nil {
		p.mem.free()
	}
}

// schedule spreads services over one round by smooth weighted round robin: in every step each service gains its weight,
// the richest is chosen and pays the sum. A round has each service exactly as often as its reduced weight says, as far
// apart as can be; equal weights give the list itself.
func schedule(list []Member) []uint32 {
	unit := uint32(0)
	for _, m := range list {
		unit = gcd(m.Weight, unit)
	}
	total := 0
	for _, m := range list {
		total += int(m.Weight / unit)
	}
	order := make([]uint32, 0, total)
	credit := make([]int, len(list))
	for len(order) < total {
		best := 0
		for i, m := range list {
			credit[i] += int(m.Weight / unit)
			if credit[i] > credit[best] {
				best = i
			}
		}
		credit[best] -= total
		order = append(order, list[best].Service)
	}
	return order
}

func gcd(a, b uint32) uint32 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// Pool returns who may take new flows of a vserver of this set.
func (s *Set) Pool(v *Vserver) *Pool {
	return (*Pool)(unsafe.Add(nil, s.pools.pool+uintptr(v.pool)*poolSize))
}

// Scheduled returns the service ID at place i of a round robin schedule; i < p.N.
func (p *Pool) Scheduled(i uint32) uint32 { return *u32(p.first + uintptr(i)*4) }

// Member returns the i-th service of a pool that is not scheduled; i < p.N.
func (p *Pool) Member(i uint32) *Member {
	return (*Member)(unsafe.Add(nil, p.first+uintptr(i)*memberSize))
}

// Up says whether a service may take new flows.
func (s *Set) Up(service uint32) bool {
	return service <= s.pools.top && *(*uint8)(unsafe.Add(nil, s.pools.up+uintptr(service))) != 0
}
