package worker

import (
	"sluice/dataplane/flow"
	"sluice/dataplane/packet"
	"sluice/dataplane/table"
)

// icmp answers pings to virtual addresses and carries errors about flows to the flow's other side, which path MTU discovery
// needs (RFC 5508 section 4). own is what the destination is to us: with usip an error comes to the client's address.
func (w *Worker) icmp(t *table.Set, p *packet.Packet, own uint64) packet.Reason {
	kind := own & table.OwnKind
	if kind == table.OwnVIP && martian(p) {
		return packet.DropMartian
	}
	e, why, ok := packet.ParseICMPError(p)
	if ok {
		return w.icmpError(t, p, &e, kind)
	}
	switch kind {
	case table.OwnSNIP, table.OwnNSIP:
		return w.punt(packet.PuntLocal)
	case table.OwnVIP:
	default:
		return packet.DropNotForUs
	}
	if why != packet.NoReason {
		return why
	}
	if !packet.ICMPEchoRequest(p) {
		return packet.DropICMPUnhandled
	}
	if own&table.OwnICMP == 0 {
		return packet.DropICMPDisabled
	}
	if !packet.HeaderSumOK(p) {
		return packet.DropBadIPChecksum
	}
	if !packet.AnswerEcho(p, w.mac) {
		return packet.DropBadICMP
	}
	p.Out = p.In
	return packet.ReplyICMPEcho
}

// quoted is the entry of the flow that the error p is about; nil if there is none.
func (w *Worker) quoted(t *table.Set, p *packet.Packet, e *packet.ICMPError) *flow.Entry {
	f := w.flows.Lookup(e.Reply)
	if f == nil && w.links.Len() != 0 {
		f = w.onLink(w.cameBy(t, p), e.Reply)
	}
	return f
}

// icmpError translates an error about a flow, or ends it. NoReason with p.Reason set means that p goes to route.
func (w *Worker) icmpError(t *table.Set, p *packet.Packet, e *packet.ICMPError, kind uint64) packet.Reason {
	f := w.quoted(t, p, e)
	if f == nil {
		switch kind {
		case table.OwnSNIP, table.OwnNSIP:
			return w.punt(packet.PuntLocal) // about a connection of the kernel's own
		case table.OwnVIP:
			return packet.DropICMPNoFlow
		}
		return packet.DropNotForUs
	}
	if expires(p, f.Mode()) {
		return packet.DropTTLExpired
	}
	if !packet.HeaderSumOK(p) {
		return packet.DropBadIPChecksum
	}
	if f.Kind&flow.KindRedirect != 0 { // whoever is to hear of it knows the packet as it is quoted
		redirect(p, f, false)
	} else {
		packet.TranslateICMPError(p, e, &f.Rewrite)
	}
	goesBack(p, f)
	p.Reason = packet.ForwardICMPError
	return packet.NoReason
}
