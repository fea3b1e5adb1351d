package worker

import (
	"math/bits"
	"unsafe"

	"sluice/dataplane/flow"
	"sluice/dataplane/lb"
	"sluice/dataplane/packet"
	"sluice/dataplane/port"
	"sluice/dataplane/port/asm"
	"sluice/dataplane/table"
)

const adjacencySize = unsafe.Sizeof(table.Adjacency{})

// eventful are the flags after which there is more to do than to translate.
const eventful = packet.SYN | packet.FIN | packet.RST

// established translates packets of known flows and queues them at once; those of one flow stay in order. Whatever is out of
// the ordinary takes the longer way or stays open for the stages behind.
func established(w *Worker, t *table.Set, b []packet.Packet) {
	asm.PrefetchStride(unsafe.Pointer(&w.pk[0].Bucket), len(b), int(packetSize))
	asm.Locate(unsafe.Pointer(&w.pk[0].Hash), len(b), int(packetSize), w.flows.Lines(), unsafe.Pointer(&w.lines))
	if w.accounts.used.Load() > nearAccounts {
		asm.PrefetchIndexed(unsafe.Pointer(&w.lines), len(b), unsafe.Offsetof(flow.Entry{}.Account), w.accounts.running)
	}
	w.hot = hot{gen: t.Gen, seen: 1<<32 | uint64(w.now), counts: w.accounts.running, adjacencies: t.Adjacencies()}
	var sent uint64
	for m := w.open; m != 0; {
		run := m & w.bare
		if odd := m &^ w.bare; odd != 0 {
			run &= odd&-odd - 1 // those before the first that is not bare
		}
		done := run &^ w.hits(run)
		sent |= done &^ w.hot.missed
		if m &^= done; m == 0 {
			break
		}
		if run &^= done; run != 0 && flow.At(w.lines[bits.TrailingZeros64(run)&(packet.Burst-1)]).Gen&flow.GenRedirect != 0 {
			if done = run &^ w.redirects(run); done != 0 {
				sent |= done
				m &^= done
				continue
			}
		}
		i := bits.TrailingZeros64(m) & (packet.Burst - 1)
		if w.bare>>uint(i)&1 != 0 {
			w.inspect(i)
		}
		if w.known(t, &w.pk[i], 1<<uint(i)) {
			sent |= 1 << uint(i)
		}
		m &= m - 1
	}
	nowhere := w.flows.Lines().Lines
	for m := w.hot.missed; m != 0; m &= m - 1 {
		i := bits.TrailingZeros64(m) & (packet.Burst - 1)
		w.inspect(i)
		// Of a protocol without ports the bare key was none: see keys. And the index may have led to another's entry, or the flow's key
		// tells more than the packet's.
		if (w.pk[i].Class != packet.ClassPlain || w.lines[i] != nowhere || w.links.Len() != 0) && w.known(t, &w.pk[i], 1<<uint(i)) {
			sent |= 1 << uint(i)
		}
	}
	w.open &^= sent
	w.rest &^= sent
	w.counts[packet.ForwardFlow] += uint64(bits.OnesCount64(sent))
}

// hot is what hits reads again for each packet, so that registers are left for the packet.
type hot struct {
	gen         uint16 // of the tables
	seen        uint64 // what a packet adds to Packets and puts into Last
	counts      uintptr
	adjacencies uintptr
	missed      uint64 // mask of bare packets that have no flow, to which the stages behind look
}

// hits is the whole cost of most packets. It translates, counts and queues bare packets of known flows for which that is all
// there is to do, up to the first that is none of those: without a flow, an event of a connection, of an entry with another
// generation of adjacencies (such as one whose handshake is not over: see resolved), or with an unfinished checksum. It returns
// the mask of that packet and those behind it, untouched. Like keys it calls nothing, and no branch depends on the protocol: it
// would be foretold wrongly wherever TCP and UDP mix.
func (w *Worker) hits(bare uint64) (rest uint64) {
	pk, lines, tx, lane := uintptr(unsafe.Pointer(w.pk)), uintptr(unsafe.Pointer(&w.lines)), uintptr(0), uint32(port.MaxLanes)
	for ; bare != 0; bare &= bare - 1 {
		i := uintptr(bits.TrailingZeros64(bare))
		p := (*packet.Packet)(at(pk + i*packetSize))
		e, d := flow.At(*(*uintptr)(at(lines + i*8))), p.Data
		if e.B != p.B || e.A != p.A {
			w.hot.missed |= bare & -bare
			continue
		}
		word := *(*uint64)(unsafe.Pointer(&e.Pseudo))
		if uint16(word>>genShift) != w.hot.gen || word&(uint64(*u8(d + l4 + packet.OffTCPFlags))<<eventShift)&eventBits != 0 {
			break
		}
		proto := uintptr(*u8(d + ip4 + packet.OffProto))
		f := u16(d + l4 + sumAt - proto&^1)
		sum, pseudo := *f, uint32(uint16(word))+uint32(*u16(d + ip4 + packet.OffTotalLen))
		if sum == uint16(pseudo+pseudo>>16) { // unfinished
			break
		}
		a := (*table.Adjacency)(at(w.hot.adjacencies + uintptr(e.Adj)*adjacencySize))
		*u64(d) = a.MACs
		*u32(d + 8) = a.Rest
		if l := uint32(a.Lane); l != lane {
			w.setTx(lane, tx)
			lane, tx = l, w.txList(l)+uintptr(w.x.TxN[l&(port.MaxLanes-1)])*8
		}
		*u64(tx) = uint64(p.Mbuf)
		tx += 8
		patched := patch(sum, e.L4Delta)
		if (sum == 0 || patched == 0) && proto&1 != 0 {
			patched = -(min(sum, 1)) // UDP: no checksum stays none, and what comes out as 0 is sent as 0xffff (RFC 768)
		}
		*f = patched
		*u64(d + ip4 + packet.OffSrcIP) = e.Addrs
		*u32(d + l4) = e.Ports
		*u8(d + ip4 + packet.OffTTL)--
		*u16(d + ip4 + packet.OffIPSum) = patch(*u16(d + ip4 + packet.OffIPSum), e.IPDelta)
		n := uint64(packet.Swap16(*u16(d + ip4 + packet.OffTotalLen)))
		last := (*uint64)(unsafe.Pointer(&e.Last)) // and Packets
		*last = *last>>32<<32 + w.hot.seen
		e.Bytes += n
		*u64(w.hot.counts + uintptr(e.Account)<<runningShift) += lb.RunningPacket + n
	}
	w.setTx(lane, tx)
	return bare
}

// setTx notes that a lane's list goes on at tx; 0 is no list's address.
func (w *Worker) setTx(lane uint32, tx uintptr) {
	if tx != 0 {
		w.x.TxN[lane&(port.MaxLanes-1)] = uint32(tx-w.txList(lane)) / 8
	}
}

// txList is the address of the list of packets that leave by a lane.
func (w *Worker) txList(lane uint32) uintptr {
	return uintptr(unsafe.Pointer(&w.x.Tx[lane&(port.MaxLanes-1)]))
}

// sumAt less the even part of the protocol's number is where the checksum is: 22 - 6 in TCP, 22 - 16 in UDP.
const sumAt = 22

var (
	_ = [1]struct{}{}[sumAt-uintptr(packet.ProtoTCP)&^1-packet.OffTCPSum]
	_ = [1]struct{}{}[sumAt-uintptr(packet.ProtoUDP)&^1-packet.OffUDPSum]
)

// The word of an entry that hits reads: Pseudo, State, Kind, Adj and Gen. The flags of TCP are shifted to where Kind's
// KindEvents is, which is 0 for UDP.
const (
	offPseudo  = unsafe.Offsetof(flow.Entry{}.Pseudo)
	kindShift  = 24
	genShift   = 48
	eventShift = kindShift + 5
	eventBits  = uint64(flow.KindEvents) << kindShift
)

var (
	_ = [1]struct{}{}[offPseudo%8]
	_ = [1]struct{}{}[unsafe.Offsetof(flow.Entry{}.Kind)-offPseudo-kindShift/8]
	_ = [1]struct{}{}[unsafe.Offsetof(flow.Entry{}.Gen)-offPseudo-genShift/8]
	_ = [1]struct{}{}[eventBits-uint64(eventful)<<eventShift]
)

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
func (w *Worker) known(t *table.Set, p *packet.Packet, bit uint64) bool {
	if p.Class != packet.ClassPlain && p.Class != packet.ClassExpiring && p.Class != packet.ClassOtherIP || p.DstMAC() != w.mac {
		return false
	}
	e := w.flows.Find(p.Bucket, p.A, p.B)
	if e == nil && w.links.Len() != 0 {
		e = w.ofLink(t, p)
	}
	if e == nil {
		return false
	}
	if expires(p, e.Mode()) {
		p.End(packet.DropTTLExpired)
		w.open &^= bit
		return false
	}
	if e.State&flow.Ending != 0 && !reopens(t, p.TCPFlags, e) {
		p.End(w.refuse(p))
		w.open &^= bit
		return false
	}
	if e.Kind&flow.KindAsked != 0 {
		w.answered(p, e)
	}
	if p.TCPFlags&eventful|uint8(e.State&flow.Opening) != 0 && !w.tcp(t, p, e) {
		return false
	}
	if !w.translate(p, e) {
		w.open &^= bit
		return false
	}
	w.count(e, p)
	if a := t.Adjacency(e.Adj); p.L3Len <= a.MTU && (e.Gen == t.Gen || e.Gen == t.Gen|flow.GenRedirect && leaves(p, e, a)) {
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
	if reopens(t, f, e) {
		w.flows.Remove(e, w)
		return false
	}
	if stale(e, f) {
		w.evade(e)
	}
	was := e.State.Closed()
	w.flows.Track(e, f)
	if !was && e.State.Closed() {
		w.closed(e)
	}
	return true
}

// reopens says whether a packet of e with these TCP flags opens a new connection in place of e's.
func reopens(t *table.Set, flags uint8, e *flow.Entry) bool {
	return flags&(packet.SYN|packet.ACK|packet.RST|packet.FIN) == packet.SYN && e.Kind&flow.KindReverse == 0 &&
		(e.State.Closed() || e.State.HalfOpen() && !t.Up(e.Service))
}

// translate rewrites a packet of e and completes its checksum first if the sender left that to its network card. If that
// cannot be done it drops the packet and reports false.
func (w *Worker) translate(p *packet.Packet, e *flow.Entry) bool {
	if !w.complete(p) {
		return false
	}
	rewrite(p, e)
	return true
}

// rewrite makes p a packet of the other side of e's flow.
func rewrite(p *packet.Packet, e *flow.Entry) {
	h := p.Data + uintptr(p.L3)
	switch {
	case e.Kind&flow.KindRedirect != 0:
		redirect(p, e, true)
	case p.Proto() == packet.ProtoTCP:
		e.TCP(h)
	case p.Proto() == packet.ProtoUDP:
		e.UDP(h)
	default:
		e.IP(h)
	}
	goesBack(p, e)
}

// complete finishes the checksum of a TCP or UDP packet if need be; false, with p dropped, if that cannot be done.
func (w *Worker) complete(p *packet.Packet) bool {
	sum := p.Data + uintptr(p.L4)
	switch p.Proto() {
	case packet.ProtoTCP:
		sum += packet.OffTCPSum
	case packet.ProtoUDP:
		sum += packet.OffUDPSum
	default:
		return true
	}
	if !packet.Partial(*u16(sum), packet.PseudoSum(p.A, p.Proto()), p.L4Len()) {
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
	w.accounts.count(e.Account, n)
}
