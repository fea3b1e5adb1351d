package packet

import (
	"encoding/binary"
	"math/bits"
)

// Checksums are RFC 1071 one's complement sums over 16-bit words. Such a sum does not depend on byte order, so all of it
// happens in memory order; a checksum field is stored exactly as it comes out.

// Fold brings a sum of 16-bit words down to 16 bits. The sum of words that are not all 0 never folds to 0.
func Fold(s uint32) uint16 {
	s = s&0xffff + s>>16
	return uint16(s + s>>16)
}

// Sum adds the 16-bit words of b to a folded sum; an odd last byte counts as the first of its word.
func Sum(b []byte, sum uint16) uint16 {
	s := uint64(sum)
	var carry uint64
	for len(b) >= 8 {
		s, carry = bits.Add64(s, binary.LittleEndian.Uint64(b), carry)
		b = b[8:]
	}
	var tail uint64
	for i := len(b) - 1; i >= 0; i-- {
		tail = tail<<8 | uint64(b[i])
	}
	s, carry = bits.Add64(s, tail, carry)
	s += carry // no further carry: tail has less than 8 bytes
	s = s&0xffffffff + s>>32
	s = s&0xffffffff + s>>32
	return Fold(uint32(s))
}

// Delta32 is what replacing o by n in a checksummed packet adds to the sum: ~m + m' of RFC 1624, over two words. Deltas
// may be added up and folded once.
func Delta32(o, n uint32) uint32 {
	return uint32(^uint16(o)) + uint32(^uint16(o>>16)) + n&0xffff + n>>16
}

// DeltaTTL is the delta of taking 1 from the TTL: the TTL is the low byte of its word in memory order.
const DeltaTTL uint32 = 0xfffe

// Patch applies a folded delta to a checksum: HC' = ~(~HC + ~m + m'), RFC 1624 equation 3.
func Patch(sum, delta uint16) uint16 {
	return ^Fold(uint32(^sum) + uint32(delta))
}

// PatchUDP is Patch for UDP, where 0 means no checksum and stays, and a computed 0 is sent as 0xffff (RFC 768).
func PatchUDP(sum, delta uint16) uint16 {
	if sum == 0 {
		return 0
	}
	return UDPSum(Patch(sum, delta))
}

// UDPSum is how a computed checksum is sent in UDP.
func UDPSum(sum uint16) uint16 {
	if sum == 0 {
		return 0xffff
	}
	return sum
}

// PseudoSum is the folded sum of the pseudo header without its length: addresses (source | destination << 32 in memory order)
// and protocol.
func PseudoSum(addrs uint64, proto uint8) uint16 {
	s := addrs&0xffff + addrs>>16&0xffff + addrs>>32&0xffff + addrs>>48 + uint64(proto)<<8
	return Fold(uint32(s))
}

// Partial reports whether sum is a checksum that the sender left to its network card: then it is just the sum of the pseudo
// header, not complemented. pseudo is PseudoSum, l4len the bytes of TCP or UDP header and data. One complete checksum in
// 65536 looks the same; completing that one again gives what it was.
func Partial(sum, pseudo, l4len uint16) bool {
	return sum == Fold(uint32(pseudo)+uint32(Swap16(l4len)))
}

// HeaderSumOK verifies the IPv4 header checksum of p, which Parse has found to have a whole header.
func HeaderSumOK(p *Packet) bool {
	h := p.Data + uintptr(p.L3)
	return Sum(view(h, headerLen(h)), 0) == 0xffff
}

// SetHeaderSum computes the IPv4 header checksum of p anew.
func SetHeaderSum(p *Packet) {
	h := p.Data + uintptr(p.L3)
	store16(h+OffIPSum, 0)
	store16(h+OffIPSum, ^Sum(view(h, headerLen(h)), 0))
}

// L4SumOK verifies the TCP or UDP checksum of p over the whole segment or datagram; a UDP checksum of 0 is right.
// It is false if the packet does not lie in one piece.
func L4SumOK(p *Packet) bool {
	if p.Proto() == ProtoUDP && load16(p.Data+uintptr(p.L4)+OffUDPSum) == 0 {
		return true
	}
	s, ok := l4Sum(p)
	return ok && s == 0xffff
}

// Complete computes the TCP or UDP checksum of p in full, as a network card would have done it. It reports false, and
// changes nothing, if the packet does not lie in one piece.
func Complete(p *Packet) bool {
	f := p.Data + uintptr(p.L4) + sumOffset(p.Proto())
	old := load16(f)
	store16(f, 0)
	s, ok := l4Sum(p)
	if !ok {
		store16(f, old)
		return false
	}
	s = ^s
	if p.Proto() == ProtoUDP {
		s = UDPSum(s)
	}
	store16(f, s)
	return true
}

// l4Sum is the sum of pseudo header, header and data of a TCP or UDP packet with a 20-byte IP header.
func l4Sum(p *Packet) (uint16, bool) {
	n := int(p.L4Len())
	if int(p.L4)+n > int(p.Len) {
		return 0, false
	}
	if p.Proto() == ProtoUDP {
		n = int(Swap16(load16(p.Data + uintptr(p.L4) + OffUDPLen)))
	}
	h := p.Data + uintptr(p.L3)
	pseudo := uint32(PseudoSum(load64(h+OffSrcIP), p.Proto())) + uint32(Swap16(uint16(n)))
	return Sum(view(p.Data+uintptr(p.L4), n), Fold(pseudo)), true
}

// L4Len is the bytes after the IPv4 header.
func (p *Packet) L4Len() uint16 { return p.L3Len - uint16(p.L4-p.L3) }

func sumOffset(proto uint8) uintptr {
	if proto == ProtoTCP {
		return OffTCPSum
	}
	return OffUDPSum
}
