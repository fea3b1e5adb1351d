package packet

// fragNeededLen is the bytes of such an error from its IPv4 header on: two IP headers, its own and that of the packet it is about,
// and 8 bytes behind each (RFC 792).
const fragNeededLen = 2 * (IPv4Len + 8)

// dontFragment is that flag in memory order.
const dontFragment = 0x0040

// AnswerTooLong turns p, a TCP, UDP or other IPv4 packet with a 20-byte header whose addresses and ports have been translated
// already but whose Ethernet addresses have not, into the ICMP error "fragmentation needed and DF set" (RFC 1191) to its sender, and
// returns the length of the frame. The error is about the packet as its sender sent it, as its key tells, and comes from the
// address that it was sent to and from mac (memory order). It returns 0, and changes nothing, if p may be fragmented or is too
// short or not in one piece.
func AnswerTooLong(p *Packet, mac uint64, mtu uint16) uint32 {
	h := p.Data + uintptr(p.L3)
	n := uint32(p.L3) + fragNeededLen
	if load16(h+OffFrag)&dontFragment == 0 || headerLen(h) != IPv4Len || uint32(p.Len) < n || p.Flags&FlagSegmented != 0 {
		return 0
	}
	SwapMACs(p.Data, mac)
	icmp, in := h+IPv4Len, h+IPv4Len+ICMPLen
	for at := uintptr(0); at < IPv4Len+8; at += 4 { // by words: go1.26.8 cannot compile copy here when it instruments for fuzzing
		store32(in+at, load32(h+at))
	}
	store64(in+OffSrcIP, p.A)
	if p.Flags&FlagVia == 0 || uint32(p.Bucket) != 0 { // else it was to be sent with the TTL that it has
		store8(in+OffTTL, load8(in+OffTTL)+1)
	}
	store16(in+OffIPSum, 0)
	store16(in+OffIPSum, ^Sum(view(in, IPv4Len), 0))
	if proto := p.Proto(); proto == ProtoTCP || proto == ProtoUDP {
		store32(in+IPv4Len, uint32(p.B))
	}
	store16(h, 0x45) // version and length of the header, TOS
	store16(h+OffTotalLen, Swap16(fragNeededLen))
	store32(h+OffIPID, 0) // and neither flags nor offset
	store8(h+OffTTL, echoTTL)
	store8(h+OffProto, ProtoICMP)
	store64(h+OffSrcIP, p.A>>32|p.A<<32)
	SetHeaderSum(p)
	store8(icmp+OffICMPType, ICMPUnreachable)
	store8(icmp+OffICMPCode, codeFragNeeded)
	store32(icmp+OffICMPSum, 0)
	store32(icmp+4, uint32(Swap16(mtu))<<16)
	store16(icmp+OffICMPSum, ^Sum(view(icmp, fragNeededLen-IPv4Len), 0))
	return n
}

// codeFragNeeded is the code of ICMPUnreachable.
const codeFragNeeded = 4
