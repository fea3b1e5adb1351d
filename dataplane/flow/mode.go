package flow

import "sluice/dataplane/packet"

// Mode is how packets of a flow are sent to the server. The numbers are those of management (api.Mode).
type Mode uint8

const (
	// ModeIP: addresses and ports are translated, both ways.
	ModeIP Mode = iota
	// ModeMAC: packets stay as they are, in frames to the server. What comes back this way is sent to the client as it is.
	ModeMAC
	// ModeTOS: the server's address takes the place of the VIP, for which the DSCP stands then. There is no way back through here.
	ModeTOS
	// ModeTunnel: packets are put into packets from one of our addresses to the server. There is no way back through here.
	ModeTunnel
)

// GenRedirect is set in Entry.Gen where KindRedirect is set in Kind, so that no such entry passes for one whose packets are
// translated; generations stay below it.
const GenRedirect = 1 << 15

// Redirect makes e the entry whose packets of key k are sent to an address as m says, all else in it 0. source is what the outer
// packets of a tunnel come from, dscp what a ModeTOS packet bears, as it lies in the TOS byte.
//
// Of the Rewrite, whose deltas such packets do not need, Addrs has the address to send to in its upper half and source in the lower,
// IPDelta has mode and DSCP, and L4Delta what replacing the destination adds to a sum, or packet.TunnelSum.
func (e *Entry) Redirect(k packet.Key, m Mode, to, source uint32, dscp uint8) {
	*e = Entry{A: k.A, B: k.B, Kind: KindRedirect, Pseudo: packet.PseudoSum(k.A, uint8(k.B>>32))}
	e.Addrs, e.Ports = uint64(source)|uint64(to)<<32, uint32(k.B)
	e.IPDelta = uint16(m) | uint16(dscp)<<8
	switch m {
	case ModeTOS:
		e.Addrs = k.A&(1<<32-1) | uint64(to)<<32
		e.L4Delta = packet.Fold(packet.Delta32(uint32(k.A>>32), to))
	case ModeTunnel:
		e.L4Delta = packet.TunnelSum(e.Addrs)
	}
}

// Mode is how e's packets are sent.
func (e *Entry) Mode() Mode {
	if e.Kind&KindRedirect == 0 {
		return ModeIP
	}
	return Mode(e.IPDelta)
}

// DSCP is what packets of ModeTOS bear, as it lies in the TOS byte.
func (e *Entry) DSCP() uint8 { return uint8(e.IPDelta >> 8) }

// Result is the key that e's packets have when they are sent; that of a tunnel's is the inner one.
func (e *Entry) Result(proto uint8) packet.Key {
	if m := e.Mode(); m == ModeMAC || m == ModeTunnel {
		return e.Key()
	}
	return e.Rewrite.Result(proto)
}

// Presumed is what is taken to be known of the server's side of a TCP connection of which only the client's may come by here: that
// the server answers the SYN, and has nothing to say any more once the client has not.
const Presumed = PeerSYN | PeerFIN

// PresumedBack is Presumed in the entry of what comes back.
const PresumedBack = SawSYN | SawFIN

// Phase is what the operator is told of the state of e's TCP connection.
func (e *Entry) Phase() string {
	s := e.State
	if e.Kind&KindRedirect != 0 && !s.Closed() {
		s &^= SawFIN | PeerFIN
	}
	return s.String()
}
