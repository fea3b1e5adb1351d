package dataplane

import (
	"sluice/dataplane/api"
	"sluice/dataplane/packet"
)

// slowly gives the vserver of a port slow start, with services up but for some.
func slowly(port uint16, rate, seconds uint32, down ...uint32) step {
	return slowlyBy(false, port, rate, seconds, down)
}

// slowlyPercent is slowly with a rate in percent.
func slowlyPercent(port uint16, rate, seconds uint32, down ...uint32) step {
	return slowlyBy(true, port, rate, seconds, down)
}

func slowlyBy(percent bool, port uint16, rate, seconds uint32, down []uint32) step {
	return applies(limits(upBut(down...), func(c *api.Config) {
		for i := range c.Vservers {
			if v := &c.Vservers[i]; v.Port == port {
				v.SlowRate, v.SlowSeconds, v.SlowPercent = rate, seconds, percent
			}
		}
	}))
}

// slowlyKept is slowly for www, whose clients persist.
func slowlyKept(down ...uint32) step {
	return applies(limits(upBut(down...), func(c *api.Config) {
		v := &c.Vservers[0]
		v.SlowRate, v.Persistence, v.PersistSeconds = 1, api.PersistSourceIP, 120
	}))
}

// getsAbout is gets where the number is one of chance: it may be a third off, and ten.
func getsAbout(first uint16, n int, port uint16, server ip4, want int) step {
	return getsOfAbout(n, func(k int) packet.Frame { return ask(first+uint16(k), port, packet.SYN) }, server, want)
}

// getsOfAbout is getsAbout with the first packet of connection number k.
func getsOfAbout(n int, first func(k int) packet.Frame, server ip4, want int) step {
	return step{do: func(b *bed) {
		b.t.Helper()
		_, got := b.comeTo(n, first, server)
		if off := want/3 + 10; got < want-off || got > want+off {
			b.t.Errorf("of %d connections %d went to %v, not about %d", n, got, server, want)
		}
	}}
}

// gets is the step in which so many of n new connections, -1: some, go to a server, and the others to others. The workers share them.
func gets(first uint16, n int, port uint16, server ip4, want int) step {
	return getsOf(n, func(k int) packet.Frame { return ask(first+uint16(k), port, packet.SYN) }, server, want)
}

// getsOf is gets with the first packet of connection number k.
func getsOf(n int, first func(k int) packet.Frame, server ip4, want int) step {
	return step{do: func(b *bed) {
		b.t.Helper()
		sent, got := b.comeTo(n, first, server)
		if sent != n || got != want && (want >= 0 || got == 0) {
			b.t.Errorf("of %d connections %d went on, %d of them to %v, not %d", n, sent, got, server, want)
		}
	}}
}

// comeTo opens n connections and says how many packets reached servers, and how many of them one server.
func (b *bed) comeTo(n int, first func(k int) packet.Frame, server ip4) (all, got int) {
	b.t.Helper()
	for k := range n {
		b.enters(nic1, first(k))
		for _, f := range b.q.Sent(nic2) {
			all++
			if ip4(f[30:34]) == server {
				got++
			}
		}
	}
	return all, got
}

// slowRows: what a service gets that has just come up.
var slowRows = []row{
	{
		name: "slow start: so many connections a second, more after each interval, whatever the method would give",
		steps: []step{slowly(leastPort, 2, 5, 2), gets(6000, 10, leastPort, server1, 10), slowly(leastPort, 2, 5), passes(1),
			gets(6100, 10, leastPort, server2, 2), gets(6200, 10, leastPort, server2, 0), passes(1), gets(6300, 10, leastPort, server2, 2),
			passes(4), gets(6400, 10, leastPort, server2, 4), passes(5), gets(6500, 10, leastPort, server2, 6)},
		counters: map[string]uint64{"forward-new-flow": 60},
		entries:  1024,
	},
	{
		name: "slow start: round robin, and it stays at the first figure without an interval",
		steps: []step{slowly(webPort, 1, 0, 3), slowly(webPort, 1, 0), gets(6000, 12, webPort, server3, 1),
			passes(60), gets(6100, 12, webPort, server3, 1), slowly(webPort, 0, 0), gets(6200, 12, webPort, server3, 4)},
		counters: map[string]uint64{"forward-new-flow": 36},
	},
	{
		name: "slow start: hash methods, too",
		steps: []step{slowly(hashPort, 1, 0, 3), slowly(hashPort, 1, 0),
			getsOf(60, func(k int) packet.Frame {
				return with(ask(6000, hashPort, packet.SYN), func(f *packet.Frame) { f.SrcIP = ip4{10, 1, 1, byte(k)} })
			}, server3, 1)},
		counters: map[string]uint64{"forward-new-flow": 60},
	},
	{
		name: "slow start: a service takes more when no other can",
		steps: []step{slowly(leastPort, 1, 0, 1, 2), slowly(leastPort, 1, 0, 1), gets(6000, 5, leastPort, server2, 5),
			slowly(leastPort, 1, 0), passes(1), gets(6100, 5, leastPort, server2, 1)},
		counters: map[string]uint64{"forward-new-flow": 10},
	},
	{
		name: "slow start: who was up before has none, other vservers do not ask",
		steps: []step{slowly(leastPort, 1, 0), gets(6000, 6, leastPort, server2, 3), slowly(leastPort, 1, 0, 2), slowly(leastPort, 1, 0),
			gets(6100, 6, webPort, server2, -1), gets(6200, 6, leastPort, server2, 1)},
		counters: map[string]uint64{"forward-new-flow": 18},
	},
	{
		name: "slow start: a service that was bound",
		steps: []step{applies(limits(allUp, func(c *api.Config) {
			c.Vservers[0].SlowRate, c.Vservers[0].Bindings = 1, c.Vservers[0].Bindings[:2]
		})), slowly(webPort, 1, 0), gets(6000, 12, webPort, server3, 1)},
		counters: map[string]uint64{"forward-new-flow": 12},
	},
	{
		name: "slow start in percent: round robin, more after each interval, then the full share",
		steps: []step{slowlyPercent(webPort, 10, 5, 3), slowlyPercent(webPort, 10, 5), getsAbout(6000, 600, webPort, server3, 20),
			passes(5), getsAbout(7000, 600, webPort, server3, 40), passes(40), getsAbout(8000, 600, webPort, server3, 200)},
		counters: map[string]uint64{"forward-new-flow": 1800},
		entries:  4096,
	},
	{
		name: "slow start in percent: who has the fewest connections gets no more than its part, too",
		steps: []step{slowlyPercent(leastPort, 20, 0, 2), slowlyPercent(leastPort, 20, 0), getsAbout(6000, 600, leastPort, server2, 60),
			slowlyPercent(leastPort, 20, 0, 1), gets(7000, 9, leastPort, server2, 9)},
		counters: map[string]uint64{"forward-new-flow": 609},
		entries:  4096,
	},
	{
		name: "slow start in percent: hash methods",
		steps: []step{slowlyPercent(hashPort, 25, 0, 3), slowlyPercent(hashPort, 25, 0), getsOfAbout(600, func(k int) packet.Frame {
			return with(ask(6000, hashPort, packet.SYN), func(f *packet.Frame) { f.SrcIP = ip4{10, 1, 1 + byte(k>>7), 1 + byte(k&127)} })
		}, server3, 50)},
		counters: map[string]uint64{"forward-new-flow": 600},
		entries:  4096,
	},
	{
		name:     "slow start: clients stay with their service",
		steps:    []step{slowlyKept(1, 3), gets(6000, 3, webPort, server2, 3), slowlyKept(), gets(6100, 5, webPort, server2, 5)},
		counters: map[string]uint64{"forward-new-flow": 8},
	},
}
