package flow

import "sluice/dataplane/packet"

// Closed reports whether the connection is over, so that a SYN of the same tuple opens a new one.
func (s State) Closed() bool { return s&(Reset|Ending) != 0 || s&(SawFIN|PeerFIN) == SawFIN|PeerFIN }

// String is the state in an operator's words.
func (s State) String() string {
	switch {
	case s&Ending != 0:
		return "ending"
	case s&Reset != 0:
		return "reset"
	case s.Closed():
		return "closed"
	case s&(SawFIN|PeerFIN) != 0:
		return "closing"
	case s.HalfOpen():
		return "opening"
	}
	return "established"
}

// HalfOpen reports whether the handshake is not finished.
func (s State) HalfOpen() bool { return s&Opening != 0 }

// Track takes note of the TCP flags of a packet of e; flags is 0 for other protocols. Only SYN, FIN and RST, and packets before the
// handshake is finished, go further than one test.
func (t *Table) Track(e *Entry, flags uint8) {
	if flags&(packet.SYN|packet.FIN|packet.RST)|uint8(e.State&Opening) != 0 {
		t.track(e, flags)
	}
}

// track brings both entries up to date. A handshake is finished when the side that answered a SYN with its own has had
// an answer without SYN: so a forged SYN, which a server answers, does not pass for a connection.
func (t *Table) track(e *Entry, flags uint8) {
	var own, peers, clear State
	if flags&packet.SYN != 0 {
		own, peers = own|SawSYN, peers|PeerSYN
	}
	if flags&packet.FIN != 0 {
		own, peers = own|SawFIN, peers|PeerFIN
	}
	if flags&packet.RST != 0 {
		own, peers = own|Reset, peers|Reset
	}
	if flags&(packet.SYN|packet.ACK) == packet.ACK && e.State&(Opening|PeerSYN) == Opening|PeerSYN && e.Kind&KindReverse == 0 {
		clear = Opening
	}
	if e.State&own == own && clear == 0 {
		return // seen before: the peer knows
	}
	e.State = e.State&^clear | own
	if peer := t.Peer(e); peer != nil {
		peer.State = peer.State&^clear | peers
	}
}
