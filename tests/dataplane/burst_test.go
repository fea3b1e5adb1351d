package dataplane

import (
	"bytes"
	"testing"

	"sluice/dataplane/packet"
)

// TestOddPacketAtEachPlaceOfABurst puts a packet of another kind at each place of a full burst of a known flow in turn: it ends as it
// must, and the others come out as one does alone.
func TestOddPacketAtEachPlaceOfABurst(t *testing.T) {
	segment := data(ask(5001, keepPort, psh))
	for _, tc := range []struct {
		kind  string
		frame func(i int) any
		ends  string // the counter that must say so
		lane  int    // where something leaves for it; -1: nowhere
	}{
		{"hit of another flow", func(int) any { return data(ask(5002, keepPort, psh)) }, "forward-flow", nic2},
		{"hit that needs its checksum", func(int) any { return partial(data(ask(5002, keepPort, psh))) }, "checksum-completed", nic2},
		{"hit with a tag", func(int) any { return tagged(data(ask(5002, keepPort, psh))) }, "forward-flow", nic2},
		{"new flow", func(i int) any { return ask(uint16(6000+i), webPort, syn) }, "forward-new-flow", nic2},
		{"miss", func(i int) any { return ask(uint16(6000+i), webPort, ack) }, "drop-no-flow", -1},
		{"drop", func(int) any { return segment.Bytes()[:33] }, "drop-truncated", -1},
		{"punt", func(i int) any { return to(ask(uint16(6000+i), 22, syn), snip1) }, "punt-local", twin1},
		{"ARP reply", func(int) any { return whoHas(vip) }, "reply-arp", nic1},
	} {
		for _, c := range []crew{alone, {2, 0, false}, {2, 1, false}, {4, 0, false}} {
			t.Run(tc.kind+", "+c.String(), func(t *testing.T) {
				b := newCrew(t, newMemories(t, c.workers, poolSize), c, 1024*c.workers)
				b.establish(5001)
				b.establish(5002)
				for l := range lanes {
					b.q.Sent(l)
				}
				b.enters(nic1, segment)
				alone := b.q.Sent(nic2)
				if len(alone) != 1 {
					t.Fatalf("%d frames came of one", len(alone))
				}
				for place := range packet.Burst {
					b.fullBurst(segment, place, tc.frame(place), tc.ends, tc.lane, alone[0])
				}
				b.close()
			})
		}
	}
}

// fullBurst sends a burst of a flow's segments, which come out as want, with an odd one at a place.
func (b *bed) fullBurst(segment packet.Frame, place int, odd any, ends string, lane int, want []byte) {
	b.t.Helper()
	before := b.counters()
	for i := range packet.Burst {
		f := any(segment)
		if i == place {
			f = odd
		}
		if err := b.q.Inject(nic1, b.bytes(f)); err != nil {
			b.t.Fatal(err)
		}
	}
	b.turns()
	after, all := b.counters(), uint64(packet.Burst-1)
	if ends == "forward-flow" {
		all++
	} else if n := after[ends] - before[ends]; n != 1 {
		b.t.Errorf("the odd one at %d: %s was counted %d times", place, ends, n)
	}
	if ends == "checksum-completed" {
		all++
	}
	if n := after["forward-flow"] - before["forward-flow"]; n != all {
		b.t.Errorf("the odd one at %d: forward-flow was counted %d times, not %d", place, n, all)
	}
	for l := range lanes {
		due, others := 0, 0
		if l == nic2 {
			due = packet.Burst - 1
		}
		for _, got := range b.q.Sent(l) {
			if due > 0 && bytes.Equal(got, want) {
				due--
			} else {
				others++
			}
		}
		if due != 0 || l == lane && others != 1 || l != lane && others != 0 {
			b.t.Errorf("the odd one at %d: lane %d sent %d segments too few and %d other frames", place, l, due, others)
		}
	}
}
