package flow

import (
	"unsafe"

	"sluice/dataplane/packet"
	"sluice/dataplane/port/asm"
)

const (
	takeTries  = 32 // of TakeUnused
	probeTries = 32 // of Probe
	leapTries  = 8  // after which there are leaps
	fetchAhead = 4  // ports whose ways back are fetched at once
)

// leap is how many ports to pass over after so many tries in a row have met ports of other flows; span is how many ports there are.
// Ports are given out in turn, so those that another service has at the same address lie side by side by the thousand: whoever
// comes into their midst gets nowhere step by step.
func leap(tries int, span uint32) uint32 {
	const least = 1024 // of fewer ports most are tried in turn
	if tries < leapTries || span < least {
		return 0
	}
	return span/8 + uint32(uint64(tries)*0x9e3779b97f4a7c15>>40)%(span*3/4)
}

// TakeUnused is Take for a flow to server:serverPort (address in memory order, port in host order): it passes over ports whose way back
// server:serverPort -> snip:q belongs to a flow of another service at the same address, and those of PoolSettings.Avoid. It tries 32 ports, most of them far
// from each other.
//
// Which ports come next is known beforehand, so that the buckets of their ways back are prefetched: in a rush of new flows
// what the search and Create read is at hand.
func (p *Pools) TakeUnused(t *Table, snip, place uint32, lo, hi uint16, server uint32, serverPort uint16, proto uint8) (port uint16, ok bool) {
	x := p.open(poolKey(snip, place))
	if x == nil {
		return 0, false
	}
	return p.takeUnused(x, t, snip, lo, hi, server, serverPort, proto, nil)
}

// PeekUnused is TakeUnused without consequences: the port that it would give out now, if the flow of the reverse entry gone
// (nil: none) were not there any more. It takes the port from a copy.
func (p *Pools) PeekUnused(t *Table, snip, place uint32, lo, hi uint16, server uint32, serverPort uint16, proto uint8, gone *Entry) (port uint16, ok bool) {
	x := p.peek(poolKey(snip, place))
	if x == nil {
		return 0, false
	}
	if gone != nil && gone.Kind&KindPool != 0 && uint32(gone.A>>32) == snip && (place == Place(uint32(gone.A), uint16(gone.B)) || place == Place(uint32(gone.A), 0)) {
		x.release(packet.Swap16(uint16(gone.B >> 16)))
	}
	return p.takeUnused(x, t, snip, lo, hi, server, serverPort, proto, gone)
}

// takeUnused is TakeUnused from a pool that is found already; a way back that is gone's is free.
func (p *Pools) takeUnused(x *pool, t *Table, snip uint32, lo, hi uint16, server uint32, serverPort uint16, proto uint8, gone *Entry) (port uint16, ok bool) {
	for try := range takeTries {
		q, ok := p.take(x, lo, hi)
		if !ok {
			return 0, false
		}
		way := packet.MakeKey(server, snip, serverPort, q, proto)
		if e := t.Lookup(way); (e == nil || e == gone) && (p.avoid == nil || !p.avoid(snip, q, proto)) {
			if x.fetched--; x.fetched < 0 {
				p.fetchNext(x, t, snip, server, serverPort, proto)
			}
			return q, true
		}
		// The cursor has moved on: the next turn gives another one.
		x.release(q)
		span := uint32(hi-lo) + 1
		if far := leap(try, span); far != 0 {
			x.cursor, x.fetched = lo+uint16((uint32(q-lo)+far)%span), 0
		}
	}
	return 0, false
}

// fetchNext has the buckets fetched that the ways back of the next ports go to. They are fetched together, since a bucket is on a
// page of its own and the CPU walks several page tables at a time, but waits for a single one.
func (p *Pools) fetchNext(x *pool, t *Table, snip, server uint32, serverPort uint16, proto uint8) {
	n, from := 0, uint32(x.cursor)
	for n < fetchAhead {
		q, ok := p.scan(x, from)
		if !ok {
			break
		}
		way := packet.MakeKey(server, snip, serverPort, uint16(q), proto)
		p.fetch[n] = t.BucketOf(t.Hash(way.A, way.B))
		n++
		from = q + 1
	}
	asm.PrefetchN(unsafe.Pointer(&p.fetch[0]), n)
	x.fetched = int16(n) - 1
}

// LeapOf has the ports that come next toward a server lie far from that of a flow, which its server sees as k: it has met an old
// connection there, and those of its time lie side by side. own says that the flow's port is from a pool.
func (p *Pools) LeapOf(k packet.Key, own bool) {
	if !own {
		p.tried += leap(leapTries+int(p.leaps), 1<<16-1)
		p.leaps++
		return
	}
	x, port := p.of(k)
	if x == nil || port < x.lo || port > x.hi {
		return
	}
	span := uint32(x.hi-x.lo) + 1
	if far := leap(leapTries+int(p.leaps), span); far != 0 {
		x.cursor, x.fetched = x.lo+uint16((uint32(port-x.lo)+far)%span), 0
		p.leaps++
	}
}

// Probe finds a source port for a flow that keeps its client's address but not its port: server:serverPort -> client:q is not in
// t, and q, from lo to hi, is this worker's. It tries 32 of its ports from a moving start. Such ports need no pool, since each
// client has all of them to itself.
//
// Which ports are this worker's is the matter of OwnerByClient here, not of q & (W-1) as in pools, which departs from design.md 4:
// what comes back to a client's address does not tell whether the port was the client's or ours, so one rule must hold for both.
func (p *Pools) Probe(t *Table, client uint32, lo, hi uint16, server uint32, serverPort uint16, proto uint8) (port uint16, ok bool) {
	return p.probe(t, client, lo, hi, server, serverPort, proto, nil)
}

func (p *Pools) probe(t *Table, client uint32, lo, hi uint16, server uint32, serverPort uint16, proto uint8, gone *Entry) (port uint16, ok bool) {
	if lo > hi {
		return 0, false
	}
	count := uint32(hi-lo) + 1
	met := 0
	for range probeTries * p.workers {
		q := lo + uint16(p.tried%count)
		p.tried++
		if q == 3784 || q == 4784 || q == 4789 || OwnerByClient(client, packet.Swap16(q), p.workers) != p.self {
			continue
		}
		if e := t.Lookup(packet.MakeKey(server, client, serverPort, q, proto)); e == nil || e == gone {
			return q, true
		}
		p.tried += leap(met, count)
		met++
	}
	return 0, false
}

// PeekProbe is Probe without consequences: the port that it would find now, if the flow of the reverse entry gone (nil: none)
// were not there any more.
func (p *Pools) PeekProbe(t *Table, client uint32, lo, hi uint16, server uint32, serverPort uint16, proto uint8, gone *Entry) (port uint16, ok bool) {
	tried := p.tried
	port, ok = p.probe(t, client, lo, hi, server, serverPort, proto, gone)
	p.tried = tried
	return port, ok
}
