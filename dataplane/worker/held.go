package worker

import (
	"sluice/dataplane/packet"
	"sluice/dataplane/port"
	"sluice/dataplane/table"
)

const (
	heldNeighbors = 64 // neighbors that packets wait for at once
	heldPackets   = 3  // packets that wait for one neighbor
	heldTicks     = 10 // how long they wait: 1 s
	askedBits     = 10 // of the hash of addresses that there is no place for
)

// waiting is the packets that wait for one neighbor.
type waiting struct {
	ip    uint32
	port  uint16
	n     uint8 // packets; 0: not in use
	asked bool  // management knows
	since uint32
	mbufs [heldPackets]uintptr
}

// held keeps packets whose next hop's MAC address is not known, for a moment, while the kernel is asked for it.
type held struct {
	used    int  // neighbors that are waited for
	pending bool // tables or the time have changed: look through all
	list    [heldNeighbors]waiting
	asked   [1 << askedBits]uint32 // by hash of an address without a place: the tick after it was asked for
}

// hold keeps a packet until its neighbor is known, and returns the reason that it is counted under.
func (w *Worker) hold(p *packet.Packet, out uint16, ip uint32) packet.Reason {
	if mtu := w.opt.Ports[out].MTU; mtu != 0 && p.L3Len > mtu {
		return w.tooLong(p, mtu)
	}
	h := w.held.place(out, ip)
	if h == nil {
		w.held.ask(w, out, ip)
		return packet.DropHoldFull
	}
	if h.n == heldPackets {
		return packet.DropHoldFull
	}
	if h.n == 0 {
		*h = waiting{ip: ip, port: out, since: w.now, asked: w.wanted(out, ip)}
		w.held.used++
	}
	h.mbufs[h.n] = p.Mbuf
	h.n++
	return packet.HeldNeighbor
}

// place is where packets to a neighbor wait, or where they could: then no packet is there yet. nil if there is no place.
func (h *held) place(out uint16, ip uint32) (free *waiting) {
	for i := range h.list {
		switch n := &h.list[i]; {
		case n.n == 0:
			if free == nil {
				free = n
			}
		case n.ip == ip && n.port == out:
			return n
		}
	}
	return free
}

// ask has a neighbor looked for though none of its packets can be kept, so that whoever fills the places with addresses that
// nobody has does not shut out those that somebody has. Each is asked for once a second; two of one hash share that.
func (h *held) ask(w *Worker, out uint16, ip uint32) {
	last := &h.asked[((ip+uint32(out))*0x9e3779b1)>>(32-askedBits)]
	if *last != 0 && w.now-(*last-1) < heldTicks {
		return
	}
	if w.wanted(out, ip) {
		*last = w.now + 1
	}
}

// release sends on what is no longer waiting and drops what has waited too long. What does not fit this turn goes on
// with the next.
func (h *held) release(w *Worker) {
	h.pending = false
	for i := range h.list {
		n := &h.list[i]
		if n.n == 0 {
			continue
		}
		if j, ok := w.set.Neighbor(n.port, n.ip); ok {
			h.send(w, n, w.set.Adjacency(j))
		} else if w.now-n.since >= heldTicks {
			h.expire(w, n)
		} else if !n.asked {
			n.asked = w.wanted(n.port, n.ip)
		}
		if n.n == 0 {
			h.used--
		}
	}
}

func (h *held) send(w *Worker, n *waiting, a *table.Adjacency) {
	lane := uint8(a.Lane)
	sent := uint8(0)
	for sent < n.n && w.room(lane) {
		m := n.mbufs[sent]
		setMACs(port.Data(m), a)
		w.send(lane, m)
		sent++
	}
	h.shift(n, sent)
}

func (h *held) expire(w *Worker, n *waiting) {
	gone := uint8(0)
	for gone < n.n && w.discard(n.mbufs[gone], packet.DropNeighborUnresolved) {
		gone++
	}
	h.shift(n, gone)
}

// shift forgets the first k packets; if some stay, they are looked at in the next turn.
func (h *held) shift(n *waiting, k uint8) {
	copy(n.mbufs[:], n.mbufs[k:n.n])
	n.n -= k
	h.pending = h.pending || n.n > 0
}

// drop frees everything, when the worker ends.
func (h *held) drop(w *Worker) {
	for h.used > 0 {
		for i := range h.list {
			n := &h.list[i]
			if n.n == 0 {
				continue
			}
			if h.expire(w, n); n.n == 0 {
				h.used--
			}
		}
		w.queue.Turn(w.x)
		w.ignore()
	}
}
