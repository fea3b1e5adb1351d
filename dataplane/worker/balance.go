package worker

import (
	"math/bits"

	"sluice/dataplane/api"
	"sluice/dataplane/flow"
	"sluice/dataplane/packet"
	"sluice/dataplane/table"
)

// balance opens a flow for each packet that is still open: it finds the vserver, has a service chosen, takes a source port,
// writes both entries of the flow and translates the packet, which then wants a next hop.
func balance(w *Worker, t *table.Set, b []packet.Packet) {
	if w.open != 0 && t.Persist() {
		w.fetchSessions(t, b)
	}
	for m := w.open; m != 0; m &= m - 1 {
		i := bits.TrailingZeros64(m)
		p := &b[i]
		if why := w.balance(t, p); why != packet.NoReason {
			p.End(why)
			continue
		}
		if p.Verdict == packet.Undecided {
			w.outgoing |= 1 << uint(i)
		}
	}
	w.open = 0
}

// Source ports of flows that keep their client's address but not its port (usip with useproxyport). The address is not ours,
// so the split with the kernel's ports on SNIPs does not apply.
const (
	proxyPortLo = 1024
	proxyPortHi = 65535
)

// maxPools is how many pairs of SNIP and server address can have ports out at once, 1 port pool each.
const maxPools = 1 << 14

// balance returns why p ends here, or NoReason if it goes on to route.
func (w *Worker) balance(t *table.Set, p *packet.Packet) packet.Reason {
	// A packet of the same burst may have opened the flow, and another one closed it again.
	if e := w.flows.Find(p.Bucket, p.A, p.B); e != nil {
		if why, of := w.goesOn(t, p, e); of {
			return why
		}
	}
	v, why := w.vserver(t, p)
	if v == nil {
		return why
	}
	if v.PerLink() {
		return w.perLink(t, p, v)
	}
	return w.opens(t, p, v)
}

// goesOn is balance for a packet of a known flow; of is false if it opens another one in its place.
func (w *Worker) goesOn(t *table.Set, p *packet.Packet, e *flow.Entry) (why packet.Reason, of bool) {
	if expires(p, e.Mode()) {
		return packet.DropTTLExpired, true
	}
	if e.State&flow.Ending != 0 && !reopens(t, p.TCPFlags, e) {
		return w.refuse(p), true
	}
	if p.Proto() == packet.ProtoTCP && !w.tcp(t, p, e) {
		return packet.NoReason, false
	}
	if !w.complete(p) {
		return p.Reason, true
	}
	return w.first(p, e, packet.ForwardFlow), true
}

// opens is balance for a packet to v that is of no known flow.
func (w *Worker) opens(t *table.Set, p *packet.Packet, v *table.Vserver) packet.Reason {
	if expires(p, flow.Mode(v.Mode())) {
		return packet.DropTTLExpired
	}
	if !packet.HeaderSumOK(p) {
		return packet.DropBadIPChecksum
	}
	if v.Sessionless() {
		if !w.complete(p) {
			return p.Reason
		}
		return w.sessionless(t, p, v)
	}
	if p.Proto() == packet.ProtoTCP && p.TCPFlags&(packet.SYN|packet.ACK|packet.RST|packet.FIN) != packet.SYN {
		return packet.DropNoFlow
	}
	if !w.complete(p) {
		return p.Reason
	}
	v, why := w.effective(t, v, p.A, nil)
	if v == nil {
		return w.turnedAway(t, p, why)
	}
	s, why := w.pick(t, v, p)
	if s == nil {
		return why
	}
	e, why := w.openFlow(t, p, v, s)
	if why != packet.NoReason {
		return why
	}
	w.opened(e)
	if api.Method(v.Method) == api.LeastResponseTime {
		w.asked(e)
	}
	return w.first(p, e, packet.ForwardNewFlow)
}

// choose returns the service of the client's session, or has one chosen; 0 if none is up.
func (w *Worker) choose(t *table.Set, v *table.Vserver, p *packet.Packet) (id uint32) {
	if v.Persists {
		if id = w.remembered(t, v, p.A); id != 0 {
			return id
		}
	}
	a, b := w.hashKey(t, v, p)
	if id = w.lb.Pick(t, v, a, b); id != 0 && v.Persists {
		id = w.remember(t, v, p.A, id)
	}
	return id
}

// first translates a packet, whose checksum is complete, and leaves it to route.
func (w *Worker) first(p *packet.Packet, e *flow.Entry, why packet.Reason) packet.Reason {
	rewrite(p, e)
	w.count(e, p)
	p.Reason = why
	return packet.NoReason
}

// openFlow writes the entries of a new flow.
func (w *Worker) openFlow(t *table.Set, p *packet.Packet, v *table.Vserver, s *table.Service) (*flow.Entry, packet.Reason) {
	w.accounts.fetch(v.ID, s.ID)
	if v.Mode() != api.ModeIP {
		return w.openRedirect(t, p, v, s)
	}
	key := packet.Key{A: p.A, B: p.B}
	to, kind, why := w.source(t, p, s, nil)
	if why != packet.NoReason {
		return nil, why
	}
	var fwd, rev flow.Entry
	fwd.Fill(key, to)
	rev.Fill(to.Reverse(), key.Reverse())
	n := w.accounts.number(v.ID, s.ID)
	fwd.Service, fwd.Account, fwd.Kind, fwd.Last = s.ID, n, kind, w.now
	rev.Service, rev.Account, rev.Kind, rev.Last = s.ID, n+outward, kind|flow.KindReverse, w.now
	fwd.Pseudo, rev.Pseudo = lessHeader(fwd.Pseudo), lessHeader(rev.Pseudo)
	if p.Proto() == packet.ProtoTCP {
		fwd.Kind, rev.Kind = fwd.Kind|flow.KindEvents, rev.Kind|flow.KindEvents
		// What Track would note of the SYN, without looking up the entries that are being written.
		fwd.State, rev.State = flow.Opening|flow.SawSYN, flow.Opening|flow.PeerSYN
	}
	e, why := w.create(t, p, &fwd, &rev)
	if why != packet.NoReason && kind&flow.KindPool != 0 {
		w.pools.ReleaseOf(to)
	}
	return e, why
}

// create puts the entries of p's new flow into the table, both or none; rev is nil if there is no way back.
func (w *Worker) create(t *table.Set, p *packet.Packet, fwd, rev *flow.Entry) (*flow.Entry, packet.Reason) {
	linked := flow.LinkOf(fwd.Key()) != 0
	if linked {
		if why := w.link(t, p, fwd, rev); why != packet.NoReason {
			return nil, why
		}
	}
	e, result := w.flows.Create(fwd, rev)
	if linked && result != flow.Created {
		w.unlink(fwd, rev)
	}
	return e, refused(result)
}

// refused is why there is no new flow, or NoReason if there is.
func refused(r flow.Result) packet.Reason {
	switch r {
	case flow.Full:
		return packet.DropFlowTableFull
	case flow.InUse:
		return packet.DropTupleInUse
	}
	return packet.NoReason
}

// lessHeader takes the 20 bytes of the IP header from a pseudo header sum, so that hits can add the IP total length as it
// lies in the packet instead of the length of TCP or UDP.
func lessHeader(pseudo uint16) uint16 {
	return packet.Fold(uint32(pseudo) + uint32(^packet.Swap16(packet.IPv4Len)))
}

// source chooses the tuple that the server sees. For a question, which is nil otherwise, it takes nothing.
func (w *Worker) source(t *table.Set, p *packet.Packet, s *table.Service, ask *Where) (to packet.Key, kind flow.Kind, why packet.Reason) {
	client, proto := p.Src(), p.Proto()
	port := s.Port
	if port == 0 {
		port = uint16(p.B >> 16) // as the client asked for
	}
	ports := proto == packet.ProtoTCP || proto == packet.ProtoUDP
	if !ports {
		port = 0 // whatever the service's port is: what has no ports comes back without any
	}
	// The tuple's B without the source port, all in memory order.
	b := uint64(port)<<16 | uint64(proto)<<32 | packet.KeyUsed
	server := uint64(s.IP) << 32
	hostPort := packet.Swap16(port)
	if s.Flags&table.UseSourceIP != 0 {
		if s.Flags&table.UseProxyPort == 0 || !ports {
			return packet.Key{A: uint64(client) | server, B: b | uint64(uint16(p.B))}, 0, packet.NoReason
		}
		var q uint16
		var ok bool
		if ask == nil {
			q, ok = w.pools.Probe(w.flows, client, proxyPortLo, proxyPortHi, s.IP, hostPort, proto)
		} else {
			q, ok = w.pools.PeekProbe(w.flows, client, proxyPortLo, proxyPortHi, s.IP, hostPort, proto, ask.goneRev)
		}
		if !ok {
			return to, 0, packet.DropTupleInUse
		}
		return packet.Key{A: uint64(client) | server, B: b | uint64(packet.Swap16(q))}, 0, packet.NoReason
	}
	place := flow.Place(s.IP, s.Port)
	for i := uint32(0); i < s.SNIPs; i++ {
		n := t.SNIP(s, i)
		to.A = uint64(n.IP) | server
		if !ports {
			// Without ports the way back tells one client only per address and protocol.
			to.B = b
			if e := w.flows.Lookup(to.Reverse()); e == nil || ask != nil && e == ask.goneRev {
				return to, 0, packet.NoReason
			}
			continue
		}
		var q uint16
		var ok bool
		if ask == nil {
			q, ok = w.pools.TakeUnused(w.flows, n.IP, place, n.PortLo, n.PortHi, s.IP, hostPort, proto)
		} else {
			q, ok = w.pools.PeekUnused(w.flows, n.IP, place, n.PortLo, n.PortHi, s.IP, hostPort, proto, ask.goneRev)
		}
		if ok {
			to.B = b | uint64(packet.Swap16(q))
			return to, flow.KindPool, packet.NoReason
		}
	}
	if !ports && s.SNIPs > 0 {
		return to, 0, packet.DropTupleInUse
	}
	return to, 0, packet.DropPortPoolExhausted
}
