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

// Flags after which there is more to do than to translate.
const eventful = packet.SYN | packet.FIN | packet.RST

// hit keeps apart what the flags say and whether the handshake is over: both are one test.
var _ = [1]struct{}{}[uint8(flow.Opening)&^eventful]

// established translates packets of known flows and queues them at once. Whatever is out of the ordinary takes the longer
// way or stays open for the stages behind.
func established(w *Worker, t *table.Set, b []packet.Packet) {
	w.adjacencies, w.gen = t.Adjacencies(), t.Gen
	var sent uint32
	for i := range b {
		p := &b[i]
		if w.hit(p, eventful) || w.known(t, p, 1<<uint(i)) {
			sent |= 1 << uint(i)
		}
	}
	w.open &^= sent
	w.rest &^= sent
	w.counts[packet.ForwardFlow] += uint64(bits.OnesCount32(sent))
}

// hit is the whole cost of most packets. It finds p's flow, translates p, counts it and queues it, or reports false and
// changes nothing if that is not all there is to do: no flow, a TCP flag among watch, a handshake that is not over, another
// generation of adjacencies, a frame too long, an unfinished checksum. It calls nothing, so that the compiler keeps
// everything in registers; the worker's fields that it reads stay in the first cache.
func (w *Worker) hit(p *packet.Packet, watch uint8) bool {
	d := p.Data
	if p.Class != packet.ClassPlain || (*u64(d)^w.mac)<<16 != 0 {
		return false
	}
	e := w.flows.Find(p.Slot, p.A, p.B)
	if e == nil {
		return false
	}
	length := p.L3Len
	a := (*table.Adjacency)(at(w.adjacencies + uintptr(e.Adj)*adjacencySize))
	if (p.TCPFlags|uint8(e.State&flow.Opening))&watch != 0 || e.Gen != w.gen || length > a.MTU {
		return false
	}
	h := d + uintptr(p.L3)
	if p.Proto() == packet.ProtoTCP {
		f := h + packet.IPv4Len + packet.OffTCPSum
		s := *u16(f)
		if packet.Partial(s, e.Pseudo, length-packet.IPv4Len) {
			return false
		}
		*u16(f) = packet.Patch(s, e.L4Delta)
	} else {
		f := h + packet.IPv4Len + packet.OffUDPSum
		s := *u16(f)
		if packet.Partial(s, e.Pseudo, length-packet.IPv4Len) {
			return false
		}
		*u16(f) = packet.PatchUDP(s, e.L4Delta)
	}
	*u64(h + packet.OffSrcIP) = e.Addrs
	*u32(h + packet.IPv4Len) = e.Ports
	*u8(h + packet.OffTTL)--
	*u16(h + packet.OffIPSum) = packet.Patch(*u16(h + packet.OffIPSum), e.IPDelta)
	*u64(d) = a.MACs
	*u32(d + 8) = a.Rest
	n := uint64(length)
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
	x := w.x
	lane := a.Lane & (port.MaxLanes - 1)
	k := x.TxN[lane]
	x.TxN[lane] = k + 1
	x.Tx[lane][k&(port.TxRoom-1)] = p.Mbuf
	return true
}

// known looks after what hit refuses. It reports true if p was queued after all; else p has been decided about, waits for
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
	if w.hit(p, 0) {
		return true
	}
	w.open &^= bit
	if w.translate(p, e) {
		w.count(e, p)
		w.outgoing |= bit
		p.Reason = packet.ForwardFlow
	}
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
		if !w.complete(p, *u16(h + packet.IPv4Len + packet.OffTCPSum), e.Pseudo) {
			return false
		}
		e.TCP(h)
	case packet.ProtoUDP:
		if !w.complete(p, *u16(h + packet.IPv4Len + packet.OffUDPSum), e.Pseudo) {
			return false
		}
		e.UDP(h)
	default:
		e.IP(h)
	}
	return true
}

func (w *Worker) complete(p *packet.Packet, sum, pseudo uint16) bool {
	if !packet.Partial(sum, pseudo, p.L4Len()) {
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
