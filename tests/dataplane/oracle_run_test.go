package dataplane

import (
	"fmt"
	"slices"
	"testing"

	"sluice/dataplane/api"
	"sluice/dataplane/packet"
)

// chosen checks the choice of a service: of round robin each has its turn, of least connections none had fewer, by a hash of the
// address a client goes where it went before from the same services.
func (m *model) chosen(n *nat, ip ip4) {
	may := m.w.candidates(n.v)
	i := slices.IndexFunc(may, func(s *modelService) bool { return s.ip == ip })
	if i < 0 {
		m.t.Fatalf("a new connection to port %d went to %v, which may not take any", n.client.dport, addr(ip))
	}
	n.s = may[i]
	switch n.v.method {
	case api.SourceIPHash:
		key := fmt.Sprint(n.client.ip)
		for _, s := range may {
			key += fmt.Sprint(" ", s.id)
		}
		if home, ok := m.homes[key]; ok && home != n.s.id {
			m.t.Fatalf("client and services %s: service %d was chosen, and %d before", key, n.s.id, home)
		}
		m.homes[key] = n.s.id
	case api.RoundRobin:
		at := chooser{n.v.port, m.worker(n.client)}
		last := m.turns[at]
		if last = last[max(0, len(last)-len(may)+1):]; slices.Contains(last, n.s.id) {
			m.t.Fatalf("service %d of %d again, after %v", n.s.id, len(may), last)
		}
		m.turns[at] = append(last, n.s.id)
	default:
		for _, s := range may {
			if m.open[s.id] < m.open[n.s.id] {
				m.t.Fatalf("service %d has %d connections and was chosen, service %d has %d", n.s.id, m.open[n.s.id], s.id, m.open[s.id])
			}
		}
	}
	m.count(n)
}

// traffic is a step: a number of frames from one side, since which lane is served first is not the model's business. Nor is what
// comes first within a burst, the end of a connection or the choice for another: they come in steps of their own.
func (m *model) traffic() {
	client := m.r.IntN(2) == 0
	m.wait = map[client5]bool{}
	kinds := [][]uint8{{syn, syn, ack, psh}, {ack, psh, ack, psh, fin, rst}}[m.r.IntN(2)]
	for range 1 + m.r.IntN(60) {
		lane, f, ok := nic1, packet.Frame{}, true
		switch {
		case m.r.IntN(30) == 0:
			m.noise()
			continue
		case client:
			f, ok = m.fromClient(kinds)
		default:
			lane = nic2
			f, ok = m.fromServer([]uint8{synack, synack, ack, psh, psh, psh, psh, fin})
		}
		if ok {
			m.inject(lane, f.Bytes())
		}
	}
	m.b.turns()
	m.collect()
}

func (m *model) inject(lane int, frame []byte) {
	if err := m.b.q.Inject(lane, frame); err != nil {
		m.t.Fatal(err)
	}
	m.in++
}

// noise is a frame that is no flow's.
func (m *model) noise() {
	switch m.r.IntN(4) {
	case 0:
		m.want["punt-arp"]++
		m.inject(nic1, whoHas(snip1))
	case 1:
		m.want["drop-fragment"]++
		m.inject(nic1, with(ask(5001, webPort, syn), func(f *packet.Frame) { f.Frag = 0x2000 }).Bytes())
	case 2:
		m.want["punt-local"]++
		m.inject(nic2, answer(server1, 8001, 60001, ack).Bytes())
	case 3:
		m.want["forward-from-kernel"]++
		m.inject(twin1, ask(5001, webPort, syn).Bytes())
	}
}

// collect checks what came out, and that all did that does not wait.
func (m *model) collect() {
	m.t.Helper()
	for _, l := range []int{nic2, nic1, twin1, twin2} {
		for _, f := range m.b.q.Sent(l) {
			switch {
			case l == twin1 || l == twin2:
				m.punted++
				continue
			case packet.Ether(f).Dst() == mac1: // from the kernel
			default:
				m.check(l, f)
			}
			m.out++
		}
	}
	waits := map[uint64]bool{}
	for _, list := range m.held {
		for _, id := range list {
			waits[id] = true
		}
	}
	for id, e := range m.sent {
		if !waits[id] {
			m.t.Fatalf("frame %d of side %d never came out: %s (counters: %s)", id, e.side, describe(e.in.Bytes()), sameCounters(m.b.counters(), m.want))
		}
	}
}

// commit changes the tables: what waited for a neighbor that is known now leaves.
func (m *model) commit() {
	m.b.apply(m.w.change(m.r))
	m.turns = map[chooser][]uint32{}
	for at, list := range m.held {
		for _, id := range list {
			e := m.sent[id]
			e.stray = e.stray || e.side == 1 && e.hop != e.flow.client.ip && e.hop != m.w.gateway
			m.sent[id] = e
		}
		if _, known := m.w.macs[at.ip]; known {
			delete(m.held, at)
		}
	}
	m.collect()
}

// later moves the clock: what waited for a neighbor gives up, silent flows are forgotten.
func (m *model) later(seconds int) {
	m.now += seconds
	m.b.pass(float64(seconds))
	for at, list := range m.held {
		for _, id := range list {
			m.want["drop-neighbor-unresolved"]++
			delete(m.sent, id)
		}
		delete(m.held, at)
	}
	for _, n := range slices.Clone(m.live) {
		limit := idleLimit(n.v, n.s)
		switch {
		case n.rst:
			limit = min(limit, 5)
		case n.over():
			limit = min(limit, 60)
		case !n.done:
			limit = min(limit, 30)
		}
		if m.now-n.last >= limit {
			m.forget(n)
		}
	}
	m.collect()
}

// figures compares what the dataplane says about itself.
func (m *model) figures() {
	m.t.Helper()
	m.b.turns()
	s := m.b.stats()
	if d := sameCounters(m.b.counters(), m.want); d != "" {
		m.t.Fatal(d)
	}
	if got := sum(s, flowsOf); got != uint64(2*len(m.flows)) {
		m.t.Fatalf("%d flow entries for %d flows", got, len(m.flows))
	}
	for _, f := range s.Services {
		if f.OpenFlows != uint64(m.open[f.ID]) {
			m.t.Fatalf("service %d has %d open flows, not %d", f.ID, f.OpenFlows, m.open[f.ID])
		}
	}
	var dropped uint64
	for name, n := range m.want {
		if len(name) > 5 && name[:5] == "drop-" {
			dropped += n
		}
	}
	waiting := uint64(0)
	for _, list := range m.held {
		waiting += uint64(len(list))
	}
	if in := sum(s, packetsOf); in != m.in || in != m.out+m.punted+dropped+waiting {
		m.t.Fatalf("%d packets came in (the worker says %d): %d transmitted, %d punted, %d dropped, %d waiting", m.in, in, m.out, m.punted, dropped, waiting)
	}
}

// TestTrafficAgainstNaiveNAT sends random traffic of many clients and servers, in bursts, while tables change and time passes, and
// compares every frame, every choice and every counter with the model.
func TestTrafficAgainstNaiveNAT(t *testing.T) {
	for seed, c := range []crew{alone, alone, {2, 0, true}, {4, 0, true}} {
		b := newCrew(t, newMemories(t, c.workers, poolSize), c, c.workers<<13)
		m := newModel(t, b, uint64(seed))
		b.apply(m.w.tables())
		for i := range 3000 {
			switch k := m.r.IntN(100); {
			case k < 8:
				m.commit()
			case k < 11:
				m.later(moment * []int{1, 1, 1, 2, 3, 4, 5, 8, 9, 18, 25, 27}[m.r.IntN(12)])
			default:
				m.traffic()
			}
			if i%50 == 0 {
				m.figures()
			}
		}
		m.figures()
		for name, least := range map[string]uint64{"forward-new-flow": 1000, "forward-flow": 10000, "drop-no-flow": 100, "drop-no-vserver": 100,
			"drop-no-service-up": 50, "held-neighbor": 20, "drop-hold-full": 20, "drop-neighbor-unresolved": 1, "drop-no-route": 50, "checksum-completed": 100} {
			if m.want[name] < least {
				t.Errorf("the traffic says little: %s is %d", name, m.want[name])
			}
		}
		if len(m.w.changed) != 6 {
			t.Errorf("not everything has changed: %v", m.w.changed)
		}
		if s := b.stats(); c.workers > 1 && (sum(s, handedOf) < 10000 || sum(s, handedOf) != sum(s, takenOf)) {
			t.Errorf("%d packets were handed over and %d taken", sum(s, handedOf), sum(s, takenOf))
		}
		b.close()
	}
}
