package worker

import (
	"sluice/dataplane/api"
	"sluice/dataplane/flow"
	"sluice/dataplane/packet"
	"sluice/dataplane/table"
)

// Wildcard vservers take packets that come to our MAC address and are for an address that is not ours, as routers send them that
// have us for a gateway. Whatever is for an address of ours is not theirs: local has decided about it before, so that SSH, VRRP,
// BGP, ARP and the answers to monitors go to the kernel whatever wildcards there are, and a port of a VIP on which nobody
// listens stays closed.
//
// They are looked up where specific vservers are, in balance, and not in a stage of their own as design.md 3 has it: both ask for
// the same packets, those without a flow, and what is found has to be passed on to nobody.

// vserver finds who takes p: a vserver on its destination, or a wildcard if that is not ours. It is nil, with the reason to drop p,
// if nobody does.
func (w *Worker) vserver(t *table.Set, p *packet.Packet) (*table.Vserver, packet.Reason) {
	if v := t.Vserver(p.Dst(), uint16(p.B>>16), p.Proto()); v != nil {
		return v, packet.NoReason
	}
	if t.Own(p.Dst())&table.OwnKind != 0 {
		return nil, packet.DropNoVserver
	}
	if v := t.Wildcard(p.A, p.B, vlanOf(t, p)); v != nil {
		return v, packet.NoReason
	}
	return nil, packet.DropNotForUs
}

// vlanOf is the VLAN by which a packet came in: that of its tag, or of its port if it has none or one of priority only (IEEE
// 802.1Q, VLAN 0).
func vlanOf(t *table.Set, p *packet.Packet) uint16 { return vlanBy(t, p, uint16(p.In>>1)) }

// vlanBy is the VLAN of p by a port.
func vlanBy(t *table.Set, p *packet.Packet, port uint16) uint16 {
	if id := p.VLAN() & 0xfff; id != 0 {
		return id
	}
	return t.PortVLAN(port)
}

// forWildcard lets through what a wildcard may take.
func forWildcard(t *table.Set, p *packet.Packet) packet.Reason {
	if !t.HasWildcards() {
		return packet.DropNotForUs
	}
	return forVIP(p)
}

// foreignOwner is the worker that owns the flow of a packet from one foreign address to another, which came in by a VLAN; self if
// any may have it:
//
//   - What a service answers to its client's own address (usip), or a server behind ModeMAC in the name of a VIP: by that address.
//   - What a wildcard takes whose packets are translated: by the client's as well, which is then the source.
//   - What one takes with ModeMAC, or nobody, which may be an answer to that: by both ends, so that both ways have one owner.
//   - What one takes that keeps no flows: whoever has it.
func foreignOwner(t *table.Set, k packet.Key, vlan uint16, workers, self uint32) uint32 {
	source, destination := flow.OwnerByClient(uint32(k.A), uint16(k.B), workers), flow.OwnerByClient(uint32(k.A>>32), uint16(k.B>>16), workers)
	if !t.HasWildcards() || t.Own(uint32(k.A))&table.OwnKind != 0 || t.AnswersClients(uint32(k.A), uint16(k.B), uint8(k.B>>32)) {
		return destination
	}
	switch v := t.Wildcard(k.A, k.B, vlan); {
	case v == nil, v.Mode() == api.ModeMAC && !v.Sessionless():
		return source ^ destination
	case v.Sessionless():
		return self
	}
	return source
}
