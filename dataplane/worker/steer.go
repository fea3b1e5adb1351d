package worker

import (
	"math/bits"

	"sluice/dataplane/flow"
	"sluice/dataplane/packet"
	"sluice/dataplane/table"
)

// How the owner of a packet's flow is found depends on what its destination is to us. It follows from the packet and the
// configuration alone, so that every worker finds the same one, and finds the same one for both directions:
//
//   - To a VIP of sessionless vservers alone comes what is of no flow: whoever receives it.
//   - To another VIP, or to a port of a SNIP on which a vserver listens, comes a client: by its address and port.
//   - To a SNIP's ports that the dataplane gives out comes a server's answer: by the port, which its worker chose so. (A vserver
//     on every port of a SNIP cannot be told from those: its clients' flows to them are owned by the port too.)
//   - To a client's own address (usip) comes a server's answer: by that address and port, see flow.Pools.Probe. To a foreign
//     address that a wildcard vserver may take comes a client: see foreignOwner.
//   - Protocols without ports: by their number, since an answer to a SNIP tells nothing of its client.
//   - An ICMP error goes where the packet would go that it would be about if that came in from outside.
//
// Whatever has no flow stays with the worker that received it: ARP, pings, fragments and what is the kernel's.
const (
	byDestination = iota
	bySource
	byPort
	stays
)

// way says how the owner of packets to an address is found; it depends on own, which is what the address is to us.
func way(own uint64) uint8 {
	switch {
	case own&table.OwnKind == 0:
		return byDestination
	case own&(table.OwnKind|table.OwnSessionless) == table.OwnVIP|table.OwnSessionless:
		return stays
	case own&table.OwnKind == table.OwnVIP:
		return bySource
	case own&table.OwnKind == table.OwnSNIP:
		return byPort
	case own&table.OwnListens != 0:
		return bySource
	}
	return stays
}

// steer hands packets of flows that another worker owns to that one. Packets that were handed to this one are not handed on,
// even if tables have changed meanwhile.
func steer(w *Worker, t *table.Set, b []packet.Packet) {
	if !w.steers {
		return
	}
	var away uint64
	var owners uint32
	lane := uint64(w.x.From)
	dst, own, untagged := uint32(0), t.Own(0), t.PortVLAN(uint16(w.x.From>>1))
	for m := w.open; m != 0; m &= m - 1 {
		i := bits.TrailingZeros64(m) & (packet.Burst - 1)
		p, bit := &w.pk[i], m&-m
		k := packet.Key{A: p.A, B: p.B}
		if proto := p.Proto(); w.bare&bit == 0 || proto != packet.ProtoTCP && proto != packet.ProtoUDP {
			var of bool
			if k, of = w.flowOf(p, i, bit); !of {
				continue
			}
		}
		if d := uint32(k.A >> 32); d != dst {
			dst, own = d, t.Own(d)
		}
		vlan := untagged
		if w.bare&bit == 0 {
			vlan = vlanOf(t, p)
		}
		owner := owner(t, own, k, vlan, w.workers, w.self)
		if owner == w.self {
			continue
		}
		w.bare &^= bit
		p.Bucket = w.flows.Lines().Lines // as good as an empty bucket: there is nothing to fetch
		if !w.out[owner&(MaxWorkers-1)].put(p.Mbuf, lane) {
			p.End(packet.DropHandoverFull)
			w.open &^= bit
			continue
		}
		away |= bit
		owners |= 1 << owner
	}
	if away == 0 {
		return
	}
	w.open &^= away
	w.rest &^= away
	w.figures.handed += uint64(bits.OnesCount64(away))
	for ; owners != 0; owners &= owners - 1 {
		owner := bits.TrailingZeros32(owners) & (MaxWorkers - 1)
		w.out[owner].publish()
		w.mesh.wake(owner)
	}
}

// flowOf is the key of the flow that the i-th packet of the burst is of or about, where that is not TCP or UDP of the most common
// kind; of is false if it is of none.
func (w *Worker) flowOf(p *packet.Packet, i int, bit uint64) (k packet.Key, of bool) {
	if w.bare&bit != 0 {
		w.bare &^= bit
		w.inspect(i)
	}
	if p.DstMAC() != w.mac {
		return k, false
	}
	switch p.Class {
	case packet.ClassPlain, packet.ClassExpiring, packet.ClassOtherIP:
		return packet.Key{A: p.A, B: p.B}, true
	case packet.ClassICMP:
		e, _, ok := packet.ParseICMPError(p)
		return e.Reply, ok
	}
	return k, false
}

// Owner is which of a number of workers owns the flow of a key, whose packets come untagged by the port toward their source; the
// receiver if any may have it.
func Owner(t *table.Set, k packet.Key, workers, receiver int) int {
	vlan := t.PortVLAN(0)
	if hop := t.Route(uint32(k.A), 0); hop != nil {
		vlan = t.PortVLAN(hop.Port)
	}
	return int(owner(t, t.Own(uint32(k.A>>32)), k, vlan, uint32(workers), uint32(receiver)))
}

// owner is the worker that owns the flow of a key, whose packet came in by a VLAN; self if any may have it. own is what its
// destination is to us.
func owner(t *table.Set, own uint64, k packet.Key, vlan uint16, workers, self uint32) uint32 {
	proto, how := uint8(k.B>>32), way(own)
	if proto != packet.ProtoTCP && proto != packet.ProtoUDP {
		if how == stays {
			return self
		}
		return flow.OwnerByProtocol(proto, workers)
	}
	if how == byPort {
		how = portWay(t, own, k)
	}
	switch how {
	case bySource:
		return flow.OwnerByClient(uint32(k.A), uint16(k.B), workers)
	case byDestination:
		return foreignOwner(t, k, vlan, workers, self)
	case byPort:
		return flow.OwnerByPort(packet.Swap16(uint16(k.B>>16)), workers)
	}
	return self
}

// portWay is the way of a packet to a SNIP.
func portWay(t *table.Set, own uint64, k packet.Key) uint8 {
	dst, port, proto := uint32(k.A>>32), uint16(k.B>>16), uint8(k.B>>32)
	q := uint64(packet.Swap16(port))
	ours := q >= own>>table.OwnPortLo&0xffff && q <= own>>table.OwnPortHi
	switch {
	case own&table.OwnListens == 0:
	case ours && t.Listens(dst, port, proto), !ours && t.Vserver(dst, port, proto) != nil:
		return bySource
	}
	if ours {
		return byPort
	}
	return stays
}
