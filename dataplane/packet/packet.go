// Package packet knows frames: the one parse that a packet gets, the views of its headers, the rewrites that the
// dataplane does in place, checksums, and the verdicts and reasons by which every packet ends.
//
// It works on addresses of frame memory off the Go heap (Packet.Data) and, where a packet is rare, on byte slices of the
// same memory. It allocates nothing, keeps no state, and knows neither ports nor tables: whoever receives a packet fills
// in Mbuf, Data, Len, Frame and In, and whoever balances it fills in the rest.
package packet

import "unsafe"

// Burst is the most packets that one turn of a worker handles. What is fetched for a burst is waited for once a burst, so that twice
// as many packets as drivers are asked for wait half as long each. Masks of a burst are words of 64 bits.
const Burst = 64

// Packet is what the dataplane remembers of one frame while it walks the pipeline. It holds no Go pointer, so that an array
// of it costs the collector nothing, and is one cache line.
type Packet struct {
	Mbuf uintptr // the buffer that owns the frame
	Data uintptr // address of the first byte of the Ethernet header

	// The flow key, in memory order (as the bytes lie in the frame, loaded little-endian).
	A    uint64 // IPv4 source | destination << 32
	B    uint64 // source port | destination port << 16 | protocol << 32 | KeyUsed; 0 = the packet has no key
	Hash uint64 // hash of A and B, under the flow table's seed

	Bucket uintptr // address of the bucket of the flow index where the search starts; with FlagVia see there

	Len      uint16 // contiguous bytes at Data; nothing beyond may be read
	Frame    uint16 // bytes of the whole frame, over all segments; >= Len
	L3Len    uint16 // IPv4 total length in bytes, header included, Ethernet padding not
	In       uint8  // lane that the packet came from
	Out      uint8  // lane that it leaves by
	L3       uint8  // offset of the IPv4 or ARP header from Data
	L4       uint8  // offset of the TCP, UDP or ICMP header from Data
	TCPFlags uint8  // TCP flags (low 8), 0 for everything but TCP
	_        uint8
	Class    Class // this and the next three are reset by Parse in one store
	Flags    Flags
	Verdict  Verdict
	Reason   Reason
}

// The size is a promise to the burst loops; that L3 and L4, and the last four fields, are one word each, to the parse.
var (
	_ = [1]struct{}{}[unsafe.Sizeof(Packet{})-64]
	_ = [1]struct{}{}[unsafe.Offsetof(Packet{}.L3)%2+unsafe.Offsetof(Packet{}.L4)-unsafe.Offsetof(Packet{}.L3)-1]
	_ = [1]struct{}{}[unsafe.Offsetof(Packet{}.Class)-60]
	_ = [1]struct{}{}[unsafe.Offsetof(Packet{}.Bucket)-unsafe.Offsetof(Packet{}.Hash)-8]
)

// KeyUsed marks B of every key, so that no key equals an empty slot.
const KeyUsed uint64 = 1 << 63

// KeyFromL7 marks the key of a packet that our own full proxy sent: with a kept port its tuple equals the client's.
const KeyFromL7 uint64 = 1 << 40

// Class is what the one parse made of a frame.
type Class uint8

const (
	// ClassPlain is TCP or UDP over IPv4 without options or fragments, TTL > 1, every length sane. The key is set.
	ClassPlain Class = iota
	// ClassExpiring is ClassPlain with a TTL of 0 or 1: it may end here, but cannot be forwarded. The key is set.
	ClassExpiring
	// ClassARP is an IPv4-over-Ethernet ARP packet, whole.
	ClassARP
	// ClassICMP is an unfragmented ICMPv4 packet with at least 8 bytes of ICMP. The key has no ports.
	ClassICMP
	// ClassFragment is any piece of a fragmented IPv4 datagram. The key has no ports.
	ClassFragment
	// ClassOptions is an IPv4 packet with a header longer than 20 bytes. The key has no ports.
	ClassOptions
	// ClassOtherIP is another IPv4 protocol, unfragmented. The key has no ports.
	ClassOtherIP
	// ClassIPv6 is an IPv6 frame, not looked into.
	ClassIPv6
	// ClassOther is any other frame: another EtherType, LLC, a second VLAN tag.
	ClassOther
	// Malformed lies about its lengths or is too short; Packet.Reason tells which drop reason fits.
	ClassMalformed
)

// Flags are facts about a frame that hold beside its Class.
type Flags uint8

const (
	// FlagVLAN: one 802.1Q tag lies between the addresses and the EtherType.
	FlagVLAN Flags = 1 << iota
	// FlagGroup: the destination MAC is multicast or broadcast.
	FlagGroup
	// FlagLowTTL: the IPv4 TTL is 0 or 1.
	FlagLowTTL
	// FlagSegmented: the frame continues in a further buffer segment that is not looked into.
	FlagSegmented
	// FlagVia: it is sent to the address in the upper half of Bucket, whatever its destination; if the lower half is not 0, within
	// an IP packet that comes from there.
	FlagVia
	// FlagOnLink: and the address must be on a subnet of ours, for the frame goes to its MAC address with another destination in it.
	FlagOnLink
	// FlagBack: it leaves by the link whose number is in Bucket (see flow.Links), whatever its route.
	FlagBack
)

// Verdict is how a packet ends; each packet gets exactly one.
type Verdict uint8

const (
	// Undecided: the walk goes on.
	Undecided Verdict = iota
	// Transmit: leaves by lane Out.
	Transmit
	// Punt: goes to the kernel, by the twin of the port that it came from.
	Punt
	// Drop: is freed and counted under Reason.
	Drop
	// Held: waits for a neighbor; whoever holds it owns the buffer.
	Held
)

// End gives p its verdict and the reason that it is counted under.
func (p *Packet) End(r Reason) {
	p.Verdict, p.Reason = r.Verdict(), r
}

// Fill describes a received frame: where it lies and how long it is. The rest of p is set by Parse.
func (p *Packet) Fill(mbuf, data uintptr, length, frame uint32, lane uint8) {
	p.Mbuf, p.Data, p.In = mbuf, data, lane
	p.Len, p.Frame = clamp(length), clamp(frame)
}

// Bytes is the frame's first segment as a slice over the same memory.
func (p *Packet) Bytes() []byte {
	return unsafe.Slice((*byte)(at(p.Data)), int(p.Len))
}

// Proto is the IP protocol of the key.
func (p *Packet) Proto() uint8 { return uint8(p.B >> 32) }

// Src is the IPv4 source address of the key, in memory order.
func (p *Packet) Src() uint32 { return uint32(p.A) }

// Dst is the IPv4 destination address of the key, in memory order.
func (p *Packet) Dst() uint32 { return uint32(p.A >> 32) }

// SrcPort is the source port of the key, in host order.
func (p *Packet) SrcPort() uint16 { return Swap16(uint16(p.B)) }

// DstPort is the destination port of the key, in host order.
func (p *Packet) DstPort() uint16 { return Swap16(uint16(p.B >> 16)) }

// DstMAC is the destination MAC in memory order, in the low 48 bits.
func (p *Packet) DstMAC() uint64 { return load64(p.Data) & macMask }

// VLAN is the tag control information in host order; 0 without FlagVLAN.
func (p *Packet) VLAN() uint16 {
	if p.Flags&FlagVLAN == 0 {
		return 0
	}
	return Swap16(load16(p.Data + OffTCI))
}

// clamp keeps a length in 16 bits; frames beyond 65535 bytes are refused by Parse as too long for their IP length to hold.
func clamp(n uint32) uint16 { return uint16(min(n, 0xffff)) }
