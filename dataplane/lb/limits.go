package lb

import (
	"sync/atomic"

	"sluice/dataplane/api"
	"sluice/dataplane/table"
)

// A quota shares a limit of open flows out to workers. Each has places of its own and opens flows into them without asking; when
// it has none left it takes some from the word that says how many all of them have, in blocks that become smaller the less is
// left, down to one. So the limit is never passed, and reached by a worker alone exactly. Of several workers each gives the
// places that it does not use back as time goes on (Settle), so that a limit is used up but for a tenth of a second.
type quota struct {
	open, granted *uint32 // of this worker
	taken         *uint32 // of all
	limit         uint32
}

func (s *State) service0(id uint32, limit uint32) quota {
	return quota{word(s.base+openAt, id), word(s.base+grantedAt, id), word(s.shared+takenAt, id), limit}
}

func (s *State) vserver0(id uint32, limit uint32) quota {
	v := s.vserver(id)
	return quota{&v.open, &v.granted, word(s.shared+vtakenAt, id), limit}
}

// mayTake tells whether there is a place, for now.
func (s *State) mayTake(q quota) bool {
	if s.others == 0 {
		return *q.open < q.limit
	}
	taken := atomic.LoadUint32(q.taken)
	return taken < q.limit || *q.open < *q.granted && taken == q.limit
}

// take sees to it that this worker has a place that is free; false: there is none. Whoever takes one need not use it.
func (s *State) take(q quota) bool {
	if s.others == 0 {
		return *q.open < q.limit
	}
	for {
		taken := atomic.LoadUint32(q.taken)
		if *q.open < *q.granted && taken <= q.limit {
			return true
		}
		need := uint64(*q.open) + 1 - uint64(min(*q.granted, *q.open))
		if uint64(taken)+need > uint64(q.limit) {
			return false
		}
		left := uint64(q.limit) - uint64(taken) - need
		n := uint32(need + min(left/uint64(4*(s.others+1)), blockMost))
		if atomic.CompareAndSwapUint32(q.taken, taken, taken+n) {
			*q.granted += n
		}
	}
}

// blockMost is how many places a worker takes at once beside the one that it needs.
const blockMost = 64

// settle brings what this worker has to what it needs: the flows that it carries, whether or not they were opened under a limit,
// and no more.
func (s *State) settle(q quota) {
	if d := *q.open - *q.granted; d != 0 { // wraps, as atomic.AddUint32 does
		atomic.AddUint32(q.taken, d)
		*q.granted = *q.open
	}
}

// Settle gives back the places that this worker does not use. It is to be called a few times a second, and when t is new.
func (s *State) Settle(t *table.Set) {
	if s.others == 0 {
		return
	}
	t.EachShared(func(id uint32) { s.settle(s.service0(id, 0)) }, func(id uint32) { s.settle(s.vserver0(id, 0)) })
}

// Full tells whether a service can take no further flow now.
func (s *State) Full(v *table.Service) bool {
	return v.MaxClient != 0 && !s.mayTake(s.service0(v.ID, v.MaxClient)) ||
		v.MaxBandwidth != 0 && s.kilobits(v.ID) >= uint64(v.MaxBandwidth)
}

// Admit takes a place for a flow at a service; false: there is none left.
func (s *State) Admit(v *table.Service) bool {
	return v.MaxClient == 0 || s.take(s.service0(v.ID, v.MaxClient))
}

// Admits is Admit for a question: it takes nothing.
func (s *State) Admits(v *table.Service) bool {
	return v.MaxClient == 0 || s.mayTake(s.service0(v.ID, v.MaxClient))
}

// Spills tells whether a vserver's new flows go elsewhere because of what it carries. If they do not, it has a place for one.
func (s *State) Spills(id uint32, p *table.Pool) bool {
	switch {
	case p.Flags&table.PoolSpilled != 0:
		return true
	case p.SpillOpen != 0:
		return !s.take(s.vserver0(id, p.SpillOpen))
	case p.SpillRate != 0:
		return s.vserverKilobits(id) >= uint64(p.SpillRate)
	}
	return false
}

// WouldSpill is Spills for a question: it takes nothing.
func (s *State) WouldSpill(id uint32, p *table.Pool) bool {
	if p.Flags&table.PoolSpilled == 0 && p.SpillOpen != 0 {
		return !s.mayTake(s.vserver0(id, p.SpillOpen))
	}
	return s.Spills(id, p)
}

// Spilled counts a flow that did not go to a vserver.
func (s *State) Spilled(id uint32) {
	p := &s.vserver(id).spilled
	atomic.StoreUint64(p, *p+1)
}

// Queued notes that connections of a vserver wait, or fewer of them.
func (s *State) Queued(id uint32, more int32) {
	p := &s.vserver(id).waiting
	atomic.StoreUint32(p, *p+uint32(more))
}

// Waits is how many connections of a vserver wait at this worker. Any goroutine may ask.
func (s *State) Waits(id uint32) uint32 { return atomic.LoadUint32(&s.vserver(id).waiting) }

// SpilledOf is how many flows have not gone to a vserver at this worker. Any goroutine may ask.
func (s *State) SpilledOf(id uint32) uint64 { return atomic.LoadUint64(&s.vserver(id).spilled) }

// free is Choose among the members of a pool that have limits, with slow without those that their slow start holds back; 0: none is
// free.
func (s *State) free(t *table.Set, v *table.Vserver, p *table.Pool, m api.Method, first uint32, slow bool) (service, turn uint32) {
	turns := m == api.RoundRobin || p.Startup != 0 && s.starting(v.ID, p) > 0
	worst := s.worst(t, p, m)
	var best *table.Member
	place, least := first, uint64(0)
	for k, i := uint32(0), first; k < p.N; k++ {
		var c *table.Member
		id, weight := uint32(0), uint32(1)
		if m == api.RoundRobin {
			id = p.Scheduled(i)
		} else {
			c = p.Member(i)
			id, weight = c.Service, c.Weight
		}
		if !s.Full(t.Service(id)) && !(slow && s.held(t, v, p, id, weight)) {
			if turns {
				return id, i + 1
			}
			if n := s.figure(t, m, id, worst); best == nil || lighter(n, c.Weight, least, best.Weight) {
				place, best, least = i, c, n
			}
		}
		if i++; i == p.N {
			i = 0
		}
	}
	if best == nil {
		return 0, first
	}
	return best.Service, place + 1
}

// hashedTries bounds the search behind a slot whose service is full.
const hashedTries = 1024

// freeHashed is the service of the next slot of a hash method's table whose service is not full; 0: none was found. So the
// clients of a service that is full go to the same other one each. Of services that slow start holds back it is the first if there
// are no others.
func (s *State) freeHashed(t *table.Set, v *table.Vserver, p *table.Pool, a, b uint64) (held uint32) {
	slot := t.Slot(v, p, a, b)
	for range min(p.N, hashedTries) {
		id := p.InSlot(slot)
		if slot++; slot == p.N {
			slot = 0
		}
		switch {
		case s.Full(t.Service(id)):
		case !s.held(t, v, p, id, 1):
			return id
		case held == 0:
			held = id
		}
	}
	return held
}

// kilobits is the kbit/s of a service at all workers in the last whole second, or in the running one if that has more already.
func (s *State) kilobits(id uint32) uint64 {
	v := s.service(id)
	now := v.total().Bytes - v.past[s.second.Load()%Window].Bytes
	last := v.rate
	for i := range s.others {
		last += atomic.LoadUint64(&serviceOf(s.peers[i], id).rate)
	}
	return max(now, last) * 8 / 1000
}

// vserverKilobits is the kbit/s of a vserver at all workers in the last whole second.
func (s *State) vserverKilobits(id uint32) uint64 {
	sum := s.vserver(id).lastSecond(s.second.Load())
	for i := range s.others {
		sum += atomic.LoadUint64(&vserverOf(s.peers[i], id).rate)
	}
	return sum * 8 / 1000
}

// sum adds what an account has carried to what is summed up of its vserver in a second.
func (v *vserverState) sum(second uint32, bytes uint64) {
	v.roll(second)
	v.summing += bytes
}

// roll begins the sums of a second.
func (v *vserverState) roll(second uint32) {
	if v.second == second {
		return
	}
	atomic.StoreUint64(&v.rate, v.summing-min(v.total, v.summing))
	v.total, v.summing, v.second = v.summing, 0, second
}

// lastSecond is the bytes that were carried lately, in a second.
func (v *vserverState) lastSecond(second uint32) uint64 {
	v.roll(second)
	return v.rate
}

// Free tells whether a vserver has a service that can take a flow now.
func (s *State) Free(t *table.Set, v *table.Vserver) bool {
	p := t.Pool(v)
	first := t.Slot(v, p, 0, 0) // where a hash method's table is looked into
	for i := range p.N {
		id := uint32(0)
		switch {
		case v.Hashes():
			id = p.InSlot((first + i) % p.N)
		case api.Method(v.Method) == api.RoundRobin:
			id = p.Scheduled(i)
		default:
			id = p.Member(i).Service
		}
		if !s.Full(t.Service(id)) {
			return true
		}
		if i == hashedTries {
			break
		}
	}
	return false
}
