package worker

import (
	"errors"
	"fmt"
	"sync/atomic"
	"syscall"
	"unsafe"

	"sluice/dataplane/flow"
	"sluice/dataplane/lb"
	"sluice/dataplane/packet"
	"sluice/dataplane/port"
	"sluice/dataplane/table"
)

// MaxWorkers is how many workers can share the flows: the af_packet and tap drivers have no more queues.
const MaxWorkers = 16

// Mesh is what connects the workers of one dataplane: a ring for each ordered pair, and who of them sleeps. It lies off the Go heap.
// All workers must be made before the first one polls, and the mesh be closed after the last one is.
type Mesh struct {
	workers int
	mem     []byte
	base    uintptr
	queues  [MaxWorkers]port.Queue // of workers, to wake them
	states  []*lb.State            // of the workers that have joined

	sessions *lb.Sessions // of all workers; made by the first
}

// seat is one worker's cache line that the others look at.
type seat struct {
	asleep uint32
	_      [15]uint32
}

const (
	seatSize = unsafe.Sizeof(seat{})
	meshRing = unsafe.Sizeof(ring{})
)

var _ = [1]struct{}{}[seatSize%64+meshRing%64]

// NewMesh connects a number of workers, which must be a power of two since the owner of a flow is a few bits of a number
// (flow.OwnerByPort).
func NewMesh(workers int) (*Mesh, error) {
	if workers < 1 || workers > MaxWorkers || workers&(workers-1) != 0 {
		return nil, fmt.Errorf("%d workers cannot share the flows: their number must be 1, 2, 4, 8 or %d", workers, MaxWorkers)
	}
	size := workers*int(seatSize) + workers*workers*int(meshRing)
	mem, err := syscall.Mmap(-1, 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANON)
	if err != nil {
		return nil, fmt.Errorf("no memory for the rings between %d workers (%d bytes): %w", workers, size, err)
	}
	return &Mesh{workers: workers, mem: mem, base: uintptr(unsafe.Pointer(&mem[0]))}, nil
}

// Close frees the rings and the sessions. Every worker must have been closed.
func (m *Mesh) Close() error {
	err := syscall.Munmap(m.mem)
	if m.sessions != nil {
		err = errors.Join(err, m.sessions.Close())
	}
	return err
}

func (m *Mesh) seat(id int) *seat { return (*seat)(at(m.base + uintptr(id)*seatSize)) }

// ring is the one from a worker to another.
func (m *Mesh) ring(from, to int) *ring {
	return (*ring)(at(m.base + uintptr(m.workers)*seatSize + uintptr(from*m.workers+to)*meshRing))
}

// wake ends the sleep of a worker that sleeps. The caller has published something to it before. Either the caller sees here
// that it sleeps, or it sees, before it sleeps, what was published: its store of asleep and the caller's of the ring's head each
// come before the other's load.
func (m *Mesh) wake(id int) {
	asleep := &m.seat(id).asleep
	if atomic.LoadUint32(asleep) != 0 && atomic.CompareAndSwapUint32(asleep, 1, 0) {
		m.queues[id].Wake()
	}
}

// join takes a worker's place in the mesh.
func (w *Worker) join(m *Mesh) error {
	id := w.opt.ID
	if id < 0 || id >= m.workers || m.queues[id] != nil {
		return fmt.Errorf("worker %d has no place among %d workers", id, m.workers)
	}
	m.queues[id] = w.queue
	for other := range m.workers {
		w.out[other], w.in[other] = m.ring(id, other), m.ring(other, id)
	}
	w.mesh, w.self, w.workers = m, uint32(id), uint32(m.workers)
	return nil
}

// takeOver walks packets that other workers have handed to this one, no more than a burst in all: they are sources beside the
// ports, each ring in its turn. It returns how many there were.
func (w *Worker) takeOver() int {
	x, all := w.x, 0
	for range w.workers {
		from := w.from & (w.workers - 1)
		w.from++
		for all < port.Burst {
			n, lane := w.in[from&(MaxWorkers-1)].take(x.Rx[:port.Burst-all])
			if n == 0 {
				break
			}
			all += n
			x.RxN, x.From = uint32(n), lane
			w.walk(n)
		}
		if all == port.Burst {
			w.from-- // it may have more
			break
		}
	}
	if all != 0 {
		w.figures.taken += uint64(all)
		w.clock.busy = true
	}
	return all
}

// sleep waits for packets, of the ports or of another worker.
func (w *Worker) sleep() {
	w.figures.sleeps++
	if w.mesh == nil {
		w.queue.Wait(waitMs)
		return
	}
	asleep := &w.mesh.seat(int(w.self)).asleep
	atomic.StoreUint32(asleep, 1)
	if !w.given() {
		w.queue.Wait(waitMs)
	}
	atomic.StoreUint32(asleep, 0)
}

// given says whether another worker has handed packets to this one.
func (w *Worker) given() bool {
	for other := range w.workers {
		if w.in[other&(MaxWorkers-1)].waits() {
			return true
		}
	}
	return false
}

// leave frees what other workers have handed over, when the worker ends.
func (w *Worker) leave() {
	for other := uint32(0); other < w.workers; {
		n, _ := w.in[other&(MaxWorkers-1)].take(w.x.Free[w.x.FreeN:][:port.Burst])
		if n == 0 {
			other++
			continue
		}
		w.x.FreeN += uint32(n)
		w.queue.Turn(w.x)
		w.ignore()
	}
}

// ignore frees what the last turn received, when the worker ends.
func (w *Worker) ignore() {
	for i := uint32(0); i < w.x.RxN; i++ {
		w.discard(w.x.Rx[i], packet.NoReason)
	}
}

// poolSettings are those of this worker's port pools. Where several workers share the flows, what comes to a port on which a
// vserver listens must be a client's and never an answer (see steer); a worker alone tells them by its flows.
func (w *Worker) poolSettings() flow.PoolSettings {
	s := flow.PoolSettings{Pools: maxPools, Workers: 1, Huge: w.opt.Huge, Seed: w.opt.Seed}
	if w.mesh != nil {
		s.Workers, s.Self = int(w.workers), int(w.self)
		s.Avoid = func(snip uint32, port uint16, proto uint8) bool {
			return w.set.Own(snip)&table.OwnListens != 0 && w.set.Listens(snip, packet.Swap16(port), proto)
		}
	}
	return s
}
