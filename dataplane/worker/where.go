package worker

import (
	"cmp"

	"sluice/dataplane/api"
	"sluice/dataplane/flow"
	"sluice/dataplane/packet"
	"sluice/dataplane/table"
)

// Where is a question, what would become of a packet, and a worker's answer to it by its tables and flows of one moment. The
// packet is the first of its flow, of TCP a SYN; it is whole and short, came untagged by the port toward its source, to the MAC
// address of that port, and has hops left.
//
// Answering changes nothing: no count, no turn of a method, no port, no place. What decides about packets decides here: the
// lookups, lb.State.Choose, source, reopens, destined. Only their order is written down twice, in the stages and here; the test
// TestWhereForetells plays both against each other.
type Where struct {
	Key packet.Key // of the packet

	Answered bool
	Reason   packet.Reason // under which the packet would be counted
	Vserver  uint32        // ID of the vserver that takes it; 0 if none does
	Service  uint32        // ID of the service that gets it; 0 if none does
	To       packet.Key    // the packet's key as it is sent; B is 0 if there is none
	Pool     bool          // its source port is from the port pool of the SNIP
	Via      flow.Entry    // with a mode other than ModeIP: how it is sent, with a flow or without; B is 0 if not

	// The flow, if there is one: B of Entry is 0 if not.
	Entry   flow.Entry
	Peer    flow.Entry // of the other direction
	Idle    uint32     // ticks since the last packet of either direction
	Limit   uint32     // ticks of silence after which it ends
	Reopens bool       // the packet opens a new connection in its place

	// The next hop, if To has a route: MTU is 0 if not.
	Port    uint16
	Gateway uint32 // 0: To's destination itself is the next hop
	MTU     uint16 // of the port; 0xffff: whatever an IP packet may have
	Next    uint32 // the next hop
	MAC     uint64 // its MAC address, 0: not known

	p                packet.Packet
	goneFwd, goneRev *flow.Entry // of the flow that Reopens ends
}

// Ask has the worker answer q at its next turn, and wakes it. The answer is there when the ticket has passed (see Passed) and
// q.Answered is true: tables that are published before it has passed put the question out.
func (w *Worker) Ask(q *Where) (ticket uint64) {
	return w.publish(func(p *published) { p.ask = q })
}

// answer answers q between two bursts: a bounded number of lookups, as for one packet of a new flow.
func (q *Where) answer(w *Worker, t *table.Set) {
	p := &q.p
	p.A, p.B = q.Key.A, q.Key.B
	p.Hash = w.flows.Hash(p.A, p.B)
	if p.Proto() == packet.ProtoTCP {
		p.TCPFlags = packet.SYN
	}
	if hop := t.Route(p.Src(), p.Hash); hop != nil {
		p.In = uint8(2 * hop.Port)
	}
	q.Reason = q.balance(w, t, p)
	if q.Reason.Verdict() == packet.Transmit && q.Reason != packet.ReplyReset && q.Reason != packet.ForwardToMaster {
		q.Reason = q.route(w, t)
	}
	q.Answered = true
}

// balance finds the flow or what would become one.
func (q *Where) balance(w *Worker, t *table.Set, p *packet.Packet) packet.Reason {
	if e := q.known(w, t); e != nil {
		q.flow(w, e)
		if p.Proto() != packet.ProtoTCP || !reopens(t, p.TCPFlags, e) {
			q.To, q.Pool = e.Result(p.Proto()), e.Kind&flow.KindPool != 0
			if e.Kind&flow.KindRedirect != 0 {
				q.Via = *e
			}
			q.Vserver, q.Service = w.accounts.at(e.Account).Vserver, e.Service
			return packet.ForwardFlow
		}
		q.Reopens, q.goneFwd, q.goneRev = true, e, w.flows.Peer(e)
	}
	if groupAddress(p.Dst()) {
		return w.police.says(packet.PuntGroup)
	}
	own := t.Own(p.Dst())
	if uint8(own>>table.OwnVRID) != 0 && own&table.OwnKind == table.OwnVIP {
		if why, yields := w.yield(t, p, own); yields {
			return cmp.Or(why, packet.ForwardToMaster)
		}
	}
	if why := destined(t, p, own); why != packet.NoReason {
		if why.Verdict() == packet.Punt {
			why = w.police.says(why)
		}
		return why
	}
	v, why := w.vserver(t, p)
	if v == nil {
		return why
	}
	q.Vserver = v.ID
	v, why = w.effective(t, v, p.A, q)
	if v == nil {
		if resets(t, p, why) {
			why = packet.ReplyReset
		}
		return why
	}
	q.Vserver = v.ID
	if v.Persists {
		q.Service = w.foretold(t, v, p.A)
	}
	if q.Service == 0 {
		a, b := p.A, p.B
		if v.TokenLength != 0 {
			a, b = untold(a, b) // nobody knows what the datagram carries
		}
		q.Service, _ = w.lb.Choose(t, v, a, b)
	}
	if q.Service == 0 || w.queued(v) || !w.lb.Admits(t.Service(q.Service)) {
		q.Service = 0
		return w.wouldWait(t, v, p)
	}
	if v.Mode() != api.ModeIP {
		return q.redirected(w, t, v)
	}
	to, kind, why := w.source(t, p, t.Service(q.Service), q)
	if why != packet.NoReason {
		return why
	}
	if why = refused(w.flows.May(q.Key, to.Reverse(), q.goneFwd, q.goneRev)); why != packet.NoReason {
		return why
	}
	q.To, q.Pool = to, kind&flow.KindPool != 0
	return packet.ForwardNewFlow
}

// known is the flow of the packet; of flows that a link tells apart that of its source's neighbor.
func (q *Where) known(w *Worker, t *table.Set) *flow.Entry {
	if e := w.flows.Lookup(q.Key); e != nil || w.links.Len() == 0 {
		return e
	}
	l, _, known := linkOf(t, &q.p, q.p.Src())
	if !known {
		return nil
	}
	return w.onLink(l, q.Key)
}

// redirected is balance for a vserver whose packets are not translated both ways.
func (q *Where) redirected(w *Worker, t *table.Set, v *table.Vserver) packet.Reason {
	if why := redirection(t, &q.p, v, t.Service(q.Service), &q.Via); why != packet.NoReason {
		return why
	}
	q.To = q.Via.Result(q.p.Proto())
	if v.Sessionless() {
		return packet.ForwardSessionless
	}
	back := q.To.Reverse()
	if v.Mode() != api.ModeMAC {
		back = packet.Key{} // there is none
	}
	if why := refused(w.flows.May(q.Key, back, q.goneFwd, q.goneRev)); why != packet.NoReason {
		q.To, q.Via = packet.Key{}, flow.Entry{}
		return why
	}
	return packet.ForwardNewFlow
}

// flow notes what is known of a flow.
func (q *Where) flow(w *Worker, e *flow.Entry) {
	q.Entry = *e
	q.Idle = flow.Idle(w.now, e.Last)
	if peer := w.flows.Peer(e); peer != nil {
		q.Peer = *peer
		q.Idle = min(q.Idle, flow.Idle(w.now, peer.Last))
	}
	q.Limit = w.flows.Limits.Of(e, w.IdleLimit(e))
}

// route finds the next hop.
func (q *Where) route(w *Worker, t *table.Set) packet.Reason {
	dst := uint32(q.To.A >> 32)
	if q.Via.B != 0 {
		dst = uint32(q.Via.Addrs >> 32)
	}
	hop := t.Route(dst, q.p.Hash)
	if hop == nil {
		return packet.DropNoRoute
	}
	if hop.Gateway != 0 && q.Via.Mode() == flow.ModeMAC && q.Via.Kind&flow.KindReverse == 0 {
		return packet.DropNotOnLink
	}
	next := hop.Next(dst)
	q.Port, q.Gateway, q.Next, q.MTU = hop.Port, hop.Gateway, next, w.opt.Ports[hop.Port].MTU
	if q.MTU == 0 {
		q.MTU = 1<<16 - 1
	}
	i, known := t.Neighbor(hop.Port, next)
	if !known {
		if h := w.held.place(hop.Port, next); h == nil || h.n == heldPackets {
			return packet.DropHoldFull
		}
		return packet.HeldNeighbor
	}
	q.MAC = t.Adjacency(i).MACs & macBits
	return q.Reason
}
