package port

/*
#cgo pkg-config: libdpdk
#cgo LDFLAGS: -lrte_net_ring -lrte_bus_vdev
#include <errno.h>
#include "turn.h"
*/
import "C"

import (
	"fmt"
	"unsafe"

	"github.com/yerden/go-dpdk/ethdev"
	"github.com/yerden/go-dpdk/mempool"
	"golang.org/x/sys/unix"
)

// What turn.h says, too.
var _ = [1]struct{}{}[RxBurst-C.RX_BURST]

// lane is one direction's end of a queue: a DPDK port and the descriptor that tells of its packets.
type lane struct {
	port  ethdev.Port
	index int  // of its receive and transmit queue
	fd    int  // -1: none
	mute  bool // nothing comes from outside: having no descriptor is no reason to look again and again
	deaf  bool // the port has no receive queue for this worker
}

// dpdkQueue is a Queue of DPDK ports.
type dpdkQueue struct {
	addr   C.uintptr_t // of the C structure
	c      *C.struct_queue
	lanes  int
	wakefd int
}

// newQueue makes the queue of one worker.
func newQueue(lanes []lane) (*dpdkQueue, error) {
	if len(lanes) == 0 || len(lanes) > MaxLanes {
		return nil, fmt.Errorf("a queue has 1 to %d lanes, not %d", MaxLanes, len(lanes))
	}
	fd, err := unix.Eventfd(0, unix.EFD_NONBLOCK|unix.EFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("cannot create the descriptor that wakes a worker: %w", err)
	}
	c := C.queue_new(C.int(fd))
	if c == nil {
		unix.Close(fd)
		return nil, fmt.Errorf("cannot create a queue: %w", unix.ENOMEM)
	}
	for _, l := range lanes {
		blind, deaf := C.int(0), C.int(0)
		switch {
		case l.deaf:
			deaf = 1
		case l.fd < 0 && !l.mute:
			blind = 1
		}
		C.queue_add_lane(c, C.uint16_t(l.port), C.uint16_t(l.index), C.int(l.fd), blind, deaf)
	}
	return &dpdkQueue{addr: C.uintptr_t(uintptr(unsafe.Pointer(c))), c: c, lanes: len(lanes), wakefd: fd}, nil
}

// stock names the pool that empty packets come from.
func (q *dpdkQueue) stock(pool *mempool.Mempool) { C.queue_stock(q.c, unsafe.Pointer(pool)) }

// Turn implements Queue.
func (q *dpdkQueue) Turn(x *Exchange) { C.queue_turn(q.addr, C.uintptr_t(uintptr(unsafe.Pointer(x)))) }

// Wait implements Queue. An error on a port's descriptor, such as a link that goes down, neither ends it at once again
// and again nor keeps it from seeing the other ports.
func (q *dpdkQueue) Wait(timeoutMs int) { C.queue_wait(q.addr, C.int(timeoutMs)) }

// Wake implements Queue.
func (q *dpdkQueue) Wake() {
	one := [8]byte{1} // the eventfd's counter takes a 64-bit number in the CPU's order; any number but 0 wakes
	unix.Write(q.wakefd, one[:])
}

// Lanes implements Queue.
func (q *dpdkQueue) Lanes() int { return q.lanes }

// close releases the queue. Its worker must have ended.
func (q *dpdkQueue) close() {
	unix.Close(q.wakefd)
	C.queue_free(q.c)
}
