package dataplane

import (
	"slices"

	"sluice/dataplane/api"
	"sluice/dataplane/packet"
)

// limits are the tables of every row with changes to the configuration.
func limits(up []uint32, change func(*api.Config)) *api.Tables {
	t := tables()
	t.Config.Version = 2
	change(t.Config)
	return &api.Tables{Config: t.Config, Health: &api.Health{Version: 2, Up: up}}
}

// atMost gives web1 to web3 so many clients each.
func atMost(n uint32, surge bool) *api.Tables {
	return limits(allUp, func(c *api.Config) {
		for i := range c.Services[:3] {
			c.Services[i].MaxClient, c.Services[i].Surge = n, surge
		}
	})
}

// upBut are the services that are up but for some.
func upBut(down ...uint32) []uint32 {
	return slices.DeleteFunc(slices.Clone(allUp), func(id uint32) bool { return slices.Contains(down, id) })
}

// resets is a reset by the client of a connection to a server, which ends it.
func resets(sport, dport uint16, server ip4, q, sdport uint16) step {
	return step{in: []on{{nic1, ask(sport, dport, rst)}}, out: []on{{nic2, asked(server, q, sdport, rst)}}}
}

// vserversSay checks figures of a vserver.
func vserverSays(name string, spilled, waiting uint64) step {
	return step{do: func(b *bed) {
		for _, v := range b.stats().Vservers {
			if v.Name == name && (v.Spilled != spilled || v.Waiting != waiting) {
				b.t.Errorf("%s: %d flows spilled and %d wait, not %d and %d", name, v.Spilled, v.Waiting, spilled, waiting)
			}
		}
	}}
}

// backup makes vserver 9 (few) one that clients reach through www only, with web2 and web3 behind it.
func backup(c *api.Config) {
	w, f := &c.Vservers[0], &c.Vservers[8]
	f.Hidden, f.Bindings = true, []api.Binding{{Service: 2, Weight: 1}, {Service: 3, Weight: 1}}
	w.Backup, w.Bindings = f.ID, w.Bindings[:1]
}

// limitRows: limits of services and vservers, and what happens beyond them.
var limitRows = []row{
	{
		name: "maxClient: a service that is full is passed over, and chosen again when a connection has ended",
		steps: []step{applies(atMost(1, false)),
			open(c1, webPort, server1, q1, 8001), open(c2, webPort, server2, q2, 8002), open(c3, webPort, server3, q3, 8003),
			drops(on{nic1, ask(c4, webPort, syn)}),
			resets(c2, webPort, server2, q2, 8002),
			open(c4, webPort, server2, q4, 8002),
			drops(on{nic1, ask(c5, webPort, syn)})},
		counters: map[string]uint64{"forward-new-flow": 4, "forward-flow": 1, "drop-services-full": 2},
	},
	{
		name: "maxClient: the least connections among those that are not full",
		steps: []step{applies(limits(allUp, func(c *api.Config) { c.Services[0].MaxClient = 1 })),
			open(c1, leastPort, server1, q1, 8001), open(c2, leastPort, server2, q2, 8002), open(c3, leastPort, server2, q3, 8002)},
		counters: map[string]uint64{"forward-new-flow": 3},
	},
	{
		name: "maxClient is of the service, whatever vservers lead to it",
		steps: []step{applies(limits(upBut(2, 3), func(c *api.Config) { c.Services[0].MaxClient = 2 })),
			open(c1, webPort, server1, q1, 8001), open(c2, leastPort, server1, q2, 8001),
			drops(on{nic1, ask(c3, webPort, syn)}, on{nic1, ask(c3, leastPort, syn)}, on{nic1, ask(c3, hashPort, syn)})},
		counters: map[string]uint64{"forward-new-flow": 2, "drop-services-full": 3},
	},
	{
		name: "maxClient that comes below what is open: no new flow until enough have ended",
		steps: []step{applies(limits(upBut(2, 3), func(*api.Config) {})),
			open(c1, webPort, server1, q1, 8001), open(c2, webPort, server1, q2, 8001),
			applies(limits(upBut(2, 3), func(c *api.Config) { c.Services[0].MaxClient = 1 })),
			drops(on{nic1, ask(c3, webPort, syn)}), resets(c1, webPort, server1, q1, 8001), passes(0.2), drops(on{nic1, ask(c3, webPort, syn)}),
			resets(c2, webPort, server1, q2, 8001), passes(0.2), open(c3, webPort, server1, q3, 8001)},
		counters: map[string]uint64{"forward-new-flow": 3, "forward-flow": 2, "drop-services-full": 2},
	},
	{
		name: "surge queue: connections wait and go on in their order as others end",
		steps: []step{applies(limits(upBut(2, 3), func(c *api.Config) { c.Services[0].MaxClient, c.Services[0].Surge = 1, true })),
			open(c1, webPort, server1, q1, 8001),
			drops(on{nic1, ask(c2, webPort, syn)}, on{nic1, ask(c3, webPort, syn)}, on{nic1, ask(c2, webPort, syn)}),
			vserverSays("www", 0, 2),
			{in: []on{{nic1, ask(c1, webPort, rst)}}, out: []on{{nic2, asked(server1, q1, 8001, rst)}, {nic2, asked(server1, q2, 8001, syn)}}},
			vserverSays("www", 0, 1),
			// A newcomer waits behind them.
			drops(on{nic1, ask(c4, webPort, syn)}),
			{in: []on{{nic1, ask(c2, webPort, rst)}}, out: []on{{nic2, asked(server1, q2, 8001, rst)}, {nic2, asked(server1, q3, 8001, syn)}}},
			{in: []on{{nic1, ask(c3, webPort, rst)}}, out: []on{{nic2, asked(server1, q3, 8001, rst)}, {nic2, asked(server1, q4, 8001, syn)}}},
			vserverSays("www", 0, 0)},
		counters: map[string]uint64{"forward-new-flow": 4, "forward-flow": 3, "held-surge-queue": 3, "drop-surge-repeated": 1},
	},
	{
		name: "surge queue: a client that has given up loses its place",
		steps: []step{applies(limits(upBut(2, 3), func(c *api.Config) { c.Services[0].MaxClient, c.Services[0].Surge = 1, true })),
			step{in: []on{{nic1, ask(c1, webPort, syn)}}, out: []on{{nic2, asked(server1, q1, 8001, syn)}}},
			step{in: []on{{nic2, answer(server1, 8001, q1, synack)}}, out: []on{{nic1, answered(webPort, c1, synack)}}},
			step{in: []on{{nic1, ask(c1, webPort, ack)}}, out: []on{{nic2, asked(server1, q1, 8001, ack)}}},
			drops(on{nic1, ask(c2, webPort, syn)}), passes(30), drops(on{nic1, ask(c2, webPort, syn)}), passes(30), vserverSays("www", 0, 1),
			passes(6), vserverSays("www", 0, 0)},
		counters: map[string]uint64{"forward-new-flow": 1, "forward-flow": 2, "held-surge-queue": 1, "drop-surge-repeated": 1, "drop-surge-expired": 1},
	},
	{
		name: "surge queue: it has an end, and what waits goes with the vserver",
		steps: []step{applies(limits(upBut(2, 3), func(c *api.Config) { c.Services[0].MaxClient, c.Services[0].Surge = 1, true })),
			open(c1, webPort, server1, q1, 8001),
			{do: func(b *bed) {
				for _, c := range kin(6000, 300) {
					b.enters(nic1, ask(c, webPort, syn))
				}
			}},
			vserverSays("www", 0, 256),
			applies(limits(upBut(2, 3), func(c *api.Config) { c.Vservers = c.Vservers[1:] })), passes(2)},
		counters: map[string]uint64{"forward-new-flow": 1, "held-surge-queue": 256, "drop-surge-queue-full": 44, "drop-no-vserver": 256},
	},
	{
		name: "maxBandwidth: a service that carries more gets no new flows for the second",
		steps: []step{applies(limits(upBut(2, 3), func(c *api.Config) { c.Services[0].MaxBandwidth = 8 })), passes(1),
			step{in: []on{{nic1, ask(c1, webPort, syn)}}, out: []on{{nic2, asked(server1, q1, 8001, syn)}}},
			many(30, nic1, nic2, func() packet.Frame { return data(ask(c1, webPort, psh)) }),
			drops(on{nic1, ask(c2, webPort, syn)}), passes(1.2), drops(on{nic1, ask(c2, webPort, syn)}), passes(1.2),
			open(c2, webPort, server1, q2, 8001)},
		counters: map[string]uint64{"forward-new-flow": 2, "forward-flow": 30, "drop-services-full": 2},
	},
	{
		name: "backup vserver: it takes new flows while no service is up, and those alone",
		steps: []step{applies(limits(allUp, backup)), open(c1, webPort, server1, q1, 8001),
			applies(limits(upBut(1), backup)), open(c2, webPort, server2, q2, 8002), open(c3, webPort, server3, q3, 8003),
			drops(on{nic1, ask(c4, fewPort, syn)}),
			applies(limits(allUp, backup)), open(c5, webPort, server1, q4, 8001),
			step{do: func(b *bed) {
				b.traffic("few", b.stats().Vservers, api.FlowStats{ID: 9, Flows: 2, OpenFlows: 2, PacketsIn: 2, BytesIn: 80})
			}}},
		counters: map[string]uint64{"forward-new-flow": 4, "drop-no-vserver": 1},
	},
	{
		name: "backup vserver: the next one of the chain if it is down as well",
		steps: []step{applies(limits(upBut(1, 2, 3), func(c *api.Config) {
			backup(c)
			c.Vservers[8].Backup = 4
		})), {in: []on{{nic1, ask(c1, webPort, syn)}}, out: []on{{nic2, with(asked(server1, c1, 80, syn), func(f *packet.Frame) { f.SrcIP = client })}}}},
		counters: map[string]uint64{"forward-new-flow": 1},
	},
	{
		name: "downStateRST: a SYN to a vserver that is down is answered with a reset, a datagram is not",
		steps: []step{applies(limits(upBut(8, 4), func(c *api.Config) { c.DownStateRST = true })),
			{in: []on{{nic1, said(ask(c1, downPort, syn), 1000, 0)}, {nic1, udp(ask(c1, dnsPort, 0))}},
				out: []on{{nic1, ours(answered(downPort, c1, rst|ack), 0, 1001)}}}},
		counters: map[string]uint64{"reply-reset": 1, "drop-no-service-up": 1},
	},
	{
		name: "healthThreshold: a vserver with too few services up is down",
		steps: []step{applies(limits(upBut(1, 2), func(c *api.Config) { c.Vservers[0].HealthThreshold = 34 })), drops(on{nic1, ask(c1, webPort, syn)}),
			applies(limits(upBut(1), func(c *api.Config) { c.Vservers[0].HealthThreshold = 34 })), open(c1, webPort, server2, q1, 8002)},
		counters: map[string]uint64{"forward-new-flow": 1, "drop-no-service-up": 1},
	},
	{
		name: "spillover CONNECTION: beyond the threshold to the backup, and back when connections have ended",
		steps: []step{applies(spilling(api.SpillConnection, 2, false)),
			open(c1, webPort, server1, q1, 8001), open(c2, webPort, server1, q2, 8001), open(c3, webPort, server2, q3, 8002),
			vserverSays("www", 1, 0), resets(c1, webPort, server1, q1, 8001), open(c4, webPort, server1, q4, 8001)},
		counters: map[string]uint64{"forward-new-flow": 4, "forward-flow": 1},
	},
	{
		name: "spillover DYNAMICCONNECTION: the threshold is what the services take together",
		steps: []step{applies(limits(allUp, func(c *api.Config) {
			backup(c)
			c.Services[0].MaxClient, c.Vservers[0].Spillover = 1, api.SpillDynamic
		})), open(c1, webPort, server1, q1, 8001), open(c2, webPort, server2, q2, 8002)},
		counters: map[string]uint64{"forward-new-flow": 2},
	},
	{
		name: "spillover BANDWIDTH: while the last second had more",
		steps: []step{applies(spilling(api.SpillBandwidth, 8, false)), passes(1),
			open(c1, webPort, server1, q1, 8001),
			many(30, nic1, nic2, func() packet.Frame { return data(ask(c1, webPort, psh)) }),
			passes(2.2), open(c2, webPort, server2, q2, 8002), passes(2), open(c3, webPort, server1, q3, 8001)},
		counters: map[string]uint64{"forward-new-flow": 3, "forward-flow": 30},
	},
	{
		name: "spillover HEALTH: while too much of the weight is down",
		steps: []step{applies(limits(upBut(1), func(c *api.Config) {
			backup(c)
			c.Vservers[0].Bindings = []api.Binding{{Service: 1, Weight: 3}, {Service: 2, Weight: 2}}
			c.Vservers[0].Spillover, c.Vservers[0].SpillThreshold = api.SpillHealth, 50
			c.Vservers[8].Bindings = c.Vservers[8].Bindings[1:]
		})), open(c1, webPort, server3, q1, 8003)},
		counters: map[string]uint64{"forward-new-flow": 1},
	},
	{
		name: "spillover with no backup that can take it: dropped",
		steps: []step{applies(limits(allUp, func(c *api.Config) {
			c.Vservers[0].Spillover, c.Vservers[0].SpillThreshold = api.SpillConnection, 1
		})), open(c1, webPort, server1, q1, 8001), drops(on{nic1, ask(c2, webPort, syn)})},
		counters: map[string]uint64{"forward-new-flow": 1, "drop-spillover": 1},
	},
	{
		name: "spillover with no backup that can take it: taken all the same if the action says so",
		steps: []step{applies(spilling(api.SpillConnection, 1, true)),
			open(c1, webPort, server1, q1, 8001), applies(limits(upBut(2, 3), func(c *api.Config) { spill(c, api.SpillConnection, 1, true) })),
			open(c2, webPort, server1, q2, 8001)},
		counters: map[string]uint64{"forward-new-flow": 2},
	},
}

func spill(c *api.Config, by api.Spillover, threshold uint32, accept bool) {
	backup(c)
	v := &c.Vservers[0]
	v.Spillover, v.SpillThreshold, v.SpillAccept = by, threshold, accept
}

func spilling(by api.Spillover, threshold uint32, accept bool) *api.Tables {
	return limits(allUp, func(c *api.Config) { spill(c, by, threshold, accept) })
}

// many lets frames in one by one that must leave by a lane; how they look there is other rows' business.
func many(n, in, out int, frame func() packet.Frame) step {
	return step{do: func(b *bed) {
		b.t.Helper()
		for range n {
			b.enters(in, frame())
		}
		if got := len(b.q.Sent(out)); got != n {
			b.t.Errorf("%d packets of %d left", got, n)
		}
	}}
}
