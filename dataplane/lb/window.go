package lb

import (
	"math"
	"sync/atomic"
	"unsafe"
)

// The load of a service is what it has seen in the running second and the 13 before it. Packets are counted where they are
// counted anyway, in accounts; once a second the state notes each service's sums, and a choice takes the difference to the
// sums of 13 seconds ago. So packets of known flows pay nothing for it.

// Window is how many seconds the load of a service spans, the running one included.
const Window = 14

// load is what is summed for a service: since the start, or over a window as the difference of two such sums.
type load struct {
	Traffic
	answers
}

// answers are first answers of a service to clients, and the cycles that it took for all of them.
type answers struct{ count, cycles uint64 }

const (
	loadSize    = unsafe.Sizeof(load{})
	answersSize = unsafe.Sizeof(answers{})
	ofPackets   = unsafe.Offsetof(Traffic{}.Packets)
	ofBytes     = unsafe.Offsetof(Traffic{}.Bytes)
)

// past is where a service's sums at the beginning of a second are.
func (s *State) past(second, service uint32) *load {
	return (*load)(unsafe.Add(nil, s.base+pastAt+(uintptr(second%Window)*entries+uintptr(service))*loadSize))
}

// seen is where this worker says for others what a service has seen in the 13 seconds before the running one.
func seen(base uintptr, service uint32) *load {
	return (*load)(unsafe.Add(nil, base+seenAt+uintptr(service)*loadSize))
}

// Begin says that a second begins; seconds are counted up by the caller, from 0. The sums are noted by Note in pieces: a service's
// second begins when its turn comes. A choice in between is right, since what is being noted is looked at in 13 seconds only.
func (s *State) Begin(second uint32) {
	s.Note(math.MaxInt) // a worker that got no turn for a whole second does at once what it has missed
	s.noted = s.second.Load()
	if second-s.noted > Window {
		s.noted = second - Window // older ones would be overwritten at once
	}
	s.second.Store(second)
	s.next, s.last = 1, s.top
}

// Note notes the sums of the next services at the beginning of the running second, and returns how many services are still due. It
// stops after n accounts, with the service that it is at. Seconds in which the caller did not come get the same sums.
func (s *State) Note(n int) (due uint32) {
	for n > 0 && s.next <= s.last {
		n -= s.note(s.next)
		s.next++
	}
	return s.last + 1 - s.next
}

// note returns what it has cost, in accounts.
func (s *State) note(service uint32) (cost int) {
	now := load{answers: *s.answers(service)}
	for p := uintptr(*long(s.base+accountsAt, service)); p != 0; cost++ {
		a := (*Account)(unsafe.Add(nil, p))
		now.Packets += a.In.Packets + a.Out.Packets
		now.Bytes += a.In.Bytes + a.Out.Bytes
		p = a.next
	}
	if cost == 0 {
		return 1
	}
	second := s.second.Load()
	for at := s.noted + 1; at != second+1; at++ {
		*s.past(at, service) = now
	}
	if s.others > 0 {
		s.publish(service, now, s.past(second+1, service))
	}
	return cost
}

// publish tells others what a service has seen between two sums. It stores each word at once: readers on other CPUs may see words of
// two seconds, never half of one.
func (s *State) publish(service uint32, now load, then *load) {
	to := seen(s.base, service)
	atomic.StoreUint64(&to.Packets, now.Packets-then.Packets)
	atomic.StoreUint64(&to.Bytes, now.Bytes-then.Bytes)
	atomic.StoreUint64(&to.count, now.count-then.count)
	atomic.StoreUint64(&to.cycles, now.cycles-then.cycles)
}

// carried is the packets or bytes of a service in the window, by their place in Traffic: this worker's to the last packet, those
// of others as they said last.
func (s *State) carried(service uint32, field uintptr) uint64 {
	sum := s.total(service, field) - s.past(s.second.Load()+1, service).field(field)
	for i := range s.others {
		sum += atomic.LoadUint64((*uint64)(unsafe.Add(unsafe.Pointer(seen(s.peers[i], service)), field)))
	}
	return sum
}

// Recent is what this worker has carried for a service in the window. Any goroutine may ask; while a second begins it may be told of
// one more or less.
func (s *State) Recent(service uint32) (packets, bytes uint64) {
	if service >= entries {
		return 0, 0
	}
	// What was before is read first, so that it is never more than what is now.
	then := s.past(s.second.Load()+1, service)
	p, b := atomic.LoadUint64(&then.Packets), atomic.LoadUint64(&then.Bytes)
	return s.total(service, ofPackets) - p, s.total(service, ofBytes) - b
}

// answered is the first answers of a service in the window.
func (s *State) answered(service uint32) answers {
	now, then := s.answers(service), s.past(s.second.Load()+1, service)
	sum := answers{now.count - then.count, now.cycles - then.cycles}
	for i := range s.others {
		p := seen(s.peers[i], service)
		sum.count += atomic.LoadUint64(&p.count)
		sum.cycles += atomic.LoadUint64(&p.cycles)
	}
	return sum
}

// answers is where the first answers of a service since the start are.
func (s *State) answers(service uint32) *answers {
	return (*answers)(unsafe.Add(nil, s.base+answersAt+uintptr(service)*answersSize))
}

// Answered counts the first answer of a service to a flow, that many cycles after the flow's first packet.
func (s *State) Answered(service uint32, cycles uint64) {
	if service >= entries {
		return
	}
	r := s.answers(service)
	r.count++
	r.cycles += cycles
}
