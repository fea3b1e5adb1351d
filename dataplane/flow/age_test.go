package flow

import (
	"math/rand/v2"
	"slices"
	"testing"

	"sluice/dataplane/packet"
)

// conn is the reference for one TCP connection: what each side has sent and when.
type conn struct {
	last     [2]uint32 // by direction: 0 client, 1 server
	syn, fin [2]bool
	rst, up  bool
	exists   bool
}

func (c *conn) see(dir int, flags uint8, now uint32) {
	c.last[dir] = now
	if dir == 0 && !c.up && c.syn[1] && flags&packet.SYN == 0 && flags&packet.ACK != 0 {
		c.up = true
	}
	c.syn[dir] = c.syn[dir] || flags&packet.SYN != 0
	c.fin[dir] = c.fin[dir] || flags&packet.FIN != 0
	c.rst = c.rst || flags&packet.RST != 0
}

func (c *conn) limit(established uint32) uint32 {
	switch {
	case c.rst:
		return min(established, 50)
	case c.fin[0] && c.fin[1]:
		return min(established, 600)
	case !c.up:
		return min(established, 300)
	}
	return established
}

// TestAgeingIsReference plays random packets of random flows over a clock that wraps, and after each sweep of two rounds compares which
// flows are left, and what the table knows of each, with the reference.
func TestAgeingIsReference(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	all := []uint8{packet.SYN, packet.SYN | packet.ACK, packet.ACK, packet.ACK | packet.PSH, packet.FIN | packet.ACK, packet.RST, packet.RST | packet.ACK, packet.ACK, 0}
	for _, seed := range append(seeds, [2]uint64{}) {
		tab := open(t, 40, seed)
		k := &keeper{limit: 9000}
		var conns [universe]conn
		now := uint32(1<<32 - 4000)
		for range 20000 {
			n := r.IntN(universe)
			c := &conns[n]
			fwd, rev := pair(n)
			if !c.exists {
				fwd.State, rev.State, fwd.Last, rev.Last = Opening, Opening, now, now
				if _, got := tab.Create(&fwd, &rev); got == Created {
					*c = conn{exists: true, last: [2]uint32{now, now}}
				}
			}
			if c.exists {
				dir, flags := r.IntN(2), all[r.IntN(len(all))]
				e := tab.Lookup([]packet.Key{fwd.Key(), rev.Key()}[dir])
				e.Last = now
				tab.Track(e, flags)
				c.see(dir, flags, now)
				checkState(t, tab.Lookup(fwd.Key()), tab.Lookup(rev.Key()), c)
			}
			if r.IntN(20) == 0 {
				now += uint32(r.IntN(500))
				k.limit = []uint32{9000, 9000, 20, 100}[r.IntN(4)]
				sweepAndCompare(t, tab, k, &conns, now)
			}
		}
		if now > 1<<31 {
			t.Fatal("the clock has not wrapped: the test is too short")
		}
	}
}

func checkState(t *testing.T, f, rv *Entry, c *conn) {
	t.Helper()
	want := [2]State{}
	for d := range want {
		for bit, on := range map[State]bool{Opening: !c.up, SawSYN: c.syn[d], PeerSYN: c.syn[1-d], SawFIN: c.fin[d], PeerFIN: c.fin[1-d], Reset: c.rst} {
			if on {
				want[d] |= bit
			}
		}
	}
	if f.State != want[0] || rv.State != want[1] {
		t.Fatalf("states %06b %06b, want %06b %06b", f.State, rv.State, want[0], want[1])
	}
	if f.State.Closed() != (c.rst || c.fin[0] && c.fin[1]) || rv.State.Closed() != f.State.Closed() || f.State.HalfOpen() != !c.up {
		t.Fatalf("state %06b is closed %v, half open %v", f.State, f.State.Closed(), f.State.HalfOpen())
	}
}

func sweepAndCompare(t *testing.T, tab *Table, k *keeper, conns *[universe]conn, now uint32) {
	t.Helper()
	k.gone, k.pairs = k.gone[:0], 0
	ended := tab.Sweep(now, 2*int(tab.Slots())+universe, k)
	var want []packet.Key
	for n := range conns {
		c := &conns[n]
		if !c.exists {
			continue
		}
		fwd, _ := pair(n)
		if idle := min(now-c.last[0], now-c.last[1]); idle >= c.limit(k.limit) && idle >= busy {
			want = append(want, fwd.Key())
			c.exists = false
		} else if tab.Lookup(fwd.Key()) == nil {
			t.Fatalf("flow %d is gone after %d ticks of silence, its limit is %d", n, idle, c.limit(k.limit))
		}
	}
	byA := func(a, b packet.Key) int { return int(int64(a.A) - int64(b.A)) }
	slices.SortFunc(want, byA)
	slices.SortFunc(k.gone, byA)
	if !slices.Equal(want, k.gone) || ended != len(want) || k.pairs != len(want) {
		t.Fatalf("%d flows ended, %d of them in both directions: %v; want %v", ended, k.pairs, k.gone, want)
	}
}

func TestSweepKeepsToItsBudget(t *testing.T) {
	tab := open(t, 1000, [2]uint64{})
	for n := range 500 {
		fwd, rev := pair(n)
		tab.Create(&fwd, &rev)
	}
	k := &keeper{limit: 100}
	if tab.Sweep(1000, 0, k); len(k.gone) != 0 {
		t.Error("a sweep of no slots removed flows")
	}
	rounds := 0
	for tab.Len() > 0 {
		before := len(k.gone)
		if ended := tab.Sweep(1000, 16, k); ended > 16 || len(k.gone)-before != ended {
			t.Fatalf("a sweep of 16 slots ended %d flows and told %d", ended, len(k.gone)-before)
		}
		if rounds++; rounds > 2*int(tab.Slots())/16+100 {
			t.Fatalf("%d entries left after %d sweeps", tab.Len(), rounds)
		}
	}
	if len(k.gone) != 500 || k.pairs != 500 {
		t.Errorf("%d flows told, %d in both directions", len(k.gone), k.pairs)
	}
}

// A flow that is busy one way only stays, however long the other way is silent.
func TestOneWayTrafficKeepsAFlow(t *testing.T) {
	for _, quiet := range []int{0, 1} {
		tab := open(t, 10, [2]uint64{1, 2})
		fwd, rev := pair(1)
		tab.Create(&fwd, &rev)
		k := &keeper{limit: 100}
		for now := uint32(0); now < 5000; now += 50 {
			tab.Lookup([]packet.Key{rev.Key(), fwd.Key()}[quiet]).Last = now
			tab.Sweep(now, 2*int(tab.Slots()), k)
		}
		if tab.Len() != 2 {
			t.Errorf("direction %d quiet: the flow has ended", quiet)
		}
		if tab.Sweep(5100, 2*int(tab.Slots()), k); tab.Len() != 0 {
			t.Errorf("direction %d quiet: the flow has not ended", quiet)
		}
	}
}

func TestRecheckEndsBusyFlows(t *testing.T) {
	tab := open(t, 10, [2]uint64{1, 2})
	fwd, rev := pair(1)
	fwd.Last, rev.Last = 500, 500
	tab.Create(&fwd, &rev)
	k := &keeper{}
	if tab.Sweep(500, 100, k); tab.Len() != 2 {
		t.Fatal("a busy flow was asked about without need")
	}
	tab.Recheck()
	if tab.Sweep(500, 100, k); tab.Len() != 0 || len(k.gone) != 1 {
		t.Error("a busy flow whose vserver is gone has stayed")
	}
	fwd.Last, rev.Last = 600, 600
	tab.Create(&fwd, &rev)
	tab.Recheck()
	k.limit = 1
	if tab.Sweep(600, 100, k); tab.Len() != 2 {
		t.Error("a recheck ended a flow that is within its limit")
	}
	k.limit = 0
	if tab.Sweep(600, 100, k); tab.Len() != 2 {
		t.Error("a recheck lasts longer than a round")
	}
}

func TestIdle(t *testing.T) {
	for _, c := range [][3]uint32{{10, 3, 7}, {3, 10, 0}, {5, 1<<32 - 5, 10}, {1<<32 - 5, 5, 0}, {7, 7, 0}} {
		if got := Idle(c[0], c[1]); got != c[2] {
			t.Errorf("idle at %d since %d: %d, want %d", c[0], c[1], got, c[2])
		}
	}
}

// A server answers a forged SYN; that alone must not make a connection of it.
func TestForgedSYNStaysHalfOpen(t *testing.T) {
	tab := open(t, 10, [2]uint64{1, 2})
	fwd, rev := pair(1)
	fwd.State, rev.State = Opening, Opening
	e, _ := tab.Create(&fwd, &rev)
	p := tab.Peer(e)
	tab.Track(e, packet.SYN)
	tab.Track(p, packet.SYN|packet.ACK)
	tab.Track(p, packet.SYN|packet.ACK)
	tab.Track(p, packet.ACK)
	if !e.State.HalfOpen() || !p.State.HalfOpen() {
		t.Error("a handshake without the client's last word passes for a connection")
	}
	if tab.Track(e, packet.ACK); e.State.HalfOpen() || p.State.HalfOpen() {
		t.Error("the client's answer does not finish the handshake")
	}
}
