package worker

import (
	"sluice/dataplane/packet"
	"sluice/dataplane/port"
)

// tooLong ends a translated packet that does not fit the outgoing port: its sender is told which size does, since path MTU
// discovery (RFC 1191) waits for that. Packets that may be fragmented are dropped, for nothing is fragmented here.
func (w *Worker) tooLong(p *packet.Packet, mtu uint16) packet.Reason {
	tokens := &w.police.tokens[packet.ReplyFragNeeded]
	if *tokens == 0 || p.Class != packet.ClassPlain && p.Class != packet.ClassOtherIP {
		return packet.DropFrameTooLong // no error about an ICMP error: RFC 1122 section 3.2.2
	}
	n := packet.AnswerTooLong(p, w.mac, mtu)
	if n == 0 {
		return packet.DropFrameTooLong
	}
	*tokens--
	port.SetLen(p.Mbuf, n)
	p.Out = p.In
	return packet.ReplyFragNeeded
}
