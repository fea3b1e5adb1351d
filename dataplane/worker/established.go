package worker

import (
	"math/bits"
	"unsafe"

	"sluice/dataplane/flow"
	"sluice/dataplane/packet"
	"sluice/dataplane/port"
	"sluice/dataplane/table"
)

const adjacencySize = unsafe.Sizeof(table.Adjacency{})

// eventful are the flags after which there is more to do than to translate.
const eventful = packet.SYN | packet.FIN | packet.RST

// established translates packets of known flows and queues them at once. Whatever is out of the ordinary takes the longer
// way or stays open for the stages behind.
func established(w *Worker, t *table.Set, b []packet.Packet) {
	sent := w.match(t, b)
	w.apply(t, sent)
	for m := w.open &^ sent; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & (packet.Burst - 1)
		if w.bare>>uint(i)&1 != 0 {
			w.inspect(i)
		}
		if w.known(t, &w.pk[i], 1<<uint(i)) {
			sent |= 1 << uint(i)
		}
	}
	w.open &^= sent
	w.rest &^= sent
	w.counts[packet.ForwardFlow] += uint64(bits.OnesCount32(sent))
}

// match and apply are the whole cost of most packets: two loops that call nothing, each small enough for the registers.

// match finds the flows of bare packets, puts the addresses of their entries in w.slots and returns the mask of packets for
// which translating is all there is to do. It leaves out those without a flow, events of a connection, handshakes that are not
// over, entries with another generation of adjacencies, frames too long or not for us, and unfinished checksums.
func (w *Worker) match(t *table.Set, b []packet.Packet) (plain uint32) {
	adjacencies, gen := t.Adjacencies(), t.Gen
	x, slots := w.x, w.slots
	for m := w.bare; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & (packet.Burst - 1)
		e := flow.At(slots[i])
		d := port.Data(x.Rx[i])
		p := &w.pk[i]
		for e.B != p.B || e.A != p.A {
			if e.B == 0 {
				break
			}
			e = w.flows.After(e)
			slots[i] = uintptr(unsafe.Pointer(e))
		}
		total := *u16(d + ip4 + packet.OffTotalLen)
		a := (*table.Adjacency)(at(adjacencies + uintptr(e.Adj)*adjacencySize))
		if (*u64(d)^w.mac)<<16 != 0 || e.B == 0 || e.State&flow.Opening != 0 || e.Gen != gen || packet.Swap16(total) > a.MTU {
			continue
		}
		pseudo := uint32(e.Pseudo) + uint32(total)
		pseudo += pseudo >> 16
		if uint8(e.B>>32) == packet.ProtoTCP {
			if *u16(d + l4 + packet.OffTCPSum) == uint16(pseudo) || *u8(d + l4 + packet.OffTCPFlags)&eventful != 0 {
				continue
			}
		} else if *u16(d + l4 + packet.OffUDPSum) == uint16(pseudo) {
			continue
		}
		plain |= 1 << uint(i)
	}
	return plain
}

// apply translates, counts and queues packets whose entries match has found. Sums of two 16-bit terms are folded once,
// which is enough for them (RFC 1624, equation 3).
func (w *Worker) apply(t *table.Set, plain uint32) {
	adjacencies, x := t.Adjacencies(), w.x
	for ; plain != 0; plain &= plain - 1 {
		i := bits.TrailingZeros32(plain) & (packet.Burst - 1)
		m, e := x.Rx[i], flow.At(w.slots[i])
		d := port.Data(m)
		if uint8(e.B>>32) == packet.ProtoTCP {
			s := uint32(^*u16(d + l4 + packet.OffTCPSum)) + uint32(e.L4Delta)
			*u16(d + l4 + packet.OffTCPSum) = ^uint16(s + s>>16)
		} else {
			*u16(d + l4 + packet.OffUDPSum) = packet.PatchUDP(*u16(d + l4 + packet.OffUDPSum), e.L4Delta)
		}
		*u64(d + ip4 + packet.OffSrcIP) = e.Addrs
		*u32(d + l4) = e.Ports
		*u8(d + ip4 + packet.OffTTL)--
		s := uint32(^*u16(d + ip4 + packet.OffIPSum)) + uint32(e.IPDelta)
		*u16(d + ip4 + packet.OffIPSum) = ^uint16(s + s>>16)
		a := (*table.Adjacency)(at(adjacencies + uintptr(e.Adj)*adjacencySize))
		*u64(d) = a.MACs
		*u32(d + 8) = a.Rest
		n := uint64(packet.Swap16(*u16(d + ip4 + packet.OffTotalLen)))
		e.Last = w.now
		e.Packets++
		e.Bytes += n
		way := uintptr(e.Kind&flow.KindReverse) << reverseShift
		c := (*[2]uint64)(at(w.services + uintptr(e.Service)<<countsShift + way))
		c[0]++
		c[1] += n
		c = (*[2]uint64)(at(w.vservers + uintptr(e.Vserver)<<countsShift + way))
		c[0]++
		c[1] += n
		lane := a.Lane & (port.MaxLanes - 1)
		k := x.TxN[lane]
		x.TxN[lane] = k + 1
		x.Tx[lane][k&(port.TxRoom-1)] = m
	}
}

// known looks after what hits leaves. It reports true if p was queued after all; else p has been decided about, waits for
// route, or stays open for want of a flow. bit is its place in the burst.
func (w *Worker) known(t *table.Set, p *packet.Packet, bit uint32) bool {
	if p.Class != packet.ClassPlain && p.Class != packet.ClassExpiring && p.Class != packet.ClassOtherIP || p.DstMAC() != w.mac {
		return false
	}
	e := w.flows.Find(p.Slot, p.A, p.B)
	if e == nil {
		return false
	}
	if p.Flags&packet.FlagLowTTL != 0 {
		p.End(packet.DropTTLExpired)
		w.open &^= bit
		return false
	}
	if p.TCPFlags&eventful|uint8(e.State&flow.Opening) != 0 && !w.tcp(t, p, e) {
		return false
	}
	if !w.translate(p, e) {
		w.open &^= bit
		return false
	}
	w.count(e, p)
	if a := t.Adjacency(e.Adj); e.Gen == t.Gen && p.L3Len <= a.MTU {
		setMACs(p.Data, a)
		w.send(uint8(a.Lane), p.Mbuf)
		return true
	}
	w.open &^= bit
	w.outgoing |= bit
	p.Reason = packet.ForwardFlow
	return false
}

// tcp notes what the flags of a packet say about its connection. It reports false if the packet opens a new connection in
// place of the old one: a SYN where both sides have closed, or where the handshake never ended and the service is down.
func (w *Worker) tcp(t *table.Set, p *packet.Packet, e *flow.Entry) bool {
	f := p.TCPFlags
	if f&(packet.SYN|packet.ACK|packet.RST|packet.FIN) == packet.SYN && e.Kind&flow.KindReverse == 0 &&
		(e.State.Closed() || e.State.HalfOpen() && !t.Up(e.Service)) {
		w.flows.Remove(e, w)
		return false
	}
	was := e.State.Closed()
	w.flows.Track(e, f)
	if !was && e.State.Closed() {
		w.closed(e)
	}
	return true
}

// translate rewrites a packet of e and completes its checksum first if the sender left that to its network card. If that
// cannot be done it drops the packet and reports false.
func (w *Worker) translate(p *packet.Packet, e *flow.Entry) bool {
	h := p.Data + uintptr(p.L3)
	switch p.Proto() {
	case packet.ProtoTCP:
		if !w.complete(p, *u16(h + packet.IPv4Len + packet.OffTCPSum)) {
			return false
		}
		e.TCP(h)
	case packet.ProtoUDP:
		if !w.complete(p, *u16(h + packet.IPv4Len + packet.OffUDPSum)) {
			return false
		}
		e.UDP(h)
	default:
		e.IP(h)
	}
	return true
}

// complete finishes a checksum if need be; false if that cannot be done.
func (w *Worker) complete(p *packet.Packet, sum uint16) bool {
	if !packet.Partial(sum, packet.PseudoSum(p.A, p.Proto()), p.L4Len()) {
		return true
	}
	if !packet.Complete(p) {
		p.End(packet.DropPartialChecksum)
		return false
	}
	w.counts[checksumCompleted]++
	return true
}

// count adds a packet to its flow, service and vserver.
func (w *Worker) count(e *flow.Entry, p *packet.Packet) {
	e.Last = w.now
	e.Packets++
	n := uint64(p.L3Len)
	e.Bytes += n
	for _, c := range [2]*flowCounts{countsOf(w.services, e.Service), countsOf(w.vservers, e.Vserver)} {
		if e.Kind&flow.KindReverse != 0 {
			c.packetsOut++
			c.bytesOut += n
		} else {
			c.packetsIn++
			c.bytesIn += n
		}
	}
}
