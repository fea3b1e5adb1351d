package worker

import (
	"encoding/binary"
	"sync/atomic"
	"unsafe"

	"sluice/dataplane/packet"
	"sluice/dataplane/port"
)

// Capture copies the frames that NICs receive and send into one ring a worker, from which a reader takes them. Workers without a
// capture pay nothing for it: one that has it makes its turns by a queue that looks at what goes in and out. Frames between the
// dataplane and the kernel are not looked at, since each is seen at a NIC before or after.
type Capture struct {
	Ends // between which frames are kept, in both directions

	Size  uint32 // bytes that are kept of a frame, MaxSnap at most
	Count uint64 // frames to keep
	Until uint64 // cycles after which it ends

	claimed atomic.Uint64 // frames kept or lost
	rings   []frameRing
}

const (
	// MaxSnap is how much can be kept of a frame, in bytes: what fits one buffer of a port.
	MaxSnap = 2048
	// captureRoom is what a worker's ring takes, in bytes: at 100,000 frames of 164 bytes a second a reader may be away for 200 ms.
	captureRoom = 4 << 20
	slotHead    = 16
)

// frameRing is the ring of one worker: slots of one size, written by the worker and read by one reader.
type frameRing struct {
	slots []byte
	head  atomic.Uint64 // slots written
	_     [56]byte
	tail  atomic.Uint64 // slots read
	lost  atomic.Uint64 // frames that found no slot
	_     [48]byte
}

// Captured is a frame that was kept. Data is the ring's until the next call of Take.
type Captured struct {
	Cycles uint64
	Length uint32 // bytes of the whole frame
	Lane   uint8
	Sent   bool
	Data   []byte
}

// Ready makes the capture's rings, of so many workers, before it is given to them. It takes the memory of one that no worker has any more.
func (c *Capture) Ready(workers int, old *Capture) {
	c.rings = make([]frameRing, workers)
	for i := range c.rings {
		if old != nil && i < len(old.rings) {
			c.rings[i].slots = old.rings[i].slots
			continue
		}
		c.rings[i].slots = make([]byte, captureRoom)
	}
}

// slot is what a frame takes of a ring, in bytes.
func (c *Capture) slot() uint64 { return uint64(slotHead+c.Size+7) &^ 7 }

// Full says whether the capture has as many frames as it wants.
func (c *Capture) Full() bool { return c.claimed.Load() >= c.Count }

// Kept is how many frames have been kept.
func (c *Capture) Kept() (n uint64) {
	for i := range c.rings {
		n += c.rings[i].head.Load()
	}
	return n
}

// Lost is how many of the wanted frames found no room, because the reader was away for too long.
func (c *Capture) Lost() (n uint64) {
	for i := range c.rings {
		n += c.rings[i].lost.Load()
	}
	return n
}

// Take gives the frames that a worker has kept since, in their order, until there are no more or take says that it has enough;
// the frame of that call counts as taken. One goroutine at a time may ask.
func (c *Capture) Take(worker int, take func(Captured) (more bool)) {
	r, size := &c.rings[worker], c.slot()
	n := captureRoom / size
	tail, head := r.tail.Load(), r.head.Load()
	for more := true; more && tail < head; {
		s := r.slots[tail%n*size:][:size]
		kept := binary.LittleEndian.Uint16(s[12:])
		more = take(Captured{Cycles: binary.LittleEndian.Uint64(s), Length: binary.LittleEndian.Uint32(s[8:]), Lane: s[14], Sent: s[15] != 0,
			Data: s[slotHead : slotHead+int(kept)]})
		tail++
		r.tail.Store(tail)
	}
}

// Capture makes the worker keep frames for c from its next turn on; nil ends that.
func (w *Worker) Capture(c *Capture) (ticket uint64) {
	return w.publish(func(p *published) { p.capture = c })
}

// capturing is the queue of a worker that keeps frames.
type capturing struct {
	port.Queue
	w *Worker
	c *Capture
}

// keepFrames changes the capture between two bursts.
func (w *Worker) keepFrames(c *Capture) {
	w.capture = capturing{w.opt.Queue, w, c}
	if w.queue = w.opt.Queue; c != nil {
		w.queue = &w.capture
	}
}

// Turn implements port.Queue. What is to be sent is looked at before the queue takes it: a frame that a lane turns out not to
// take is among them, and counted in x.TxFull.
func (q *capturing) Turn(x *port.Exchange) {
	now := q.w.opt.Cycles()
	if now >= q.c.Until || q.c.Full() {
		q.w.queue = q.w.opt.Queue
		q.Queue.Turn(x)
		return
	}
	for l := uint32(0); l < min(x.Lanes, port.MaxLanes); l += 2 {
		for _, m := range x.Tx[l][:min(x.TxN[l], port.TxRoom)] {
			q.look(m, now, uint8(l), true)
		}
	}
	q.Queue.Turn(x)
	if x.RxN == 0 || x.From&1 != 0 {
		return
	}
	now = q.w.opt.Cycles()
	for _, m := range x.Rx[:min(x.RxN, port.Burst)] {
		q.look(m, now, uint8(x.From), false)
	}
}

// look keeps a frame if it is asked for.
func (q *capturing) look(m uintptr, now uint64, lane uint8, sent bool) {
	c := q.c
	frame := unsafe.Slice((*byte)(port.Ptr(port.Data(m))), port.DataLen(m))
	if !c.matches(frame) || c.claimed.Add(1) > c.Count {
		return
	}
	r, size := &c.rings[q.w.opt.ID], c.slot()
	n := captureRoom / size
	head := r.head.Load()
	if head-r.tail.Load() >= n {
		r.lost.Add(1)
		return
	}
	s := r.slots[head%n*size:][:size]
	kept := copy(s[slotHead:slotHead+c.Size], frame)
	binary.LittleEndian.PutUint64(s, now)
	binary.LittleEndian.PutUint32(s[8:], *(*uint32)(port.Ptr(m + port.OffPktLen)))
	binary.LittleEndian.PutUint16(s[12:], uint16(kept))
	s[14], s[15] = lane, 0
	if sent {
		s[15] = 1
	}
	r.head.Store(head + 1)
}

// matches says whether a frame is asked for, by its own addresses and ports or those of what it answers.
func (c *Capture) matches(frame []byte) bool {
	if c.all() {
		return true
	}
	k, ok := frameKey(frame)
	return ok && (c.match(k) || c.match(k.Reverse()))
}

// frameKey is the key of a frame's packet; false if it has no addresses. Fragments but the first have no ports, and ARP has
// addresses only.
func frameKey(frame []byte) (k packet.Key, ok bool) {
	if len(frame) < packet.EtherLen {
		return k, false
	}
	switch ether, l3 := packet.Ether(frame).Split(); {
	case ether == packet.EtherARP && len(l3) >= packet.ARPLen:
		a := packet.ARPv4(l3)
		return packet.MakeKey(packet.Addr4(a.SenderIP()), packet.Addr4(a.TargetIP()), 0, 0, 0), true
	case ether == packet.EtherIPv4 && len(l3) >= packet.IPv4Len:
		h := packet.IPv4(l3)
		var src, dst uint16
		if n := h.HeaderLen(); (h.Proto() == packet.ProtoTCP || h.Proto() == packet.ProtoUDP) && h.Frag()&0x1fff == 0 && n >= packet.IPv4Len && len(l3) >= n+4 {
			src, dst = packet.UDP(l3[n:]).SrcPort(), packet.UDP(l3[n:]).DstPort() // TCP has them in the same place
		}
		return packet.MakeKey(packet.Addr4(h.Src()), packet.Addr4(h.Dst()), src, dst, h.Proto()), true
	}
	return k, false
}
