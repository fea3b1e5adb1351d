package worker

import "sluice/dataplane/packet"

// Ends are the two ends of the packets that somebody asks for, in memory order as in a packet.Key. 0 is any.
type Ends struct {
	Src, Dst         uint32
	SrcPort, DstPort uint16
	Proto            uint8
}

// all says whether every packet is asked for, whatever it is.
func (x *Ends) all() bool { return *x == Ends{} }

// match says whether packets with this key are asked for; the other direction has a key of its own.
func (x *Ends) match(k packet.Key) bool {
	return (x.Src == 0 || x.Src == uint32(k.A)) && (x.Dst == 0 || x.Dst == uint32(k.A>>32)) &&
		(x.SrcPort == 0 || x.SrcPort == uint16(k.B)) && (x.DstPort == 0 || x.DstPort == uint16(k.B>>16)) &&
		(x.Proto == 0 || x.Proto == uint8(k.B>>32))
}
