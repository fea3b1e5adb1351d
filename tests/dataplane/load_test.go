package dataplane

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"sluice/dataplane/api"
	"sluice/dataplane/packet"
)

// The load-aware methods with packets: what goes through the worker, in both directions and for whichever vserver, is what the
// choice goes by.

const loadPort = 95

// loaded has web1 to web3 on a vserver of a load-aware method, besides the others that they are bound to.
func loaded(method api.Method, weights ...uint16) *api.Tables {
	t := tables()
	v := api.Vserver{ID: 60, Name: "load", Proto: api.ProtoTCP, IP: addr(vip), Port: loadPort, Method: method, ClientTimeout: 180}
	for i, w := range weights {
		v.Bindings = append(v.Bindings, api.Binding{Service: uint32(i + 1), Weight: w})
	}
	t.Config.Vservers = append(t.Config.Vservers, v)
	return &api.Tables{Config: t.Config, Health: t.Health}
}

// conn is a connection of the load tests.
type conn struct {
	sport, dport, q uint16
	service         int    // 0 to 2
	at              uint64 // ticks at its SYN
}

var webs = []ip4{server1, server2, server3}

// through lets a frame in and returns what came out of lane, which must be one frame.
func (b *bed) through(in, out int, f packet.Frame) packet.IPv4 {
	b.t.Helper()
	b.enters(in, f)
	got := b.q.Sent(out)
	if len(got) != 1 {
		b.t.Fatalf("%d frames came of %s: %v", len(got), describe(f.Bytes()), b.counters())
	}
	_, l3 := packet.Ether(got[0]).Split()
	return packet.IPv4(l3)
}

// connect opens a connection and tells which service got it.
func (b *bed) connect(sport, dport uint16) conn {
	b.t.Helper()
	ip := b.through(nic1, nic2, ask(sport, dport, syn))
	return conn{sport, dport, binary.BigEndian.Uint16(ip[packet.IPv4Len:]), slices.Index(webs, ip.Dst()), b.clock}
}

// replies lets the server of a connection send something.
func (b *bed) replies(c conn, flags uint8) packet.IPv4 {
	b.t.Helper()
	return b.through(nic2, nic1, data(answer(webs[c.service], uint16(8001+c.service), c.q, flags)))
}

// ledger is a list of all packets that services have got and sent, and what follows from it for choices.
type ledger struct {
	b       *bed
	method  api.Method
	weights []uint16
	seen    []seen
	up      []uint32
	last    int // place after the last choice
	conns   []conn
}

// seen is a packet of a service, 0 to 2.
type seen struct{ second, service, bytes int }

func (l *ledger) count(service, bytes int) {
	l.seen = append(l.seen, seen{int(l.b.clock / 10), service, bytes})
}

// load is what a service has seen in the last 14 seconds.
func (l *ledger) load(service int) (packets, bytes int) {
	for _, p := range l.seen {
		if p.service == service && int(l.b.clock/10)-p.second < 14 {
			packets++
			bytes += p.bytes
		}
	}
	return packets, bytes
}

func (l *ledger) byMethod(service int) int {
	packets, bytes := l.load(service)
	if l.method == api.LeastBandwidth {
		return bytes
	}
	return packets
}

// next is the service that must be chosen, or -1 if none is up; its turn is over then.
func (l *ledger) next() int {
	var may []int
	for i := range webs {
		if slices.Contains(l.up, uint32(i+1)) {
			may = append(may, i)
		}
	}
	want, place := -1, 0
	for k := range may {
		i := (l.last + k) % len(may)
		if want < 0 || l.byMethod(may[i])*int(l.weights[want]) < l.byMethod(want)*int(l.weights[may[i]]) {
			want, place = may[i], i
		}
	}
	l.last = place + 1
	return want
}

// connect opens a connection, which some service takes.
func (l *ledger) connect(sport int, dport uint16) int {
	c := l.b.connect(uint16(sport), dport)
	l.count(c.service, 40)
	l.conns = append(l.conns, c)
	return c.service
}

// speak has one side of a recent connection send something.
func (l *ledger) speak(r *rand.Rand) {
	c := l.conns[max(0, len(l.conns)-1-r.IntN(8))]
	if l.b.clock-c.at > 250 {
		return // its handshake takes so long that it may be forgotten
	}
	var ip packet.IPv4
	if r.IntN(2) == 0 {
		ip = l.b.replies(c, []uint8{synack, psh}[r.IntN(2)])
	} else {
		ip = l.b.through(nic1, nic2, data(ask(c.sport, c.dport, psh)))
	}
	l.count(c.service, int(binary.BigEndian.Uint16(ip[2:])))
}

// figures compares what the dataplane tells.
func (l *ledger) figures(t *testing.T) {
	t.Helper()
	for i, s := range l.b.stats().Services[:3] {
		if packets, bytes := l.load(i); s.RecentPackets != uint64(packets) || s.RecentBytes != uint64(bytes) {
			t.Fatalf("%s has %d packets and %d bytes in the last 14 seconds, want %d and %d", s.Name, s.RecentPackets, s.RecentBytes, packets, bytes)
		}
	}
}

// TestLoadAgainstNaive opens connections and sends packets on them in both directions while time passes and services go down and come
// back, and compares every choice with a list of all packets.
func TestLoadAgainstNaive(t *testing.T) {
	for seed, method := range []api.Method{api.LeastPackets, api.LeastBandwidth} {
		r := rand.New(rand.NewPCG(uint64(seed), 4))
		b := newBed(t, newMemory(t), 1<<13)
		l := &ledger{b: b, method: method, weights: []uint16{2, 3, 4}, up: allUp}
		b.apply(loaded(method, l.weights...))
		chosen := map[int]int{}
		for step := range 4000 {
			if step%50 == 0 {
				l.figures(t)
			}
			switch k := r.IntN(40); {
			case k == 0:
				b.pass(float64(1+r.IntN(150)) / 10)
			case k == 1:
				l.up = slices.DeleteFunc(slices.Clone(allUp), func(id uint32) bool { return id <= 3 && r.IntN(4) == 0 })
				b.apply(&api.Tables{Health: &api.Health{Version: 2, Up: l.up}})
			case l.up[0] > 3: // none of the three is up
			case k < 12 || len(l.conns) == 0:
				want := l.next()
				if got := l.connect(2000+step, loadPort); got != want {
					t.Fatalf("method %d, step %d: web%d was chosen, want web%d", method, step, got+1, want+1)
				}
				chosen[want]++
			case k < 15: // for another vserver of the same services
				l.connect(2000+step, webPort)
			default:
				l.speak(r)
			}
		}
		if len(chosen) != 3 {
			t.Errorf("method %d: only %v were chosen", method, chosen)
		}
		b.close()
	}
}

// TestLoadOfManyWorkers: connections that come to any of several workers are spread as if one had them all: by open connections at once,
// by what services carry once the worker that carried it has begun its next second.
func TestLoadOfManyWorkers(t *testing.T) {
	for _, c := range crews {
		for _, row := range []struct {
			method api.Method
			pause  float64 // seconds between connections
		}{{api.LeastConnection, 0}, {api.LeastPackets, 1}, {api.LeastBandwidth, 1}} {
			b := newCrew(t, newMemories(t, c.workers, poolSize), c, 1024)
			b.apply(loaded(row.method, 1, 1, 1))
			var load [3]int
			for i := range 12 { // within the window
				c := b.connect(uint16(5000+i), loadPort)
				if least := slices.Min(load[:]); load[c.service] != least {
					t.Errorf("%v, method %d, connection %d: web%d was chosen with %v", b.q.crew, row.method, i+1, c.service+1, load)
				}
				packet := map[api.Method]int{api.LeastConnection: 1, api.LeastPackets: 1, api.LeastBandwidth: 40}[row.method]
				load[c.service] += packet
				if row.method != api.LeastConnection && i%4 == 0 { // packets of a known flow
					ip := b.replies(c, synack)
					if row.method == api.LeastBandwidth {
						packet = int(binary.BigEndian.Uint16(ip[2:]))
					}
					load[c.service] += packet
				}
				b.pass(row.pause)
			}
			for _, w := range b.ws {
				var s api.Stats
				if w.Stats(&s); c.workers == 2 && s.Workers[0].Flows == 0 {
					t.Errorf("%v: a worker has no flow", c)
				}
			}
			b.close()
		}
	}
}

// TestResponseTimeIsMeasured: from a connection's SYN to the server's answer to it, once a connection; a refusal is none.
func TestResponseTimeIsMeasured(t *testing.T) {
	b := newBed(t, newMemory(t), 1024)
	b.apply(loaded(api.LeastResponseTime, 1, 1))
	sport := uint16(5000)
	next := func(want int, why string) conn {
		t.Helper()
		sport++
		c := b.connect(sport, loadPort)
		if c.service != want {
			t.Errorf("%s: web%d was chosen, want web%d", why, c.service+1, want+1)
		}
		return c
	}
	first, second := next(0, "no flows"), next(1, "a flow of web1")
	refused := next(0, "a flow each")
	b.replies(refused, rst|ack)
	b.pass(6.4)
	b.replies(first, synack)
	b.pass(12.8)
	b.replies(second, synack)
	b.replies(second, synack) // it says so again: that is no second answer
	b.replies(second, psh)
	next(0, "1 x 6.4 s and 1 x 19.2 s")
	next(0, "2 x 6.4 s and 1 x 19.2 s")
	next(1, "3 x 6.4 s and 1 x 19.2 s, web2's turn")
	next(0, "3 x 6.4 s and 2 x 19.2 s")
	for _, f := range b.stats().Services[:2] {
		if f.BytesOut == 0 || f.BytesOut > 1000 {
			t.Errorf("%s has sent %d bytes", f.Name, f.BytesOut)
		}
	}
	b.close()
}

// TestStartupShowsInStats: how much of a start-up is left, and why it began.
func TestStartupShowsInStats(t *testing.T) {
	b := newBed(t, newMemory(t), 1024)
	tab := loaded(api.LeastPackets, 1, 1)
	tab.Config.StartupFactor = 2
	b.apply(tab)
	for left := range 5 {
		for _, v := range b.stats().Vservers {
			want := uint64(0)
			if v.Name == "load" {
				want = uint64(4 - left)
			}
			if v.StartupLeft != want || want > 0 && v.Startup != api.StartupVserver {
				t.Errorf("after %d flows vserver %s has %d left for reason %d, want %d", left, v.Name, v.StartupLeft, v.Startup, want)
			}
		}
		b.connect(uint16(5000+left), loadPort)
	}
	b.close()
}

// TestCustomLoad: connections go to the smallest load by weight, as fractions say; those that are equal all get some.
func TestCustomLoad(t *testing.T) {
	for _, c := range []crew{alone, {2, 0, true}, {4, 0, true}} {
		b := newCrew(t, newMemories(t, c.workers, poolSize), c, 1<<13)
		weights := []uint16{1, 2, 4}
		b.apply(loaded(api.CustomLoad, weights...))
		sport := uint16(2000)
		for _, row := range []struct {
			loads []api.Load
			want  string // the servers that are chosen
		}{
			{nil, "[0 1 2]"}, // by turns
			{[]api.Load{{Service: 1, Load: 5}, {Service: 2, Load: 9}, {Service: 3, Load: 20}}, "[1]"},
			{[]api.Load{{Service: 1, Load: 5}, {Service: 2, Load: 10}, {Service: 3, Load: 20}}, "[0 1 2]"},
			{[]api.Load{{Service: 1, Load: 5}, {Service: 2, Load: 10}, {Service: 3, Load: 21}}, "[0 1]"},
			{[]api.Load{{Service: 1, Load: 0}, {Service: 2, Load: 1}, {Service: 3, Load: 1}}, "[0]"},
			{[]api.Load{{Service: 1, Load: 8}, {Service: 2, Load: 30}}, "[2]"}, // the third counts as 30
			{[]api.Load{{Service: 1, Load: 1 << 31}, {Service: 2, Load: 1<<32 - 2}, {Service: 3, Load: 1<<32 - 1}}, "[2]"},
		} {
			b.apply(&api.Tables{Health: &api.Health{Version: 9, Up: allUp, Loads: row.loads}})
			seen := [3]bool{}
			for range 24 {
				sport++
				seen[b.connect(sport, loadPort).service] = true
			}
			var got []int
			for i, s := range seen {
				if s {
					got = append(got, i)
				}
			}
			if fmt.Sprint(got) != row.want {
				t.Errorf("%v: with the loads %v connections went to %v, want %s", c, row.loads, got, row.want)
			}
		}
		b.close()
	}
}
