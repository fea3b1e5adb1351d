package vrrp

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"os"
	"slices"
	"testing"
	"time"
)

// latency is the most that a frame takes from node to node.
const latency = 2 * time.Millisecond

// network is some nodes on a network that loses frames and breaks apart, in a time of its own.
type network struct {
	random *rand.Rand
	now    time.Time
	nodes  []*node
	loss   float64
	side   []int // nodes of different sides do not hear each other
	wire   []flight
	log    []string
}

type node struct {
	net *network
	at  int
	r   *router
}

type flight struct {
	at time.Time
	to int
	h  heard
}

func (n *node) advertise(r *router, priority uint8) bool {
	w := n.net
	a := r.advert(priority)
	for to := range w.nodes {
		if to == n.at || w.side[to] != w.side[n.at] || w.random.Float64() < w.loss {
			continue
		}
		after := time.Duration(1 + w.random.Int64N(int64(latency)))
		w.wire = append(w.wire, flight{w.now.Add(after), to, heard{advert: a, src: r.intent.Source.Addr(), mac: MAC(a.id)}})
	}
	return true
}

func (n *node) changed(r *router) {
	n.net.log = append(n.net.log, fmt.Sprintf("%v node %d (priority %d): %s, %s", n.net.now.Sub(epoch), n.at, r.intent.Priority, r.role, r.reason))
}

// newNetwork is three nodes of random priorities, addresses and settings.
func newNetwork(random *rand.Rand) *network {
	w := &network{random: random, now: epoch, side: make([]int, 3)}
	hosts := random.Perm(200)
	for i := range 3 {
		in := intent(func(in *Intent) {
			in.Source = netip.PrefixFrom(netip.AddrFrom4([4]byte{192, 0, 2, byte(1 + hosts[i])}), 24)
			in.Hello, in.Dead, in.Version = 200*time.Millisecond, time.Second, 3
			in.Priority, in.Preempt = w.priority(), random.IntN(4) > 0
			if random.IntN(4) == 0 {
				in.Delay = time.Second
			}
		})
		n := &node{net: w, at: i}
		n.r = newRouter(in, n, epoch)
		w.nodes = append(w.nodes, n)
		n.r.update(epoch, in, true)
	}
	return w
}

// priority is one of a few, so that nodes often have the same.
func (w *network) priority() uint8 { return []uint8{0, 1, 100, 100, 160, 210, 255}[w.random.IntN(7)] }

func (w *network) masters() (list []int) {
	for i, n := range w.nodes {
		if n.r.role == Master {
			list = append(list, i)
		}
	}
	return list
}

// next is when something happens; of the frames that arrive then, which is one.
func (w *network) next() (at time.Time, frame int) {
	at, frame = never, -1
	for i, f := range w.wire {
		if f.at.Before(at) {
			at, frame = f.at, i
		}
	}
	for _, n := range w.nodes {
		if due := n.r.due(); due.Before(at) {
			at, frame = due, -1
		}
	}
	return at, frame
}

// pass lets time pass, and returns for how long without a break there was more than one master at most.
func (w *network) pass(d time.Duration) (overlap time.Duration) {
	end, since := w.now.Add(d), time.Time{}
	for {
		at, frame := w.next()
		if at.After(end) {
			at = end
		}
		if !since.IsZero() {
			overlap = max(overlap, at.Sub(since))
		}
		if at.After(w.now) {
			w.now = at
		}
		if w.now == end {
			return overlap
		}
		if frame >= 0 {
			f := w.wire[frame]
			w.wire = slices.Delete(w.wire, frame, frame+1)
			if n := w.nodes[f.to]; n.r.role != Init && n.r.refusal(&f.h) == "" {
				n.r.hear(w.now, f.h)
			}
		} else {
			for _, n := range w.nodes {
				n.r.tick(w.now)
			}
		}
		switch many := len(w.masters()) > 1; {
		case !many:
			since = time.Time{}
		case since.IsZero():
			since = w.now
		}
	}
}

// disturb does something to the network or to a node.
func (w *network) disturb(breaks bool) {
	n := w.nodes[w.random.IntN(3)]
	in := n.r.intent
	linked := true
	kinds := 6
	if breaks {
		kinds = 9
	}
	switch w.random.IntN(kinds) {
	case 0, 1:
		in.Priority = w.priority()
	case 2:
		in.Held = !in.Held
	case 3:
		linked = false // it is restarted
	case 4:
		in.Preempt = !in.Preempt
	case 5: // their common servers go and come back
		for _, up := range []bool{false, true} {
			for _, n := range w.nodes {
				in := n.r.intent
				if in.Priority = 0; up {
					in.Priority = w.priority()
				}
				n.r.update(w.now, in, true)
			}
			w.pass(time.Duration(w.random.Int64N(int64(2 * time.Second))))
		}
		in.Priority = n.r.intent.Priority
	case 6:
		w.loss = w.random.Float64() / 2
	case 7, 8:
		for i := range w.side {
			w.side[i] = w.random.IntN(2)
		}
	}
	w.log = append(w.log, fmt.Sprintf("%v node %d: %+v linked %v, loss %.2f, sides %v", w.now.Sub(epoch), n.at, in, linked, w.loss, w.side))
	n.r.update(w.now, in, linked)
	if !linked {
		n.r.update(w.now, in, true)
	}
}

// able are the nodes that may be master.
func (w *network) able() (list []int) {
	for i, n := range w.nodes {
		if n.r.role != Init && !n.r.intent.Held && n.r.intent.Priority > 0 {
			list = append(list, i)
		}
	}
	return list
}

// best tells whether no node that may be master would take over from that one.
func (w *network) best(master int) error {
	m := &w.nodes[master].r.intent
	for _, i := range w.able() {
		if o := &w.nodes[i].r.intent; i != master && o.Preempt && o.Priority > m.Priority {
			return fmt.Errorf("node %d with priority %d is not preempted by node %d with priority %d", master, m.Priority, i, o.Priority)
		}
	}
	return nil
}

// TestOneMasterAmongThree: whatever happened before, once frames get through there is one master, the right one, and it stays.
func TestOneMasterAmongThree(t *testing.T) {
	rounds := 300
	if os.Getenv("FULL") != "" {
		rounds = 20000
	}
	for seed := range uint64(rounds) {
		w := newNetwork(rand.New(rand.NewPCG(seed, 6)))
		for range 10 {
			w.disturb(true)
			w.pass(time.Duration(w.random.Int64N(int64(2 * time.Second))))
		}
		w.loss, w.side = 0, make([]int, 3)
		w.pass(10 * time.Second) // two takeovers with their delays at most
		overlap := w.pass(5 * time.Second)
		masters, able := w.masters(), w.able()
		switch {
		case overlap > 0:
			t.Errorf("seed %d: two masters for %v", seed, overlap)
		case len(masters) != min(1, len(able)):
			t.Errorf("seed %d: masters %v of %v", seed, masters, able)
		case len(masters) == 1:
			if err := w.best(masters[0]); err != nil {
				t.Errorf("seed %d: %v", seed, err)
			}
		}
		if t.Failed() {
			for _, line := range w.log {
				t.Log(line)
			}
			return
		}
	}
}

// TestNoTwoMastersWhereFramesGetThrough: priorities change, nodes come, go, are held and let go, and no two are master for
// longer than their adverts take to each other.
func TestNoTwoMastersWhereFramesGetThrough(t *testing.T) {
	rounds := 300
	if os.Getenv("FULL") != "" {
		rounds = 20000
	}
	for seed := range uint64(rounds) {
		w := newNetwork(rand.New(rand.NewPCG(seed, 9)))
		overlap := w.pass(3 * time.Second)
		for range 10 {
			w.disturb(false)
			overlap = max(overlap, w.pass(time.Duration(w.random.Int64N(int64(2*time.Second)))))
		}
		if overlap > 2*latency {
			t.Errorf("seed %d: two masters for %v", seed, overlap)
			for _, line := range w.log {
				t.Log(line)
			}
			return
		}
	}
}

// TestPartitionHeals: the rule of addresses settles who stays master, with the first advert that gets through.
func TestPartitionHeals(t *testing.T) {
	for _, row := range []struct {
		priority [3]uint8
		want     int
	}{
		{[3]uint8{100, 100, 1}, 1}, {[3]uint8{160, 100, 1}, 0}, {[3]uint8{100, 160, 210}, 2}, {[3]uint8{100, 100, 100}, 2},
	} {
		w := newNetwork(rand.New(rand.NewPCG(1, 1)))
		for i, n := range w.nodes {
			in := intent(func(in *Intent) {
				in.Source = netip.PrefixFrom(netip.AddrFrom4([4]byte{192, 0, 2, byte(1 + i)}), 24)
				in.Hello, in.Dead, in.Priority = 200*time.Millisecond, time.Second, row.priority[i]
			})
			n.r = newRouter(in, n, epoch)
			n.r.update(epoch, in, true)
		}
		w.side = []int{0, 1, 2}
		w.pass(10 * time.Second)
		if len(w.masters()) != 3 {
			t.Errorf("%v: masters %v in three parts", row.priority, w.masters())
		}
		w.side = make([]int, 3)
		w.pass(250 * time.Millisecond)
		if got := w.masters(); !slices.Equal(got, []int{row.want}) {
			t.Errorf("%v: masters %v, want %d", row.priority, got, row.want)
		}
	}
}
