package port

/*
#cgo pkg-config: libdpdk
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <rte_config.h>
#include <rte_errno.h>
#include <rte_eth_ring.h>
#include <rte_mbuf.h>
#include <rte_ring.h>

static int ring_port(const char *name, void *rx, void *tx)
{
	struct rte_ring *r = rx, *t = tx;
	int port = rte_eth_from_rings(name, &r, 1, &t, 1, 0);
	return port < 0 ? -rte_errno : port;
}

static int bulk_alloc(void *pool, uintptr_t *ms, unsigned n)
{
	return rte_pktmbuf_alloc_bulk(pool, (struct rte_mbuf **)ms, n);
}

static void bulk_free(uintptr_t *ms, unsigned n) { rte_pktmbuf_free_bulk((struct rte_mbuf **)ms, n); }

static unsigned ring_put(void *ring, uintptr_t *ms, unsigned n)
{
	return rte_ring_enqueue_burst(ring, (void **)ms, n, NULL);
}

static unsigned ring_take(void *ring, uintptr_t *ms, unsigned n)
{
	return rte_ring_dequeue_burst(ring, (void **)ms, n, NULL);
}
*/
import "C"

import (
	"fmt"
	"unsafe"

	"github.com/yerden/go-dpdk/ethdev"
	"github.com/yerden/go-dpdk/mempool"
	"github.com/yerden/go-dpdk/ring"
	"golang.org/x/sys/unix"
)

// Rings is a Queue of DPDK ports whose far ends are rings in this process, for benches and for tests of the same
// packets over DPDK as over Memory. DPDK must have been started.
type Rings struct {
	*dpdkQueue
	name  string
	pool  *mempool.Mempool
	rx    []*ring.Ring // by lane: waiting to be received
	tx    []*ring.Ring // by lane: sent
	ports []ethdev.Port
}

// NewRings returns a queue of the given number of lanes, each of two rings of size packets (a power of two), and a pool
// of the given number of buffers. The name tells it from others in the process.
func NewRings(name string, lanes, size, pool int) (*Rings, error) {
	if lanes < 1 || lanes > MaxLanes {
		return nil, fmt.Errorf("a queue has 1 to %d lanes, not %d", MaxLanes, lanes)
	}
	r := &Rings{name: name}
	var err error
	if r.pool, err = newPool(name, uint32(pool)); err != nil {
		return nil, err
	}
	var ls []lane
	for l := range lanes {
		port, err := r.add(fmt.Sprintf("%s-%d", name, l), uint(size))
		if err != nil {
			r.Close()
			return nil, err
		}
		ls = append(ls, lane{port: port, fd: -1, mute: true})
	}
	if r.dpdkQueue, err = newQueue(0, ls); err != nil {
		r.Close()
		return nil, err
	}
	return r, nil
}

// add makes and starts the port of one lane.
func (r *Rings) add(name string, size uint) (ethdev.Port, error) {
	rx, err := ring.Create(name+"-rx", size, ring.OptSP, ring.OptSC)
	if err != nil {
		return 0, fmt.Errorf("DPDK cannot make a ring of %d packets: %w", size, err)
	}
	r.rx = append(r.rx, rx)
	tx, err := ring.Create(name+"-tx", size, ring.OptSP, ring.OptSC)
	if err != nil {
		return 0, fmt.Errorf("DPDK cannot make a ring of %d packets: %w", size, err)
	}
	r.tx = append(r.tx, tx)
	cname := C.CString(name)
	defer C.free(unsafe.Pointer(cname))
	n := C.ring_port(cname, unsafe.Pointer(rx), unsafe.Pointer(tx))
	if n < 0 {
		return 0, fmt.Errorf("DPDK cannot make a port of rings: %w", unix.Errno(-n))
	}
	port := ethdev.Port(n)
	if err := startPort(port, r.pool, 1); err != nil {
		return 0, fmt.Errorf("DPDK cannot start a port of rings: %w", err)
	}
	r.ports = append(r.ports, port)
	return port, nil
}

// Close frees everything. No packet of the queue may be used any more.
func (r *Rings) Close() {
	if r.dpdkQueue != nil {
		r.dpdkQueue.close()
	}
	for _, p := range r.ports {
		p.Stop()
		p.Close()
	}
	for _, g := range append(r.rx, r.tx...) {
		g.Free()
	}
	r.pool.Free()
}

// PoolFree returns the number of packet buffers that nobody holds.
func (r *Rings) PoolFree() int { return r.pool.AvailCount() }

// Alloc takes len(ms) empty packets from the pool: all or none.
func (r *Rings) Alloc(ms []uintptr) error {
	if len(ms) == 0 {
		return nil
	}
	if rc := C.bulk_alloc(unsafe.Pointer(r.pool), (*C.uintptr_t)(unsafe.Pointer(&ms[0])), C.uint(len(ms))); rc != 0 {
		return fmt.Errorf("%d packets cannot be taken from a pool of %d: %w", len(ms), r.PoolFree(), unix.Errno(-rc))
	}
	return nil
}

// Release returns packets to the pool.
func (r *Rings) Release(ms []uintptr) {
	if len(ms) > 0 {
		C.bulk_free((*C.uintptr_t)(unsafe.Pointer(&ms[0])), C.uint(len(ms)))
	}
}

// Feed puts packets where a lane receives them and returns how many fit. The queue owns those.
func (r *Rings) Feed(lane int, ms []uintptr) int {
	if len(ms) == 0 {
		return 0
	}
	n := C.ring_put(unsafe.Pointer(r.rx[lane]), (*C.uintptr_t)(unsafe.Pointer(&ms[0])), C.uint(len(ms)))
	r.Wake()
	return int(n)
}

// Drain takes packets that a lane has sent, up to len(ms), and returns how many. The caller owns them.
func (r *Rings) Drain(lane int, ms []uintptr) int {
	if len(ms) == 0 {
		return 0
	}
	return int(C.ring_take(unsafe.Pointer(r.tx[lane]), (*C.uintptr_t)(unsafe.Pointer(&ms[0])), C.uint(len(ms))))
}

// Inject queues a frame to be received on a lane.
func (r *Rings) Inject(lane int, frame []byte) error {
	var ms [1]uintptr
	if len(frame) > dataRoom-Headroom {
		return fmt.Errorf("a frame of %d bytes does not fit a buffer of %d", len(frame), dataRoom-Headroom)
	}
	if err := r.Alloc(ms[:]); err != nil {
		return err
	}
	copy(unsafe.Slice((*byte)(Ptr(Data(ms[0]))), len(frame)), frame)
	SetLen(ms[0], uint32(len(frame)))
	if r.Feed(lane, ms[:]) != 1 {
		r.Release(ms[:])
		return fmt.Errorf("lane %d has no room for another frame", lane)
	}
	return nil
}

// Sent returns copies of the frames sent on a lane since the last call, and frees them.
func (r *Rings) Sent(lane int) [][]byte {
	var frames [][]byte
	var ms [Burst]uintptr
	for {
		n := r.Drain(lane, ms[:])
		if n == 0 {
			return frames
		}
		for _, m := range ms[:n] {
			frames = append(frames, append([]byte(nil), unsafe.Slice((*byte)(Ptr(Data(m))), DataLen(m))...))
		}
		r.Release(ms[:n])
	}
}
