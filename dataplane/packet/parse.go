package packet

import "math/bits"

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

// ParseBurst parses b[0:n] and gathers the flow slots to prefetch; a packet without a key gets slot 0's address.
func ParseBurst(b *[Burst]Packet, n int, x *Index, slots *[Burst]uintptr) {
	for i := 0; i < n && i < Burst; i++ {
		Parse(&b[i], x)
		slots[i] = b[i].Slot
	}
}

// fragMask covers More Fragments and the fragment offset in memory order; Don't Fragment and the reserved bit stay outside.
const fragMask = 0xff3f

// Parse looks at the frame that p describes, once: class, offsets, flow key, hash and slot. It reads nothing beyond p.Len. The header
// checksum is not verified here: HeaderSumOK does it for packets that open or belong to no flow, and a flow's
// packets carry their error on, since it is patched and not computed anew.
func Parse(p *Packet, x *Index) {
	d := p.Data
	p.Class, p.Flags, p.Verdict, p.Reason = ClassPlain, 0, Undecided, NoReason
	// The shortest TCP frame. A UDP frame without padding may be shorter and takes the careful way.
	if p.Len < EtherLen+IPv4Len+TCPLen || load16(d+OffEtherType) != Swap16(EtherIPv4) || p.Len != p.Frame {
		parseCareful(p, x)
		return
	}
	parseCareful(p, x)
}
