package lb

import (
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
	packets, bytes uint64
	answers        answers
}

// answers are first answers of a service to clients, and the cycles that it took for all of them.
type answers struct{ count, cycles uint64 }

const (
	loadSize    = unsafe.Sizeof(load{})
	answersSize = unsafe.Sizeof(answers{})
)

func (a load) less(b load) load {
	return load{a.packets - b.packets, a.bytes - b.bytes, answers{a.answers.count - b.answers.count, a.answers.cycles - b.answers.cycles}}
}

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
	s.Note(s.top) // a worker that got no turn for a whole second does at once what it has missed
	s.noted = s.second.Load()
	if second-s.noted > Window {
		s.noted = second - Window // older ones would be overwritten at once
	}
	s.second.Store(second)
	s.next, s.last = 1, s.top
}

// Note notes the sums of the next services, n at most, at the beginning of the running second, and returns how many are still due.
// Seconds in which the caller did not come get the same sums.
func (s *State) Note(n uint32) (due uint32) {
	for ; n > 0 && s.next <= s.last; n-- {
		s.note(s.next)
		s.next++
	}
	return s.last + 1 - s.next
}

func (s *State) note(service uint32) {
	if *long(s.base+accountsAt, service) == 0 {
		return
	}
	now, second := s.total(service), s.second.Load()
	for at := s.noted + 1; at != second+1; at++ {
		*s.past(at, service) = now
	}
	if s.others > 0 {
		publish(seen(s.base, service), now.less(*s.past(second+1, service)))
	}
}

// publish stores each word at once: readers on other CPUs may see words of two seconds, never half of one.
func publish(to *load, v load) {
	atomic.StoreUint64(&to.packets, v.packets)
	atomic.StoreUint64(&to.bytes, v.bytes)
	atomic.StoreUint64(&to.answers.count, v.answers.count)
	atomic.StoreUint64(&to.answers.cycles, v.answers.cycles)
}

// recent is what a service has seen in the window: this worker's part to the last packet, that of others as they said last.
func (s *State) recent(service uint32) load {
	sum := s.total(service).less(*s.past(s.second.Load()+1, service))
	for i := range s.others {
		p := seen(s.peers[i], service)
		sum.packets += atomic.LoadUint64(&p.packets)
		sum.bytes += atomic.LoadUint64(&p.bytes)
		sum.answers.count += atomic.LoadUint64(&p.answers.count)
		sum.answers.cycles += atomic.LoadUint64(&p.answers.cycles)
	}
	return sum
}

// Answered counts the first answer of a service to a flow, that many cycles after the flow's first packet.
func (s *State) Answered(service uint32, cycles uint64) {
	if service >= entries {
		return
	}
	r := (*answers)(unsafe.Add(nil, s.base+answersAt+uintptr(service)*answersSize))
	r.count++
	r.cycles += cycles
}
