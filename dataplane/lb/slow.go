package lb

import (
	"sync/atomic"
	"unsafe"

	"sluice/dataplane/table"
)

// Slow start: a service that has come up or was bound takes table.Pool.SlowRate new flows a second, so many more after each
// SlowSeconds, and once it has had 100 of these steps as many as the method gives it. The seconds count from its first flow on. All
// workers share the flows of a second, and so do all vservers with slow start that lead to the service.
//
// Others take what it may not. If there are none, because all are new or the rest is full, it takes the flow all the same: slow
// start spares a server that is cold, it refuses no client. Clients that persist on a service, and vservers without slow start, do
// not count.
//
// With table.Pool.SlowShare the rate is percent of what the method gives the service once it is like the others: that part of the
// vserver's flows may go to it, chosen as if by lot, and no worker needs to know of another's.

// slowSteps is how often the rate rises before the service takes its full share.
const slowSteps = 100

// slowState is what all workers share of a service's slow start; both words are read and written as a whole.
type slowState struct {
	began uint64 // which slow start it is, see table.Set.SlowStart, and the second of its first flow
	taken uint64 // a second, and flows in it
}

const slowSize = unsafe.Sizeof(slowState{})

func (s *State) slow(service uint32) *slowState {
	return (*slowState)(unsafe.Add(nil, s.shared+slowAt+uintptr(service)*slowSize))
}

// rate is how many new flows a service may take in a second; false: any number. Of those who ask at the edge of a second some may
// be in the next one already.
func rate(p *table.Pool, began, second uint32) (uint64, bool) {
	if p.SlowSeconds == 0 || second <= began {
		return uint64(p.SlowRate), true
	}
	steps := (second - began) / p.SlowSeconds
	return uint64(p.SlowRate) * uint64(steps+1), steps < slowSteps
}

// held tells whether slow start keeps a new flow from a service. It changes nothing.
func (s *State) held(t *table.Set, v *table.Vserver, p *table.Pool, service, weight uint32) bool {
	if p.SlowRate == 0 {
		return false
	}
	which := t.SlowStart(service)
	if which == 0 {
		return false
	}
	w, second := s.slow(service), s.second.Load()
	began := second
	if b := atomic.LoadUint64(&w.began); uint32(b>>32) == which {
		began = uint32(b)
	}
	most, limited := rate(p, began, second)
	if p.SlowShare != 0 {
		return limited && most < 100 && uint64(lot(s.vserver(v.ID).picks, service)) >= most*uint64(weight)<<32/(100*uint64(p.SlowShare))
	}
	taken := atomic.LoadUint64(&w.taken)
	return limited && uint32(taken>>32) >= second && uint64(uint32(taken)) >= most
}

// lot is a number that depends on a flow and a service and looks like chance. Turns would not do: round robin has turns of its own.
func lot(flow, service uint32) uint32 {
	x := (uint64(flow)<<32 | uint64(service)) * 0x9e3779b97f4a7c15
	x = (x ^ x>>32) * 0xd6e8feb86659fd93
	return uint32((x ^ x>>32) * 0xd6e8feb86659fd93 >> 32)
}

// slowed takes a flow off those that a service in slow start may have in this second; false: there is none left.
func (s *State) slowed(t *table.Set, p *table.Pool, service uint32) bool {
	which := t.SlowStart(service)
	if which == 0 {
		return true
	}
	w, second := s.slow(service), s.second.Load()
	b := atomic.LoadUint64(&w.began)
	for uint32(b>>32) != which {
		atomic.CompareAndSwapUint64(&w.began, b, uint64(which)<<32|uint64(second))
		b = atomic.LoadUint64(&w.began)
	}
	most, limited := rate(p, uint32(b), second)
	for limited && p.SlowShare == 0 {
		taken := atomic.LoadUint64(&w.taken)
		next := taken + 1
		if uint32(taken>>32) < second {
			next = uint64(second)<<32 | 1
		} else if uint64(uint32(taken)) >= most {
			return false
		}
		if atomic.CompareAndSwapUint64(&w.taken, taken, next) {
			return true
		}
	}
	return true
}
