package worker

import (
	"sync/atomic"

	"sluice/dataplane/api"
	"sluice/dataplane/table"
)

// events is a bounded ring of plain values from the worker to one control goroutine. It lies in the worker, holds no pointer
// and never blocks the worker: what does not fit is asked for again when the next packet needs it.
type events struct {
	head atomic.Uint64 // next to write; the worker's
	tail atomic.Uint64 // next to read; the reader's
	ring [eventRoom]uint64
}

const eventRoom = 256

// push adds a value and reports whether there was room.
func (e *events) push(v uint64) bool {
	h := e.head.Load()
	if h-e.tail.Load() == eventRoom {
		return false
	}
	atomic.StoreUint64(&e.ring[h%eventRoom], v)
	e.head.Store(h + 1)
	return true
}

// wanted raises NeighborWanted for an address on a port.
func (w *Worker) wanted(port uint16, ip uint32) bool {
	return w.events.push(uint64(ip) | uint64(port)<<32)
}

// NextEvent returns the oldest event that was not read yet. One goroutine reads.
func (w *Worker) NextEvent() (api.Event, bool) {
	e := &w.events
	t := e.tail.Load()
	if t == e.head.Load() {
		return api.Event{}, false
	}
	v := atomic.LoadUint64(&e.ring[t%eventRoom])
	e.tail.Store(t + 1)
	return api.Event{Kind: api.NeighborWanted, Port: uint16(v >> 32), IP: table.Addr(uint32(v))}, true
}
