package packet

import (
	"math/bits"
	"unsafe"
)

// Index tells where the index of a flow table lies and how keys are hashed into it, so that the parse can work out a packet's place
// while its header is at hand.
type Index struct {
	Seed0, Seed1 uint64  // secret, random per table: nobody outside can choose keys that collide
	Base         uintptr // address of the first bucket
	Buckets      uint64  // how many there are, less than 2^32
}

// BucketSize is the size of a bucket in bytes: a cache line.
const BucketSize = 64

// Hash is the hash of a key.
func (x *Index) Hash(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a^x.Seed0, b^x.Seed1)
	return hi ^ lo
}

// BucketOf is the address of the bucket where the search for a key of this hash starts. The lower half of the hash decides.
func (x *Index) BucketOf(hash uint64) uintptr {
	return x.Base + uintptr(uint64(uint32(hash))*x.Buckets>>32)*BucketSize
}

// The fields that decide whether a packet is plain, in memory order.
const (
	etherIPv4 = 0x0008
	etherVLAN = 0x0081
	verIHL5   = 0x45   // version 4, no options
	fragMask  = 0xff3f // More Fragments and the offset; Don't Fragment and the reserved bit stay outside
)

// Parse looks at the frame that p describes, once: class, offsets, flow key, hash and bucket. It reads nothing beyond p.Len.
// The header checksum is not verified here: HeaderSumOK does that for packets that belong to no flow. Those of a flow
// carry an error on to the receiver, since their checksum is patched and not computed anew.
func Parse(p *Packet, x *Index) {
	if !parsePlain(p, x) {
		parseCareful(p, x)
	}
}

// parsePlain parses what is plain beyond doubt and reports false for whatever differs, which takes the careful way. It
// calls nothing, so that it has neither a frame nor a stack check: written as one loop over the burst it was slower, for
// want of registers.
func parsePlain(p *Packet, x *Index) bool {
	n := uint32(p.Len)
	d := p.Data
	// 54 bytes are the shortest TCP frame. A UDP frame without padding may be shorter.
	if n < EtherLen+IPv4Len+TCPLen || p.Len != p.Frame {
		return false
	}
	at := uint32(EtherLen | (EtherLen+IPv4Len)<<8) // L3 and L4, which are neighbors
	is := Flags(load8(d)&1) * FlagGroup
	if ether := load16(d + OffEtherType); ether != etherIPv4 {
		if ether != etherVLAN || n < VLANLen+EtherLen+IPv4Len+TCPLen || load16(d+OffEtherType+VLANLen) != etherIPv4 {
			return false
		}
		// From here on as if the frame began behind the tag.
		d, n, at, is = d+VLANLen, n-VLANLen, at+VLANLen*0x101, is|FlagVLAN
	}
	first := load32(d + EtherLen)         // version and IHL, TOS, total length
	mid := load32(d + EtherLen + OffFrag) // fragment, TTL, protocol
	total := uint32(Swap16(uint16(first >> 16)))
	if uint8(first) != verIHL5 || mid&fragMask != 0 || mid&0xff0000 < 2<<16 || total > n-EtherLen {
		return false
	}
	const l4 = EtherLen + IPv4Len
	proto := mid >> 24
	var flags uint8
	switch uint8(proto) {
	case ProtoTCP:
		t := uint32(load16(d + l4 + OffTCPOff))
		if size := t & 0xf0 >> 2; size < TCPLen || size+IPv4Len > total { // the data offset in bytes
			return false
		}
		flags = uint8(t >> 8)
	case ProtoUDP:
		if size := uint32(Swap16(load16(d + l4 + OffUDPLen))); size < UDPLen || size+IPv4Len > total {
			return false
		}
	default:
		return false
	}
	a, b := load64(d+EtherLen+OffSrcIP), uint64(load32(d+l4))|uint64(proto)<<32|KeyUsed
	p.A, p.B = a, b
	p.Hash = x.Hash(a, b)
	p.Bucket = x.BucketOf(p.Hash)
	p.L3Len = uint16(total)
	*(*uint16)(unsafe.Pointer(&p.L3)) = uint16(at)
	p.TCPFlags = flags
	p.reset(ClassPlain, is)
	return true
}

// reset starts the walk of p: class and flags are known, verdict and reason are not. One store.
func (p *Packet) reset(c Class, f Flags) {
	*(*uint32)(unsafe.Pointer(&p.Class)) = uint32(c) | uint32(f)<<8
}
