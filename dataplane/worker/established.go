package worker

import (
	"sluice/dataplane/flow"
	"sluice/dataplane/packet"
	"sluice/dataplane/table"
)

// established translates packets of known flows and sends them on. The loop is the whole cost of most packets: it works on
// addresses and scalars that are read once a burst, touches the packet, its flow entry, two lines of counters and the
// adjacency, and leaves whatever is out of the ordinary to seldom, or open for the stages behind.
func established(w *Worker, t *table.Set, b []packet.Packet) {
	adjacencies, gen, now, mac := t.Adjacencies(), t.Gen, w.now, w.mac
	services, vservers := w.services, w.vservers
	open := w.open
	for i := range b {
		p := &b[i]
		if p.Class != packet.ClassPlain {
			if p.Class == packet.ClassExpiring || p.Class == packet.ClassOtherIP {
				open &^= w.unusual(t, p, uint32(1)<<uint(i))
			}
			continue
		}
		d := p.Data
		if *u64(d)<<16 != mac<<16 {
			continue // not to us: local says so
		}
		e := flow.At(p.Slot)
		if e.B != p.B || e.A != p.A {
			if e = w.flows.Find(p.Slot, p.A, p.B); e == nil {
				continue
			}
		}
		if p.TCPFlags&(packet.SYN|packet.FIN|packet.RST)|uint8(e.State&flow.Opening) != 0 && !w.tcp(t, p, e) {
			continue
		}
		a := (*table.Adjacency)(at(adjacencies + uintptr(e.Adj)*16))
		h := d + uintptr(p.L3)
		sum := h + packet.IPv4Len + packet.OffTCPSum
		tcp := uint8(p.B>>32) == packet.ProtoTCP
		if !tcp {
			sum = h + packet.IPv4Len + packet.OffUDPSum
		}
		if e.Gen != gen || p.L3Len > a.MTU || packet.Partial(*u16(sum), e.Pseudo, p.L3Len-packet.IPv4Len) {
			if w.translate(p, e) {
				w.count(e, p)
				w.outgoing |= 1 << uint(i)
				p.Reason = packet.ForwardFlow
			}
			open &^= 1 << uint(i)
			continue
		}
		if tcp {
			e.TCP(h)
		} else {
			e.UDP(h)
		}
		*u64(d) = a.MACs
		*u32(d + 8) = a.Rest
		e.Last = now
		e.Packets++
		n := uint64(p.L3Len)
		e.Bytes += n
		way := uintptr(e.Kind&flow.KindReverse) << reverseShift
		c := services + uintptr(e.Service)<<countsShift + way
		*u64(c)++
		*u64(c + 8) += n
		c = vservers + uintptr(e.Vserver)<<countsShift + way
		*u64(c)++
		*u64(c + 8) += n
		p.Out = uint8(a.Lane)
		p.Verdict, p.Reason = packet.Transmit, packet.ForwardFlow
		open &^= 1 << uint(i)
	}
	w.open = open
}

// unusual looks after packets of known flows that the loop does not: those whose TTL has run out and those of protocols
// without ports. It returns bit if it has decided about p.
func (w *Worker) unusual(t *table.Set, p *packet.Packet, bit uint32) uint32 {
	if p.DstMAC() != w.mac {
		return 0
	}
	e := w.flows.Find(p.Slot, p.A, p.B)
	if e == nil {
		return 0
	}
	if p.Flags&packet.FlagLowTTL != 0 {
		p.End(packet.DropTTLExpired)
		return bit
	}
	if w.translate(p, e) {
		w.count(e, p)
		w.outgoing |= bit
		p.Reason = packet.ForwardFlow
	}
	return bit
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
