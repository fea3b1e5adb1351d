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
	sent, far := w.match(t, w.bare)
	if far != 0 {
		more, _ := w.match(t, w.seek(far))
		sent |= more
	}
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

// match and apply are the whole cost of most packets: loops that call nothing, each small enough for the registers.

// match compares bare packets with the entries in their slots and returns the mask of packets for which translating is all
// there is to do, and far, the mask of packets whose slot has another flow's entry. It leaves out those without a flow, events
// of a connection, handshakes that are not over, entries with another generation of adjacencies, and unfinished checksums.
func (w *Worker) match(t *table.Set, bare uint32) (plain, far uint32) {
	rx, slots, pk := uintptr(unsafe.Pointer(&w.x.Rx)), uintptr(unsafe.Pointer(w.slots)), uintptr(unsafe.Pointer(w.pk))
	now := uint64(t.Gen) << genShift
	for ; bare != 0; bare &= bare - 1 {
		i := uintptr(bits.TrailingZeros32(bare))
		e := uintptr(*u64(slots + i*8))
		kb := *u64(pk + i*packetSize + offB)
		if *u64(e + 8) != kb || *u64(e) != *u64(pk + i*packetSize + offA) {
			far |= 1 << (i & 31)
			continue
		}
		word := *u64(e + offPseudo)
		if (word^now)&(opening|generation) != 0 {
			continue
		}
		d := port.Data(uintptr(*u64(rx + i*8)))
		pseudo := uint32(uint16(word)) + uint32(*u16(d + ip4 + packet.OffTotalLen))
		pseudo += pseudo >> 16
		if uint8(kb>>32) == packet.ProtoTCP {
			if *u16(d + l4 + packet.OffTCPSum) == uint16(pseudo) || *u8(d + l4 + packet.OffTCPFlags)&eventful != 0 {
				continue
			}
		} else if *u16(d + l4 + packet.OffUDPSum) == uint16(pseudo) {
			continue
		}
		plain |= 1 << (i & 31)
	}
	return plain, far
}

// seek goes on from the slots of far packets to the entries of their flows and returns the mask of those that have one.
func (w *Worker) seek(far uint32) (found uint32) {
	for ; far != 0; far &= far - 1 {
		i := bits.TrailingZeros32(far) & (packet.Burst - 1)
		p := &w.pk[i]
		if e := w.flows.Find(w.slots[i], p.A, p.B); e != nil {
			w.slots[i] = uintptr(unsafe.Pointer(e))
			found |= 1 << uint(i)
		}
	}
	return found
}

// The word of an entry that match reads: Pseudo, State, Kind, Adj and Gen.
const (
	offPseudo  = unsafe.Offsetof(flow.Entry{}.Pseudo)
	opening    = uint64(flow.Opening) << 16
	genShift   = 48
	generation = 0xffff << genShift
)

var (
	_ = [1]struct{}{}[offPseudo%8]
	_ = [1]struct{}{}[unsafe.Offsetof(flow.Entry{}.State)-offPseudo-2]
	_ = [1]struct{}{}[unsafe.Offsetof(flow.Entry{}.Gen)-offPseudo-genShift/8]
	_ = [1]struct{}{}[unsafe.Offsetof(flow.Entry{}.A)+unsafe.Offsetof(flow.Entry{}.B)-8]
)

// apply translates, counts and queues packets whose entries match has found.
func (w *Worker) apply(t *table.Set, plain uint32) {
	adjacencies, counts, x := t.Adjacencies(), w.accounts.base, w.x
	rx, slots, seen := uintptr(unsafe.Pointer(&x.Rx)), uintptr(unsafe.Pointer(w.slots)), 1<<32|uint64(w.now)
	lane, first, tx := uint32(port.MaxLanes), uintptr(0), uintptr(0)
	for ; plain != 0; plain &= plain - 1 {
		i := uintptr(bits.TrailingZeros32(plain))
		m, e := uintptr(*u64(rx + i*8)), flow.At(uintptr(*u64(slots + i*8)))
		d := port.Data(m)
		if uint8(e.B>>32) == packet.ProtoTCP {
			*u16(d + l4 + packet.OffTCPSum) = patch(*u16(d + l4 + packet.OffTCPSum), e.L4Delta)
		} else if sum := *u16(d + l4 + packet.OffUDPSum); sum != 0 {
			*u16(d + l4 + packet.OffUDPSum) = packet.UDPSum(patch(sum, e.L4Delta))
		}
		*u64(d + ip4 + packet.OffSrcIP) = e.Addrs
		*u32(d + l4) = e.Ports
		*u8(d + ip4 + packet.OffTTL)--
		*u16(d + ip4 + packet.OffIPSum) = patch(*u16(d + ip4 + packet.OffIPSum), e.IPDelta)
		a := (*table.Adjacency)(at(adjacencies + uintptr(e.Adj)*adjacencySize))
		*u64(d) = a.MACs
		*u32(d + 8) = a.Rest
		n := uint64(packet.Swap16(*u16(d + ip4 + packet.OffTotalLen)))
		last := (*uint64)(unsafe.Pointer(&e.Last)) // and Packets
		*last = *last>>32<<32 + seen
		e.Bytes += n
		c := counts + uintptr(e.Account)<<accountShift
		*u64(c)++
		*u64(c + 8) += n
		if l := uint32(a.Lane); l != lane {
			if tx != 0 {
				x.TxN[lane&(port.MaxLanes-1)] = uint32(tx-first) / 8
			}
			lane = l
			first = uintptr(unsafe.Pointer(&x.Tx[l&(port.MaxLanes-1)]))
			tx = first + uintptr(x.TxN[l&(port.MaxLanes-1)])*8
		}
		*u64(tx) = uint64(m)
		tx += 8
	}
	if tx != 0 {
		x.TxN[lane&(port.MaxLanes-1)] = uint32(tx-first) / 8
	}
}

// patch applies a folded delta to a checksum as packet.Patch does, with fewer instructions: ~(~HC + d) of RFC 1624, equation 3,
// is HC - d, less the borrow.
func patch(sum, delta uint16) uint16 {
	s := uint32(sum) - uint32(delta)
	return uint16(s + s>>16)
}

// Last and Packets are one word.
var _ = [1]struct{}{}[unsafe.Offsetof(flow.Entry{}.Packets)-unsafe.Offsetof(flow.Entry{}.Last)-4+unsafe.Offsetof(flow.Entry{}.Last)%8]

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

// count adds a packet to its flow and its account.
func (w *Worker) count(e *flow.Entry, p *packet.Packet) {
	e.Last = w.now
	e.Packets++
	n := uint64(p.L3Len)
	e.Bytes += n
	c := w.accounts.counts(e.Account)
	c.packets++
	c.bytes += n
}
