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

static int ring_port(const char *name, uintptr_t *rx, uintptr_t *tx, unsigned n)
{
	int port = rte_eth_from_rings(name, (struct rte_ring **)rx, n, (struct rte_ring **)tx, n, 0);
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
// packets over DPDK as over Memory. With more than one queue it is that of the first worker, and Queue gives those of the
// others over the same ports. DPDK must have been started.
type Rings struct {
	*dpdkQueue
	name   string
	pool   *mempool.Mempool
	rx     [][]*ring.Ring // by lane and worker: waiting to be received
	tx     [][]*ring.Ring // by lane and worker: sent
	ports  []ethdev.Port
	queues []*dpdkQueue
}

// NewRings returns a queue of the given number of lanes, each of two rings of size packets (a power of two), and a pool
// of the given number of buffers. The name tells it from others in the process.
func NewRings(name string, lanes, size, pool int) (*Rings, error) {
	return NewRingQueues(name, lanes, 1, size, pool)
}

// NewRingQueues is NewRings for a number of workers, each with a queue of its own.
func NewRingQueues(name string, lanes, queues, size, pool int) (*Rings, error) {
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
		port, err := r.add(fmt.Sprintf("%s-%d", name, l), queues, uint(size))
		if err != nil {
			r.Close()
			return nil, err
		}
		ls = append(ls, lane{port: port, fd: -1, mute: true})
	}
	for i := range queues {
		for l := range ls {
			ls[l].index = i
		}
		q, err := newQueue(ls)
		if err != nil {
			r.Close()
			return nil, err
		}
		q.stock(r.pool)
		r.queues = append(r.queues, q)
	}
	r.dpdkQueue = r.queues[0]
	return r, nil
}

// add makes and starts the port of one lane.
func (r *Rings) add(name string, queues int, size uint) (ethdev.Port, error) {
	rx, err := makeRings(name+"-rx", queues, size)
	r.rx = append(r.rx, rx)
	if err != nil {
		return 0, err
	}
	tx, err := makeRings(name+"-tx", queues, size)
	r.tx = append(r.tx, tx)
	if err != nil {
		return 0, err
	}
	cname := C.CString(name)
	defer C.free(unsafe.Pointer(cname))
	n := C.ring_port(cname, addresses(rx), addresses(tx), C.uint(queues))
	if n < 0 {
		return 0, fmt.Errorf("DPDK cannot make a port of rings: %w", unix.Errno(-n))
	}
	port := ethdev.Port(n)
	if err := startQueues(port, r.pool, queues, queues, 0); err != nil {
		return 0, fmt.Errorf("DPDK cannot start a port of rings: %w", err)
	}
	r.ports = append(r.ports, port)
	return port, nil
}

// makeRings makes one ring for each queue of a lane's direction; with an error come those that were made.
func makeRings(name string, queues int, size uint) (list []*ring.Ring, err error) {
	for i := range queues {
		g, err := ring.Create(fmt.Sprintf("%s%d", name, i), size, ring.OptSP, ring.OptSC)
		if err != nil {
			return list, fmt.Errorf("DPDK cannot make a ring of %d packets: %w", size, err)
		}
		list = append(list, g)
	}
	return list, nil
}

// addresses are the rings in the form that C takes.
func addresses(list []*ring.Ring) *C.uintptr_t {
	as := make([]C.uintptr_t, len(list))
	for i, g := range list {
		as[i] = C.uintptr_t(uintptr(unsafe.Pointer(g)))
	}
	return &as[0]
}

// Queue returns the queue of a worker.
func (r *Rings) Queue(worker int) Queue { return r.queues[worker] }

// Close frees everything. No packet of the queue may be used any more.
func (r *Rings) Close() {
	for _, q := range r.queues {
		q.close()
	}
	for _, p := range r.ports {
		p.Stop()
		p.Close()
	}
	for _, list := range append(r.rx, r.tx...) {
		for _, g := range list {
			g.Free()
		}
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

// Feed puts packets where the first worker receives them on a lane, and returns how many fit. The queue owns those.
func (r *Rings) Feed(lane int, ms []uintptr) int { return r.FeedTo(0, lane, ms) }

// FeedTo is Feed for any worker.
func (r *Rings) FeedTo(worker, lane int, ms []uintptr) int {
	if len(ms) == 0 {
		return 0
	}
	n := C.ring_put(unsafe.Pointer(r.rx[lane][worker]), (*C.uintptr_t)(unsafe.Pointer(&ms[0])), C.uint(len(ms)))
	r.queues[worker].Wake()
	return int(n)
}

// Drain takes packets that the first worker has sent on a lane, up to len(ms), and returns how many. The caller owns them.
func (r *Rings) Drain(lane int, ms []uintptr) int { return r.DrainFrom(0, lane, ms) }

// DrainFrom is Drain for any worker.
func (r *Rings) DrainFrom(worker, lane int, ms []uintptr) int {
	if len(ms) == 0 {
		return 0
	}
	return int(C.ring_take(unsafe.Pointer(r.tx[lane][worker]), (*C.uintptr_t)(unsafe.Pointer(&ms[0])), C.uint(len(ms))))
}

// Inject queues a frame to be received by the first worker on a lane.
func (r *Rings) Inject(lane int, frame []byte) error { return r.InjectTo(0, lane, frame) }

// InjectTo queues a frame to be received by a worker on a lane.
func (r *Rings) InjectTo(worker, lane int, parts ...[]byte) error {
	var ms [1]uintptr
	if len(parts) != 1 || len(parts[0]) > dataRoom-Headroom {
		return fmt.Errorf("a frame of %d pieces does not fit a buffer of %d bytes", len(parts), dataRoom-Headroom)
	}
	if err := r.Alloc(ms[:]); err != nil {
		return err
	}
	copy(unsafe.Slice((*byte)(Ptr(Data(ms[0]))), len(parts[0])), parts[0])
	SetLen(ms[0], uint32(len(parts[0])))
	if r.FeedTo(worker, lane, ms[:]) != 1 {
		r.Release(ms[:])
		return fmt.Errorf("lane %d has no room for another frame", lane)
	}
	return nil
}

// Sent returns copies of the frames sent on a lane since the last call, worker by worker, and frees them.
func (r *Rings) Sent(lane int) [][]byte {
	var frames [][]byte
	var ms [Burst]uintptr
	for w := range r.queues {
		for n := r.DrainFrom(w, lane, ms[:]); n > 0; n = r.DrainFrom(w, lane, ms[:]) {
			for _, m := range ms[:n] {
				frames = append(frames, append([]byte(nil), unsafe.Slice((*byte)(Ptr(Data(m))), DataLen(m))...))
			}
			r.Release(ms[:n])
		}
	}
	return frames
}
