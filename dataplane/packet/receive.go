package packet

import "unsafe"

// Receive is Fill and Parse in one for the most common frame: untagged TCP or UDP in one segment. It reports false and
// leaves p undefined for every other frame, which Fill and Parse then take. It calls nothing, so that it has no stack
// check, it writes p in whole words, and everything between receiving a frame and knowing its flow slot stays in registers.
// length is the bytes in the first segment, which is all of the frame.
func Receive(p *Packet, x *Index, mbuf, data uintptr, length, in uint32) bool {
	if length-(EtherLen+IPv4Len+TCPLen) > 0xffff-(EtherLen+IPv4Len+TCPLen) || load16(data+OffEtherType) != etherIPv4 {
		return false
	}
	first := load32(data + EtherLen)         // version and IHL, TOS, total length
	mid := load32(data + EtherLen + OffFrag) // fragment, TTL, protocol
	total := uint32(Swap16(uint16(first >> 16)))
	if uint8(first) != verIHL5 || mid&fragMask != 0 || mid&0xff0000 < 2<<16 || total > length-EtherLen {
		return false
	}
	const l4 = EtherLen + IPv4Len
	var flags uint32
	proto := mid >> 24
	if uint8(proto) == ProtoTCP {
		t := uint32(load16(data + l4 + OffTCPOff))
		if size := t & 0xf0 >> 2; size < TCPLen || size+IPv4Len > total { // the data offset in bytes
			return false
		}
		flags = t >> 8
	} else {
		size := uint32(Swap16(load16(data + l4 + OffUDPLen)))
		if uint8(proto) != ProtoUDP || size < UDPLen || size+IPv4Len > total {
			return false
		}
	}
	a, b := load64(data+EtherLen+OffSrcIP), uint64(load32(data+l4))|uint64(proto)<<32|KeyUsed
	hash := x.Hash(a, b)
	p.Mbuf, p.Data, p.A, p.B, p.Hash, p.Slot = mbuf, data, a, b, hash, x.SlotOf(hash)
	// The fields from Len to TCPFlags and from Class to Reason: see the assertions below.
	w := (*[4]uint32)(unsafe.Pointer(&p.Len))
	w[0] = length | length<<16
	w[1] = total | in<<16
	w[2] = EtherLen | l4<<8 | flags<<16
	w[3] = uint32(Flags(load8(data)&1)*FlagGroup) << 8
	return true
}

// The words of Receive lie where the fields lie. ClassPlain, Undecided and NoReason are 0.
var (
	_ = [1]struct{}{}[unsafe.Offsetof(Packet{}.Frame)-unsafe.Offsetof(Packet{}.Len)-2]
	_ = [1]struct{}{}[unsafe.Offsetof(Packet{}.L3Len)-unsafe.Offsetof(Packet{}.Len)-4]
	_ = [1]struct{}{}[unsafe.Offsetof(Packet{}.In)-unsafe.Offsetof(Packet{}.Len)-6]
	_ = [1]struct{}{}[unsafe.Offsetof(Packet{}.L3)-unsafe.Offsetof(Packet{}.Len)-8]
	_ = [1]struct{}{}[unsafe.Offsetof(Packet{}.L4)-unsafe.Offsetof(Packet{}.L3)-1]
	_ = [1]struct{}{}[unsafe.Offsetof(Packet{}.TCPFlags)-unsafe.Offsetof(Packet{}.L3)-2]
	_ = [1]struct{}{}[unsafe.Offsetof(Packet{}.Class)-unsafe.Offsetof(Packet{}.Len)-12]
	_ = [1]struct{}{}[unsafe.Offsetof(Packet{}.Flags)-unsafe.Offsetof(Packet{}.Class)-1]
	_ = [1]struct{}{}[ClassPlain|Class(Undecided)|Class(NoReason)]
)
