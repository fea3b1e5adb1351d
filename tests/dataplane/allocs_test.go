package dataplane

import (
	"strings"
	"testing"

	"sluice/dataplane/api"
	"sluice/dataplane/packet"
	"sluice/dataplane/port"
)

// TestBurstsAllocateNothing looks at full bursts of one kind each.
func TestBurstsAllocateNothing(t *testing.T) {
	const runs = 50
	for _, tc := range []struct {
		kind  string
		frame func(i int) []byte
		ends  string // the counter that must say so
	}{
		{"hit", func(i int) []byte { return data(ask(5001, keepPort, psh)).Bytes() }, "forward-flow"},
		{"hit that needs its checksum", func(i int) []byte { return partial(data(ask(5001, keepPort, psh))).Bytes() }, "forward-flow"},
		{"new flow", func(i int) []byte { return ask(uint16(6000+i), webPort, syn).Bytes() }, "forward-new-flow"},
		{"new flow by a hash", func(i int) []byte { return ask(uint16(6000+i), hashPort, syn).Bytes() }, "forward-new-flow"},
		{"new flow of a known client", func(i int) []byte { return ask(uint16(6000+i), persistPort, syn).Bytes() }, "forward-new-flow"},
		{"new flow by a wildcard", func(i int) []byte { return abroad(ask(uint16(6000+i), 80, syn)).Bytes() }, "forward-new-flow"},
		{"foreign, for no wildcard", func(i int) []byte { return abroad(udp(ask(uint16(6000+i), 80, 0))).Bytes() }, "drop-not-for-us"},
		{"miss", func(i int) []byte { return ask(uint16(6000+i), webPort, ack).Bytes() }, "drop-no-flow"},
		{"drop", func(i int) []byte { return ask(5001, webPort, syn).Bytes()[:33] }, "drop-truncated"},
		{"punt", func(i int) []byte { return to(ask(uint16(6000+i), 22, syn), snip1).Bytes() }, "punt-local"},
		{"ARP reply", func(i int) []byte { return whoHas(vip) }, "reply-arp"},
		{"from the kernel", func(i int) []byte { return whoHas(snip1) }, "forward-from-kernel"},
	} {
		t.Run(tc.kind, func(t *testing.T) {
			q, err := port.NewMemory(lanes, (runs+2)*packet.Burst)
			if err != nil {
				t.Fatal(err)
			}
			defer q.Close()
			b := newBed(t, q, 1<<13)
			b.apply(persistent(api.PersistSourceIP, 0, 120))
			if strings.Contains(tc.kind, "wildcard") {
				b.apply(withWildcards(wildcard(20, "all", api.ProtoTCP, 0, wild1, 101, "CLIENT.IP.SRC.GET1.EQ(10) && CLIENT.TCP.DSTPORT <= 80")))
			}
			b.establish(5001)
			for l := range lanes {
				b.q.Sent(l)
				q.Discard(l)
			}
			before, lane := b.counters()[tc.ends], nic1
			if tc.ends == "forward-from-kernel" {
				lane = twin1
			}
			for i := range (runs + 1) * packet.Burst {
				if err := q.Inject(lane, tc.frame(i)); err != nil {
					t.Fatal(err)
				}
			}
			if n := testing.AllocsPerRun(runs, func() { b.w.Poll() }); n != 0 {
				t.Errorf("%v allocations a burst", n)
			}
			b.turns()
			if n := b.counters()[tc.ends] - before; n != (runs+1)*packet.Burst {
				t.Errorf("%d packets ended as %s, not all: %v", n, tc.ends, b.counters())
			}
			b.close()
		})
	}
}

// hitsAllocateNothing looks at full bursts of a known flow, once a worker has been given something.
func hitsAllocateNothing(t *testing.T, give func(*bed)) {
	t.Helper()
	const runs = 50
	q, err := port.NewMemory(lanes, (runs+2)*packet.Burst)
	if err != nil {
		t.Fatal(err)
	}
	defer q.Close()
	b := newBed(t, q, 1<<13)
	b.establish(5001)
	for l := range lanes {
		b.q.Sent(l)
		q.Discard(l)
	}
	for range (runs + 1) * packet.Burst {
		if err := q.Inject(nic1, data(ask(5001, keepPort, psh)).Bytes()); err != nil {
			t.Fatal(err)
		}
	}
	give(b)
	if n := testing.AllocsPerRun(runs, func() { b.w.Poll() }); n != 0 {
		t.Errorf("%v allocations a burst", n)
	}
	b.turns()
	b.close()
}

// establish opens a connection of the client's to keepPort and finishes its handshake.
func (b *bed) establish(sport uint16) {
	b.t.Helper()
	for _, f := range []on{{nic1, ask(sport, keepPort, syn)}, {nic2, toClient(answer(server1, 80, sport, synack))}, {nic1, ask(sport, keepPort, ack)}} {
		b.enters(f.lane, f.frame)
	}
}
