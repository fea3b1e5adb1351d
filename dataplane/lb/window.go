package lb

import (
	"math"
	"sync/atomic"
)

// The load of a service is what it has seen in the running second and the 13 before it. Packets are counted where they are
// counted anyway, for accounts; once a second the state notes each service's sums, and a choice takes the difference to the
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
	if s.next <= s.last {
		s.settling.Add(1)
		for n > 0 && s.next <= s.last {
			n -= s.note(s.next)
			s.next++
		}
		s.settling.Add(1)
	}
	return s.last + 1 - s.next
}

// note returns what it has cost, in accounts.
func (s *State) note(id uint32) (cost int) {
	v, second := s.service(id), s.second.Load()
	now := load{answers: v.answers}
	for a := v.first(); a != nil; a = a.after() {
		a.settle()
		now.add(a.In)
		now.add(a.Out)
		if a.Vserver < entries {
			s.vserver(a.Vserver).sum(second, a.In.Bytes+a.Out.Bytes)
		}
		cost++
	}
	if cost == 0 {
		return 1
	}
	atomic.StoreUint64(&v.rate, now.Bytes-v.past[(second+Window-1)%Window].Bytes)
	for at := s.noted + 1; at != second+1; at++ {
		v.past[at%Window] = now
	}
	if s.others > 0 {
		v.publish(now, v.before(second))
	}
	return cost
}

// before is the sums at the beginning of the window that ends with a second: in the place that the next second will take.
func (v *serviceState) before(second uint32) *load { return &v.past[(second+1)%Window] }

// publish tells others what a service has seen between two sums. It stores each word at once: readers on other CPUs may see words of
// two seconds, never half of one.
func (v *serviceState) publish(now load, then *load) {
	atomic.StoreUint64(&v.seen.Packets, now.Packets-then.Packets)
	atomic.StoreUint64(&v.seen.Bytes, now.Bytes-then.Bytes)
	atomic.StoreUint64(&v.seen.count, now.count-then.count)
	atomic.StoreUint64(&v.seen.cycles, now.cycles-then.cycles)
}

// carried is what a service has seen in the window: of this worker to the last packet, of others as they said last.
func (s *State) carried(id uint32) Traffic {
	v := s.service(id)
	sum := v.total().less(v.before(s.second.Load()).Traffic)
	for i := range s.others {
		sum.add(serviceOf(s.peers[i], id).seen.read())
	}
	return sum
}

// Recent is what this worker has carried for a service in the window. Any goroutine may ask; while a second begins it may be told of
// one more or less.
func (s *State) Recent(id uint32) (packets, bytes uint64) {
	if id >= entries {
		return 0, 0
	}
	// What was before is read first, so that it is never more than what is now.
	v := s.service(id)
	then := v.before(s.second.Load()).read()
	var total Traffic
	s.whole(func() { total = v.total() })
	sum := total.less(then)
	return sum.Packets, sum.Bytes
}

// answered is the first answers of a service in the window.
func (s *State) answered(id uint32) answers {
	v := s.service(id)
	then := v.before(s.second.Load())
	sum := answers{v.answers.count - then.count, v.answers.cycles - then.cycles}
	for i := range s.others {
		p := &serviceOf(s.peers[i], id).seen
		sum.count += atomic.LoadUint64(&p.count)
		sum.cycles += atomic.LoadUint64(&p.cycles)
	}
	return sum
}

// Answered counts the first answer of a service to a flow, that many cycles after the flow's first packet.
func (s *State) Answered(id uint32, cycles uint64) {
	if id >= entries {
		return
	}
	r := &s.service(id).answers
	r.count++
	r.cycles += cycles
}
