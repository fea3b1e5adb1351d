package dataplane

import (
	"math/rand/v2"
	"testing"

	"sluice/dataplane/api"
)

// TestQuotas plays clients that come and go at random against limits of services that change, on 1, 2 and 4 workers, and keeps
// count: no service ever has more than its limit, and a client is refused only if every service was full a tenth of a second
// before, at W = 1 if every one is full.
func TestQuotas(t *testing.T) {
	for _, c := range []crew{alone, {2, 0, true}, {4, 0, true}} {
		t.Run(c.String(), func(t *testing.T) { playQuotas(t, c, uint64(c.workers)) })
	}
}

func playQuotas(t *testing.T, c crew, seed uint64) {
	r := rand.New(rand.NewPCG(seed, 4))
	b := newCrew(t, newMemories(t, c.workers, poolSize), c, 4096)
	most := [3]uint32{5, 17, 40}
	apply := func() {
		b.apply(limits(allUp, func(c *api.Config) {
			for i := range most {
				c.Services[i].MaxClient = most[i]
			}
		}))
	}
	apply()
	open := map[uint16]bool{}
	var refused, full, ended int
	for step := range 6000 {
		switch n := r.IntN(100); {
		case n < 55 || len(open) == 0:
			port := uint16(1024 + r.IntN(60000))
			if open[port] {
				continue
			}
			if c.workers > 1 && r.IntN(8) == 0 {
				b.pass(0.1)
			}
			before := b.carried()
			if sent := b.asks(ask(port, webPort, syn).Bytes()); sent == 1 {
				open[port] = true
			} else if refused++; full3(before, most) {
				full++
			} else if c.workers == 1 {
				t.Fatalf("step %d: refused with %v of %v", step, before, most)
			}
		case n < 98:
			for port := range open {
				b.asks(ask(port, webPort, rst).Bytes())
				delete(open, port)
				ended++
				break
			}
		default:
			b.pass(6) // what was reset is forgotten
			// Limits only rise: what is open above a limit that was lowered is another row's business.
			most[r.IntN(3)] += uint32(r.IntN(3))
			apply()
		}
		for i, n := range b.carried() {
			if n > uint64(most[i]) {
				t.Fatalf("step %d: service %d carries %d flows, its limit is %d", step, i+1, n, most[i])
			}
		}
	}
	if c.workers > 1 { // whoever is refused at rest is refused rightly
		for port := uint16(1024); !full3(b.carried(), most); port++ {
			if open[port] || b.asks(ask(port, webPort, syn).Bytes()) == 1 {
				continue // no more time than it must: what is opening is soon forgotten
			}
			b.pass(0.2)
			if !full3(b.carried(), most) && b.asks(ask(port, webPort, syn).Bytes()) != 1 {
				t.Fatalf("refused at rest with %v of %v", b.carried(), most)
			}
		}
	}
	t.Logf("%d refused, %d of them with every service full; %d ended", refused, full, ended)
	if refused < 100 || full < refused/4 {
		t.Error("the game hardly came to the limits")
	}
	b.close()
}

// asks lets a client's frame in and returns how many frames the servers get of it.
func (b *bed) asks(frame []byte) int {
	b.t.Helper()
	b.enters(nic1, frame)
	return len(b.q.Sent(nic2))
}

// carried is how many flows web1 to web3 carry.
func (b *bed) carried() (n [3]uint64) {
	for _, s := range b.stats().Services[:3] {
		n[s.ID-1] = s.OpenFlows
	}
	return n
}

func full3(n [3]uint64, most [3]uint32) bool {
	for i := range n {
		if n[i] != uint64(most[i]) {
			return false
		}
	}
	return true
}
