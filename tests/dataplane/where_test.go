package dataplane

import (
	"math/rand/v2"
	"net/netip"
	"reflect"
	"slices"
	"testing"

	"sluice/dataplane/api"
	"sluice/dataplane/packet"
	"sluice/dataplane/worker"
)

// where asks what would become of a packet of a flow.
func (b *bed) where(key packet.Key) *worker.Where {
	b.t.Helper()
	q := &worker.Where{Key: key}
	w := b.ws[worker.Owner(b.w.Tables(), key, len(b.ws), 0)]
	ticket := w.Ask(q)
	w.Poll()
	if !w.Passed(ticket) || !q.Answered {
		b.t.Fatalf("no answer about %+v", key)
	}
	return q
}

// keyOf is the key of a packet in memory order.
func keyOf(f packet.Frame) packet.Key {
	le := func(a ip4) uint32 { return packet.Addr4(a) }
	return packet.MakeKey(le(f.SrcIP), le(f.DstIP), f.SrcPort, f.DstPort, f.Proto)
}

// TestWhereForetells asks about packets of any kind in any situation, and then lets each come: it ends under the name that was
// foretold, to the service, by the port and to the neighbor that were foretold, with the very tuple. Asking changes nothing.
func TestWhereForetells(t *testing.T) {
	foretold, reopened := map[packet.Reason]int{}, 0
	for seed := range uint64(9) {
		c := []crew{alone, {2, 0, true}, {4, 0, true}}[seed%3]
		b := newCrew(t, newMemories(t, c.workers, poolSize), c, 48*c.workers)
		s := &soothsayer{b: b, r: rand.New(rand.NewPCG(seed, 77)), foretold: foretold, up: append([]uint32(nil), allUp...), neighbors: neighborList()}
		for range 1500 {
			switch s.r.IntN(12) {
			case 0:
				s.change()
			case 1:
				b.pass(float64(s.r.IntN(40)) / 10)
			case 2:
				s.end()
			default:
				s.foretell()
			}
			if t.Failed() {
				t.Fatalf("seed %d", seed)
			}
		}
		reopened += s.reopened
		b.close()
	}
	for _, r := range []packet.Reason{packet.ForwardFlow, packet.ForwardNewFlow, packet.HeldNeighbor, packet.PuntGroup, packet.PuntLocal, packet.DropNoVserver,
		packet.DropNoServiceUp, packet.DropNotForUs, packet.DropMartian, packet.DropFlowTableFull, packet.DropPortPoolExhausted, packet.DropTupleInUse, packet.DropNoRoute, packet.DropHoldFull} {
		if foretold[r] < 3 {
			t.Errorf("%s came up %d times: the test has lost its point", r.Name(), foretold[r])
		}
	}
	if reopened < 10 {
		t.Errorf("%d connections were opened in place of old ones: the test has lost its point", reopened)
	}
}

// TestWhereOfVirtualRouters: what comes for a VIP of a virtual router is foretold by the role that is played, and as the lease stands.
func TestWhereOfVirtualRouters(t *testing.T) {
	first, gre := with(ask(c1, webPort, syn), func(f *packet.Frame) { f.Proto = packet.ProtoTCP }), packet.Frame{Dst: mac1, Src: clientMAC, SrcIP: client, DstIP: vipAny, Proto: protoGRE}
	for _, row := range []struct {
		name   string
		play   func(*bed)
		of     packet.Frame
		reason packet.Reason
	}{
		{"the master", plays(leads), first, packet.ForwardNewFlow},
		{"the master, any protocol", plays(leads), gre, packet.ForwardNewFlow},
		{"the master, nobody listens", plays(leads), to(first, vipMute), packet.DropNoVserver},
		{"the master whose lease is over", func(b *bed) { playsFor(leads, 300)(b); b.pass(0.3) }, first, packet.DropBackupVIP},
		{"a backup", plays(backs), first, packet.DropBackupVIP},
		{"a backup, any protocol", plays(backs), gre, packet.DropBackupVIP},
		{"a backup that shares", plays(shares), first, packet.ForwardNewFlow},
		{"a backup that sends to the master", plays(sends), first, packet.ForwardToMaster},
		{"a backup that shares and sends", plays(both), first, packet.ForwardNewFlow},
		{"a backup that has the flow", func(b *bed) { plays(leads)(b); b.enters(nic1, first); becomes(sends)(b) }, first, packet.ForwardFlow},
	} {
		t.Run(row.name, func(t *testing.T) {
			b := newBed(t, newMemory(t), 64)
			defer b.close()
			row.play(b)
			before := b.stats()
			q := b.where(keyOf(row.of))
			if q.Reason != row.reason {
				t.Errorf("foretold %s, want %s", q.Reason.Name(), row.reason.Name())
			}
			if yields := row.reason == packet.DropBackupVIP || row.reason == packet.ForwardToMaster; yields && (q.Vserver != 0 || q.Service != 0 || q.To.B != 0) {
				t.Errorf("vserver %d and service %d take what is not served here", q.Vserver, q.Service)
			}
			if !reflect.DeepEqual(quiet(b.stats()), quiet(before)) {
				t.Error("asking has changed figures")
			}
			want := b.counters()
			want[row.reason.Name()]++
			b.enters(nic1, row.of)
			if d := sameCounters(b.counters(), want); d != "" {
				t.Errorf("foretold %s: %s", q.Reason.Name(), d)
			}
		})
	}
}

const protoGRE = 47 // any protocol without ports

// soothsayer foretells what a worker does.
type soothsayer struct {
	b         *bed
	r         *rand.Rand
	up        []uint32
	neighbors []api.Neighbor
	opened    []packet.Frame // first packets of flows that were opened
	foretold  map[packet.Reason]int
	reopened  int
}

func one[T any](r *rand.Rand, of ...T) T { return of[r.IntN(len(of))] }

// frame is the first packet of some flow, which enters by either port.
func (s *soothsayer) frame() packet.Frame {
	r := s.r
	f := packet.Frame{Src: clientMAC, SrcPort: uint16(5000 + r.IntN(6)), DstPort: uint16(one(r, webPort, dnsPort, keepPort, proxyPort, downPort, lostPort,
		awayPort, fewPort, leastPort, noSNIP, 99)), Flags: packet.SYN, Proto: packet.ProtoTCP,
		SrcIP: one(r, client, client, remote, ip4{10, 1, 0, 77}), DstIP: one(r, vip, vip, vip, vip, vipAny, vipMute)}
	switch r.IntN(24) {
	case 6:
		f.SrcIP = one(r, ip4{127, 0, 0, 1}, ip4{239, 1, 1, 1}, f.DstIP)
	case 0:
		f.DstIP = one(r, snip2, snip1, ip4{10, 2, 0, 200}, ip4{224, 0, 0, 5}, origin, origin, shell)
	case 1:
		f.SrcIP, f.DstIP, f.SrcPort, f.DstPort = server1, snip2, 8001, uint16(1024+r.IntN(58000))
	case 2, 3:
		f.DstIP, f.SrcPort, f.DstPort, f.Proto, f.Flags = one(r, vipAny, vipAny, vip), 0, 0, protoGRE, 0
	case 4, 5:
		f.Proto, f.Flags = packet.ProtoUDP, 0
	}
	if f.Dst = mac1; r.IntN(4) == 0 {
		f.Dst = mac2
	}
	return f
}

// foretell asks, lets the packet come and compares.
func (s *soothsayer) foretell() {
	b, f := s.b, s.frame()
	if len(s.opened) > 0 && s.r.IntN(3) == 0 {
		f = s.opened[s.r.IntN(len(s.opened))]
	}
	before := b.stats()
	q := b.where(keyOf(f))
	for range s.r.IntN(3) {
		if again := b.where(keyOf(f)); again.Reason != q.Reason || again.To != q.To || again.Service != q.Service {
			b.t.Errorf("asked again: %v %+v service %d, before %v %+v service %d", again.Reason, again.To, again.Service, q.Reason, q.To, q.Service)
		}
	}
	if now := b.stats(); !reflect.DeepEqual(quiet(now), quiet(before)) {
		b.t.Errorf("asking has changed figures from\n%+v to\n%+v", before, now)
	}
	counted := b.counters()
	tr := s.follow(f)
	receiver := b.q.to
	lane := nic1
	if f.Dst == mac2 {
		lane = nic2
	}
	b.enters(lane, f)
	counted[q.Reason.Name()]++
	if d := sameCounters(b.counters(), counted); d != "" {
		b.t.Errorf("%s: foretold %s: %s", describe(f.Bytes()), q.Reason.Name(), d)
	}
	s.foretold[q.Reason]++
	sent := s.compare(f, q)
	if tr != nil {
		s.walked(f, q, tr, receiver, sent)
	}
	if q.Reopens && q.Reason == packet.ForwardNewFlow {
		s.reopened++
	}
	if q.Reason == packet.ForwardNewFlow || q.Reason == packet.HeldNeighbor {
		s.opened = append(s.opened, f)
	}
}

// compare checks what came out against the answer, and what the answer says of the vserver.
// It returns the frame that came out, if one did.
func (s *soothsayer) compare(f packet.Frame, q *worker.Where) (out []byte) {
	b := s.b
	for l := range lanes {
		sent := b.q.Sent(l)
		want := 0
		switch v := q.Reason.Verdict(); {
		case v == packet.Transmit && l == int(2*q.Port), v == packet.Punt && (l == twin1 && f.Dst == mac1 || l == twin2 && f.Dst == mac2):
			want = 1
		}
		if len(sent) != want {
			b.t.Fatalf("%s: foretold %s: lane %d sent %d frames, not %d", describe(f.Bytes()), q.Reason.Name(), l, len(sent), want)
		}
		if want == 0 {
			continue
		}
		if out = sent[0]; q.Reason.Verdict() != packet.Transmit {
			continue
		}
		e := packet.Ether(sent[0])
		_, l3 := e.Split()
		h := packet.IPv4(l3)
		got := packet.Frame{SrcIP: h.Src(), DstIP: h.Dst(), Proto: h.Proto()}
		if got.Proto != protoGRE {
			got.SrcPort, got.DstPort = packet.UDP(h.Payload()).SrcPort(), packet.UDP(h.Payload()).DstPort()
		}
		if m := e.Dst(); keyOf(got) != q.To || packet.MAC(m) != q.MAC {
			b.t.Errorf("%s became %s: foretold %+v to %x", describe(f.Bytes()), describe(sent[0]), q.To, q.MAC)
		}
	}
	if v := q.Reason; (v == packet.ForwardNewFlow || v == packet.DropNoServiceUp || v == packet.DropPortPoolExhausted) != (q.Vserver != 0 && q.Entry.B == 0 || q.Reopens) &&
		v != packet.DropFlowTableFull && v != packet.DropTupleInUse && v != packet.DropNoRoute &&
		!(v == packet.DropNotForUs && q.Reopens) && v.Verdict() != packet.Held && v != packet.DropHoldFull {
		b.t.Errorf("foretold %s with vserver %d, entry %v", v.Name(), q.Vserver, q.Entry.B != 0)
	}
	return out
}

// follow arms a trace of a packet's flow, most of the time.
func (s *soothsayer) follow(f packet.Frame) *worker.Trace {
	var tr *worker.Trace
	if s.r.IntN(4) > 0 {
		k := keyOf(f)
		tr = &worker.Trace{Ends: worker.Ends{Src: uint32(k.A), Dst: uint32(k.A >> 32), SrcPort: uint16(k.B), DstPort: uint16(k.B >> 16), Proto: f.Proto}, Count: 4, Until: 1 << 62}
	}
	s.b.trace(tr)
	return tr
}

// walked checks the walk of a packet against what was foretold and what came out: at its owner, and at who received it if that is
// another.
func (s *soothsayer) walked(f packet.Frame, q *worker.Where, tr *worker.Trace, receiver int, sent []byte) {
	t, walks := s.b.t, tr.Walks()
	owner, want := worker.Owner(s.b.w.Tables(), q.Key, len(s.b.ws), receiver), 1
	if owner != receiver {
		want = 2
	}
	if len(walks) != want {
		t.Fatalf("%s: %d walks from worker %d to %d, not %d", describe(f.Bytes()), len(walks), receiver, owner, want)
	}
	k := walks[want-1]
	if want == 2 && (!walks[0].Handed || int(walks[0].Owner) != owner || walks[0].Steps[walks[0].N-1].How != worker.HandedOver || walks[0].After.N != 0) {
		t.Errorf("worker %d should have handed over to %d: %+v", receiver, owner, walks[0])
	}
	last := k.Steps[max(k.N, 1)-1]
	if k.Handed || k.Reason != q.Reason || k.N < 3 || int(k.Worker) != owner || string(k.Before.Bytes()) != string(f.Bytes()) ||
		(last.How != worker.Decided && last.How != worker.Sent) {
		t.Errorf("%s: foretold %s at worker %d, walked %+v", describe(f.Bytes()), q.Reason.Name(), owner, k)
	}
	switch k.Reason.Verdict() {
	case packet.Drop:
		if k.After.N != 0 {
			t.Errorf("%s was dropped and became something", describe(f.Bytes()))
		}
	case packet.Transmit, packet.Punt:
		if string(k.After.Bytes()) != string(sent[:min(len(sent), len(k.After.Data))]) || k.Reason.Verdict() == packet.Transmit && uint16(k.Out) != 2*q.Port {
			t.Errorf("%s: walked to\n%s by lane %d; came out\n%s by port %d", describe(f.Bytes()), describe(k.After.Bytes()), k.Out, describe(sent), q.Port)
		}
	}
	if (k.Vserver != q.Vserver || k.Service != q.Service) && k.Reason.Verdict() == packet.Transmit {
		t.Errorf("%s went to vserver %d and service %d: foretold %d and %d", describe(f.Bytes()), k.Vserver, k.Service, q.Vserver, q.Service)
	}
}

// quiet leaves out the figures of polling, which asking needs.
func quiet(s api.Stats) api.Stats {
	w := append([]api.WorkerStats(nil), s.Workers...)
	for i := range w {
		w[i].Polls, w[i].TotalCycles, w[i].BusyCycles = 0, 0, 0
	}
	s.Workers = w
	return s
}

// change gives the worker other tables: services, neighbors or routes come and go.
func (s *soothsayer) change() {
	t, r := &api.Tables{}, s.r
	switch r.IntN(4) {
	case 3:
		t.Config = config()
		if r.IntN(2) == 0 {
			w := withWildcards(wildcard(20, "tcp", api.ProtoTCP, 0, wild1, 50, "CLIENT.IP.SRC.IN_SUBNET(10.0.0.0/8)"),
				wildcard(21, "all", api.ProtoAny, 0, wildKeep, 101, "!CLIENT.TCP.DSTPORT.LT(85) && CLIENT.VLAN.ID.EQ(1)"))
			t.Config, t.Health, s.up = w.Config, w.Health, slices.Clone(w.Health.Up)
			t.Config.PortVLANs = nil // frames come in by either port, and it is foretold for the one toward their source
		}
		t.Config.StartupFactor = uint32(r.IntN(3))
		for _, i := range []int{0, 9} {
			t.Config.Vservers[i].Method = api.Method(1 + r.IntN(int(api.SourceIPSourcePortHash)))
			t.Config.Vservers[i].SlowRate = uint32(r.IntN(3))
		}
	case 0:
		s.up = s.up[:0]
		for _, id := range allUp {
			if r.IntN(4) > 0 {
				s.up = append(s.up, id)
			}
		}
		t.Health = &api.Health{Up: append([]uint32(nil), s.up...)}
	case 1:
		t.Neighbors = &api.Neighbors{}
		for _, n := range append(neighborList(), api.Neighbor{Port: 1, IP: addr(lost), MAC: serverMAC(lost)}) {
			if r.IntN(4) > 0 {
				t.Neighbors.Entries = append(t.Neighbors.Entries, n)
			}
		}
	default:
		f := *tables().FIB
		f.Routes = append([]api.Route(nil), f.Routes[:2+r.IntN(2)]...)
		if r.IntN(3) == 0 {
			f.Routes[1] = api.Route{Prefix: netip.MustParsePrefix("10.2.0.0/28"), Port: 1}
		}
		t.FIB = &f
	}
	s.b.apply(t)
	s.drain()
}

// end closes some flow from the client's side, so that its first packet opens a new one.
func (s *soothsayer) end() {
	if len(s.opened) == 0 {
		return
	}
	f := s.opened[s.r.IntN(len(s.opened))]
	lane := nic1
	if f.Dst == mac2 {
		lane = nic2
	}
	f.Flags = one(s.r, packet.RST, packet.RST, packet.ACK)
	if f.Proto != packet.ProtoTCP {
		f.Flags = 0
	}
	s.b.enters(lane, f)
	s.drain()
}

// drain forgets what was sent.
func (s *soothsayer) drain() {
	for l := range lanes {
		s.b.q.Sent(l)
	}
	for {
		if _, ok := s.b.w.NextEvent(); !ok {
			return
		}
	}
}
