package dataplane

import (
	"net/netip"

	"sluice/dataplane/api"
	"sluice/dataplane/flow"
	"sluice/dataplane/packet"
)

// asks lets n client's ports, from first on, ask for a vserver, all of them at one worker (see kin), and expects the servers in turn to get them. Which source port
// each gets is of no interest here.
func asks(first, n int, dport uint16, servers []ip4, sdports []uint16) step {
	return step{do: func(b *bed) {
		for i, p := range kin(first, n) {
			ip, want := b.through(nic1, nic2, ask(p, dport, syn)), servers[i%len(servers)]
			if dst := ip.Dst(); dst != want {
				b.t.Fatalf("client port %d went to %v, not %v", p, addr(dst), addr(want))
			}
			if d := packet.TCP(ip[packet.IPv4Len:]).DstPort(); d != sdports[i%len(sdports)] {
				b.t.Fatalf("client port %d went to port %d", p, d)
			}
		}
	}}
}

// health publishes which services are up.
func health(up ...uint32) func(*bed) {
	return func(b *bed) { b.apply(&api.Tables{Health: &api.Health{Version: 2, Up: up}}) }
}

// wants checks the events that were raised since the last look.
func wants(events ...api.Event) func(*bed) {
	return func(b *bed) {
		b.t.Helper()
		for _, want := range events {
			got, ok := b.event()
			if !ok || got != want {
				b.t.Fatalf("event %+v (there is one: %v), not %+v", got, ok, want)
			}
		}
		if got, ok := b.event(); ok {
			b.t.Fatalf("nobody expected the event %+v", got)
		}
	}
}

var lostWanted = api.Event{Kind: api.NeighborWanted, Port: 1, IP: addr(lost)}

// found publishes the MAC of the server that did not answer.
func found(b *bed) {
	b.apply(&api.Tables{Neighbors: &api.Neighbors{Version: 2,
		Entries: append(neighborList(), api.Neighbor{Port: 1, IP: addr(lost), MAC: serverMAC(lost)})}})
}

// passes moves the clock.
func passes(seconds float64) step { return step{do: func(b *bed) { b.pass(seconds) }} }

// balanceRows: who is chosen.
var balanceRows = []row{
	{
		name:     "round robin: 300 connections, 100 each",
		entries:  2048,
		steps:    []step{asks(10000, 300, webPort, []ip4{server1, server2, server3}, []uint16{8001, 8002, 8003})},
		counters: map[string]uint64{"forward-new-flow": 300},
	},
	{
		name: "a service that goes down gets no new flows and keeps its old ones",
		steps: []step{
			open(5001, webPort, server1, q1, 8001),
			{do: health(2, 3)},
			asks(10000, 6, webPort, []ip4{server3, server2}, []uint16{8003, 8002}),
			{in: []on{{nic2, answer(server1, 8001, q1, synack)}}, out: []on{{nic1, answered(webPort, 5001, synack)}}},
			{in: []on{{nic1, ask(5001, webPort, ack)}}, out: []on{{nic2, asked(server1, q1, 8001, ack)}}},
			{do: health(1, 2, 3)},
			asks(11000, 3, webPort, []ip4{server2, server3, server1}, []uint16{8002, 8003, 8001}),
		},
		counters: map[string]uint64{"forward-new-flow": 10, "forward-flow": 2},
	},
	{
		name: "least connections: closed flows count no more",
		steps: []step{
			open(5001, leastPort, server1, q1, 8001),
			open(c2, leastPort, server2, q2, 8002),
			// web1's connection is over: the next two go there and then in turn.
			{in: []on{{nic2, answer(server1, 8001, q1, rst)}}, out: []on{{nic1, answered(leastPort, 5001, rst)}}},
			open(c3, leastPort, server1, q3, 8001),
			asks(6000, 4, leastPort, []ip4{server2, server1}, []uint16{8002, 8001}),
		},
		counters: map[string]uint64{"forward-new-flow": 7, "forward-flow": 1},
	},
	{
		name: "a SYN of a server's opens nothing, not even after the connection's end",
		steps: steps(handshake(5001, webPort, q1),
			step{in: []on{{nic1, ask(5001, webPort, rst)}}, out: []on{{nic2, asked(server1, q1, 8001, rst)}}},
			step{in: []on{{nic2, answer(server1, 8001, q1, syn)}}, out: []on{{nic1, answered(webPort, 5001, syn)}}},
			flowsAre(2)),
		counters: map[string]uint64{"forward-new-flow": 1, "forward-flow": 4},
	},
	{
		name: "a SYN of a closed connection opens a new one, of an open connection it does not",
		steps: []step{
			open(5001, webPort, server1, q1, 8001),
			{in: []on{{nic1, ask(5001, webPort, syn)}}, out: []on{{nic2, asked(server1, q1, 8001, syn)}}},
			{in: []on{{nic1, ask(5001, webPort, rst)}}, out: []on{{nic2, asked(server1, q1, 8001, rst)}}},
			open(5001, webPort, server2, q2, 8002),
		},
		counters: map[string]uint64{"forward-new-flow": 2, "forward-flow": 2},
	},
	{
		name: "a connection that ends and begins anew within one burst",
		steps: steps(handshake(5001, webPort, q1),
			step{
				in:  []on{{nic1, ask(5001, webPort, rst)}, {nic1, ask(5001, webPort, syn)}},
				out: []on{{nic2, asked(server1, q1, 8001, rst)}, {nic2, asked(server2, q2, 8002, syn)}},
			},
			step{
				in: []on{{nic1, ask(c2, webPort, syn)}, {nic1, ask(c2, webPort, rst)}, {nic1, ask(c2, webPort, syn)}},
				out: []on{{nic2, asked(server3, q3, 8003, syn)}, {nic2, asked(server3, q3, 8003, rst)},
					{nic2, asked(server1, q4, 8001, syn)}},
			}),
		counters: map[string]uint64{"forward-new-flow": 4, "forward-flow": 4},
	},
	{
		name: "a new connection does not inherit the next hop of the old one's last packets",
		steps: steps(handshake(5001, webPort, q1),
			step{
				do: func(b *bed) { // another generation: the next packets look for their next hop
					t := tables()
					t.FIB.Version, t.FIB.Routes = 2, append(t.FIB.Routes, api.Route{Prefix: netip.MustParsePrefix("10.9.0.0/16")})
					b.apply(&api.Tables{FIB: t.FIB})
				},
				in: []on{{nic1, ask(5001, webPort, ack)}, {nic1, ask(5001, webPort, rst)}, {nic1, ask(5001, webPort, syn)}},
				out: []on{{nic2, asked(server1, q1, 8001, ack)}, {nic2, asked(server1, q1, 8001, rst)},
					{nic2, asked(server2, q2, 8002, syn)}},
			},
			step{in: []on{{nic2, answer(server2, 8002, q2, synack)}}, out: []on{{nic1, answered(webPort, 5001, synack)}}},
			step{in: []on{{nic1, ask(5001, webPort, ack)}}, out: []on{{nic2, asked(server2, q2, 8002, ack)}}},
			step{in: []on{{nic1, ask(5001, webPort, psh)}}, out: []on{{nic2, asked(server2, q2, 8002, psh)}}}),
		counters: map[string]uint64{"forward-new-flow": 2, "forward-flow": 7},
	},
	{
		name: "a SYN that its server never answered goes elsewhere once the server is down",
		steps: []step{
			open(5001, webPort, server1, q1, 8001),
			{do: health(2, 3)},
			open(5001, webPort, server3, q2, 8003),
		},
		counters: map[string]uint64{"forward-new-flow": 2},
	},
}

// roomRows: what happens when something is full, and old flows go on.
var roomRows = []row{
	{
		name: "port pool",
		steps: []step{
			open(5001, fewPort, server1, q1, 80),
			open(c2, fewPort, server1, q2, 80),
			drops(on{nic1, ask(c3, fewPort, syn)}),
			{in: []on{{nic1, ask(5001, fewPort, ack)}}, out: []on{{nic2, asked(server1, q1, 80, ack)}}},
			// A connection ends, is forgotten, and its port is free again.
			{in: []on{{nic1, ask(5001, fewPort, rst)}}, out: []on{{nic2, asked(server1, q1, 80, rst)}}},
			passes(10),
			open(c4, fewPort, server1, q3, 80),
			{do: func(b *bed) {
				if b.ports[q3] != b.ports[q1] || b.ports[q1] == b.ports[q2] {
					b.t.Errorf("ports %v: the third flow must get the first one's", b.ports)
				}
			}},
		},
		counters: map[string]uint64{"forward-new-flow": 3, "forward-flow": 2, "drop-port-pool-exhausted": 1},
	},
	{
		name:    "flow table",
		entries: 12,
		steps: []step{
			{do: func(b *bed) {
				n, ports := 0, kin(6000, 200)
				for ; b.counters()["drop-flow-table-full"] == 0; n++ {
					if n > 100 {
						b.t.Fatal("the table is never full")
					}
					b.q.Inject(nic1, ask(ports[n], webPort, syn).Bytes())
					b.turns()
				}
				s := b.stats().Workers[flow.OwnerByClient(packet.Addr4(client), packet.Swap16(ports[0]), uint32(len(b.ws)))]
				if s.FlowCapacity < 12 || uint64(n-1) != s.FlowCapacity/2 {
					b.t.Errorf("%d flows fit a table for %d entries", n-1, s.FlowCapacity)
				}
				b.q.Sent(nic2)
				for i := range n - 1 { // all old flows go on
					b.q.Inject(nic1, ask(ports[i], webPort, ack).Bytes())
				}
				b.turns()
				if got := len(b.q.Sent(nic2)); got != n-1 {
					b.t.Errorf("%d of %d old flows go on", got, n-1)
				}
				if c := b.counters(); c["forward-new-flow"] != uint64(n-1) || c["drop-flow-table-full"] != 1 {
					b.t.Errorf("counters %v", c)
				}
				b.pass(33) // the handshakes never end
				if s := b.stats(); sum(s, flowsOf) != 0 || s.Vservers[0].OpenFlows != 0 || s.Services[0].OpenFlows != 0 || s.SNIPs[0].PortsInUse != 0 {
					b.t.Errorf("flows that time has ended: %+v %+v %+v", s.Workers, s.Vservers[0], s.SNIPs)
				}
				b.q.Inject(nic1, ask(kin(7000, 1)[0], webPort, syn).Bytes())
				b.turns()
				if got := len(b.q.Sent(nic2)); got != 1 {
					b.t.Error("there is no room although everything has aged")
				}
			}},
		},
		counters: map[string]uint64{"forward-new-flow": 7, "forward-flow": 6, "drop-flow-table-full": 1},
	},
	{
		name:   "an outgoing lane that takes nothing",
		memory: true,
		steps: []step{
			{do: func(b *bed) { limit(b, nic2, 0) }},
			drops(on{nic1, ask(5001, webPort, syn)}),
		},
		counters: map[string]uint64{"forward-new-flow": 1, "drop-tx-full": 1},
	},
}

// neighborRows: packets wait for their next hop's MAC address.
var neighborRows = []row{
	{
		name: "held, asked for, released in order; later ones pass",
		steps: []step{
			drops(on{nic1, ask(5001, lostPort, syn)}, on{nic1, ask(5001, lostPort, ack)}),
			{do: wants(lostWanted)},
			{do: found, out: []on{{nic2, asked(lost, q1, 80, syn)}, {nic2, asked(lost, q1, 80, ack)}}},
			{in: []on{{nic1, ask(5001, lostPort, psh)}}, out: []on{{nic2, asked(lost, q1, 80, psh)}}},
			{do: wants()},
		},
		counters: map[string]uint64{"held-neighbor": 2, "forward-flow": 1},
	},
	{
		name: "three wait, no more, for a second",
		steps: []step{
			drops(on{nic1, ask(5001, lostPort, syn)}, on{nic1, ask(c2, lostPort, syn)}, on{nic1, ask(c3, lostPort, syn)},
				on{nic1, ask(c4, lostPort, syn)}),
			passes(0.9),
			drops(on{nic1, ask(c5, lostPort, syn)}),
			{do: wants(lostWanted)},
			passes(0.2),
			// The next packet asks again.
			drops(on{nic1, ask(5001, lostPort, syn)}),
			{do: wants(lostWanted)},
			passes(1.1),
			{do: wants()},
			{do: found},
		},
		counters: map[string]uint64{"held-neighbor": 4, "drop-hold-full": 2, "drop-neighbor-unresolved": 4},
	},
	{
		name: "64 neighbors are waited for, no more, but the next one is asked for too, once a second",
		steps: []step{
			{do: func(b *bed) {
				t := tables()
				t.FIB.Routes[1].Prefix = netip.MustParsePrefix("10.2.0.0/16")
				for i := range 65 {
					ip := ip4{10, 2, 1, byte(i)}
					t.Config.Services = append(t.Config.Services, api.Service{ID: uint32(100 + i), Name: "x", Proto: api.ProtoTCP, IP: addr(ip), Port: 80, SNIPs: []uint32{1}})
					t.Config.Vservers[0].Bindings = append(t.Config.Vservers[0].Bindings, api.Binding{Service: uint32(100 + i), Weight: 1})
					t.Health.Up = append(t.Health.Up[:len(t.Health.Up):len(t.Health.Up)], uint32(100+i))
				}
				t.Config.Vservers[0].Bindings = t.Config.Vservers[0].Bindings[3:]
				b.apply(t)
				ports := kin(5001, 65)
				for _, p := range ports {
					b.q.Inject(nic1, ask(p, webPort, syn).Bytes())
				}
				b.q.Inject(nic1, ask(ports[64], webPort, syn).Bytes())
			}},
			{do: func(b *bed) {
				for i := range 65 {
					if e, ok := b.event(); !ok || e.IP != addr(ip4{10, 2, 1, byte(i)}) {
						b.t.Fatalf("event %d is %+v", i, e)
					}
				}
				wants()(b)
			}},
		},
		counters: map[string]uint64{"held-neighbor": 64, "drop-hold-full": 2},
	},
	{
		name: "a neighbor's new MAC is used at once, a neighbor that is gone is asked for",
		steps: steps(handshake(5001, webPort, q1), []step{
			{in: []on{{nic1, ask(5001, webPort, ack)}}, out: []on{{nic2, asked(server1, q1, 8001, ack)}}},
			{do: func(b *bed) {
				list := neighborList()
				list[2].MAC = otherMAC
				b.apply(&api.Tables{Neighbors: &api.Neighbors{Version: 2, Entries: list}})
			}, in: []on{{nic1, ask(5001, webPort, ack)}}, out: []on{{nic2, with(asked(server1, q1, 8001, ack), func(f *packet.Frame) { f.Dst = otherMAC })}}},
			{do: func(b *bed) {
				list := neighborList()
				b.apply(&api.Tables{Neighbors: &api.Neighbors{Version: 3, Entries: append(list[:2:2], list[3:]...)}})
			}, in: []on{{nic1, ask(5001, webPort, psh)}}},
			{do: wants(api.Event{Kind: api.NeighborWanted, Port: 1, IP: addr(server1)})},
			{do: func(b *bed) { b.apply(&api.Tables{Neighbors: &api.Neighbors{Version: 4, Entries: neighborList()}}) },
				out: []on{{nic2, asked(server1, q1, 8001, psh)}}},
			{in: []on{{nic1, ask(5001, webPort, psh)}}, out: []on{{nic2, asked(server1, q1, 8001, psh)}}},
		}...),
		counters: map[string]uint64{"forward-new-flow": 1, "forward-flow": 5, "held-neighbor": 1},
	},
	{
		name: "a new route moves old flows",
		steps: steps(handshake(5001, webPort, q1), []step{
			{in: []on{{nic1, ask(5001, webPort, ack)}}, out: []on{{nic2, asked(server1, q1, 8001, ack)}}},
			{do: func(b *bed) {
				t := tables()
				t.FIB.Routes[1].Port, t.FIB.Routes[1].Gateway = 0, netip.MustParseAddr("10.1.0.1")
				b.apply(&api.Tables{FIB: t.FIB})
			}, in: []on{{nic1, ask(5001, webPort, ack)}}, out: []on{{nic1, with(asked(server1, q1, 8001, ack), func(f *packet.Frame) { f.Dst, f.Src = gatewayMAC, mac1 })}}},
			{in: []on{{nic1, ask(5001, webPort, ack)}}, out: []on{{nic1, with(asked(server1, q1, 8001, ack), func(f *packet.Frame) { f.Dst, f.Src = gatewayMAC, mac1 })}}},
		}...),
		counters: map[string]uint64{"forward-new-flow": 1, "forward-flow": 5},
	},
	{
		name: "a burst of known flows that leave by different lanes",
		steps: steps(handshake(5001, webPort, q1), []step{
			{do: func(b *bed) {
				t := tables()
				t.FIB.Routes = append(t.FIB.Routes, api.Route{Prefix: netip.MustParsePrefix("172.16.0.0/12"), Gateway: netip.MustParseAddr("10.1.0.1")})
				b.apply(&api.Tables{FIB: t.FIB})
			}, in: []on{{nic1, ask(5002, awayPort, syn)}}, out: []on{{nic1, away(q2, syn)}}},
			{in: []on{{nic1, awayAnswer(q2, synack)}}, out: []on{{nic1, answered(awayPort, 5002, synack)}}},
			{in: []on{{nic1, ask(5002, awayPort, ack)}, {nic1, ask(5001, webPort, ack)}}, out: []on{{nic1, away(q2, ack)}, {nic2, asked(server1, q1, 8001, ack)}}},
			{in: []on{{nic1, ask(5002, awayPort, ack)}}, out: []on{{nic1, away(q2, ack)}}},
			{
				in: []on{{nic1, ask(5001, webPort, psh)}, {nic1, ask(5002, awayPort, psh)}, {nic1, data(ask(5001, webPort, psh))}, {nic1, data(ask(5002, awayPort, psh))}},
				out: []on{{nic2, asked(server1, q1, 8001, psh)}, {nic2, data(asked(server1, q1, 8001, psh))},
					{nic1, away(q2, psh)}, {nic1, data(away(q2, psh))}},
			},
		}...),
		counters: map[string]uint64{"forward-new-flow": 2, "forward-flow": 10},
	},
}

// away is a frame to the server behind the clients' gateway, awayAnswer one from it.
func away(q uint16, flags uint8) packet.Frame {
	f := asked(beyond, q, 80, flags)
	f.Dst, f.Src = gatewayMAC, mac1
	return f
}

func awayAnswer(q uint16, flags uint8) packet.Frame {
	f := answer(beyond, 80, q, flags)
	f.Dst, f.Src = mac1, gatewayMAC
	return f
}
