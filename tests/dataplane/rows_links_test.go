package dataplane

import (
	"sluice/dataplane/api"
	"sluice/dataplane/flow"
	"sluice/dataplane/packet"
)

const (
	linkPort = 97 // -l2Conn over web1, web2 and web3
	linkKeep = 98 // the same, usip with the client's port
)

// cacheMAC is a second sender of the client's addresses and ports.
var cacheMAC = mac{2, 0xca, 0, 0, 0, 9}

// links are the tables of every row with vservers that tell flows apart by parts of layer 2 (0: all of them).
func links(parts api.LinkParts) *api.Tables {
	t := tables()
	t.Config.Version, t.Config.LinkParts, t.Config.PortVLANs = 2, parts, []uint16{1, 1}
	for i, port := range []uint16{linkPort, linkKeep} {
		v := api.Vserver{ID: uint32(70 + i), Name: "links", Proto: api.ProtoTCP, IP: addr(vip), Port: port, Method: api.RoundRobin, ClientTimeout: 180, PerLink: true}
		for _, id := range [][]uint32{{1, 2, 3}, {6}}[i] {
			v.Bindings = append(v.Bindings, api.Binding{Service: id, Weight: 1})
		}
		t.Config.Vservers = append(t.Config.Vservers, v)
	}
	return &api.Tables{Config: t.Config, Health: t.Health}
}

// by is a client's frame from another MAC address, and the answer to it.
func by(m mac, f packet.Frame) packet.Frame {
	if f.Src == clientMAC {
		f.Src = m
	} else {
		f.Dst = m
	}
	return f
}

// port2 is a client's frame on port 2, and the answer to it.
func port2(f packet.Frame) packet.Frame {
	if f.Dst == mac1 {
		f.Dst = mac2
	} else {
		f.Src = mac2
	}
	return f
}

// on7 is a frame of VLAN 7.
func on7(f packet.Frame) packet.Frame {
	f.Tags = []uint16{7}
	return f
}

// asIs is what lets a frame be as it is.
func asIs(f packet.Frame) packet.Frame { return f }

// pushed is f in bytes, with its tag put into what was a whole frame without.
func pushed(f packet.Frame) any {
	if f.Tags == nil {
		return f
	}
	tag := f.Tags[0]
	f.Tags = nil
	b := f.Bytes()
	return append(append(b[:12:12], 0x81, 0, byte(tag>>8), byte(tag)), b[12:]...)
}

// said3 is a client's handshake with a server and data both ways; who changes the client's frames, where is its port.
func said3(who func(packet.Frame) packet.Frame, where int, server ip4, q, sdport uint16) []step {
	kept := func(f packet.Frame) packet.Frame { f.Tags = who(packet.Frame{}).Tags; return f } // a tag stays on the way to the server
	return []step{
		{in: []on{{where, who(ask(5001, linkPort, syn))}}, out: []on{{nic2, kept(asked(server, q, sdport, syn))}}},
		{in: []on{{nic2, answer(server, sdport, q, synack)}}, out: []on{{where, pushed(who(answered(linkPort, 5001, synack)))}}},
		{in: []on{{where, who(ask(5001, linkPort, ack))}}, out: []on{{nic2, kept(asked(server, q, sdport, ack))}}},
		{in: []on{{where, who(data(ask(5001, linkPort, psh)))}, {where, who(data(ask(5001, linkPort, psh)))}},
			out: []on{{nic2, kept(data(asked(server, q, sdport, psh)))}, {nic2, kept(data(asked(server, q, sdport, psh)))}}},
		{in: []on{{nic2, data(answer(server, sdport, q, psh))}, {nic2, answer(server, sdport, q, ack)}},
			out: []on{{where, pushed(who(data(answered(linkPort, 5001, psh))))}, {where, pushed(who(answered(linkPort, 5001, ack)))}}},
	}
}

func byCache(f packet.Frame) packet.Frame { return by(cacheMAC, f) }

var linkRows = []row{
	{
		name: "l2Conn: equal addresses and ports from two MAC addresses are two flows, and what comes back goes to its own",
		steps: steps([]step{applies(links(0))},
			append(append(said3(asIs, nic1, server1, q1, 8001), said3(byCache, nic1, server2, q2, 8002)...),
				step{in: []on{{nic2, data(answer(server1, 8001, q1, psh))}, {nic2, data(answer(server2, 8002, q2, psh))}},
					out: []on{{nic1, data(answered(linkPort, 5001, psh))}, {nic1, byCache(data(answered(linkPort, 5001, psh)))}}},
				step{in: []on{{nic1, byCache(ask(5001, linkPort, psh))}, {nic1, ask(5001, linkPort, psh)}},
					out: []on{{nic2, asked(server2, q2, 8002, psh)}, {nic2, asked(server1, q1, 8001, psh)}}},
				flowsAre(4))...),
		counters: map[string]uint64{"forward-new-flow": 2, "forward-flow": 16},
	},
	{
		name: "l2Conn: so are those of two VLANs; answers bear the client's tag or none, whatever the server's frames bore",
		steps: steps([]step{applies(links(0))},
			append(append(said3(asIs, nic1, server1, q1, 8001), said3(on7, nic1, server2, q2, 8002)...),
				step{in: []on{{nic2, on7(data(answer(server1, 8001, q1, psh)))}, {nic2, tagged(data(answer(server2, 8002, q2, psh)))}},
					out: []on{{nic1, data(answered(linkPort, 5001, psh))}, {nic1, tagged(data(answered(linkPort, 5001, psh)))}}},
				flowsAre(4))...),
		counters: map[string]uint64{"forward-new-flow": 2, "forward-flow": 14},
	},
	{
		name: "l2Conn: so are those of two ports",
		steps: steps([]step{applies(links(0))},
			append(append(said3(asIs, nic1, server1, q1, 8001), said3(port2, nic2, server2, q2, 8002)...), flowsAre(4))...),
		counters: map[string]uint64{"forward-new-flow": 2, "forward-flow": 12},
	},
	{
		name: "l2ConnMethod Vlan: MAC addresses tell nothing apart; answers go to the one that opened the flow",
		steps: steps([]step{applies(links(api.LinkVLAN))}, append(said3(asIs, nic1, server1, q1, 8001),
			step{in: []on{{nic1, byCache(data(ask(5001, linkPort, psh)))}}, out: []on{{nic2, data(asked(server1, q1, 8001, psh))}}},
			step{in: []on{{nic2, data(answer(server1, 8001, q1, psh))}}, out: []on{{nic1, data(answered(linkPort, 5001, psh))}}},
			step{in: []on{{nic1, on7(ask(5001, linkPort, syn))}}, out: []on{{nic2, on7(asked(server2, q2, 8002, syn))}}},
			flowsAre(4))...),
		counters: map[string]uint64{"forward-new-flow": 2, "forward-flow": 8},
	},
	{
		name: "l2ConnMethod MacChannel: VLANs tell nothing apart",
		steps: steps([]step{applies(links(api.LinkMAC | api.LinkPort))}, append(said3(asIs, nic1, server1, q1, 8001),
			step{in: []on{{nic1, on7(data(ask(5001, linkPort, psh)))}}, out: []on{{nic2, on7(data(asked(server1, q1, 8001, psh)))}}},
			step{in: []on{{nic1, byCache(ask(5001, linkPort, syn))}}, out: []on{{nic2, asked(server2, q2, 8002, syn)}}})...),
		counters: map[string]uint64{"forward-new-flow": 2, "forward-flow": 7},
	},
	{
		name: "l2Conn: a packet of a known flow by another way is of none, and a SYN on a closed flow opens another one",
		steps: steps([]step{applies(links(0))}, append(said3(asIs, nic1, server1, q1, 8001),
			drops(on{nic1, byCache(data(ask(5001, linkPort, psh)))}, on{nic1, on7(ask(5001, linkPort, ack))}),
			step{in: []on{{nic1, ask(5001, linkPort, rst)}}, out: []on{{nic2, asked(server1, q1, 8001, rst)}}},
			step{in: []on{{nic1, ask(5001, linkPort, syn)}, {nic1, byCache(ask(5001, linkPort, syn))}},
				out: []on{{nic2, asked(server2, q2, 8002, syn)}, {nic2, asked(server3, q3, 8003, syn)}}},
			flowsAre(4), passes(40), flowsAre(0), portsAre(0))...),
		counters: map[string]uint64{"forward-new-flow": 3, "forward-flow": 7, "drop-no-flow": 2},
	},
	{
		name: "l2Conn, usip with the client's port: a server cannot tell two such flows apart, so there is one",
		steps: []step{applies(links(0)),
			{in: []on{{nic1, ask(5001, linkKeep, syn)}}, out: []on{{nic2, with(asked(server1, 5001, 80, syn), func(f *packet.Frame) { f.SrcIP = client })}}},
			drops(on{nic1, byCache(ask(5001, linkKeep, syn))}),
			{in: []on{{nic2, with(answer(server1, 80, 5001, synack), func(f *packet.Frame) { f.DstIP = client })}}, out: []on{{nic1, answered(linkKeep, 5001, synack)}}},
			flowsAre(2), passes(40), flowsAre(0),
			{in: []on{{nic1, byCache(ask(5001, linkKeep, syn))}}, out: []on{{nic2, with(asked(server1, 5001, 80, syn), func(f *packet.Frame) { f.SrcIP = client })}}},
			{in: []on{{nic2, with(answer(server1, 80, 5001, synack), func(f *packet.Frame) { f.DstIP = client })}}, out: []on{{nic1, byCache(answered(linkKeep, 5001, synack))}}},
		},
		counters: map[string]uint64{"forward-new-flow": 2, "forward-flow": 2, "drop-tuple-in-use": 1},
	},
	{
		name: "l2Conn: errors of routers reach the server and the client of their flow",
		steps: []step{applies(links(0)),
			{in: []on{{nic1, ask(5001, linkPort, syn)}}, out: []on{{nic2, asked(server1, q1, 8001, syn)}}},
			{in: []on{{nic1, byCache(ask(5001, linkPort, syn))}}, out: []on{{nic2, asked(server2, q2, 8002, syn)}}},
			tellsClient(cacheMAC, linkPort, server2, q2, 8002),
			tellsServer(cacheMAC, linkPort, server2, q2, 8002),
			drops(on{nic1, lazy(func(b *bed) packet.Frame {
				f := icmpError(client, vip, packet.ICMPUnreachable, 4, answered(linkPort, 5001, ack))
				f.Dst, f.Src = mac1, otherMAC
				return f
			})}),
		},
		counters: map[string]uint64{"forward-new-flow": 2, "forward-icmp-error": 2, "drop-icmp-no-flow": 1},
	},
	{
		name: "l2Conn: a service goes down, and the client is asked by the way that it came",
		steps: steps([]step{applies(links(0))}, append(said3(byCache, nic1, server1, q1, 8001),
			asksEnds(ending([]uint32{1}, nil), on{nic1, byCache(answered(linkPort, 5001, ack))}, on{nic2, asked(server1, q1, 8001, ack)}),
			step{in: []on{{nic1, said(byCache(ask(5001, linkPort, ack)), 1000, 77)}}, out: []on{{nic1, ours(byCache(answered(linkPort, 5001, rst)), 77, 0)}}},
			forgotten, portsAre(0))...),
		counters: map[string]uint64{"forward-new-flow": 1, "forward-flow": 6, "reply-reset": 1, "connections-ended": 1, "end-questions": 6},
	},
	{
		name: "l2Conn ends and begins with open flows: they go on as they are",
		steps: steps([]step{applies(links(0))}, append(append(said3(byCache, nic1, server1, q1, 8001),
			step{do: func(b *bed) {
				t := links(0)
				t.Config.Vservers[len(t.Config.Vservers)-2].PerLink = false
				b.apply(t)
			}, in: []on{{nic1, ask(5001, linkPort, syn)}}, out: []on{{nic2, asked(server2, q2, 8002, syn)}}}),
			step{in: []on{{nic2, answer(server2, 8002, q2, synack)}}, out: []on{{nic1, answered(linkPort, 5001, synack)}}},
			step{in: []on{{nic2, data(answer(server1, 8001, q1, psh))}}, out: []on{{nic1, byCache(data(answered(linkPort, 5001, psh)))}}},
			applies(links(0)),
			step{in: []on{{nic1, ask(5001, linkPort, ack)}}, out: []on{{nic2, asked(server2, q2, 8002, ack)}}},
			flowsAre(4))...),
		counters: map[string]uint64{"forward-new-flow": 2, "forward-flow": 9},
	},
	{
		name: "l2Conn: what does not fit the client's port is not sent",
		steps: steps([]step{applies(links(0))}, append(said3(on7, nic1, server1, q1, 8001),
			step{in: []on{{nic2, fits(1500, answer(server1, 8001, q1, psh))}}, out: []on{{nic1, on7(fits(1500, answered(linkPort, 5001, psh)))}}},
			step{in: []on{{nic2, with(fits(1501, answer(server1, 8001, q1, psh)), func(f *packet.Frame) { f.Frag = 0 })}}})...),
		counters: map[string]uint64{"forward-new-flow": 1, "forward-flow": 7, "drop-frame-too-long": 1},
	},
	{
		name: "l2Conn -m MAC: a transparent cache asks the origin in the client's name; each connection has its flow, both ways",
		steps: []step{applies(around()),
			// The client's SYN goes to the cache, which sends one of the same addresses and ports on; that goes to the router.
			{in: []on{{nic1, abroad(ask(5001, 80, syn))}}, out: []on{{nic2, passedOn(abroad(ask(5001, 80, syn)), server1)}}},
			{in: []on{{nic2, fromServer(abroad(ask(5001, 80, syn)), server1)}}, out: []on{{nic2, passedOn(abroad(ask(5001, 80, syn)), server2)}}},
			// The origin's answer goes to the cache, the cache's to the client.
			{in: []on{{nic2, fromServer(byOrigin(synack), server2)}}, out: []on{{nic2, passedOn(byOrigin(synack), server1)}}},
			{in: []on{{nic2, fromServer(byOrigin(synack), server1)}}, out: []on{{nic1, toClientAsIs(byOrigin(synack))}}},
			{in: []on{{nic1, abroad(ask(5001, 80, ack))}}, out: []on{{nic2, passedOn(abroad(ask(5001, 80, ack)), server1)}}},
			{in: []on{{nic2, fromServer(abroad(ask(5001, 80, ack)), server1)}}, out: []on{{nic2, passedOn(abroad(ask(5001, 80, ack)), server2)}}},
			{in: []on{{nic2, data(fromServer(byOrigin(psh), server2))}, {nic2, data(fromServer(byOrigin(psh), server1))}},
				out: []on{{nic2, data(passedOn(byOrigin(psh), server1))}, {nic1, data(toClientAsIs(byOrigin(psh)))}}},
			flowsAre(4),
			drops(on{nic2, data(fromServer(byOrigin(psh), server3))}),
			passes(400), flowsAre(0),
		},
		counters: map[string]uint64{"forward-new-flow": 2, "forward-flow": 6, "drop-no-flow": 1},
	},
	{
		name: "l2Conn -m MAC: the first packet to a server whose MAC address is not known is lost, and it is asked for",
		steps: []step{applies(around()),
			{do: func(b *bed) { b.apply(&api.Tables{Neighbors: &api.Neighbors{Version: 9, Entries: neighborList()[:2]}}) }},
			drops(on{nic1, abroad(ask(5001, 80, syn))}), flowsAre(0),
			{do: wants(api.Event{Kind: api.NeighborWanted, Port: 1, IP: addr(server1)})},
			{do: func(b *bed) { b.apply(&api.Tables{Neighbors: &api.Neighbors{Version: 10, Entries: neighborList()}}) }},
			{in: []on{{nic1, abroad(ask(5001, 80, syn))}}, out: []on{{nic2, passedOn(abroad(ask(5001, 80, syn)), server1)}}},
		},
		counters: map[string]uint64{"forward-new-flow": 1, "drop-neighbor-unresolved": 1},
	},
	{
		name: "l2Conn: more MAC addresses than a worker tells apart; who is known goes on, and when flows end there is room again", memory: true, entries: flow.MaxLinks + 9,
		steps: []step{
			{do: func(b *bed) {
				t := modes()
				for i := range t.Config.Vservers {
					t.Config.Vservers[i].PerLink = t.Config.Vservers[i].Mode == api.ModeTOS && !t.Config.Vservers[i].Sessionless
				}
				b.apply(t)
				for i := range flow.MaxLinks {
					if err := b.q.Inject(nic1, by(nth(i), askOf(vipMode, c1, tosPort, syn)).Bytes()); err != nil {
						b.t.Fatal(err)
					}
					if i%256 == 255 || i == flow.MaxLinks-1 {
						b.turns()
						b.q.Sent(nic2)
					}
				}
			}},
			drops(on{nic1, by(nth(flow.MaxLinks), askOf(vipMode, c1, tosPort, syn))}),
			{in: []on{{nic1, by(nth(7), askOf(vipMode, c1, tosPort, ack))}}, out: []on{{nic2, marked(askOf(vipMode, c1, tosPort, ack), server1)}}},
			passes(60),
			{in: []on{{nic1, by(nth(flow.MaxLinks), askOf(vipMode, c1, tosPort, syn))}}, out: []on{{nic2, marked(askOf(vipMode, c1, tosPort, syn), server1)}}},
		},
		counters: map[string]uint64{"forward-new-flow": flow.MaxLinks + 1, "forward-flow": 1, "drop-links-full": 1},
	},
}

// nth is one of many MAC addresses.
func nth(i int) mac { return mac{2, 0xbb, 0, byte(i >> 16), byte(i >> 8), byte(i)} }

// around has what comes in by port 1 go to a cache, server1, and what comes in by port 2, from the cache, to a router, server2: both
// unchanged, and told apart by layer 2.
func around() *api.Tables {
	a, b := wildcard(20, "clients", api.ProtoTCP, 0, wild1, 10, "CLIENT.VLAN.ID.EQ(1)"), wildcard(21, "caches", api.ProtoTCP, 0, wild2, 20, "CLIENT.VLAN.ID.EQ(30)")
	a, b = transparent(a, false), transparent(b, false)
	a.PerLink, b.PerLink = true, true
	return withWildcards(a, b)
}

// fromServer is a frame that a device on port 2 sends.
func fromServer(f packet.Frame, server ip4) packet.Frame {
	f.Dst, f.Src = mac2, serverMAC(server)
	return f
}

// byOrigin is an answer of the origin to the client.
func byOrigin(flags uint8) packet.Frame {
	return packet.Frame{SrcIP: origin, DstIP: client, SrcPort: 80, DstPort: 5001, Flags: flags, TTL: 50}
}
