package packet

import (
	"math/bits"
	"unsafe"
)

// Index tells where a flow table's slots lie and how keys are hashed into them, so that the parse can work out a packet's slot
// while its header is at hand.
type Index struct {
	Seed0, Seed1 uint64  // secret, random per table: nobody outside can choose keys that collide
	Base         uintptr // address of slot 0; slots are 64 bytes
	Mask         uintptr // number of slots - 1, a power of two less one
}

// Hash is the hash of a key.
func (x *Index) Hash(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a^x.Seed0, b^x.Seed1)
	return hi ^ lo
}

// SlotOf is the address of the slot where the search for a key of this hash starts.
func (x *Index) SlotOf(hash uint64) uintptr { return x.Base + (uintptr(hash)&x.Mask)<<6 }

// ParseBurst parses b[0:n] and gathers the flow slots to prefetch; a packet without a key gets the first slot's address.
func ParseBurst(b *[Burst]Packet, n int, x *Index, slots *[Burst]uintptr) {
	for i := 0; i < n && i < Burst; i++ {
		Parse(&b[i], x)
		slots[i] = b[i].Slot
	}
}

// The fields that decide whether a packet is plain, in memory order.
const (
	etherIPv4 = 0x0008
	verIHL5   = 0x45   // version 4, no options
	fragMask  = 0xff3f // More Fragments and the offset; Don't Fragment and the reserved bit stay outside
)

// Parse looks at the frame that p describes, once: class, offsets, flow key, hash and slot. It reads nothing beyond p.Len.
// The header checksum is not verified here: HeaderSumOK does that for packets that belong to no flow. Those of a flow
// carry an error on to the receiver, since their checksum is patched and not computed anew.
func Parse(p *Packet, x *Index) {
	d := p.Data
	h := d + EtherLen
	n := p.Len
	// 54 bytes are the shortest TCP frame. A UDP frame without padding may be shorter and takes the careful way, as do tags.
	if n < EtherLen+IPv4Len+TCPLen || n != p.Frame || load16(d+OffEtherType) != etherIPv4 {
		parseCareful(p, x)
		return
	}
	first := load32(h)         // version and IHL, TOS, total length
	mid := load32(h + OffFrag) // fragment, TTL, protocol
	total := Swap16(uint16(first >> 16))
	if uint8(first) != verIHL5 || mid&fragMask != 0 || mid&0xff0000 < 2<<16 || total > n-EtherLen {
		parseCareful(p, x)
		return
	}
	proto := uint8(mid >> 24)
	var flags uint8
	switch proto {
	case ProtoTCP:
		t := load16(h + IPv4Len + OffTCPOff)
		size := t & 0xf0 >> 2 // the data offset in bytes
		if size < TCPLen || IPv4Len+size > total {
			parseCareful(p, x)
			return
		}
		flags = uint8(t >> 8)
	case ProtoUDP:
		size := Swap16(load16(h + IPv4Len + OffUDPLen))
		if size < UDPLen || size > total-IPv4Len || total < IPv4Len {
			parseCareful(p, x)
			return
		}
	default:
		parseCareful(p, x)
		return
	}
	a := load64(h + OffSrcIP)
	b := uint64(load32(h+IPv4Len)) | uint64(proto)<<32 | KeyUsed
	p.A, p.B = a, b
	hash := x.Hash(a, b)
	p.Hash, p.Slot = hash, x.SlotOf(hash)
	p.L3Len = total
	p.L3, p.L4 = EtherLen, EtherLen+IPv4Len
	p.TCPFlags = flags
	p.reset(ClassPlain, Flags(load8(d)&1)*FlagGroup)
}

// reset starts the walk of p: class and flags are known, verdict and reason are not. One store.
func (p *Packet) reset(c Class, f Flags) {
	*(*uint32)(unsafe.Pointer(&p.Class)) = uint32(c) | uint32(f)<<8
}
