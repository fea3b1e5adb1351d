package port

import (
	"errors"
	"fmt"
	"sync"
	"syscall"
	"unsafe"
)

// Layout of a Memory buffer, in bytes: a header as large as DPDK's mbuf, the headroom, the room for a frame.
const (
	memHeader = 128
	memRoom   = 2048
	memStride = memHeader + Headroom + memRoom
)

// Memory is a Queue without a device, for tests. Frames are injected into a lane and those sent are read back. With more
// than one queue it is that of the first worker, and Queue gives those of the others over the same lanes. Its buffers have the layout of DPDK mbufs, and a buffer that is freed twice or kept is found out: see Err and PoolFree.
type Memory struct {
	mu    sync.Mutex
	mem   []byte
	base  uintptr
	count int
	free  []uintptr // buffers in the pool
	out   []bool    // by buffer index: not in the pool
	lanes []memLane
	err   error
}

type memLane struct {
	in      [][]uintptr // by queue: waiting to be received
	sent    []uintptr   // sent and not yet read by Sent
	limit   int         // packets that the lane takes a Turn
	discard bool
}

// NewMemory returns a queue of the given number of lanes whose pool has the given number of buffers.
func NewMemory(lanes, pool int) (*Memory, error) { return NewMemoryQueues(lanes, 1, pool) }

// NewMemoryQueues is NewMemory for a number of workers, each with a queue of its own.
func NewMemoryQueues(lanes, queues, pool int) (*Memory, error) {
	if lanes < 1 || lanes > MaxLanes {
		return nil, fmt.Errorf("a queue has 1 to %d lanes, not %d", MaxLanes, lanes)
	}
	if pool < 1 {
		return nil, fmt.Errorf("a packet pool needs at least one buffer, not %d", pool)
	}
	mem, err := mapAnonymous(pool * memStride)
	if err != nil {
		return nil, fmt.Errorf("cannot map a packet pool of %d buffers: %w", pool, err)
	}
	q := &Memory{
		mem: mem, base: uintptr(unsafe.Pointer(&mem[0])), count: pool,
		free: make([]uintptr, 0, pool), out: make([]bool, pool), lanes: make([]memLane, lanes),
	}
	for i := pool - 1; i >= 0; i-- {
		q.free = append(q.free, q.base+uintptr(i*memStride))
	}
	for l := range q.lanes {
		q.lanes[l] = memLane{in: make([][]uintptr, queues), sent: make([]uintptr, 0, pool), limit: TxRoom}
		for i := range queues {
			q.lanes[l].in[i] = make([]uintptr, 0, pool)
		}
	}
	return q, nil
}

// Close unmaps the pool. No packet of it may be used any more.
func (q *Memory) Close() error { return syscall.Munmap(q.mem) }

// Lanes implements Queue.
func (q *Memory) Lanes() int { return len(q.lanes) }

// Queue returns the queue of a worker.
func (q *Memory) Queue(worker int) Queue { return &memoryQueue{q, worker} }

// memoryQueue is the queue of one of several workers.
type memoryQueue struct {
	*Memory
	worker int
}

// Turn implements Queue.
func (q *memoryQueue) Turn(x *Exchange) { q.turn(x, q.worker) }

// Wait implements Queue. It returns at once: nothing comes from outside.
func (q *Memory) Wait(timeoutMs int) {}

// Wake implements Queue.
func (q *Memory) Wake() {}

// Inject queues a frame to be received on a lane.
func (q *Memory) Inject(lane int, frame []byte) error { return q.InjectTo(0, lane, frame) }

// InjectSegments queues a packet made of several segments to be received on a lane.
func (q *Memory) InjectSegments(lane int, parts ...[]byte) error {
	return q.InjectTo(0, lane, parts...)
}

// InjectTo queues a packet, in one segment or several, to be received by a worker on a lane.
func (q *Memory) InjectTo(worker, lane int, parts ...[]byte) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(parts) == 0 || len(parts) > len(q.free) {
		return fmt.Errorf("a packet of %d segments does not fit %d free buffers", len(parts), len(q.free))
	}
	total := 0
	for _, p := range parts {
		if len(p) > memRoom {
			return fmt.Errorf("a segment of %d bytes does not fit a buffer of %d", len(p), memRoom)
		}
		total += len(p)
	}
	var first, last uintptr
	for _, p := range parts {
		m := q.take()
		copy(unsafe.Slice((*byte)(Ptr(Data(m))), memRoom), p)
		*(*uint16)(Ptr(m + OffDataLen)) = uint16(len(p))
		if first == 0 {
			first = m
		} else {
			*(*uintptr)(Ptr(last + OffNext)) = m
		}
		last = m
	}
	*(*uint16)(Ptr(first + OffNbSegs)) = uint16(len(parts))
	*(*uint32)(Ptr(first + OffPktLen)) = uint32(total)
	in := &q.lanes[lane].in[worker]
	*in = append(*in, first)
	return nil
}

// take removes a buffer from the pool and resets it.
func (q *Memory) take() uintptr {
	m := q.free[len(q.free)-1]
	q.free = q.free[:len(q.free)-1]
	q.out[(m-q.base)/memStride] = true
	clear(unsafe.Slice((*byte)(Ptr(m)), memHeader))
	*(*uintptr)(Ptr(m + OffBufAddr)) = m + memHeader
	*(*uint16)(Ptr(m + OffDataOff)) = Headroom
	*(*uint16)(Ptr(m + OffNbSegs)) = 1
	return m
}

// Turn implements Queue.
func (q *Memory) Turn(x *Exchange) { q.turn(x, 0) }

func (q *Memory) turn(x *Exchange, worker int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	x.Lanes = uint32(len(q.lanes))
	for l := range q.lanes {
		q.send(x, l)
	}
	if x.FreeN > FreeRoom {
		q.fault("%d packets to free in one turn: there is room for %d", x.FreeN, FreeRoom)
		x.FreeN = FreeRoom
	}
	for i := uint32(0); i < x.FreeN; i++ {
		q.put(x.Free[i])
	}
	x.FreeN, x.RxN = 0, 0
	if x.SpareWant > x.SpareN && x.SpareWant <= SpareRoom && int(x.SpareWant-x.SpareN) <= len(q.free) {
		for ; x.SpareN < x.SpareWant; x.SpareN++ {
			x.Spare[x.SpareN] = q.take()
		}
	}
	for range q.lanes {
		l := x.Next % x.Lanes
		x.Next = (l + 1) % x.Lanes
		in := &q.lanes[l].in[worker]
		n := copy(x.Rx[:], *in)
		if n == 0 {
			continue
		}
		*in = (*in)[:copy(*in, (*in)[n:])]
		x.From, x.RxN = l, uint32(n)
		return
	}
}

// send moves a lane's packets out.
func (q *Memory) send(x *Exchange, l int) {
	n := int(x.TxN[l])
	if n > TxRoom {
		q.fault("lane %d was given %d packets in one turn: there is room for %d", l, n, TxRoom)
		n = TxRoom
	}
	lane := &q.lanes[l]
	for i := 0; i < n; i++ {
		m := x.Tx[l][i]
		switch {
		case i >= lane.limit:
			x.TxFull[l]++
			q.put(m)
		case lane.discard:
			q.put(m)
		case q.owned(m):
			lane.sent = append(lane.sent, m)
		}
	}
	x.TxN[l] = 0
}

// owned says whether m is a buffer outside the pool, and notes a fault if not.
func (q *Memory) owned(m uintptr) bool {
	i := (m - q.base) / memStride
	if m < q.base || (m-q.base)%memStride != 0 || i >= uintptr(q.count) {
		q.fault("%#x is not a packet of this pool", m)
		return false
	}
	if !q.out[i] {
		q.fault("packet %d was sent or freed after it had been freed", i)
		return false
	}
	return true
}

// put returns a packet with all its segments to the pool.
func (q *Memory) put(m uintptr) {
	for m != 0 && q.owned(m) {
		next := *(*uintptr)(Ptr(m + OffNext))
		q.out[(m-q.base)/memStride] = false
		q.free = append(q.free, m)
		m = next
	}
}

func (q *Memory) fault(format string, args ...any) {
	q.err = errors.Join(q.err, fmt.Errorf(format, args...))
}

// Sent returns copies of the frames sent on a lane since the last call, and frees them.
func (q *Memory) Sent(lane int) [][]byte {
	q.mu.Lock()
	defer q.mu.Unlock()
	var frames [][]byte
	for _, m := range q.lanes[lane].sent {
		var f []byte
		for s := m; s != 0; s = *(*uintptr)(Ptr(s + OffNext)) {
			f = append(f, unsafe.Slice((*byte)(Ptr(Data(s))), DataLen(s))...)
		}
		frames = append(frames, f)
		q.put(m)
	}
	q.lanes[lane].sent = q.lanes[lane].sent[:0]
	return frames
}

// LimitTx makes a lane take at most n packets a Turn, as a full NIC queue would.
func (q *Memory) LimitTx(lane, n int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.lanes[lane].limit = n
}

// Discard makes a lane free what is sent instead of keeping it for Sent.
func (q *Memory) Discard(lane int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.lanes[lane].discard = true
}

// PoolFree returns the number of buffers in the pool: a worker that holds nothing has lost none if it equals the pool's size.
func (q *Memory) PoolFree() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.free)
}

// Err returns what a worker did wrong with its packets so far: double frees, foreign addresses, overflows.
func (q *Memory) Err() error {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.err
}
