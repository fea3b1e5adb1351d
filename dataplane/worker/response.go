package worker

import (
	"sluice/dataplane/flow"
	"sluice/dataplane/packet"
)

// Response times are for LEASTRESPONSETIME, so only flows of its vservers are timed, once each. The time of the request waits
// in the entry of the way back, in place of the bytes that have not come yet. That entry has no generation of adjacencies before
// its first packet, which therefore comes to known and not to hits.

// asked notes the time at which a new flow's first packet goes to the server.
func (w *Worker) asked(e *flow.Entry) {
	if back := w.flows.Peer(e); back != nil {
		back.Kind |= flow.KindAsked
		back.Bytes = w.opt.Cycles()
	}
}

// answered takes the time to the first packet from the server. A refusal is no answer: a server that quickly says no must not
// pass for a quick one.
func (w *Worker) answered(p *packet.Packet, e *flow.Entry) {
	if p.TCPFlags&packet.RST == 0 {
		w.lb.Answered(e.Service, uint64(max(int64(w.opt.Cycles()-e.Bytes), 0)))
	}
	e.Kind &^= flow.KindAsked
	e.Bytes = 0
}
