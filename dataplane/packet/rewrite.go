package packet

// Rewrite is a network address translation of one direction of a flow, with its checksum deltas worked out beforehand.
// It is part of a flow entry: 16 bytes.
type Rewrite struct {
	Addrs   uint64 // new source | destination << 32, memory order
	Ports   uint32 // new source port | destination port << 16, memory order
	IPDelta uint16 // folded delta of the IP header checksum: addresses and TTL
	L4Delta uint16 // folded delta of the TCP or UDP checksum: addresses and ports
}

// MakeRewrite is the translation from key k to key n.
func MakeRewrite(k, n Key) Rewrite {
	d := Delta32(uint32(k.A), uint32(n.A)) + Delta32(uint32(k.A>>32), uint32(n.A>>32))
	return Rewrite{
		Addrs:   n.A,
		Ports:   uint32(n.B),
		IPDelta: Fold(d + DeltaTTL),
		L4Delta: Fold(d + Delta32(uint32(k.B), uint32(n.B))),
	}
}

// Result is the key that a packet of protocol proto has after the translation.
func (r *Rewrite) Result(proto uint8) Key {
	return Key{A: r.Addrs, B: uint64(r.Ports) | uint64(proto)<<32 | KeyUsed}
}

// The three below repeat the same lines, for the compiler would inline none of them in another: so a packet costs one call and
// no more. h is the address of the IPv4 header, which is 20 bytes long.

// TCP translates a TCP packet in place: addresses, ports, TTL - 1, both checksums.
func (r *Rewrite) TCP(h uintptr) {
	store64(h+OffSrcIP, r.Addrs)
	store32(h+IPv4Len, r.Ports)
	store8(h+OffTTL, load8(h+OffTTL)-1)
	store16(h+OffIPSum, Patch(load16(h+OffIPSum), r.IPDelta))
	store16(h+IPv4Len+OffTCPSum, Patch(load16(h+IPv4Len+OffTCPSum), r.L4Delta))
}

// UDP is TCP for a UDP packet.
func (r *Rewrite) UDP(h uintptr) {
	store64(h+OffSrcIP, r.Addrs)
	store32(h+IPv4Len, r.Ports)
	store8(h+OffTTL, load8(h+OffTTL)-1)
	store16(h+OffIPSum, Patch(load16(h+OffIPSum), r.IPDelta))
	store16(h+IPv4Len+OffUDPSum, PatchUDP(load16(h+IPv4Len+OffUDPSum), r.L4Delta))
}

// IP translates addresses and TTL only, for protocols without ports.
func (r *Rewrite) IP(h uintptr) {
	store64(h+OffSrcIP, r.Addrs)
	store8(h+OffTTL, load8(h+OffTTL)-1)
	store16(h+OffIPSum, Patch(load16(h+OffIPSum), r.IPDelta))
}
