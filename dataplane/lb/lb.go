// Package lb chooses the service that takes a new flow: the balancing methods and what they remember. One worker owns a
// State and calls it without locks; other workers have their own.
//
// It does not know packets, and who is up is decided before: a table.Pool has only services that may be chosen.
//
// The methods, where w is the weight of a service and the least figure is chosen, equals taking turns after the last choice:
//
//	ROUNDROBIN         turns by weight
//	LEASTCONNECTION    open flows / w
//	LEASTPACKETS       packets in both directions in the last 14 seconds / w
//	LEASTBANDWIDTH     bytes in both directions in the last 14 seconds / w
//	LEASTRESPONSETIME  open flows x mean time to the first answer in the last 14 seconds / w
//	LRTM               open flows x mean time in which the service answers monitors / w
//	CUSTOMLOAD         what LOAD monitors say / w
//	hash methods       what the pool's table has for the client's addresses and ports, or for part of a datagram (dataplane/table)
//
// The figures are those of the service over all vservers; what management sends to it (monitors) goes past the packet path
// and is not counted. The last 14 seconds are the running one and the 13 before it. The time to the first answer is what
// lies between the first packet of a flow and the server's first packet back: in TCP its SYN with ACK; what the server takes
// to answer an HTTP request is not seen at this layer.
//
// Services in slow start give way to the others once they have had their flows of the second, whatever the method: see slow.go.
//
// While a vserver starts up, which only the least ones do, its services take turns regardless of load and weight: see
// table.Pool.Startup.
//
// Of several workers, each knows its own part to the last packet. Open flows of the others are read as they are, so that
// LEASTCONNECTION has no lag; what others have seen in the last seconds is as they said last, once a second.
package lb

import (
	"fmt"
	"math/bits"
	"sync/atomic"
	"syscall"
	"unsafe"

	"sluice/dataplane/api"
	"sluice/dataplane/table"
)

// MaxStates is how many states can be joined.
const MaxStates = 64

// State is what one worker's choices depend on, off the Go heap and by ID, so that new tables change nothing in it.
type State struct {
	base   uintptr
	peers  [MaxStates]uintptr // bases of the others' memory
	others int                // how many peers there are

	shared uintptr // the first state's memory

	second     atomic.Uint32 // that is running
	settling   atomic.Uint32 // odd while accounts are being settled: see whole
	noted      uint32        // the last one before it for which sums were noted
	next, last uint32        // services whose sums are still to be noted
	top        uint32        // highest ID of a service with accounts

	mem []byte
}

const entries = table.MaxID + 1

// Places in a state's memory; arrays are by ID.
const (
	vserversAt = uintptr(0)                       // vserverState
	openAt     = vserversAt + entries*vserverSize // uint32 by service: flows open now
	grantedAt  = openAt + entries*4               // uint32 by service: places that this worker has, see quota
	takenAt    = grantedAt + entries*4            // uint32 by service: places that all workers have; in the first state's memory
	vtakenAt   = takenAt + entries*4              // the same by vserver
	servicesAt = vtakenAt + entries*4             // serviceState
	slowAt     = servicesAt + entries*serviceSize // slowState by service; in the first state's memory
	stateSize  = slowAt + entries*slowSize
)

// vserverState is what is remembered of a vserver.
type vserverState struct {
	turn    uint32 // place in its pool whose turn is next
	waiting uint32 // connections in the surge queue: see Queued
	startup uint64 // see starting

	open, granted uint32 // flows open now, and places for them: see quota
	second        uint32 // of the sums: see sum
	picks         uint32 // flows with slow start: see lot
	summing       uint64 // bytes of this worker's accounts noted so far in second
	total         uint64 // all of them as noted in the second before
	rate          uint64 // bytes that total has grown by then; others read it
	spilled       uint64 // flows that went elsewhere
}

var _ = [1]struct{}{}[vserverSize-64]

// serviceState is what is remembered of a service beside its open flows: a cache line that others read, too, then the past.
type serviceState struct {
	accounts uint64       // address of the first Account
	answers  answers      // since the start
	seen     load         // for others: see note
	rate     uint64       // bytes in the last whole second; others read it, too
	past     [Window]load // sums at the beginning of each second of the window
}

const (
	vserverSize = unsafe.Sizeof(vserverState{})
	serviceSize = unsafe.Sizeof(serviceState{})
)

var _ = [1]struct{}{}[unsafe.Offsetof(serviceState{}.past)-64]

// New returns a state in which nothing was ever chosen. Pages that are never used cost no memory.
func New() (*State, error) {
	mem, err := syscall.Mmap(-1, 0, int(stateSize), syscall.PROT_READ|syscall.PROT_WRITE,
		syscall.MAP_PRIVATE|syscall.MAP_ANON|syscall.MAP_NORESERVE)
	if err != nil {
		return nil, fmt.Errorf("no memory for the balancing state of %d bytes: %w", stateSize, err)
	}
	// Few pages are touched, by the worker between packets: huge ones would cost it time and memory. A kernel without them refuses.
	_ = syscall.Madvise(mem, syscall.MADV_NOHUGEPAGE)
	base := uintptr(unsafe.Pointer(&mem[0]))
	return &State{base: base, shared: base, next: 1, mem: mem}, nil
}

// Close returns the memory. States that were joined are closed after all of them have come to rest.
func (s *State) Close() error { return syscall.Munmap(s.mem) }

// Join makes states know of each other: each counts in what services carry for the others. It comes before the first choice.
func Join(states []*State) error {
	if len(states) > MaxStates {
		return fmt.Errorf("%d workers cannot share the load of services: %d can", len(states), MaxStates)
	}
	for _, s := range states {
		s.others, s.shared = 0, states[0].base
		for _, o := range states {
			if o != s {
				s.peers[s.others] = o.base
				s.others++
			}
		}
	}
	return nil
}

func word(p uintptr, id uint32) *uint32 { return (*uint32)(unsafe.Add(nil, p+uintptr(id)*4)) }

func (s *State) vserver(id uint32) *vserverState { return vserverOf(s.base, id) }

// vserverOf is what the state whose memory begins at base remembers.
func vserverOf(base uintptr, id uint32) *vserverState {
	return (*vserverState)(unsafe.Add(nil, base+vserversAt+uintptr(id)*vserverSize))
}

func (s *State) service(id uint32) *serviceState { return serviceOf(s.base, id) }

// serviceOf is the same of a service.
func serviceOf(base uintptr, id uint32) *serviceState {
	return (*serviceState)(unsafe.Add(nil, base+servicesAt+uintptr(id)*serviceSize))
}

// Pick returns the ID of the service that takes the next flow of v, or 0 if none is up, and passes the turn on; a and b are the
// key of the flow's first packet (see packet.Key). It does not count the flow: the caller does with Opened once the flow exists.
func (s *State) Pick(t *table.Set, v *table.Vserver, a, b uint64) uint32 {
	id, turn := s.Choose(t, v, a, b)
	p := t.Pool(v)
	if p.SlowRate != 0 {
		// Another worker may have taken the last flow of the second; whoever is chosen again has nobody to give way to.
		for last := uint32(0); id != last && !s.slowed(t, p, id); {
			last = id
			id, turn = s.Choose(t, v, a, b)
		}
	}
	x := s.vserver(v.ID)
	if x.turn = turn; p.SlowRate != 0 {
		x.picks++
	}
	if p.Startup != 0 && id != 0 {
		s.started(v.ID, p)
	}
	return id
}

// Choose is Pick without consequences: which service the next flow of v would get, and the turn that is next once it has got
// it. Whatever a method remembers is written by Pick alone, so that an operator may ask as often as he likes.
func (s *State) Choose(t *table.Set, v *table.Vserver, a, b uint64) (service, turn uint32) {
	p := t.Pool(v)
	first := s.vserver(v.ID).turn
	if p.N == 0 {
		return 0, first
	}
	if v.Hashes() {
		id := t.Hashed(v, p, a, b)
		if p.Flags&table.PoolLimited != 0 && (s.Full(t.Service(id)) || s.held(t, v, p, id, 1)) {
			id = s.freeHashed(t, v, p, a, b)
		}
		return id, first
	}
	// The pool may have become shorter since the last choice.
	if first >= p.N {
		first %= p.N
	}
	m := api.Method(v.Method)
	switch {
	case p.Flags&table.PoolLimited != 0:
		if p.SlowRate != 0 {
			if service, turn = s.free(t, v, p, m, first, true); service != 0 {
				return service, turn
			}
		}
		return s.free(t, v, p, m, first, false)
	case m == api.RoundRobin:
		return p.Scheduled(first), first + 1
	case p.Startup != 0 && s.starting(v.ID, p) > 0:
		return p.Member(first).Service, first + 1
	}
	return s.least(t, p, m, first)
}

// least chooses the least load by weight; of equals the first from the place after the last choice on, so that equals take
// turns.
func (s *State) least(t *table.Set, p *table.Pool, m api.Method, first uint32) (service, turn uint32) {
	if m == api.LeastConnection {
		return s.fewest(p, first)
	}
	worst := s.worst(t, p, m)
	place, best := first, p.Member(first)
	least := s.figure(t, m, best.Service, worst)
	for k, i := uint32(1), first; k < p.N; k++ {
		if i++; i == p.N {
			i = 0
		}
		c := p.Member(i)
		if n := s.figure(t, m, c.Service, worst); lighter(n, c.Weight, least, best.Weight) {
			place, best, least = i, c, n
		}
	}
	return best.Service, place + 1
}

// fewest is least for open flows: the default method has a loop of its own, for speed.
func (s *State) fewest(p *table.Pool, first uint32) (service, turn uint32) {
	place, best := first, p.Member(first)
	least := uint64(s.openEverywhere(best.Service))
	for k, i := uint32(1), first; k < p.N; k++ {
		if i++; i == p.N {
			i = 0
		}
		c := p.Member(i)
		n := uint64(*word(s.base+openAt, c.Service))
		if s.others > 0 {
			n = uint64(s.openEverywhere(c.Service))
		}
		if n*uint64(best.Weight) < least*uint64(c.Weight) {
			place, best, least = i, c, n
		}
	}
	return best.Service, place + 1
}

// lighter tells whether a/v < b/w, without dividing and without overflow.
func lighter(a uint64, v uint32, b uint64, w uint32) bool {
	hiA, loA := bits.Mul64(a, uint64(w))
	hiB, loB := bits.Mul64(b, uint64(v))
	return hiA < hiB || hiA == hiB && loA < loB
}

// figure is what a method compares; worst stands for one that is not known.
func (s *State) figure(t *table.Set, m api.Method, service uint32, worst uint64) uint64 {
	switch m {
	case api.LeastPackets:
		return s.carried(service).Packets
	case api.LeastBandwidth:
		return s.carried(service).Bytes
	case api.LeastConnection:
		return uint64(s.openEverywhere(service))
	case api.CustomLoad:
		return loadOf(t, service, worst)
	case api.LeastMonitorTime:
		return uint64(s.openEverywhere(service)) * monitorTime(t, service, worst)
	}
	return uint64(s.openEverywhere(service)) * s.responseTime(service, worst)
}

// worst is what stands in a pool for a figure that is not known.
func (s *State) worst(t *table.Set, p *table.Pool, m api.Method) uint64 {
	switch m {
	case api.LeastResponseTime:
		return s.slowest(p)
	case api.CustomLoad:
		return heaviestOf(t, p)
	case api.LeastMonitorTime:
		return slowestToMonitors(t, p)
	}
	return 0
}

// Response times are compared in units of 64 cycles and bounded, at some minutes, so that the product with a number of flows fits
// 64 bits.
const (
	responseShift = 6
	maxResponse   = 1<<32 - 1
)

// responseTime is the mean time to a service's first answers in the window, or otherwise if it gave none.
func (s *State) responseTime(service uint32, otherwise uint64) uint64 {
	a := s.answered(service)
	if a.count == 0 {
		return otherwise
	}
	return min(max(a.cycles/a.count>>responseShift, 1), maxResponse)
}

// slowest is the longest response time in a pool. A service that has not answered lately is taken to be no faster, so that one
// that accepts flows and never answers does not attract them all.
func (s *State) slowest(p *table.Pool) uint64 {
	most := uint64(1)
	for i := range p.N {
		most = max(most, s.responseTime(p.Member(i).Service, 0))
	}
	return most
}

// Opened counts a flow of a service. The store is atomic for Open's sake: it is an ordinary store on amd64 and arm64 that a
// reader elsewhere may rely on.
func (s *State) Opened(vserver, service uint32) {
	p := word(s.base+openAt, service)
	atomic.StoreUint32(p, *p+1)
	s.vserver(vserver).open++
}

// Closed counts the end of a flow of a service.
func (s *State) Closed(vserver, service uint32) {
	if p := word(s.base+openAt, service); *p > 0 {
		atomic.StoreUint32(p, *p-1)
	}
	if v := s.vserver(vserver); v.open > 0 {
		v.open--
	}
}

// Open returns how many flows of a service are open at this worker. Any goroutine may ask.
func (s *State) Open(service uint32) uint32 {
	if service >= entries {
		return 0
	}
	return atomic.LoadUint32(word(s.base+openAt, service))
}

// openEverywhere is how many flows of a service are open at all workers.
func (s *State) openEverywhere(service uint32) uint32 {
	n := *word(s.base+openAt, service)
	for i := range s.others {
		n += atomic.LoadUint32(word(s.peers[i]+openAt, service))
	}
	return n
}
