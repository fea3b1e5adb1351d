package worker

import (
	"math/bits"
	"unsafe"

	"sluice/dataplane/packet"
	"sluice/dataplane/port"
	"sluice/dataplane/port/asm"
	"sluice/dataplane/table"
)

// parse describes the frames of the burst, looks into each once and has the flow slots fetched while later packets are parsed.
func parse(w *Worker, _ *table.Set, b []packet.Packet) {
	x := w.x
	asm.PrefetchData(unsafe.Pointer(&x.Rx[0]), len(b))
	for m := w.plain(b); m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & (packet.Burst - 1)
		p, mbuf := &w.pk[i], x.Rx[i]
		p.Fill(mbuf, port.Data(mbuf), port.DataLen(mbuf), *u32(mbuf + port.OffPktLen), uint8(x.From))
		packet.Parse(p, &w.flows.Index)
		w.slots[i] = p.Slot
	}
	asm.PrefetchN(unsafe.Pointer(w.slots), len(b))
	w.open = uint32(1<<uint(len(b)) - 1)
	w.rest = w.open
	w.outgoing = 0
}

// In memory order: EtherType IPv4, version 4, header of 20 bytes; whatever the TOS. More Fragments and the fragment offset.
const (
	plainIPv4     = 0x00450008
	plainIPv4Mask = 0x00ffffff
	fragmentMask  = 0xff3f
)

// plain is packet.Fill and packet.Parse in one loop for the most common frames, untagged TCP and UDP in one segment to a single
// station, and returns the mask of all others. It says the same about a frame as Parse, but for Hash and FlagGroup, which
// have no place in this loop: see Worker.hash and group. The loop calls nothing, so that it spills nothing, and writes each
// packet in whole words.
func (w *Worker) plain(b []packet.Packet) (others uint32) {
	const l4 = packet.EtherLen + packet.IPv4Len
	x, index, slots := w.x, &w.flows.Index, w.slots
	for i := range b {
		p, m := &b[i], x.Rx[i&(packet.Burst-1)]
		d := port.Data(m)
		// Packet length in 32 bits, behind it the length in the first segment in 16.
		lengths := *u64(m + port.OffPktLen)
		n := uint32(lengths)
		if n != uint32(lengths>>32)&0xffff || n < l4+packet.TCPLen || *u32(d + packet.OffEtherType)&plainIPv4Mask != plainIPv4 {
			others |= 1 << uint(i)
			continue
		}
		mid := *u32(d + packet.EtherLen + packet.OffFrag) // fragment, TTL, protocol
		total := uint32(packet.Swap16(*u16(d + packet.EtherLen + packet.OffTotalLen)))
		if mid&fragmentMask != 0 || mid&0xff0000 < 2<<16 || total > n-packet.EtherLen {
			others |= 1 << uint(i)
			continue
		}
		flags, proto := uint64(0), mid>>24
		if uint8(proto) == packet.ProtoTCP {
			t := uint32(*u16(d + l4 + packet.OffTCPOff))
			if size := t & 0xf0 >> 2; size < packet.TCPLen || size+packet.IPv4Len > total { // the data offset in bytes
				others |= 1 << uint(i)
				continue
			}
			flags = uint64(t >> 8 << 16)
		} else if size := uint32(packet.Swap16(*u16(d + l4 + packet.OffUDPLen))); uint8(proto) != packet.ProtoUDP ||
			size < packet.UDPLen || size+packet.IPv4Len > total {
			others |= 1 << uint(i)
			continue
		}
		ka, kb := *u64(d + packet.EtherLen + packet.OffSrcIP), uint64(*u32(d + l4))|uint64(proto)<<32|packet.KeyUsed
		slot := index.SlotOf(index.Hash(ka, kb))
		slots[i&(packet.Burst-1)] = slot
		p.Mbuf, p.Data, p.A, p.B, p.Slot = m, d, ka, kb, slot
		// Len, Frame, L3Len, In and Out; L3, L4, TCPFlags and, all 0, Class, Flags, Verdict and Reason.
		words := (*[2]uint64)(unsafe.Pointer(&p.Len))
		words[0] = uint64(n) | uint64(n)<<16 | uint64(total)<<32 | uint64(x.From)<<48
		words[1] = packet.EtherLen | l4<<8 | flags
	}
	return others
}

// The words of plain lie where the fields lie, and what it leaves 0 is 0.
var (
	_ = [1]struct{}{}[unsafe.Offsetof(packet.Packet{}.Frame)-unsafe.Offsetof(packet.Packet{}.Len)-2]
	_ = [1]struct{}{}[unsafe.Offsetof(packet.Packet{}.L3Len)-unsafe.Offsetof(packet.Packet{}.Len)-4]
	_ = [1]struct{}{}[unsafe.Offsetof(packet.Packet{}.In)-unsafe.Offsetof(packet.Packet{}.Len)-6]
	_ = [1]struct{}{}[unsafe.Offsetof(packet.Packet{}.L3)-unsafe.Offsetof(packet.Packet{}.Len)-8]
	_ = [1]struct{}{}[unsafe.Offsetof(packet.Packet{}.L4)-unsafe.Offsetof(packet.Packet{}.L3)-1]
	_ = [1]struct{}{}[unsafe.Offsetof(packet.Packet{}.TCPFlags)-unsafe.Offsetof(packet.Packet{}.L3)-2]
	_ = [1]struct{}{}[unsafe.Offsetof(packet.Packet{}.Class)-unsafe.Offsetof(packet.Packet{}.L3)-4]
	_ = [1]struct{}{}[unsafe.Offsetof(packet.Packet{}.Reason)-unsafe.Offsetof(packet.Packet{}.L3)-7]
	_ = [1]struct{}{}[packet.ClassPlain|packet.Class(packet.Undecided)|packet.Class(packet.NoReason)]
	_ = [1]struct{}{}[port.OffDataLen-port.OffPktLen-4]
)

// group says whether a frame is for more than one station.
func group(p *packet.Packet) bool { return *u8(p.Data)&1 != 0 }

// hash is the hash of p's key.
func (w *Worker) hash(p *packet.Packet) uint64 { return w.flows.Hash(p.A, p.B) }

// fromKernel passes a burst from a twin to its NIC as it is: the kernel has made these frames for this port.
func (w *Worker) fromKernel(x *port.Exchange) {
	nic := x.From &^ 1
	n := x.RxN
	for i := uint32(0); i < n; i++ {
		w.send(uint8(nic), x.Rx[i&(port.Burst-1)])
	}
	w.counts[packet.ForwardFromKernel] += uint64(n)
}
