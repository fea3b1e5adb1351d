package packet

// Mark gives p, whose checksums are complete, the destination address dst and the DSCP dscp (as it lies in the TOS byte), leaves
// its ECN bits (RFC 3168) and takes 1 from its TTL. delta is Delta32 of the address, folded. Of a fragment only the first
// has a TCP or UDP checksum behind its header: l4 says whether p has one.
func Mark(p *Packet, dst uint32, dscp uint8, delta uint16, l4 bool) {
	sum := uintptr(0)
	switch t := p.Data + uintptr(p.L4); {
	case !l4:
	case p.Proto() == ProtoTCP:
		sum = t + OffTCPSum
	case p.Proto() == ProtoUDP:
		sum = t + OffUDPSum
	}
	MarkAt(p.Data+uintptr(p.L3), sum, dst, dscp, delta)
}

// MarkAt is Mark for the packet whose IPv4 header is at h and whose TCP or UDP checksum is at sum; 0: it has none.
func MarkAt(h, sum uintptr, dst uint32, dscp uint8, delta uint16) {
	tos := load8(h + OffTOS)
	marked := tos&ecnBits | dscp
	store8(h+OffTOS, marked)
	store8(h+OffTTL, load8(h+OffTTL)-1)
	store32(h+OffDstIP, dst)
	// The TOS is the high byte of its word in memory order.
	d := uint32(delta) + DeltaTTL + uint32(^(uint16(tos) << 8)) + uint32(marked)<<8
	store16(h+OffIPSum, Patch(load16(h+OffIPSum), Fold(d)))
	if sum == 0 {
		return
	}
	if load8(h+OffProto) == ProtoUDP {
		store16(sum, PatchUDP(load16(sum), delta))
	} else {
		store16(sum, Patch(load16(sum), delta))
	}
}

// ecnBits are those of the TOS byte that are not the DSCP.
const ecnBits = 3

// Age takes 1 from p's TTL.
func Age(p *Packet) { age(p.Data + uintptr(p.L3)) }

// age is Age for the packet whose IPv4 header is at h.
func age(h uintptr) {
	store8(h+OffTTL, load8(h+OffTTL)-1)
	store16(h+OffIPSum, Patch(load16(h+OffIPSum), uint16(DeltaTTL)))
}

// TTL is p's time to live.
func (p *Packet) TTL() uint8 { return load8(p.Data + uintptr(p.L3) + OffTTL) }
