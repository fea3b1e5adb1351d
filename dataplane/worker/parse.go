package worker

import (
	"math/bits"
	"unsafe"

	"sluice/dataplane/packet"
	"sluice/dataplane/port"
	"sluice/dataplane/port/asm"
	"sluice/dataplane/table"
)

// parse finds the keys of the burst's packets. A packet of the most common kind gets no more than
// its key here, since a known flow needs no more (see hits): it is left bare, and whoever wants to know all calls inspect.
func parse(w *Worker, t *table.Set, b []packet.Packet) {
	// All frames at once: a core that has no room for so many waits here instead of once for each in keys.
	asm.PrefetchData(unsafe.Pointer(&w.x.Rx[0]), len(b))
	if t.HasRoles(uint16(w.x.From >> 1)) {
		w.unveil(t, len(b))
	}
	w.open = ^uint64(0) >> (packet.Burst - uint(len(b)))
	w.rest = w.open
	w.outgoing = 0
	w.bare = w.keys(b)
	for m := w.open &^ w.bare; m != 0; m &= m - 1 {
		i := bits.TrailingZeros64(m) & (packet.Burst - 1)
		w.inspect(i)
	}
}

// inspect describes the i-th frame of the burst and parses it in full.
func (w *Worker) inspect(i int) {
	p, m := &w.pk[i&(packet.Burst-1)], w.x.Rx[i&(port.Burst-1)]
	p.Fill(m, port.Data(m), port.DataLen(m), *u32(m + port.OffPktLen), uint8(w.x.From))
	packet.Parse(p, &w.flows.Index)
}

// In memory order: EtherType IPv4, version 4, header of 20 bytes, whatever the TOS. More Fragments and the offset. A TTL of 2
// at least.
const (
	bareIPv4     = 0x00450008
	bareIPv4Mask = 0x00ffffff
	fragmentMask = 0xff3f
	ttlMask      = 0xfe0000

	ip4 = packet.EtherLen      // where headers are in a bare frame
	l4  = ip4 + packet.IPv4Len //
)

// keys writes where the frame lies, the key and its hash of untagged IPv4 packets without fragments and options, to this port's
// MAC, no longer than any port's MTU allows, whose first segment holds the IP packet and at least 20 bytes behind its header;
// it returns their mask. It takes every protocol for one that has ports: what comes out for another is no flow's key, for
// those flows are never of a generation that hits accepts (see route). Nor does it look at lengths that TCP or UDP give:
// those of a known flow are their receiver's business, for others inspect does. The loop calls nothing and takes addresses
// for arrays, so that nothing is spilled or checked for nil.
func (w *Worker) keys(b []packet.Packet) (bare uint64) {
	const least, shortest = l4 + packet.TCPLen, packet.IPv4Len + packet.UDPLen
	index, mac, most := &w.flows.Index, w.mac<<16, w.mtu+ip4-least
	rx, at := uintptr(unsafe.Pointer(&w.x.Rx)), uintptr(unsafe.Pointer(w.pk))
	// One shift too many makes 0, which is where a full burst ends.
	for bit, end := uint64(1), uint64(1)<<uint(len(b)); bit != end; bit <<= 1 {
		m := uintptr(*u64(rx))
		d := port.Data(m)
		p := (*packet.Packet)(unsafe.Add(nil, at))
		rx += 8
		at += packetSize
		n := port.DataLen(m)
		if n-least > most || *u32(d + packet.OffEtherType)&bareIPv4Mask != bareIPv4 {
			continue
		}
		mid := *u32(d + ip4 + packet.OffFrag) // fragment, TTL, protocol
		if mid&fragmentMask != 0 || mid&ttlMask == 0 || *u64(d)<<16 != mac ||
			uint32(packet.Swap16(*u16(d + ip4 + packet.OffTotalLen)))-shortest > n-ip4-shortest {
			continue
		}
		p.Mbuf, p.Data = m, d
		p.A, p.B = *u64(d + ip4 + packet.OffSrcIP), uint64(*u32(d + l4))|uint64(mid>>24)<<32|packet.KeyUsed
		p.Hash = index.Hash(p.A, p.B)
		p.Bucket = index.BucketOf(p.Hash)
		bare |= bit
	}
	return bare
}

const packetSize = unsafe.Sizeof(packet.Packet{})

// fromKernel passes a burst from a twin to its NIC as it is: the kernel has made these frames for this port.
func (w *Worker) fromKernel(x *port.Exchange) {
	nic := x.From &^ 1
	n := x.RxN
	for i := uint32(0); i < n; i++ {
		w.send(uint8(nic), x.Rx[i&(port.Burst-1)])
	}
	w.counts[packet.ForwardFromKernel] += uint64(n)
}
