package worker

import (
	"math/bits"
	"unsafe"

	"sluice/dataplane/packet"
	"sluice/dataplane/port"
	"sluice/dataplane/port/asm"
	"sluice/dataplane/table"
)

// parse finds the flow slots of the burst's packets and has them fetched. A packet of the most common kind gets no more than
// its key here, since a known flow needs no more (see hits): it is left bare, and whoever wants to know all calls inspect.
func parse(w *Worker, _ *table.Set, b []packet.Packet) {
	asm.PrefetchData(unsafe.Pointer(&w.x.Rx[0]), len(b))
	w.open = uint32(1<<uint(len(b)) - 1)
	w.rest = w.open
	w.outgoing = 0
	w.bare = w.keys(b)
	for m := w.open &^ w.bare; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & (packet.Burst - 1)
		w.inspect(i)
		w.slots[i] = w.pk[i].Slot
	}
	asm.PrefetchN(unsafe.Pointer(w.slots), len(b))
}

// inspect describes the i-th frame of the burst and parses it in full.
func (w *Worker) inspect(i int) {
	p, m := &w.pk[i&(packet.Burst-1)], w.x.Rx[i&(port.Burst-1)]
	p.Fill(m, port.Data(m), port.DataLen(m), *u32(m + port.OffPktLen), uint8(w.x.From))
	packet.Parse(p, &w.flows.Index)
}

// In memory order: EtherType IPv4, version 4, header of 20 bytes, whatever the TOS. More Fragments and the offset. A TTL of 2
// at least. The protocols that have ports.
const (
	bareIPv4     = 0x00450008
	bareIPv4Mask = 0x00ffffff
	fragmentMask = 0xff3f
	ttlMask      = 0xfe0000
	withPorts    = 1<<packet.ProtoTCP | 1<<packet.ProtoUDP

	ip4 = packet.EtherLen      // where headers are in a bare frame
	l4  = ip4 + packet.IPv4Len //
)

// keys writes A, B and the slot of untagged TCP and UDP packets without fragments and options, in one segment that holds the
// IP packet and at least 20 bytes behind its header, and returns their mask. It does not look at lengths that TCP or UDP
// give: those of a known flow are their receiver's business, for others inspect does. The loop calls nothing, so that little
// is spilled.
func (w *Worker) keys(b []packet.Packet) (bare uint32) {
	x, index, slots := w.x, &w.flows.Index, w.slots
	for i := range b {
		m := x.Rx[i&(packet.Burst-1)]
		d := port.Data(m)
		n := *u32(m + port.OffPktLen)
		if n != port.DataLen(m) || n < l4+packet.TCPLen || *u32(d + packet.OffEtherType)&bareIPv4Mask != bareIPv4 {
			continue
		}
		mid := *u32(d + ip4 + packet.OffFrag) // fragment, TTL, protocol
		proto := uint64(mid >> 24)
		if mid&fragmentMask != 0 || mid&ttlMask == 0 || proto > 63 || withPorts>>proto&1 == 0 ||
			uint32(packet.Swap16(*u16(d + ip4 + packet.OffTotalLen))) > n-ip4 {
			continue
		}
		ka, kb := *u64(d + ip4 + packet.OffSrcIP), uint64(*u32(d + l4))|proto<<32|packet.KeyUsed
		p := &b[i]
		p.A, p.B = ka, kb
		slots[i&(packet.Burst-1)] = index.SlotOf(index.Hash(ka, kb))
		bare |= 1 << (uint(i) & (packet.Burst - 1))
	}
	return bare
}

// fromKernel passes a burst from a twin to its NIC as it is: the kernel has made these frames for this port.
func (w *Worker) fromKernel(x *port.Exchange) {
	nic := x.From &^ 1
	n := x.RxN
	for i := uint32(0); i < n; i++ {
		w.send(uint8(nic), x.Rx[i&(port.Burst-1)])
	}
	w.counts[packet.ForwardFromKernel] += uint64(n)
}
