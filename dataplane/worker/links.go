package worker

import (
	"sluice/dataplane/api"
	"sluice/dataplane/flow"
	"sluice/dataplane/packet"
	"sluice/dataplane/port"
	"sluice/dataplane/table"
)

// Flows of vservers with -l2Conn are told apart also by the link that their client's packets come by: its MAC address, VLAN and
// port, or what of these counts (L4Param -l2ConnMethod). So a cache or a firewall in the path may send a client's packets on with
// the addresses and ports that they had, and each of the two connections has a flow of its own. What comes back leaves by the
// link of its client, not by a route.
//
// The link's number is part of the key of such flows. Keys of packets have none at first, so that packets of all other flows are
// found as if there were no links; one that is of no flow by then is looked up once more, with its link. With ModeMAC the server's
// answers have the client's addresses and ports as well, and their key has the link of the server's MAC address.

// linkParts are the bits of a link for each combination of api.LinkParts.
var linkParts = [api.LinkAll + 1]flow.Link{
	api.LinkMAC: flow.LinkMAC, api.LinkVLAN: flow.LinkVLAN, api.LinkPort: flow.LinkPort,
	api.LinkMAC | api.LinkVLAN: flow.LinkMAC | flow.LinkVLAN, api.LinkMAC | api.LinkPort: flow.LinkMAC | flow.LinkPort,
	api.LinkVLAN | api.LinkPort: flow.LinkVLAN | flow.LinkPort, api.LinkAll: flow.LinkMAC | flow.LinkVLAN | flow.LinkPort,
}

// exactly is the link that a packet came by.
func exactly(t *table.Set, p *packet.Packet) flow.Link {
	return flow.MakeLink(*u64(p.Data + packet.OffSrcMAC)&macBits, vlanOf(t, p), p.In>>1)
}

// cameBy is what counts of the link that a packet came by.
func (w *Worker) cameBy(t *table.Set, p *packet.Packet) flow.Link {
	return exactly(t, p) & linkParts[t.LinkParts()]
}

// on makes p's key that of a packet of a link.
func (w *Worker) on(p *packet.Packet, number uint16) {
	p.B = flow.OnLink(packet.Key{A: p.A, B: p.B}, number).B
	p.Hash = w.flows.Hash(p.A, p.B)
	p.Bucket = w.flows.BucketOf(p.Hash)
}

// onLink is the entry of packets that come by a link, with a key that has none yet; nil if there is none.
func (w *Worker) onLink(l flow.Link, k packet.Key) *flow.Entry {
	n := w.links.Find(l)
	if n == 0 {
		return nil
	}
	return w.flows.Lookup(flow.OnLink(k, n))
}

// ofLink is the entry of p's flow if that is one of a link, whose key p has then; nil if there is none.
func (w *Worker) ofLink(t *table.Set, p *packet.Packet) *flow.Entry {
	e := w.onLink(w.cameBy(t, p), packet.Key{A: p.A, B: p.B})
	if e != nil {
		w.on(p, flow.LinkOf(e.Key()))
	}
	return e
}

// perLink is balance for a packet to a vserver whose flows are told apart by links.
func (w *Worker) perLink(t *table.Set, p *packet.Packet, v *table.Vserver) (why packet.Reason) {
	n := w.links.Take(w.cameBy(t, p))
	if n == 0 {
		return packet.DropLinksFull
	}
	w.on(p, n)
	goesOn := false
	if e := w.flows.Find(p.Bucket, p.A, p.B); e != nil {
		why, goesOn = w.goesOn(t, p, e)
	}
	if !goesOn {
		why = w.opens(t, p, v)
	}
	w.links.Release(n)
	return why
}

// link makes the entries of p's new flow, whose key is of a link, entries of links: what comes back leaves by the one that p came by.
// rev is nil if nothing does.
func (w *Worker) link(t *table.Set, p *packet.Packet, fwd, rev *flow.Entry) packet.Reason {
	n := flow.LinkOf(fwd.Key())
	if rev == nil {
		fwd.Linked(0, 0)
		w.links.Use(n)
		return packet.NoReason
	}
	server := uint16(0)
	if fwd.Mode() == flow.ModeMAC {
		to := uint32(fwd.Addrs >> 32)
		l, hop, known := linkOf(t, p, to)
		if !known {
			if hop != nil {
				w.held.ask(w, hop.Port, hop.Next(to))
			}
			return packet.DropNeighborUnresolved
		}
		if server = w.links.Take(l); server == 0 {
			return packet.DropLinksFull
		}
		rev.B = flow.OnLink(rev.Key(), server).B
	}
	back := w.links.Take(exactly(t, p))
	if back == 0 {
		w.links.Release(server)
		return packet.DropLinksFull
	}
	w.links.Use(n)
	fwd.Linked(0, server)
	rev.Linked(back, n)
	return packet.NoReason
}

// linkOf is what counts of the link by which packets of a host come that bear p's tag, if the MAC address of its neighbor is known. The
// hop leads to the host; it is nil if there is no route.
func linkOf(t *table.Set, p *packet.Packet, host uint32) (l flow.Link, hop *table.Hop, known bool) {
	if hop = t.Route(host, p.Hash); hop == nil {
		return 0, nil, false
	}
	i, known := t.Neighbor(hop.Port, hop.Next(host))
	if !known {
		return 0, hop, false
	}
	return flow.MakeLink(t.Adjacency(i).MACs&macBits, vlanBy(t, p, hop.Port), uint8(hop.Port)) & linkParts[t.LinkParts()], hop, true
}

// unlink gives back the links of a flow that has left the table or did not come into it.
func (w *Worker) unlink(fwd, rev *flow.Entry) {
	if fwd != nil && fwd.Gen == flow.GenLink {
		w.links.Release(flow.LinkOf(fwd.Key()))
	}
	if rev != nil && rev.Gen == flow.GenLink {
		w.links.Release(flow.LinkOf(rev.Key()))
		w.links.Release(rev.Adj)
	}
}

// linkBack is the link by which what comes back in the flow of e leaves; 0 if that is its route.
func (w *Worker) linkBack(e *flow.Entry) uint16 {
	if e.Gen == flow.GenLink {
		if back := w.flows.Peer(e); back != nil {
			return back.Adj
		}
	}
	return 0
}

// goesBack has p, which is translated by e, leave by e's link if it has one.
func goesBack(p *packet.Packet, e *flow.Entry) {
	if e.Gen == flow.GenLink && e.Adj != 0 {
		p.Flags |= packet.FlagBack
		p.Bucket = uintptr(e.Adj)
	}
}

// sendBack is route for a packet that leaves by a link.
func (w *Worker) sendBack(t *table.Set, p *packet.Packet) {
	link := uint16(p.Bucket)
	a := w.adjacent(link)
	if p.L3Len > a.MTU {
		p.End(w.tooLong(p, a.MTU))
		return
	}
	setMACs(w.retag(p.Mbuf, p.Data, w.vlanTag(t, link)), a)
	p.Out = uint8(a.Lane)
	p.End(p.Reason)
}

// adjacent is the next hop of packets that leave by a link; it holds until the next call.
func (w *Worker) adjacent(link uint16) *table.Adjacency {
	l, a := w.links.Link(link), &w.back
	out := l.Port() & (port.MaxLanes/2 - 1)
	mac := w.macs[out]
	*a = table.Adjacency{MACs: l.MAC() | mac<<48, Rest: uint32(mac >> 16), Lane: uint16(port.NICLane(int(out))), MTU: 1<<16 - 1}
	if int(out) < len(w.opt.Ports) && w.opt.Ports[out].MTU != 0 {
		a.MTU = w.opt.Ports[out].MTU
	}
	return a
}

// vlanTag is the VLAN that frames bear which leave by a link; 0: none, since it is the one of its port's untagged frames.
func (w *Worker) vlanTag(t *table.Set, link uint16) uint16 {
	l := w.links.Link(link)
	if v := l.VLAN(); v != t.PortVLAN(uint16(l.Port())) {
		return v
	}
	return 0
}

// retag gives the frame in mbuf m, which begins at d, the tag of a VLAN, or none if that is 0, and returns where it begins then; its MAC
// addresses are yet to be written. The priority of a tag that is replaced stays.
func (w *Worker) retag(m, d uintptr, vlan uint16) uintptr {
	tagged := *u16(d + packet.OffEtherType) == packet.Swap16(packet.EtherVLAN)
	switch {
	case tagged && vlan == 0:
		port.Strip(m, packet.VLANLen)
		return d + packet.VLANLen
	case vlan == 0:
		return d
	case tagged:
		vlan |= packet.Swap16(*u16(d + packet.OffTCI)) &^ 0xfff
	default:
		port.Prepend(m, packet.VLANLen)
		d -= packet.VLANLen
		*u16(d + packet.OffEtherType) = packet.Swap16(packet.EtherVLAN)
	}
	*u16(d + packet.OffTCI) = packet.Swap16(vlan)
	return d
}
