package worker

import (
	"unsafe"

	"sluice/dataplane/packet"
	"sluice/dataplane/port"
	"sluice/dataplane/port/asm"
	"sluice/dataplane/table"
)

// parse describes the frames of the burst, looks into each once and has the flow slots fetched while later packets are parsed.
func parse(w *Worker, _ *table.Set, b []packet.Packet) {
	x := w.x
	n := len(b)
	asm.PrefetchData(unsafe.Pointer(&x.Rx[0]), n)
	in := uint8(x.From)
	for i := range b {
		m := x.Rx[i&(packet.Burst-1)]
		b[i].Fill(m, port.Data(m), port.DataLen(m), *u32(m + port.OffPktLen), in)
	}
	packet.ParseBurst(w.pk, n, &w.flows.Index, w.slots)
	asm.PrefetchN(unsafe.Pointer(&w.slots[0]), n)
	w.open = uint32(1<<uint(n) - 1)
	w.outgoing = 0
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
