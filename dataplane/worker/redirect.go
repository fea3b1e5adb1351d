package worker

import (
	"sluice/dataplane/api"
	"sluice/dataplane/flow"
	"sluice/dataplane/packet"
	"sluice/dataplane/table"
)

// What is here sends packets to a server other than by translating them both ways: -m MAC, TOS and IPTUNNEL.

// The numbers of modes are the same to management and to flows.
var _ = [1]struct{}{}[uint8(api.ModeIP^api.Mode(flow.ModeIP))|uint8(api.ModeMAC^api.Mode(flow.ModeMAC))|
	uint8(api.ModeTOS^api.Mode(flow.ModeTOS))|uint8(api.ModeTunnel^api.Mode(flow.ModeTunnel))]

// redirection makes e an entry for packets like p from v to s. It fails for want of an address of ours that a tunnel could come from.
func redirection(t *table.Set, p *packet.Packet, v *table.Vserver, s *table.Service, e *flow.Entry) packet.Reason {
	source := uint32(0)
	if v.Mode() == api.ModeTunnel {
		if s.SNIPs == 0 {
			return packet.DropPortPoolExhausted
		}
		source = t.SNIP(s, 0).IP
	}
	e.Redirect(packet.Key{A: p.A, B: p.B}, flow.Mode(v.Mode()), s.IP, source, v.DSCP)
	return packet.NoReason
}

// openRedirect is openFlow for a vserver whose packets are redirected. Only with ModeMAC may the answers come by here, from a device
// that passes them on or is the server's way back: then they find an entry, too.
func (w *Worker) openRedirect(t *table.Set, p *packet.Packet, v *table.Vserver, s *table.Service) (*flow.Entry, packet.Reason) {
	var fwd, rev flow.Entry
	if why := redirection(t, p, v, s, &fwd); why != packet.NoReason {
		return nil, why
	}
	n := w.accounts.number(v.ID, s.ID)
	fwd.Service, fwd.Account, fwd.Last = s.ID, n, w.now
	fwd.Pseudo = lessHeader(fwd.Pseudo)
	back := &rev
	if fwd.Mode() == flow.ModeMAC {
		k := packet.Key{A: p.A, B: p.B}.Reverse()
		rev.Redirect(k, flow.ModeMAC, p.Src(), 0, 0)
		rev.Service, rev.Account, rev.Last = s.ID, n+outward, w.now
		rev.Pseudo = lessHeader(rev.Pseudo)
		rev.Kind |= flow.KindReverse
	} else {
		fwd.Kind |= flow.KindSingle
		back = nil
	}
	if p.Proto() == packet.ProtoTCP {
		fwd.Kind, rev.Kind = fwd.Kind|flow.KindEvents, rev.Kind|flow.KindEvents
		fwd.State, rev.State = flow.Opening|flow.SawSYN|flow.Presumed, flow.Opening|flow.PeerSYN|flow.PresumedBack
	}
	return w.create(t, p, &fwd, back)
}

// redirect makes of p, whose checksum is complete, what is sent of it by e, but for a tunnel's outer header, which is put before it
// by route. l4 says whether p has the header of its protocol.
func redirect(p *packet.Packet, e *flow.Entry, l4 bool) {
	switch e.Mode() {
	case flow.ModeMAC:
		p.Flags |= packet.FlagVia
		if e.Kind&flow.KindReverse == 0 {
			p.Flags |= packet.FlagOnLink
		}
	case flow.ModeTOS:
		packet.Mark(p, uint32(e.Addrs>>32), e.DSCP(), e.L4Delta, l4)
		return
	case flow.ModeTunnel:
		packet.Age(p)
		p.Flags |= packet.FlagVia
	}
	p.Bucket = uintptr(e.Addrs)
}

// expires says whether p has no hop left to be forwarded by mode. With ModeMAC none is taken: the device behind sees what the client sent.
func expires(p *packet.Packet, mode flow.Mode) bool {
	return p.Flags&packet.FlagLowTTL != 0 && (mode != flow.ModeMAC || p.TTL() == 0)
}

// sessionless balances a packet by itself: no flow is looked up or kept. The service follows from a hash of the packet and from what
// services are to everybody, so that any worker and any appliance with the same services chooses alike.
func (w *Worker) sessionless(t *table.Set, p *packet.Packet, v *table.Vserver) packet.Reason {
	id := w.choose(t, v, p)
	if id == 0 {
		return packet.DropNoServiceUp
	}
	var e flow.Entry
	if why := redirection(t, p, v, t.Service(id), &e); why != packet.NoReason {
		return why
	}
	n := w.accounts.number(v.ID, id)
	redirect(p, &e, true)
	w.accounts.count(n, uint64(p.L3Len))
	p.Reason = packet.ForwardSessionless
	return packet.NoReason
}
