package dataplane

import (
	"slices"
	"testing"

	"sluice/dataplane/packet"
	"sluice/dataplane/worker"
)

// trace arms a trace at every worker of a bed.
func (b *bed) trace(tr *worker.Trace) {
	b.t.Helper()
	b.order("trace", func(w *worker.Worker) uint64 { return w.Trace(tr) })
}

// order gives something to every worker, which takes it with its next turn.
func (b *bed) order(what string, give func(*worker.Worker) (ticket uint64)) {
	b.t.Helper()
	for _, w := range b.ws {
		ticket := give(w)
		if w.Poll(); !w.Passed(ticket) {
			b.t.Fatalf("the worker did not take the %s", what)
		}
	}
}

// everything follows every packet, nothing looks at all and follows none.
func everything() *worker.Trace { return &worker.Trace{Count: worker.MaxWalks, Until: 1 << 62} }
func nothing() *worker.Trace {
	return &worker.Trace{Ends: worker.Ends{SrcPort: 1, DstPort: 1}, Count: 1, Until: 1 << 62}
}

// TestRowsTraced: a trace changes nothing about what becomes of packets.
func TestRowsTraced(t *testing.T) {
	for i, kind := range []func() *worker.Trace{everything, nothing} {
		c := []crew{alone, {2, 0, true}}[i]
		for _, r := range rows() {
			if r.several && c.workers == 1 {
				continue
			}
			t.Run(r.name, func(t *testing.T) {
				r.steps = append([]step{{do: func(b *bed) { b.trace(kind()) }}}, r.steps...)
				r.run(t, newMemories(t, c.workers, 2*poolRing), c)
			})
		}
	}
}

// TestTraceFollowsAConnection: both directions of the flow that is asked for and nothing else, until there are enough.
func TestTraceFollowsAConnection(t *testing.T) {
	b := newBed(t, newMemory(t), 1024)
	k := keyOf(with(ask(5001, webPort, syn), func(f *packet.Frame) { f.Proto = packet.ProtoTCP }))
	tr := &worker.Trace{Ends: worker.Ends{Src: uint32(k.A), SrcPort: uint16(k.B), DstPort: uint16(k.B >> 16)}, Count: 4, Until: 100}
	b.trace(tr)
	for i, s := range []step{
		open(5002, webPort, server1, q1, 8001), // another flow
		open(5001, webPort, server2, q2, 8002),
		{in: []on{{nic2, answer(server1, 8001, q1, synack)}}, out: []on{{nic1, answered(webPort, 5002, synack)}}},
		{in: []on{{nic2, answer(server2, 8002, q2, synack)}}, out: []on{{nic1, answered(webPort, 5001, synack)}}},
		{in: []on{{nic1, ask(5001, webPort, ack)}, {nic1, data(ask(5001, webPort, psh))}, {nic1, data(ask(5001, webPort, psh))}},
			out: []on{{nic2, asked(server2, q2, 8002, ack)}, {nic2, data(asked(server2, q2, 8002, psh))}, {nic2, data(asked(server2, q2, 8002, psh))}}},
	} {
		for _, f := range s.in {
			if err := b.q.Inject(f.lane, b.bytes(f.frame)); err != nil {
				t.Fatal(err)
			}
		}
		b.turns()
		b.expect("step "+string(rune('1'+i)), s.out)
	}
	type short struct {
		reason  packet.Reason
		in, out uint8
	}
	var got []short
	for _, w := range tr.Walks() {
		got = append(got, short{w.Reason, w.In, w.Out})
		if w.Vserver != 1 || w.Service != 2 {
			t.Errorf("vserver %d, service %d", w.Vserver, w.Service)
		}
	}
	want := []short{{packet.ForwardNewFlow, nic1, nic2}, {packet.ForwardFlow, nic2, nic1}, {packet.ForwardFlow, nic1, nic2}, {packet.ForwardFlow, nic1, nic2}}
	if !slices.Equal(got, want) || !tr.Full() {
		t.Errorf("walks %+v, want %+v", got, want)
	}
	b.close()
}

// TestTraceEndsByTime: packets after its time are not followed, though nobody has taken the trace away.
func TestTraceEndsByTime(t *testing.T) {
	b := newBed(t, newMemory(t), 1024)
	tr := everything()
	tr.Until = b.clock + 10
	b.trace(tr)
	for n, want := range []int{1, 1} {
		b.q.Inject(nic1, ask(uint16(5001+n), webPort, syn).Bytes())
		b.turns()
		if got := len(tr.Walks()); got != want {
			t.Errorf("%d walks, want %d", got, want)
		}
		b.pass(1)
	}
	b.drain()
	b.close()
}

func (b *bed) drain() {
	for l := range lanes {
		b.q.Sent(l)
	}
}

// TestTracedBurstsAllocateNothing: not even while a trace looks at every packet.
func TestTracedBurstsAllocateNothing(t *testing.T) {
	for _, kind := range []func() *worker.Trace{everything, nothing} {
		hitsAllocateNothing(t, func(b *bed) { b.w.Trace(kind()) })
	}
}
