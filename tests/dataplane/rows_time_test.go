package dataplane

import "sluice/dataplane/api"

// handshake is the steps of a finished handshake on a new flow to server1.
func handshake(sport, dport uint16, q uint16) []step {
	return []step{
		open(sport, dport, server1, q, 8001),
		{in: []on{{nic2, answer(server1, 8001, q, synack)}}, out: []on{{nic1, answered(dport, sport, synack)}}},
		{in: []on{{nic1, ask(sport, dport, ack)}}, out: []on{{nic2, asked(server1, q, 8001, ack)}}},
	}
}

func steps(first []step, more ...step) []step { return append(first[:len(first):len(first)], more...) }

// flowsAre checks how many flow entries there are.
func flowsAre(n uint64) step {
	return step{do: func(b *bed) {
		b.t.Helper()
		b.pass(0.1)
		if got := sum(b.stats(), flowsOf); got != n {
			b.t.Errorf("%d flow entries, not %d", got, n)
		}
	}}
}

// ages are timeouts that are none of the dataplane's own.
var ages = api.Timeouts{Opening: 4, HalfClosed: 10, Closed: 30, Reset: 20}

// timed has flows age so.
func timed(s api.Timeouts) step {
	return step{do: func(b *bed) {
		t := tables()
		t.Config.Timeouts = s
		b.apply(&api.Tables{Config: t.Config})
	}}
}

// noneOpen checks that no connection to web1 counts as open: one that is over does not, nor is it taken off twice.
var noneOpen = step{do: func(b *bed) {
	s := b.stats()
	if s.Vservers[0].OpenFlows != 0 || s.Services[0].OpenFlows != 0 {
		b.t.Errorf("open flows: %d of www, %d of web1", s.Vservers[0].OpenFlows, s.Services[0].OpenFlows)
	}
}}

// Ages have some slack: the table is swept in 2 s.
var ageRows = []row{
	{
		name:     "a handshake that does not end is forgotten after 30 s",
		steps:    []step{open(5001, webPort, server1, q1, 8001), passes(29), flowsAre(2), passes(4), flowsAre(0), sameOn(nic2, twin2, answer(server1, 8001, 9, synack))},
		counters: map[string]uint64{"forward-new-flow": 1, "punt-local": 1},
	},
	{
		name: "a connection lives as long as one side speaks, and then for the shorter timeout",
		steps: steps(handshake(5001, webPort, q1),
			passes(170), flowsAre(2),
			step{in: []on{{nic2, data(answer(server1, 8001, q1, psh))}}, out: []on{{nic1, data(answered(webPort, 5001, psh))}}},
			passes(170), flowsAre(2),
			step{in: []on{{nic1, ask(5001, webPort, ack)}}, out: []on{{nic2, asked(server1, q1, 8001, ack)}}},
			passes(179), flowsAre(2), passes(4), flowsAre(0),
			drops(on{nic1, ask(5001, webPort, ack)})),
		counters: map[string]uint64{"forward-new-flow": 1, "forward-flow": 4, "drop-no-flow": 1},
	},
	{
		name: "both sides have closed: 60 s",
		steps: steps(handshake(5001, webPort, q1),
			step{in: []on{{nic1, ask(5001, webPort, fin)}}, out: []on{{nic2, asked(server1, q1, 8001, fin)}}},
			step{in: []on{{nic2, answer(server1, 8001, q1, fin)}}, out: []on{{nic1, answered(webPort, 5001, fin)}}},
			passes(58), flowsAre(2), passes(5), flowsAre(0)),
		counters: map[string]uint64{"forward-new-flow": 1, "forward-flow": 4},
	},
	{
		name: "one side alone has closed: the connection lives on",
		steps: steps(handshake(5001, webPort, q1),
			step{in: []on{{nic1, ask(5001, webPort, fin)}}, out: []on{{nic2, asked(server1, q1, 8001, fin)}}},
			passes(100), flowsAre(2)),
		counters: map[string]uint64{"forward-new-flow": 1, "forward-flow": 3},
	},
	{
		name: "a reset: 5 s",
		steps: steps(handshake(5001, webPort, q1),
			step{in: []on{{nic2, answer(server1, 8001, q1, rst)}}, out: []on{{nic1, answered(webPort, 5001, rst)}}},
			noneOpen, passes(4), flowsAre(2), passes(4), flowsAre(0), noneOpen),
		counters: map[string]uint64{"forward-new-flow": 1, "forward-flow": 3},
	},
	{
		name:     "timeouts: a handshake that does not end",
		steps:    []step{timed(ages), open(5001, webPort, server1, q1, 8001), passes(3), flowsAre(2), passes(3), flowsAre(0)},
		counters: map[string]uint64{"forward-new-flow": 1},
	},
	{
		name: "timeouts: one side has closed and the other speaks on, then both have",
		steps: steps(append([]step{timed(ages)}, handshake(5001, webPort, q1)...),
			step{in: []on{{nic1, ask(5001, webPort, fin)}}, out: []on{{nic2, asked(server1, q1, 8001, fin)}}},
			passes(9), flowsAre(2),
			step{in: []on{{nic2, data(answer(server1, 8001, q1, psh))}}, out: []on{{nic1, data(answered(webPort, 5001, psh))}}},
			passes(9), flowsAre(2),
			step{in: []on{{nic2, answer(server1, 8001, q1, fin)}}, out: []on{{nic1, answered(webPort, 5001, fin)}}},
			passes(28), flowsAre(2), passes(4), flowsAre(0)),
		counters: map[string]uint64{"forward-new-flow": 1, "forward-flow": 5},
	},
	{
		name: "timeouts: a reset",
		steps: steps(append([]step{timed(ages)}, handshake(5001, webPort, q1)...),
			step{in: []on{{nic2, answer(server1, 8001, q1, rst)}}, out: []on{{nic1, answered(webPort, 5001, rst)}}},
			passes(19), flowsAre(2), passes(4), flowsAre(0)),
		counters: map[string]uint64{"forward-new-flow": 1, "forward-flow": 3},
	},
	{
		name: "timeouts: one side alone has closed",
		steps: steps(handshake(5001, webPort, q1),
			step{in: []on{{nic2, answer(server1, 8001, q1, fin)}}, out: []on{{nic1, answered(webPort, 5001, fin)}}},
			passes(60), flowsAre(2), timed(api.Timeouts{HalfClosed: 61}), flowsAre(2), passes(4), flowsAre(0)),
		counters: map[string]uint64{"forward-new-flow": 1, "forward-flow": 3},
	},
	{
		name: "timeouts: a server that answers past us is not taken to have closed",
		steps: []step{withModes, {do: func(b *bed) {
			c := modeConfig()
			c.Timeouts = ages
			b.apply(&api.Tables{Config: c})
		}},
			{in: []on{{nic1, askOf(vipMode, c1, tosPort, syn)}}, out: []on{{nic2, marked(askOf(vipMode, c1, tosPort, syn), server1)}}},
			{in: []on{{nic1, askOf(vipMode, c1, tosPort, ack)}}, out: []on{{nic2, marked(askOf(vipMode, c1, tosPort, ack), server1)}}},
			passes(60), flowsAre(1),
			{in: []on{{nic1, askOf(vipMode, c1, tosPort, fin)}}, out: []on{{nic2, marked(askOf(vipMode, c1, tosPort, fin), server1)}}},
			passes(28), flowsAre(1), passes(4), flowsAre(0)},
		counters: map[string]uint64{"forward-new-flow": 1, "forward-flow": 2},
	},
	{
		name: "a datagram flow: its timeout",
		steps: []step{
			{in: []on{{nic1, udp(ask(5353, dnsPort, 0))}}, out: []on{{nic2, udp(asked(server1, q1, 53, 0))}}},
			passes(178), flowsAre(2), passes(5), flowsAre(0),
		},
		counters: map[string]uint64{"forward-new-flow": 1},
	},
	{
		name: "a new configuration keeps flows, counts and ports, whatever the order",
		steps: steps(handshake(5001, webPort, q1),
			step{do: func(b *bed) {
				t := tables()
				c := t.Config
				c.Version = 2
				// Other vservers and services, and those that stay in another order.
				c.Vservers = append([]api.Vserver{{ID: 50, Name: "new", Proto: api.ProtoTCP, IP: addr(vip), Port: 9000, Method: api.RoundRobin}}, c.Vservers...)
				c.Services[0], c.Services[1] = c.Services[1], c.Services[0]
				b.apply(&api.Tables{Config: c})
			}, in: []on{{nic2, data(answer(server1, 8001, q1, psh))}}, out: []on{{nic1, data(answered(webPort, 5001, psh))}}},
			step{in: []on{{nic1, ask(5001, webPort, ack)}}, out: []on{{nic2, asked(server1, q1, 8001, ack)}}},
			step{do: func(b *bed) {
				s := b.stats()
				if s.ConfigVersion != 2 || s.Vservers[0].Name != "new" {
					b.t.Errorf("the tables did not arrive: version %d", s.ConfigVersion)
				}
				b.traffic("www", s.Vservers, api.FlowStats{ID: 1, Flows: 1, OpenFlows: 1, PacketsIn: 3, BytesIn: 120, PacketsOut: 2, BytesOut: 80 + uint64(len(payload))})
				b.traffic("web1", s.Services, api.FlowStats{ID: 1, Flows: 1, OpenFlows: 1, PacketsIn: 3, BytesIn: 120, PacketsOut: 2, BytesOut: 80 + uint64(len(payload)), Up: true})
				if s.SNIPs[0].PortsInUse != 1 {
					b.t.Errorf("%d ports in use", s.SNIPs[0].PortsInUse)
				}
			}},
			// The vserver is gone: new connections are refused, the old one goes on.
			step{do: func(b *bed) {
				t := tables()
				t.Config.Vservers = t.Config.Vservers[1:]
				b.apply(&api.Tables{Config: t.Config})
			}, in: []on{{nic1, ask(5001, webPort, ack)}, {nic1, ask(5002, webPort, syn)}}, out: []on{{nic2, asked(server1, q1, 8001, ack)}}},
		),
		counters: map[string]uint64{"forward-new-flow": 1, "forward-flow": 5, "drop-no-vserver": 1},
	},
	{
		name: "figures of vserver and service: bytes are those of IP",
		steps: []step{
			{in: []on{{nic1, tagged(data(udp(ask(5353, dnsPort, 0))))}}, out: []on{{nic2, tagged(data(udp(asked(server1, q1, 53, 0))))}}},
			{in: []on{{nic2, udp(answer(server1, 53, q1, 0))}, {nic2, udp(answer(server1, 53, q1, 0))}},
				out: []on{{nic1, udp(answered(dnsPort, 5353, 0))}, {nic1, udp(answered(dnsPort, 5353, 0))}}},
			{do: func(b *bed) {
				want := api.FlowStats{Flows: 1, OpenFlows: 1, PacketsIn: 1, BytesIn: 28 + uint64(len(payload)), PacketsOut: 2, BytesOut: 56}
				want.ID = 2
				b.traffic("dns", b.stats().Vservers, want)
				want.ID, want.Up = 4, true
				b.traffic("dns1", b.stats().Services, want)
				b.pass(190)
				want.OpenFlows = 0
				b.traffic("dns1", b.stats().Services, want)
			}},
		},
		counters: map[string]uint64{"forward-new-flow": 1, "forward-flow": 2},
	},
}

// traffic compares the figures of one vserver or service.
func (b *bed) traffic(name string, list []api.FlowStats, want api.FlowStats) {
	b.t.Helper()
	want.Name = name
	for _, s := range list {
		if s.Name == name {
			if s.RecentPackets, s.RecentBytes = 0, 0; s != want { // those are the load tests' business
				b.t.Errorf("figures are %+v, not %+v", s, want)
			}
			return
		}
	}
	b.t.Errorf("%s has no figures", name)
}
