package packet

import "math/bits"

// echoTTL is the TTL of the dataplane's own answers.
const echoTTL = 64

// ICMPEchoRequest reports whether p, of class ICMP, is a ping.
func ICMPEchoRequest(p *Packet) bool {
	h := p.Data + uintptr(p.L4)
	return load8(h+OffICMPType) == ICMPEcho && load8(h+OffICMPCode) == 0
}

// AnswerEcho turns an ICMP echo request into its reply in place (RFC 792): the addresses change places, mac (memory order)
// becomes the source. It reports false, and changes nothing, if the ICMP checksum is wrong or the packet is not in one piece.
func AnswerEcho(p *Packet, mac uint64) bool {
	if !icmpSumOK(p) {
		return false
	}
	SwapMACs(p.Data, mac)
	h, t := p.Data+uintptr(p.L3), p.Data+uintptr(p.L4)
	store64(h+OffSrcIP, bits.RotateLeft64(load64(h+OffSrcIP), 32))
	store8(h+OffTTL, echoTTL)
	SetHeaderSum(p)
	store8(t+OffICMPType, ICMPEchoReply)
	// The type is the low byte of its word in memory order: m = 8, m' = 0.
	store16(t+OffICMPSum, Patch(load16(t+OffICMPSum), ^uint16(ICMPEcho)))
	return true
}

// icmpSumOK verifies the checksum over the whole ICMP message; a message in several segments is not right.
func icmpSumOK(p *Packet) bool {
	n := int(p.L4Len())
	return int(p.L4)+n <= int(p.Len) && Sum(view(p.Data+uintptr(p.L4), n), 0) == 0xffff
}

// ICMPError is what an ICMP error says about a packet of a flow.
type ICMPError struct {
	Type, Code uint8
	Inner      Key // of the packet that the error is about, as its sender sent it
	// Reply is Inner reversed: the key under which the flow table has the entry whose rewrite translates this error.
	Reply Key

	l3, l4 uint16 // offsets of the inner headers from Data
	end    uint16 // offset behind the inner bytes that are present
}

// ParseICMPError reads the inner tuple of an ICMP error: destination unreachable, time exceeded, parameter problem. For any
// other ICMP type ok is false and why is NoReason; for an error that is damaged, or whose inner packet is cut
// before its ports, ok is false and why is a drop reason. p is of class ICMP.
func ParseICMPError(p *Packet) (e ICMPError, why Reason, ok bool) {
	t := p.Data + uintptr(p.L4)
	e.Type, e.Code = load8(t+OffICMPType), load8(t+OffICMPCode)
	switch e.Type {
	case ICMPUnreachable, ICMPTimeExceeded, ICMPParameter:
	default:
		return e, NoReason, false
	}
	if !icmpSumOK(p) {
		return e, DropBadICMP, false
	}
	in, end := int(p.L4)+ICMPLen, int(p.L3)+int(p.L3Len)
	if end < in+IPv4Len {
		return e, DropBadICMP, false
	}
	h := p.Data + uintptr(in)
	l4 := in + headerLen(h)
	switch {
	case load8(h)>>4 != 4 || l4 < in+IPv4Len || end < l4+8: // RFC 792: at least 8 bytes of the datagram's data
		return e, DropBadICMP, false
	case load16(h+OffFrag)&fragMask&^uint16(moreFragments) != 0: // a later fragment has no ports
		return e, DropICMPNoFlow, false
	}
	// An error goes to the sender of the packet that it is about. One that does not is forged, or was translated by halves.
	if load32(h+OffSrcIP) != p.Dst() {
		return e, DropBadICMP, false
	}
	proto := load8(h + OffProto)
	var ports uint32
	if proto == ProtoTCP || proto == ProtoUDP {
		ports = load32(p.Data + uintptr(l4))
	}
	e.Inner = Key{A: load64(h + OffSrcIP), B: uint64(ports) | uint64(proto)<<32 | KeyUsed}
	e.Reply = e.Inner.Reverse()
	e.l3, e.l4, e.end = uint16(in), uint16(l4), uint16(end)
	return e, NoReason, true
}

// moreFragments is that flag in memory order.
const moreFragments = 0x0020

// TranslateICMPError rewrites the error e in p for the other side of the flow: r is the rewrite of the entry found under
// e.Reply. The outer addresses become those of r, so that no address of one side shows on the other (RFC 5508 section 4.2), the
// inner tuple becomes r's result reversed, the TTL falls by 1 and all checksums are right again. Ethernet addresses are left
// to the caller.
func TranslateICMPError(p *Packet, e *ICMPError, r *Rewrite) {
	proto := uint8(e.Inner.B >> 32)
	n := r.Result(proto).Reverse()
	in, l4 := p.Data+uintptr(e.l3), p.Data+uintptr(e.l4)
	d := Delta32(uint32(e.Inner.A), uint32(n.A)) + Delta32(uint32(e.Inner.A>>32), uint32(n.A>>32))
	store64(in+OffSrcIP, n.A)
	store16(in+OffIPSum, Patch(load16(in+OffIPSum), Fold(d)))
	d += Delta32(uint32(e.Inner.B), uint32(n.B))
	switch proto {
	case ProtoTCP:
		store32(l4, uint32(n.B))
		if e.l4+OffTCPSum+2 <= e.end {
			store16(l4+OffTCPSum, Patch(load16(l4+OffTCPSum), Fold(d)))
		}
	case ProtoUDP:
		store32(l4, uint32(n.B))
		store16(l4+OffUDPSum, PatchUDP(load16(l4+OffUDPSum), Fold(d)))
	}
	h, t := p.Data+uintptr(p.L3), p.Data+uintptr(p.L4)
	store64(h+OffSrcIP, r.Addrs)
	store8(h+OffTTL, load8(h+OffTTL)-1)
	SetHeaderSum(p)
	store16(t+OffICMPSum, 0)
	store16(t+OffICMPSum, ^Sum(view(t, int(p.L4Len())), 0))
}
