package lb

import (
	"sync/atomic"

	"sluice/dataplane/api"
	"sluice/dataplane/table"
)

// starting is how many flows of a vserver still go round robin because it starts up. What is remembered of a vserver is the
// start-up and how many flows are left of it. Of several workers each gives its share.
func (s *State) starting(id uint32, p *table.Pool) (left uint32) {
	return s.left(atomic.LoadUint64(&s.vserver(id).startup), p.Startup, p.Turns)
}

// started takes a flow off those that go round robin.
func (s *State) started(id uint32, p *table.Pool) {
	if left := s.starting(id, p); left > 0 {
		atomic.StoreUint64(&s.vserver(id).startup, uint64(p.Startup)<<32|uint64(left-1))
	}
}

// left is what is left of a start-up, given what is remembered.
func (s *State) left(remembered uint64, startup, turns uint32) uint32 {
	if uint32(remembered>>32) == startup {
		return uint32(remembered)
	}
	workers := uint64(s.others) + 1
	return uint32((uint64(turns) + workers - 1) / workers)
}

// Startup tells how many flows of a vserver are still to go round robin at this worker, given its pool's start-up, and why. Any
// goroutine may ask.
func (s *State) Startup(id, startup, turns uint32) (left uint32, why api.Startup) {
	if id >= entries || startup == 0 {
		return 0, 0
	}
	left = s.left(atomic.LoadUint64(&s.vserver(id).startup), startup, turns)
	return left, api.Startup(startup & (1<<table.StartupBits - 1))
}
