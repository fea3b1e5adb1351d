package packet

// ProtoIPIP is the protocol of an IPv4 packet in an IPv4 packet (RFC 2003).
const ProtoIPIP uint8 = 4

// TunnelLen is what a packet grows by when it is put into another one: an IPv4 header without options.
const TunnelLen = IPv4Len

// tunnelTTL is the TTL of the outer packet: the hops within a tunnel are nothing of the inner packet's (RFC 2003 section 3.1).
const tunnelTTL = 64

// Encapsulate puts the IPv4 packet p into another one with the addresses addrs (source | destination << 32). Its buffer has TunnelLen
// free bytes before the frame, into which the Ethernet header moves: the caller tells the buffer. The outer packet has the TOS of
// the inner one, ECN bits included (RFC 6040 section 4.1), its Don't Fragment flag and, for the case that a router must split the
// outer packet, its identification.
func Encapsulate(p *Packet, addrs uint64) {
	d, h := p.Data, p.Data+uintptr(p.L3)
	store64(d-TunnelLen, load64(d))
	store64(d-TunnelLen+8, load64(d+8))
	store16(d-TunnelLen+16, load16(d+16)) // 14 bytes of it, or 18 with a tag
	putTunnel(h-TunnelLen, h, addrs, uint32(p.L3Len)+TunnelLen, TunnelSum(addrs))
	p.Data -= TunnelLen
	p.L3Len += TunnelLen
	p.Len += TunnelLen
	p.Frame += TunnelLen
}

// EncloseAt takes 1 from the TTL of the packet whose IPv4 header is at h and writes before it the header of an outer packet of total
// bytes; sum is TunnelSum of its addresses. The Ethernet header is left to the caller.
func EncloseAt(h uintptr, addrs uint64, total uint32, sum uint16) {
	age(h)
	putTunnel(h-TunnelLen, h, addrs, total, sum)
}

// TunnelSum is the sum of what all outer headers with the same addresses have in common, folded.
func TunnelSum(addrs uint64) uint16 {
	const ttlProto = uint32(tunnelTTL) | uint32(ProtoIPIP)<<8
	s := addrs&0xffff + addrs>>16&0xffff + addrs>>32&0xffff + addrs>>48
	return Fold(uint32(s) + verIHL5 + ttlProto)
}

// putTunnel writes the outer header at o for the packet whose header is at h.
func putTunnel(o, h uintptr, addrs uint64, total uint32, sum uint16) {
	tos, length := uint32(load8(h+OffTOS))<<8, uint32(Swap16(uint16(total)))
	id, frag := uint32(load16(h+OffIPID)), uint32(load16(h+OffFrag)&dontFragment)
	store32(o, verIHL5|tos|length<<16)
	store32(o+OffIPID, id|frag<<16)
	store16(o+OffTTL, uint16(tunnelTTL)|uint16(ProtoIPIP)<<8)
	store16(o+OffIPSum, ^Fold(uint32(sum)+tos+length+id+frag))
	store64(o+OffSrcIP, addrs)
}
