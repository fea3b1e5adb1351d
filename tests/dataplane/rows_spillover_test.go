package dataplane

import (
	"math/rand/v2"
	"slices"
	"testing"

	"sluice/dataplane/api"
	"sluice/dataplane/packet"
)

// stickily has www spill over to few beyond so many connections, where clients stay for two minutes.
func stickily(threshold uint32, up []uint32) *api.Tables {
	return limits(up, func(c *api.Config) {
		spill(c, api.SpillConnection, threshold, false)
		c.Vservers[0].SpillSeconds = 120
		c.Vservers[8].Bindings = c.Vservers[8].Bindings[:1]
	})
}

// toWWW is the step in which a client opens a connection to www that goes to a server.
func toWWW(who ip4, sport uint16, server ip4, q, sdport uint16) step {
	return opens(who, sport, webPort, server, q, sdport)
}

// stickRows: -soPersistence. The primary has web1, its backup web2.
var stickRows = []row{
	{
		name: "soPersistence: who was spilled over stays with the backup though there is room again, for its time; others do not go there",
		steps: []step{applies(stickily(1, allUp)),
			toWWW(client, c1, server1, q1, 8001), toWWW(beside, c2, server2, q2, 8002),
			resets(c1, webPort, server1, q1, 8001), passes(60),
			toWWW(beside, c3, server2, q3, 8002),
			{in: []on{{nic1, with(ask(c3, webPort, rst), func(f *packet.Frame) { f.SrcIP = beside })}}, out: []on{{nic2, asked(server2, q3, 8002, rst)}}},
			toWWW(client, c4, server1, q4, 8001), vserverSays("www", 1, 0),
			resets(c4, webPort, server1, q4, 8001),
			passes(119), goesToWWW(beside, server2), passes(121), goesToWWW(beside, server1)},
		counters: map[string]uint64{"forward-new-flow": 6, "forward-flow": 3},
	},
	{
		name: "soPersistence: a backup that is down keeps nobody, and has its clients back when it is up in their time",
		steps: []step{applies(stickily(1, allUp)),
			toWWW(client, c1, server1, q1, 8001), toWWW(beside, c2, server2, q2, 8002), resets(c1, webPort, server1, q1, 8001),
			applies(stickily(1, upBut(2, 3))), passes(0.2), toWWW(beside, c3, server1, q3, 8001),
			applies(stickily(1, allUp)), goesToWWW(beside, server2)},
		counters: map[string]uint64{"forward-new-flow": 4, "forward-flow": 1},
	},
	{
		name: "soPersistence: a primary that is down spills nobody over",
		steps: []step{applies(stickily(1, upBut(1))), toWWW(client, c1, server2, q1, 8002), applies(stickily(1, allUp)),
			goesToWWW(client, server1), goesToWWW(client, server2), goesToWWW(client, server2)},
		counters: map[string]uint64{"forward-new-flow": 4},
	},
	{
		name: "soPersistence that ends lets clients go",
		steps: []step{applies(stickily(1, allUp)),
			toWWW(client, c1, server1, q1, 8001), toWWW(beside, c2, server2, q2, 8002), resets(c1, webPort, server1, q1, 8001),
			applies(spilling(api.SpillConnection, 1, false)), passes(0.2), goesToWWW(beside, server1)},
		counters: map[string]uint64{"forward-new-flow": 3, "forward-flow": 1},
	},
}

// goesToWWW has a client open one more connection to www, which goes to a server.
func goesToWWW(who ip4, server ip4) step {
	return step{do: func(b *bed) {
		b.t.Helper()
		b.sport++
		if got := b.goesTo(who, 30000+b.sport, webPort); got != server {
			b.t.Errorf("%v goes to %v, not to %v", addr(who), addr(got), addr(server))
		}
	}}
}

// TestSpilledStay plays connections that come and go against a model that counts them and remembers who was spilled over when.
func TestSpilledStay(t *testing.T) {
	for seed := range uint64(6) {
		b, r := newBed(t, newMemories(t, 1, poolSize), 8192), rand.New(rand.NewPCG(seed, 5))
		const threshold, limit = 4, 1200
		tab := stickily(threshold, allUp)
		tab.Config.Timeouts.Opening = 1 << 20
		for i := range tab.Config.Vservers {
			tab.Config.Vservers[i].ClientTimeout = 0
		}
		for i := range tab.Config.Services {
			tab.Config.Services[i].ServerTimeout = 0
		}
		b.apply(tab)
		type connection struct {
			who   ip4
			sport uint16
			home  bool // at the primary
		}
		var open []connection
		atHome, stays, went := 0, map[ip4]uint64{}, [3]int{}
		for i := range 3000 {
			who := ip4{192, 0, 2, byte(r.IntN(12))}
			switch k := r.IntN(100); {
			case k < 50:
				c := connection{who, uint16(10000 + i), false}
				home := b.goesTo(who, c.sport, webPort) == server1
				since, spilled := stays[who]
				spilled = spilled && b.clock-since < limit
				want := !spilled && atHome < threshold
				if home != want {
					t.Fatalf("seed %d: connection %d of %v is at the primary: %v, want %v: %d there, spilled over: %v, %d ticks ago", seed, i, addr(who), home, want, atHome, spilled, b.clock-since)
				}
				switch c.home = home; {
				case home:
					atHome++
					went[0]++
				case !spilled || b.clock-since >= 10: // within a second nothing is noted anew
					stays[who] = b.clock
				}
				if spilled {
					went[1]++
				} else if !home {
					went[2]++
				}
				open = append(open, c)
			case k < 97 && len(open) > 0:
				j := r.IntN(len(open))
				c := open[j]
				open = slices.Delete(open, j, j+1)
				b.through(nic1, nic2, with(ask(c.sport, webPort, rst), func(f *packet.Frame) { f.SrcIP = c.who }))
				if c.home {
					atHome--
				}
			case k >= 97:
				b.pass(float64(r.IntN(80)))
			}
		}
		if min(went[0], went[1], went[2]) < 20 {
			t.Errorf("seed %d: %v connections at the primary, of those who stay, and spilled over: the test has lost its point", seed, went)
		}
		b.close()
	}
}
