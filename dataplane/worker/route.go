package worker

import (
	"math/bits"

	"sluice/dataplane/flow"
	"sluice/dataplane/packet"
	"sluice/dataplane/table"
)

// route gives translated packets their next hop: forwarding table, neighbor, then both MACs and the lane. Packets of known
// flows come here once a generation of the tables; then their entry knows the adjacency.
func route(w *Worker, t *table.Set, b []packet.Packet) {
	for m := w.outgoing; m != 0; m &= m - 1 {
		w.route(t, &b[bits.TrailingZeros64(m)&(packet.Burst-1)])
	}
}

func (w *Worker) route(t *table.Set, p *packet.Packet) {
	if p.Flags&packet.FlagBack != 0 {
		w.sendBack(t, p)
		return
	}
	dst, outer := *u32(p.Data + uintptr(p.L3) + packet.OffDstIP), uint64(0)
	if p.Flags&packet.FlagVia != 0 {
		dst, outer = uint32(p.Bucket>>32), uint64(p.Bucket)
	}
	hop := t.Route(dst, p.Hash)
	if hop == nil {
		p.End(packet.DropNoRoute)
		return
	}
	if p.Flags&packet.FlagOnLink != 0 && hop.Gateway != 0 {
		p.End(packet.DropNotOnLink)
		return
	}
	if uint32(outer) != 0 && !w.enclose(p, hop.Port, outer) {
		return
	}
	next := hop.Next(dst)
	i, ok := t.Neighbor(hop.Port, next)
	if !ok {
		p.End(w.hold(p, hop.Port, next))
		return
	}
	a := t.Adjacency(i)
	if p.Flags&packet.FlagOnLink != 0 && loops(p.Data, a) {
		p.End(packet.DropLoop) // no hop is taken from its TTL, so it would go round for ever
		return
	}
	w.resolved(p, dst, i, t.Gen)
	if p.L3Len > a.MTU {
		p.End(w.tooLong(p, a.MTU))
		return
	}
	setMACs(p.Data, a)
	p.Out = uint8(a.Lane)
	p.End(p.Reason)
}

func setMACs(d uintptr, a *table.Adjacency) {
	*u64(d) = a.MACs
	*u32(d + 8) = a.Rest
}

// resolved notes the adjacency in p's flow, so that its packets need no route in this generation of the tables. Two kinds of
// flows keep no generation and come here with each packet: those whose handshake is not over, since there is more to do
// with their packets, and those of protocols without ports, since keys takes any first bytes for ports. The entry is found by
// key, not kept since the flow was found: it may have been removed. It may be that of another flow by now, if
// the burst closed p's and opened one of the same tuple to another server: so it must lead to dst.
func (w *Worker) resolved(p *packet.Packet, dst uint32, adjacency, gen uint16) {
	e := w.flows.Find(w.flows.BucketOf(p.Hash), p.A, p.B)
	if e != nil && e.Gen != flow.GenLink && uint32(e.Addrs>>32) == dst && e.State&flow.Opening == 0 && p.Class != packet.ClassOtherIP {
		e.Adj, e.Gen = adjacency, gen
		if e.Kind&flow.KindRedirect != 0 {
			e.Gen = gen | flow.GenRedirect
		}
	}
}
