package worker

import (
	"math/bits"
	"unsafe"

	"sluice/dataplane/flow"
	"sluice/dataplane/packet"
	"sluice/dataplane/port"
	"sluice/dataplane/table"
)

// redirects is hits for flows whose packets are redirected, whose entries hits takes for those of another generation: bare packets
// of known flows without an event go out here, up to the first that is another one. It returns the mask of that packet and those
// behind it, untouched.
func (w *Worker) redirects(bare uint64) (rest uint64) {
	gen := w.hot.gen | flow.GenRedirect
	for ; bare != 0; bare &= bare - 1 {
		i := bits.TrailingZeros64(bare) & (packet.Burst - 1)
		p := &w.pk[i]
		e, d := flow.At(w.lines[i]), p.Data
		if e.B != p.B || e.A != p.A || e.Gen != gen {
			break
		}
		h, t := d+ip4, d+l4
		total := *u16(h + packet.OffTotalLen)
		n := uint32(packet.Swap16(total))
		sum := t + packet.OffUDPSum
		if proto := *u8(h + packet.OffProto); proto == packet.ProtoTCP {
			if *u8(t + packet.OffTCPFlags)&eventful != 0 {
				break
			}
			sum = t + packet.OffTCPSum
		}
		pseudo := uint32(e.Pseudo) + uint32(total)
		if *u16(sum) == uint16(pseudo+pseudo>>16) { // unfinished
			break
		}
		a := (*table.Adjacency)(at(w.hot.adjacencies + uintptr(e.Adj)*adjacencySize))
		switch e.Mode() {
		case flow.ModeMAC:
			if loops(d, a) {
				return bare
			}
		case flow.ModeTOS:
			packet.MarkAt(h, sum, uint32(e.Addrs>>32), e.DSCP(), e.L4Delta)
		case flow.ModeTunnel:
			if n+packet.TunnelLen > uint32(a.MTU) {
				return bare
			}
			packet.EncloseAt(h, e.Addrs, n+packet.TunnelLen, e.L4Delta)
			d -= packet.TunnelLen
			*u16(d + packet.OffEtherType) = packet.Swap16(packet.EtherIPv4)
			port.Prepend(p.Mbuf, packet.TunnelLen)
		}
		setMACs(d, a)
		w.send(uint8(a.Lane), p.Mbuf)
		last := (*uint64)(unsafe.Pointer(&e.Last)) // and Packets
		*last = *last>>32<<32 + w.hot.seen
		e.Bytes += uint64(n)
		w.accounts.count(e.Account, uint64(n))
	}
	return bare
}

// leaves makes of p, which e has redirected, what leaves by a, as redirects does. It reports false, and leaves p as it is, if there is
// more to decide about it, which is left to route.
func leaves(p *packet.Packet, e *flow.Entry, a *table.Adjacency) bool {
	switch e.Mode() {
	case flow.ModeMAC:
		return !loops(p.Data, a)
	case flow.ModeTunnel:
		if uint32(p.L3Len)+packet.TunnelLen > uint32(a.MTU) {
			return false
		}
		encapsulate(p, e.Addrs)
	}
	return true
}

// loops says whether the frame at d comes from where it would go: see DropLoop.
func loops(d uintptr, a *table.Adjacency) bool {
	return *u64(d + packet.OffSrcMAC)&macBits == a.MACs&macBits
}
