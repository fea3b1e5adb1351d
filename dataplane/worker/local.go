package worker

import (
	"math/bits"

	"sluice/dataplane/packet"
	"sluice/dataplane/table"
)

// local answers what virtual addresses must answer (ARP, ping), gives the kernel what is the kernel's, and ends what nobody here
// wants. What stays open behind it is TCP, UDP and other protocols to our own addresses, and to foreign ones if there are wildcard
// vservers.
func local(w *Worker, t *table.Set, b []packet.Packet) {
	for m := w.open; m != 0; m &= m - 1 {
		i := bits.TrailingZeros64(m)
		p := &b[i]
		if why := w.local(t, p); why != packet.NoReason {
			p.End(why)
			w.open &^= 1 << uint(i)
		} else if p.Reason != packet.NoReason {
			// On its way to route: see icmpError and yield.
			w.outgoing |= 1 << uint(i)
			w.open &^= 1 << uint(i)
		}
	}
}

// local returns how p ends, or NoReason if it goes on.
func (w *Worker) local(t *table.Set, p *packet.Packet) packet.Reason {
	if p.Class == packet.ClassMalformed {
		return p.Reason
	}
	if p.Flags&packet.FlagGroup == 0 && p.DstMAC() != w.mac {
		return packet.DropNotOurMAC
	}
	switch p.Class {
	case packet.ClassARP:
		return w.arp(t, p)
	case packet.ClassIPv6:
		return w.punt(packet.PuntIPv6)
	case packet.ClassOther:
		return w.punt(packet.PuntNotIP)
	}
	if p.Flags&packet.FlagGroup != 0 || groupAddress(p.Dst()) {
		if advertises(t, p) {
			return w.punt(packet.PuntVRRP)
		}
		return w.punt(packet.PuntGroup)
	}
	own := t.Own(p.Dst())
	if uint8(own>>table.OwnVRID) != 0 && own&table.OwnKind == table.OwnVIP {
		if why, yields := w.yield(t, p, own); yields {
			return why
		}
	}
	if p.Class == packet.ClassICMP {
		return w.icmp(t, p, own)
	}
	why := destined(t, p, own)
	if why.Verdict() == packet.Punt {
		return w.punt(why)
	}
	return why
}

// destined says what becomes of an IPv4 packet by its destination, which is own to us: NoReason lets it go on.
func destined(t *table.Set, p *packet.Packet, own uint64) packet.Reason {
	switch own & table.OwnKind {
	case table.OwnVIP:
		return forVIP(p)
	case table.OwnSNIP, table.OwnNSIP:
		return forKernel(t, p)
	case table.OwnElse:
		return packet.DropNotForUs
	}
	return forWildcard(t, p)
}

// groupAddress says whether an address in memory order is multicast, reserved or the broadcast address: 224.0.0.0 and above.
func groupAddress(ip uint32) bool { return uint8(ip) >= 224 }

// martian says whether no host can have sent p: an answer would go to nobody, to many, or back to us (RFC 1122 section 3.2.1.3, RFC
// 1812 section 5.3.7).
func martian(p *packet.Packet) bool {
	net := uint8(p.Src())
	return net == 0 || net == 127 || groupAddress(p.Src()) || p.Src() == p.Dst()
}

// forVIP lets through what a vserver may take.
func forVIP(p *packet.Packet) packet.Reason {
	switch p.Class {
	case packet.ClassFragment:
		return packet.DropFragment
	case packet.ClassOptions:
		return packet.DropOptions
	}
	if martian(p) {
		return packet.DropMartian
	}
	return packet.NoReason
}

// forKernel lets through what a vserver on one of the kernel's addresses takes; all else is the kernel's.
func forKernel(t *table.Set, p *packet.Packet) packet.Reason {
	switch p.Class {
	case packet.ClassFragment:
		return packet.PuntFragment
	case packet.ClassOptions:
		return packet.PuntOptions
	}
	switch {
	case t.Vserver(p.Dst(), uint16(p.B>>16), p.Proto()) == nil:
		return packet.PuntLocal
	case martian(p):
		return packet.DropMartian
	}
	return packet.NoReason
}

// macBits are those of the destination in an adjacency's MACs.
const macBits = 1<<48 - 1

// arp answers requests for virtual addresses. The kernel gets the rest: it asks and answers for its own addresses and learns
// neighbors from what it hears.
func (w *Worker) arp(t *table.Set, p *packet.Packet) packet.Reason {
	target, request := packet.ARPRequest(p)
	if !request {
		return w.punt(packet.PuntARP)
	}
	own := t.Own(target)
	if own&table.OwnKind != table.OwnVIP {
		return w.punt(packet.PuntARP)
	}
	sender, mac := packet.ARPSender(p)
	if sender == target {
		// An announcement of our own address by somebody else: there is nothing to answer (RFC 5227 section 2.4 (a)).
		return w.punt(packet.PuntARP)
	}
	if i, known := t.Neighbor(uint16(p.In>>1), sender); known && t.Adjacency(i).MACs&macBits != mac {
		// A neighbor has another MAC address than it had. The kernel learns that from what the neighbor asks; if nobody told it,
		// packets would go to the old one until it asks by itself. The neighbor asks again.
		return w.punt(packet.PuntARP)
	}
	if own&table.OwnARP == 0 {
		return packet.DropARPDisabled
	}
	mac = w.mac
	if id := uint8(own >> table.OwnVRID); id != 0 {
		if !w.leads(t.RoleOn(uint16(p.In>>1), id)) {
			return packet.DropARPBackup
		}
		mac = packet.VirtualMAC(id)
	}
	packet.AnswerARP(p, mac)
	p.Out = p.In
	return packet.ReplyARP
}
