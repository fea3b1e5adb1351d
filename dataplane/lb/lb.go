// Package lb chooses the service that takes a new flow: the balancing methods and what they remember. One worker owns a
// State and calls it without locks; other workers have their own.
//
// It does not know packets, and who is up is decided before: a table.Pool has only services that may be chosen.
package lb

import (
	"fmt"
	"sync/atomic"
	"syscall"
	"unsafe"

	"sluice/dataplane/api"
	"sluice/dataplane/table"
)

// State is what one worker's choices depend on, off the Go heap and by ID, so that new tables change nothing in it.
type State struct {
	turn uintptr // uint32 by vserver ID: place in its pool whose turn is next
	open uintptr // uint32 by service ID: flows open now
	mem  []byte
}

const entries = table.MaxID + 1

// New returns a state in which nothing was ever chosen. Pages that are never used cost no memory.
func New() (*State, error) {
	const size = 2 * entries * 4
	mem, err := syscall.Mmap(-1, 0, size, syscall.PROT_READ|syscall.PROT_WRITE,
		syscall.MAP_PRIVATE|syscall.MAP_ANON|syscall.MAP_NORESERVE)
	if err != nil {
		return nil, fmt.Errorf("no memory for the balancing state of %d bytes: %w", size, err)
	}
	base := uintptr(unsafe.Pointer(&mem[0]))
	return &State{turn: base, open: base + entries*4, mem: mem}, nil
}

// Close returns the memory.
func (s *State) Close() error { return syscall.Munmap(s.mem) }

func word(p uintptr, id uint32) *uint32 { return (*uint32)(unsafe.Add(nil, p+uintptr(id)*4)) }

// Pick returns the ID of the service that takes the next flow of v, or 0 if none is up, and passes the turn on. It does not
// count the flow: the caller does with Opened once the flow exists.
func (s *State) Pick(t *table.Set, v *table.Vserver) uint32 {
	service, turn := s.Choose(t, v)
	*word(s.turn, v.ID) = turn
	return service
}

// Choose is Pick without consequences: which service the next flow of v would get, and the turn that is next once it has got
// it. Whatever a method remembers is written by Pick alone, so that an operator may ask as often as he likes.
func (s *State) Choose(t *table.Set, v *table.Vserver) (service, turn uint32) {
	p := t.Pool(v)
	first := *word(s.turn, v.ID)
	if p.N == 0 {
		return 0, first
	}
	// The pool may have become shorter since the last choice.
	if first >= p.N {
		first %= p.N
	}
	if api.Method(v.Method) == api.RoundRobin {
		return p.Scheduled(first), first + 1
	}
	return s.least(p, first)
}

// least chooses the fewest open flows by weight; of equals the first from the place after the last choice on, so that
// equals take turns.
func (s *State) least(p *table.Pool, first uint32) (service, turn uint32) {
	place, best := first, p.Member(first)
	least := uint64(*word(s.open, best.Service))
	for k, i := uint32(1), first; k < p.N; k++ {
		if i++; i == p.N {
			i = 0
		}
		m := p.Member(i)
		// open/weight < least/best.Weight, without dividing.
		if open := uint64(*word(s.open, m.Service)); open*uint64(best.Weight) < least*uint64(m.Weight) {
			place, best, least = i, m, open
		}
	}
	return best.Service, place + 1
}

// Opened counts a flow of a service. The store is atomic for Open's sake: it is an ordinary store on amd64 and arm64 that a
// reader elsewhere may rely on.
func (s *State) Opened(service uint32) {
	p := word(s.open, service)
	atomic.StoreUint32(p, *p+1)
}

// Closed counts the end of a flow of a service.
func (s *State) Closed(service uint32) {
	p := word(s.open, service)
	if *p > 0 {
		atomic.StoreUint32(p, *p-1)
	}
}

// Open returns how many flows of a service are open. Any goroutine may ask.
func (s *State) Open(service uint32) uint32 {
	if service >= entries {
		return 0
	}
	return atomic.LoadUint32(word(s.open, service))
}
