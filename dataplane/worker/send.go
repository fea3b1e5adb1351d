package worker

import (
	"math/bits"

	"sluice/dataplane/packet"
	"sluice/dataplane/port"
)

// end hands the packets of the burst on by their verdicts and counts each under its reason, once. Those that established has
// sent and counted are not among them.
func (w *Worker) end(b []packet.Packet) {
	for m := w.rest; m != 0; m &= m - 1 {
		p := &b[bits.TrailingZeros64(m)&(packet.Burst-1)]
		w.counts[p.Reason]++
		switch p.Verdict {
		case packet.Transmit:
			w.send(p.Out, p.Mbuf)
		case packet.Punt:
			w.send(p.In|1, p.Mbuf)
		case packet.Held:
		default:
			x := w.x
			x.Free[x.FreeN&(port.FreeRoom-1)] = p.Mbuf
			x.FreeN++
		}
	}
}

// send queues a packet on a lane for the next turn. A burst always fits: see room.
func (w *Worker) send(lane uint8, m uintptr) {
	x := w.x
	l := lane & (port.MaxLanes - 1)
	x.Tx[l][x.TxN[l]&(port.TxRoom-1)] = m
	x.TxN[l]++
}

// turnBursts is how many bursts one turn decides about at most: one of the ports, and as many packets from other workers.
const turnBursts = 2

// room says whether a lane can take a packet beside those of the turn: held packets must leave their room.
func (w *Worker) room(lane uint8) bool {
	return w.x.TxN[lane&(port.MaxLanes-1)] < port.TxRoom-turnBursts*port.Burst
}

// discard frees a packet outside the burst and reports whether there was room to.
func (w *Worker) discard(m uintptr, why packet.Reason) bool {
	x := w.x
	if x.FreeN >= port.FreeRoom-turnBursts*port.Burst {
		return false
	}
	x.Free[x.FreeN&(port.FreeRoom-1)] = m
	x.FreeN++
	w.counts[why]++
	return true
}
