package worker

import (
	"sluice/dataplane/flow"
	"sluice/dataplane/packet"
)

// A dataplane that starts anew knows nothing of the ports that it gave out before, and servers remember closed connections for a
// minute or more (TIME-WAIT, RFC 9293 3.6.1). A SYN from the port of such a one they answer with an acknowledgment of the old
// connection, which the client resets; its next SYN a second later must not meet the neighbor of that port, which is as old.

// stale tells whether a packet of e with these TCP flags says that its server knows an older connection of the same tuple: an
// acknowledgment and no SYN, where the server has not sent one before.
func stale(e *flow.Entry, flags uint8) bool {
	return e.Kind&(flow.KindReverse|flow.KindRedirect) == flow.KindReverse && e.State&(flow.Opening|flow.SawSYN) == flow.Opening &&
		flags&(packet.SYN|packet.ACK|packet.RST) == packet.ACK
}

// evade has new flows to e's server come from ports far from e's.
func (w *Worker) evade(e *flow.Entry) {
	w.counts[staleConnections]++
	k := e.Server()
	if own := e.Kind&flow.KindPool != 0; own || uint16(k.B) != uint16(e.Client().B) {
		w.pools.LeapOf(k, own)
	}
}
