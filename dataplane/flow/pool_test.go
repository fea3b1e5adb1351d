package flow

import (
	"math/rand/v2"
	"testing"

	"sluice/dataplane/packet"
)

func openPools(t testing.TB, s PoolSettings) *Pools {
	p, err := OpenPools(s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	return p
}

// poolModel is the naive pool: a set of ports that are out and the port to try next, stepped one by one.
type poolModel struct {
	out           map[uint16]bool
	next          int // -1: not known yet, the first port tells
	lo, hi        uint16
	workers, self int
}

func (m *poolModel) may(q int) bool {
	return q >= int(m.lo) && q <= int(m.hi) && q%m.workers == m.self && q != 3784 && q != 4784 && q != 4789
}

// take is the port that must come next; ok is false when all are out.
func (m *poolModel) take() (uint16, bool) {
	for i := range 65536 {
		if q := (m.next + i) % 65536; m.may(q) && !m.out[uint16(q)] {
			m.out[uint16(q)] = true
			m.next = q + 1
			return uint16(q), true
		}
	}
	return 0, false
}

func TestPoolIsSet(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	ranges := [][2]uint16{{1024, 59999}, {3780, 3790}, {4780, 4800}, {60, 70}, {0, 63}, {64, 64}, {0, 65535}, {65500, 65535}, {4000, 4500}, {3784, 3784}}
	for _, workers := range []int{1, 2, 4, 64} {
		for self := 0; self < workers; self += max(1, workers/3) {
			p := openPools(t, PoolSettings{Pools: 2, Workers: workers, Self: self})
			m := &poolModel{out: map[uint16]bool{}, next: -1, workers: workers, self: self}
			for range 12 {
				lohi := ranges[r.IntN(len(ranges))]
				if m.lo != lohi[0] || m.hi != lohi[1] {
					m.lo, m.hi, m.next = lohi[0], lohi[1], -1
				}
				poolSteps(t, r, p, m)
			}
		}
	}
}

// poolSteps takes and gives back at random within one range.
func poolSteps(t *testing.T, r *rand.Rand, p *Pools, m *poolModel) {
	t.Helper()
	const snip, service = 0x0500020a, 9
	for range 1 + r.IntN(300) {
		if r.IntN(3) == 0 {
			for q := range m.out { // any one
				p.Release(snip, service, q)
				delete(m.out, q)
				break
			}
		} else {
			got, ok := p.Take(snip, service, m.lo, m.hi)
			if ok && m.next < 0 {
				// A new range starts at a port that nobody outside knows.
				m.next = int(got)
			}
			want, wantOK := m.take()
			if got != want || ok != wantOK {
				t.Fatalf("worker %d of %d, ports %d-%d, %d out: got %d %v, want %d %v", m.self, m.workers, m.lo, m.hi, len(m.out), got, ok, want, wantOK)
			}
		}
		if p.Used(snip, service) != len(m.out) {
			t.Fatalf("%d ports out by the pool's count, %d by the model's", p.Used(snip, service), len(m.out))
		}
	}
}

// Every port of the range is given out once before the pool is exhausted, whoever the worker is; a port that comes back
// is the next one then, and not before.
func TestPoolExhaustionIsExact(t *testing.T) {
	for _, workers := range []int{1, 2, 4} {
		seen := map[uint16]int{}
		for self := range workers {
			p := openPools(t, PoolSettings{Pools: 1, Workers: workers, Self: self})
			last := uint16(0)
			for {
				q, ok := p.Take(1, 1, 1024, 59999)
				if !ok {
					break
				}
				if int(q)%workers != self {
					t.Fatalf("worker %d of %d gave out %d", self, workers, q)
				}
				seen[q]++
				last = q
			}
			if _, ok := p.Take(1, 1, 1024, 59999); ok {
				t.Fatal("an exhausted pool gave out a port")
			}
			p.Release(1, 1, last)
			if q, ok := p.Take(1, 1, 1024, 59999); !ok || q != last {
				t.Errorf("the only free port is %d, got %d %v", last, q, ok)
			}
		}
		if len(seen) != 59999-1024+1-3 {
			t.Errorf("%d workers gave out %d different ports, want %d", workers, len(seen), 59999-1024+1-3)
		}
		for q, n := range seen {
			if n != 1 || q < 1024 || q > 59999 || q == 3784 || q == 4784 || q == 4789 {
				t.Fatalf("port %d was given out %d times", q, n)
			}
		}
	}
}

func TestPortRestsAsLongAsItCan(t *testing.T) {
	p := openPools(t, PoolSettings{Pools: 1, Workers: 1})
	first, _ := p.Take(1, 1, 2000, 2999)
	p.Release(1, 1, first)
	for n := 1; ; n++ {
		q, ok := p.Take(1, 1, 2000, 2999)
		if !ok {
			t.Fatal("exhausted")
		}
		p.Release(1, 1, q)
		if q == first {
			if n != 1000 {
				t.Errorf("port %d came back after %d others, want 999", q, n-1)
			}
			return
		}
	}
}

func TestPoolsAreApart(t *testing.T) {
	p := openPools(t, PoolSettings{Pools: 3, Workers: 1, Seed: 1})
	for _, k := range [][2]uint32{{1, 1}, {1, 2}, {2, 1}} {
		for range 5 {
			p.Take(k[0], k[1], 1, 9)
		}
	}
	p.Release(1, 2, 1)
	p.Release(1, 2, 1) // twice, and a port that was never out
	p.Release(1, 2, 60000)
	p.Release(9, 9, 1)
	if p.Used(1, 1)+p.Used(2, 1) != 10 || p.Used(1, 2) > 5 || p.Used(1, 2) < 4 || p.Used(9, 9) != 0 {
		t.Errorf("out: %d %d %d", p.Used(1, 1), p.Used(2, 1), p.Used(1, 2))
	}
}

func TestIdlePoolIsTakenOver(t *testing.T) {
	const pools = 40
	p := openPools(t, PoolSettings{Pools: pools, Workers: 1})
	port := map[uint32]uint16{}
	for s := range uint32(pools) {
		q, ok := p.Take(1, s, 1024, 2000)
		if !ok {
			t.Fatalf("no pool for service %d", s)
		}
		port[s] = q
	}
	if _, ok := p.Take(1, 1000, 1024, 2000); ok {
		t.Fatal("a pool that is in use was taken over")
	}
	r := rand.New(rand.NewPCG(1, 1))
	for next := uint32(1000); next < 1500; next++ {
		for victim := range port { // any one
			p.Release(1, victim, port[victim])
			if r.IntN(2) == 0 { // used again at once: the same pool
				if q, ok := p.Take(1, victim, 1024, 2000); !ok || p.Used(1, victim) != 1 {
					t.Fatal("lost a pool")
				} else {
					p.Release(1, victim, q)
				}
			}
			delete(port, victim)
			break
		}
		q, ok := p.Take(1, next, 1024, 2000)
		if !ok {
			t.Fatal("an idle pool was not found")
		}
		port[next] = q
		for s, q := range port {
			if p.Used(1, s) != 1 {
				t.Fatalf("service %d has lost port %d", s, q)
			}
		}
	}
}

func TestTakeUnusedPassesOverOtherFlows(t *testing.T) {
	tab := open(t, 200, [2]uint64{})
	p := openPools(t, PoolSettings{Pools: 4, Workers: 1})
	take := func(service uint32) (uint16, bool) {
		return p.TakeUnused(tab, 5, service, 1000, 1039, 11, 80, packet.ProtoTCP)
	}
	seen := map[uint16]bool{}
	// Two services at one server: what the first has in use the second must not get.
	for n := range 40 {
		q, ok := take(uint32(1 + n%2))
		if !ok || seen[q] {
			if n < 20 {
				t.Fatalf("flow %d: port %d %v", n, q, ok)
			}
			break // thirty-two in a row were taken
		}
		seen[q] = true
		var fwd, rev Entry
		in, out := packet.MakeKey(uint32(n), 50, 1, 80, packet.ProtoTCP), packet.MakeKey(5, 11, q, 80, packet.ProtoTCP)
		fwd.Fill(in, out)
		rev.Fill(out.Reverse(), in.Reverse())
		if _, got := tab.Create(&fwd, &rev); got != Created {
			t.Fatal(got)
		}
	}
	if p.Used(5, 1)+p.Used(5, 2) != len(seen) {
		t.Errorf("%d ports are out, %d flows use them", p.Used(5, 1)+p.Used(5, 2), len(seen))
	}
}

// TestPlacesOfOneServer: a service of every port and one of the same address and port have ports of their own, each flow's goes
// back to where it came from, and whatever takes a service's place there does not begin again with the ports that it had last.
func TestPlacesOfOneServer(t *testing.T) {
	tab := open(t, 4000, [2]uint64{})
	p := openPools(t, PoolSettings{Pools: 8, Workers: 1})
	const server, snip = 11, 5
	port := packet.Swap16(80)
	own, every := Place(server, port), Place(server, 0)
	last := map[uint32]uint16{}
	for range 1000 {
		for _, place := range []uint32{own, every} {
			q, ok := p.TakeUnused(tab, snip, place, 1024, 59999, server, 80, packet.ProtoTCP)
			if !ok || last[place] != 0 && q != last[place]+1 && q != last[place]+2 && q > last[place] {
				t.Fatalf("port %d %v after %d", q, ok, last[place])
			}
			last[place] = q
			out := packet.MakeKey(snip, server, q, 80, packet.ProtoTCP)
			was := [2]int{p.Used(snip, own), p.Used(snip, every)}
			p.ReleaseOf(out)
			p.ReleaseOf(out)
			if place == own && p.Used(snip, own) != was[0]-1 || place == every && p.Used(snip, every) != was[1]-1 {
				t.Fatalf("port %d did not go back to where it came from: %d, %d are out, were %v", q, p.Used(snip, own), p.Used(snip, every), was)
			}
		}
	}
}

// TestPortsBesideAnotherService: wherever the turn of a new service begins among the thousands of ports that an earlier one has at the same
// address, it finds a free one, as long as there are some.
func TestPortsBesideAnotherService(t *testing.T) {
	const server, runs, run = 11, 4, 9000 // 36,000 of 58,976 ports
	for _, workers := range []int{1, 2} {
		tab := open(t, 2*runs*run, [2]uint64{})
		for n := range runs * run {
			q := uint16(2000 + n/run*14000 + n%run)
			var fwd, rev Entry
			in, out := packet.MakeKey(uint32(n), 50, 1, 80, packet.ProtoTCP), packet.MakeKey(5, server, q, 80, packet.ProtoTCP)
			fwd.Fill(in, out)
			rev.Fill(out.Reverse(), in.Reverse())
			if _, got := tab.Create(&fwd, &rev); got != Created {
				t.Fatal(got)
			}
		}
		for seed := range uint64(300) {
			p := openPools(t, PoolSettings{Pools: 1, Workers: workers, Seed: seed*0x9e3779b97f4a7c15 + 1})
			q, ok := p.TakeUnused(tab, 5, 7, 1024, 59999, server, 80, packet.ProtoTCP)
			if !ok || tab.Lookup(packet.MakeKey(server, 5, 80, q, packet.ProtoTCP)) != nil {
				t.Fatalf("pool %d of %d workers: port %d, %v", seed, workers, q, ok)
			}
			p.tried = uint32(seed * 191)
			if q, ok = p.Probe(tab, 5, 1024, 59999, server, 80, packet.ProtoTCP); !ok || tab.Lookup(packet.MakeKey(server, 5, 80, q, packet.ProtoTCP)) != nil {
				t.Fatalf("probe from %d of %d workers: port %d, %v", seed*191, workers, q, ok)
			}
		}
	}
}

func TestProbe(t *testing.T) {
	for _, workers := range []int{1, 2, 4} {
		for self := range workers {
			tab := open(t, 2000, [2]uint64{})
			p := openPools(t, PoolSettings{Pools: 1, Workers: workers, Self: self})
			seen := map[uint16]bool{}
			for {
				q, ok := p.Probe(tab, 7, 4700, 4899, 11, 80, packet.ProtoUDP)
				if !ok {
					break
				}
				if seen[q] || q < 4700 || q > 4899 || OwnerByClient(7, packet.Swap16(q), uint32(workers)) != uint32(self) || q == 4784 || q == 4789 {
					t.Fatalf("worker %d of %d got port %d", self, workers, q)
				}
				seen[q] = true
				var fwd, rev Entry
				in, out := packet.MakeKey(7, 50, q, 80, packet.ProtoUDP), packet.MakeKey(7, 11, q, 80, packet.ProtoUDP)
				fwd.Fill(in, out)
				rev.Fill(out.Reverse(), in.Reverse())
				tab.Create(&fwd, &rev)
			}
			if want := 150/workers - 32; len(seen) < want {
				t.Errorf("worker %d of %d found %d ports, want at least %d", self, workers, len(seen), want)
			}
			if _, ok := p.Probe(tab, 8, 4700, 4899, 11, 80, packet.ProtoUDP); !ok {
				t.Error("another client has no port")
			}
			for _, r := range [][2]uint16{{9, 8}, {4784, 4784}} {
				if q, ok := p.Probe(tab, 9, r[0], r[1], 11, 80, packet.ProtoUDP); ok {
					t.Errorf("ports %d-%d: got %d", r[0], r[1], q)
				}
			}
		}
	}
}

// TestPeekForetellsTake asks any number of times before each port is taken, with pools that come up, run out, change their range
// and are taken over: the answer is what then comes, and asking changes nothing.
func TestPeekForetellsTake(t *testing.T) {
	tab := open(t, 4000, [2]uint64{})
	asked := openPools(t, PoolSettings{Pools: 6, Workers: 2, Self: 1, Seed: 7})
	silent := openPools(t, PoolSettings{Pools: 6, Workers: 2, Self: 1, Seed: 7})
	r := rand.New(rand.NewPCG(8, 8))
	type port struct {
		service uint32
		q       uint16
	}
	var out []port
	none := 0
	for step := range 20000 {
		if len(out) > 0 && r.IntN(5) < 2 {
			i := r.IntN(len(out))
			p := out[i]
			out[i] = out[len(out)-1]
			out = out[:len(out)-1]
			asked.Release(5, p.service, p.q)
			silent.Release(5, p.service, p.q)
			continue
		}
		service, lo := uint32(r.IntN(9)), uint16(1000+r.IntN(2))
		hi := lo + 60
		var foretold uint16
		var may bool
		for range 1 + r.IntN(3) {
			foretold, may = asked.PeekUnused(tab, 5, service, lo, hi, 11, 80, packet.ProtoTCP, nil)
		}
		got, ok := asked.TakeUnused(tab, 5, service, lo, hi, 11, 80, packet.ProtoTCP)
		want, can := silent.TakeUnused(tab, 5, service, lo, hi, 11, 80, packet.ProtoTCP)
		if got != foretold || ok != may || got != want || ok != can {
			t.Fatalf("step %d: foretold %d %v, got %d %v; nobody asked: %d %v", step, foretold, may, got, ok, want, can)
		}
		if !ok {
			none++
			continue
		}
		out = append(out, port{service, got})
		if r.IntN(3) == 0 { // the way back is taken, also for the other services at that server
			var fwd, rev Entry
			in, to := packet.MakeKey(uint32(step), 50, 1, 80, packet.ProtoTCP), packet.MakeKey(5, 11, got, 80, packet.ProtoTCP)
			fwd.Fill(in, to)
			rev.Fill(to.Reverse(), in.Reverse())
			tab.Create(&fwd, &rev)
		}
		probe, _ := asked.PeekProbe(tab, 7, 4700, 4799, 11, 80, packet.ProtoUDP, nil)
		if q, _ := asked.Probe(tab, 7, 4700, 4799, 11, 80, packet.ProtoUDP); q != probe {
			t.Fatalf("step %d: foretold the probe %d, got %d", step, probe, q)
		}
	}
	if none == 0 {
		t.Error("nothing ever ran out: the test has lost its point")
	}
}

func TestOpenPoolsRefuses(t *testing.T) {
	for _, s := range []PoolSettings{{}, {Pools: -1, Workers: 1}, {Pools: 1, Workers: 3}, {Pools: 1, Workers: 2, Self: 2}, {Pools: 1, Workers: 128}, {Pools: 1, Workers: 1, Self: -1}} {
		if _, err := OpenPools(s); err == nil {
			t.Errorf("%+v was accepted", s)
		}
	}
}

// Whichever worker takes the client's packets, the reply comes to it: by the port it gave out, or by the client's own tuple.
func TestOwner(t *testing.T) {
	for _, workers := range []uint32{1, 2, 4} {
		share := make([]int, workers)
		for n := range uint32(4000) {
			addr, port := packet.Swap32(0x0a000000+n/7), packet.Swap16(uint16(30000+n))
			owner := OwnerByClient(addr, port, workers)
			if owner >= workers || owner != OwnerByClient(addr, port, workers) {
				t.Fatal("no owner")
			}
			share[owner]++
		}
		for w, n := range share {
			if n < 4000/int(workers)*8/10 {
				t.Errorf("worker %d of %d owns %d flows of 4000", w, workers, n)
			}
			p := openPools(t, PoolSettings{Pools: 1, Workers: int(workers), Self: w})
			tab := open(t, 100, [2]uint64{})
			client := packet.Addr4([4]byte{10, 0, 0, byte(w)})
			if q, ok := p.Probe(tab, client, 1024, 65535, 11, 80, packet.ProtoTCP); !ok || OwnerByClient(client, packet.Swap16(q), workers) != uint32(w) {
				t.Errorf("worker %d of %d found port %d for a client that keeps its address", w, workers, q)
			}
			if q, ok := p.Take(1, 1, 1024, 59999); !ok || OwnerByPort(q, workers) != uint32(w) {
				t.Errorf("worker %d of %d gave out port %d", w, workers, q)
			}
		}
	}
}

// TestLeapOf: the port after a leap is far from the one before, each time elsewhere, and this worker's; a small range has no leaps.
func TestLeapOf(t *testing.T) {
	const snip, server, lo, hi = 0x0500020a, 0x0b00020a, 1024, 59999
	for _, place := range []uint32{Place(server, packet.Swap16(80)), Place(server, 0)} {
		p := openPools(t, PoolSettings{Pools: 2, Workers: 4, Self: 3})
		tab := open(t, 64, [2]uint64{1, 2})
		seen := map[uint16]bool{}
		for range 50 {
			q, ok := p.TakeUnused(tab, snip, place, lo, hi, server, 80, 6)
			if !ok || q&3 != 3 || seen[q] {
				t.Fatalf("port %d, %t, was out before: %t", q, ok, seen[q])
			}
			seen[q] = true
			p.LeapOf(packet.MakeKey(snip, server, q, 80, 6), true)
			next, ok := p.PeekUnused(tab, snip, place, lo, hi, server, 80, 6, nil)
			if far := (int(next) - int(q) + hi - lo + 1) % (hi - lo + 1); !ok || far < 5000 || far > hi-lo-5000 {
				t.Fatalf("from port %d to %d, %t", q, next, ok)
			}
		}
	}
	p := openPools(t, PoolSettings{Pools: 2, Workers: 1})
	q, _ := p.Take(snip, Place(server, 0), 2000, 2003)
	p.LeapOf(packet.MakeKey(snip, server, q, 80, 6), true)
	p.LeapOf(packet.MakeKey(snip+1, server, q, 80, 6), true) // no such pool
	p.LeapOf(packet.MakeKey(snip, server, 60, 80, 6), true)  // no port of it
	for range 3 {
		if _, ok := p.Take(snip, Place(server, 0), 2000, 2003); !ok {
			t.Error("a small range lost a port")
		}
	}
}
