package table

import (
	"fmt"
	"slices"
	"unsafe"

	"sluice/dataplane/api"
)

// Pool is who may take the new flows of one vserver now: its services that are up.
type Pool struct {
	first uintptr // ROUNDROBIN: uint32 service IDs; hash methods: slots of a Maglev table; else: Member records
	N     uint32  // length of the schedule, the table or the list; 0: no service is up

	Startup uint32 // what tells this start-up from others, with its api.Startup in StartupBits; 0: there is none
	Turns   uint32 // flows that go round robin then
	Flags   uint32

	SpillOpen uint32 // open flows of the vserver beyond which new ones go elsewhere; 0: any number
	SpillRate uint32 // the same in kbit/s

	SlowRate    uint32 // new flows a second of a service at the beginning of its slow start; 0: there is none
	SlowSeconds uint32 // after which it takes so many more; 0: never
	SlowShare   uint32 // SlowRate is percent of what it may take: of so many flows the method gives it as many as its weight; 0: it is not
	_           uint32
}

// Flags of a Pool.
const (
	PoolLimited = 1 << iota // a member has a limit
	PoolQueues              // new connections wait while all members are full
	PoolDown                // there are members, but too few: the vserver is down
	PoolSpilled             // too much of the pool is down: new flows go elsewhere
	PoolAccepts             // beyond a limit of the vserver flows are taken if nobody else can
)

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
	size   uintptr    // bytes of mem and of the tables that are new
	own    uintptr    // bytes of mem
	draft  *poolDraft // until mem is filled
	mem    *arena
	pool   uintptr // array of Pool by Vserver.pool
	up     uintptr // one byte per service ID
	top    uint32
	flush  flush
	leave  idSet
	loads  uintptr            // uint64 by service ID: its load and loadKnown; 0 if none is known
	times  uintptr            // the same: its response time to monitors
	slow   uintptr            // uint32 by service ID: see Set.SlowStart; 0 if no vserver has slow start
	tables map[uint64]*maglev // by digest; each is owned once
	sizes  map[uint32]uint32  // of the tables, by vserver ID
}

// checkHealth refuses a health part that names what the configuration does not have. A part that came before the
// configuration changed may name services that are gone: they are passed over.
func checkHealth(h *api.Health, c *config) error {
	up := make([]bool, c.top+1)
	for _, id := range h.Up {
		if c.source(id) == nil {
			return fmt.Errorf("service %d is up, but the configuration has no such service", id)
		}
		up[id] = true
	}
	for _, l := range h.Loads {
		if c.source(l.Service) == nil {
			return fmt.Errorf("service %d has a load, but the configuration has no such service", l.Service)
		}
	}
	for _, l := range h.Times {
		if c.source(l.Service) == nil {
			return fmt.Errorf("service %d has a response time, but the configuration has no such service", l.Service)
		}
	}
	if err := checkLeaving(h, up); err != nil {
		return err
	}
	return checkFlush(h, up)
}

// newPools works out who is up and counts the memory that it takes, without what the pools before have and these need as well:
// that is shared. fill compiles it.
func newPools(c *config, h *api.Health, prev *pools) *pools {
	if prev == nil {
		prev = &pools{}
	}
	up := make([]bool, c.top+1)
	for _, id := range h.Up {
		if id <= c.top {
			up[id] = true
		}
	}
	p := &pools{top: c.top, tables: map[uint64]*maglev{}, sizes: map[uint32]uint32{}}
	d := &poolDraft{key: &c.key, up: up, lists: make([]poolList, len(c.src.Vservers))}
	p.draft = d
	p.flush.draft(h)
	p.leave.draft(h.Leaving)
	p.own = pad(uintptr(len(d.lists))*poolSize) + pad(uintptr(len(up))) + p.flush.size() + p.leave.size()
	d.loads, d.times = h.Loads, h.Times
	p.own += d.sizeLoads(d.loads) + d.sizeLoads(d.times)
	if d.slow = slow(c); d.slow {
		p.own += pad(uintptr(len(up)) * 4)
	}
	for i := range d.lists {
		v, l := &c.src.Vservers[i], &d.lists[i]
		l.limit(c, v, up)
		switch {
		case hashes(v.Method):
			l.table = p.hashed(c, v, up, prev)
		case v.Method == api.RoundRobin:
			l.order = schedule(membersUp(v, up))
			p.own += pad(uintptr(len(l.order)) * 4)
		default:
			l.members = membersUp(v, up)
			p.own += pad(uintptr(len(l.members)) * memberSize)
		}
	}
	p.size = p.own
	for _, m := range d.tables {
		p.size += m.bytes()
	}
	return p
}

// poolDraft is pools before there is memory for them.
type poolDraft struct {
	key    *ClusterKey
	up     []bool // by service ID
	lists  []poolList
	tables []*maglev // that are new
	loads  []api.Load
	times  []api.Load
	slow   bool // a vserver has slow start
}

// poolList is who may be chosen in one pool, in one of three forms.
type poolList struct {
	members []Member
	order   []uint32
	table   *maglev

	flags, spillOpen, spillRate uint32
}

func (p *pools) fill() (err error) {
	d := p.draft
	p.draft = nil
	if p.mem, err = newArena(p.own); err != nil {
		return err
	}
	for _, m := range d.tables {
		if err := m.fill(d.key); err != nil {
			return err
		}
	}
	p.pool = p.mem.take(uintptr(len(d.lists)) * poolSize)
	p.up = p.mem.take(uintptr(len(d.up)))
	p.flush.fill(p.mem)
	p.leave.fill(p.mem)
	for id, is := range d.up {
		if is {
			*(*uint8)(unsafe.Add(nil, p.up+uintptr(id))) = 1
		}
	}
	p.loads, p.times = p.fillLoads(d, d.loads), p.fillLoads(d, d.times)
	if d.slow {
		p.slow = p.mem.take(uintptr(len(d.up)) * 4)
	}
	for i := range d.lists {
		r, l := (*Pool)(unsafe.Add(nil, p.pool+uintptr(i)*poolSize)), &d.lists[i]
		r.Flags, r.SpillOpen, r.SpillRate = l.flags, l.spillOpen, l.spillRate
		if l.table != nil {
			r.first, r.N = l.table.first, l.table.size
		} else if n := len(l.order); n > 0 {
			r.first, r.N = p.mem.take(uintptr(n)*4), uint32(n)
			copy(unsafe.Slice((*uint32)(unsafe.Add(nil, r.first)), n), l.order)
		} else if n := len(l.members); n > 0 {
			r.first, r.N = p.mem.take(uintptr(n)*memberSize), uint32(n)
			copy(unsafe.Slice((*Member)(unsafe.Add(nil, r.first)), n), l.members)
		}
	}
	return nil
}

// membersUp are the services of a vserver that are up, in the order of binding.
func membersUp(v *api.Vserver, up []bool) []Member {
	list := make([]Member, 0, len(v.Bindings))
	for _, b := range v.Bindings {
		if up[b.Service] {
			list = append(list, Member{Service: b.Service, Weight: uint32(b.Weight)})
		}
	}
	return list
}

// hashed returns the table of a vserver with a hash method: one that these pools or those before have, or a new one; nil if
// no service is up.
func (p *pools) hashed(c *config, v *api.Vserver, up []bool, prev *pools) *maglev {
	size := hashSize(len(v.Bindings), prev.sizes[v.ID])
	if v.Sessionless {
		size = sessionlessSize(len(v.Bindings))
	}
	p.sizes[v.ID] = size
	list := make([]hashMember, 0, len(v.Bindings))
	for _, b := range v.Bindings {
		if up[b.Service] {
			s := c.source(b.Service)
			list = append(list, hashMember{name: hashName(s), address: addressName(s), service: b.Service, weight: uint32(b.Weight)})
		}
	}
	if len(list) == 0 {
		return nil
	}
	slices.SortFunc(list, compareMembers)
	is := func(m *maglev) bool { return m != nil && m.size == size && slices.Equal(m.members, list) }
	d := digest(list, size)
	for p.tables[d] != nil && !is(p.tables[d]) {
		d++
	}
	if m := p.tables[d]; m != nil {
		return m
	}
	m := prev.tables[d]
	if !is(m) {
		m = &maglev{size: size, members: list}
		p.draft.tables = append(p.draft.tables, m)
	}
	m.owners++
	p.tables[d] = m
	return m
}

func (p *pools) free() {
	if p == nil {
		return
	}
	for _, m := range p.tables {
		m.release()
	}
	p.mem.free()
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

// Leaving says whether the service is on its way out of service: it may take new flows of clients that persist on it.
func (s *Set) Leaving(service uint32) bool { return s.pools.leave.has(service) }
