package worker

import (
	"sync/atomic"

	"sluice/dataplane/port"
)

// ring carries packets from one worker to one other: a single writer, a single reader, off the Go heap. Each index has a cache
// line of its own and is published once a burst; beside it lies what its side last saw of the other's, so that a line changes
// hands when there is news and not for every packet.
type ring struct {
	// The writer's.
	next uint64 // where the next packet goes
	free uint64 // tail as last seen
	_    [6]uint64

	head uint64 // packets written, as published
	_    [7]uint64

	// The reader's.
	seen uint64 // head as last seen
	_    [7]uint64

	tail uint64 // packets read, as published
	_    [7]uint64

	slots [ringSize]uint64 // buffer address | lane that the packet came from << laneShift
}

const (
	ringSize  = 1024 // 16 bursts: what comes in while the reader is kept from its CPU for a moment
	laneShift = 56   // user addresses have 47 bits, or 56 with five page table levels
)

var _ = [1]struct{}{}[(port.MaxLanes-1)>>(64-laneShift)]

// put writes a packet without publishing it, and reports false if there is no room.
func (r *ring) put(m uintptr, lane uint64) bool {
	if r.next-r.free == ringSize {
		if r.free = atomic.LoadUint64(&r.tail); r.next-r.free == ringSize {
			return false
		}
	}
	r.slots[r.next&(ringSize-1)] = uint64(m) | lane<<laneShift
	r.next++
	return true
}

// publish lets the reader see what was put. The store is ordered before the writer's next load, which asks whether the reader
// sleeps: see Mesh.wake.
func (r *ring) publish() { atomic.StoreUint64(&r.head, r.next) }

// take reads packets that came from one lane, at most len(ms).
func (r *ring) take(ms []uintptr) (n int, lane uint32) {
	tail := r.tail
	if tail == r.seen {
		if r.seen = atomic.LoadUint64(&r.head); tail == r.seen {
			return 0, 0
		}
	}
	from := r.slots[tail&(ringSize-1)] >> laneShift
	for n < len(ms) && tail != r.seen {
		e := r.slots[tail&(ringSize-1)]
		if e>>laneShift != from {
			break
		}
		ms[n] = uintptr(e & (1<<laneShift - 1))
		n++
		tail++
	}
	atomic.StoreUint64(&r.tail, tail)
	return n, uint32(from)
}

// waits says whether there is something to take; the reader asks.
func (r *ring) waits() bool { return atomic.LoadUint64(&r.head) != r.tail }
