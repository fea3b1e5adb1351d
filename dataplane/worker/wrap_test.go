package worker

import (
	"math"
	"testing"

	"sluice/dataplane/api"
	"sluice/dataplane/packet"
	"sluice/dataplane/table"
)

// TestCountersWrap: every counter of a worker goes on from its highest value through 0, and nothing but its figure feels it: packets
// are forwarded, flows are opened, counted and forgotten as ever.
func TestCountersWrap(t *testing.T) {
	var clock uint64
	w, q := memoryWorker(t, 512, &clock)
	oneVserver(t, w)
	send := func(n int) {
		t.Helper()
		for i := range n {
			if err := q.Inject(0, query(uint16(2000+i)).Bytes()); err != nil {
				t.Fatal(err)
			}
		}
		for range 8 {
			w.Poll()
		}
		if got := len(q.Sent(2)); got != n {
			t.Fatalf("%d of %d queries were forwarded", got, n)
		}
	}
	send(1) // opens the account
	c := w.accounts.at(1)
	if in, _ := w.lb.Counted(c); c.Flows != 1 || in.Packets != 1 {
		t.Fatalf("the account is another one: %+v", c)
	}
	*u64(c.Running) = 0
	*w.counts = [counters]uint64{}
	for i := range w.counts {
		w.counts[i] = math.MaxUint64
	}
	c.Flows, c.In.Packets, c.In.Bytes, c.Out.Packets, c.Out.Bytes = math.MaxUint64, math.MaxUint64, math.MaxUint64, math.MaxUint64, math.MaxUint64
	f := w.figures
	f.busy, f.total, f.polls, f.packets, f.sleeps = math.MaxUint64-1, math.MaxUint64-1, math.MaxUint64-1, math.MaxUint64-1, math.MaxUint64-1
	for l := range w.x.TxFull {
		w.x.TxFull[l] = math.MaxUint64
	}
	send(4) // one known flow, three new ones
	var s api.Stats
	w.Stats(&s)
	if n := w.Counter(int(packet.ForwardNewFlow)); n != 2 {
		t.Errorf("three new flows after the highest value are counted as %d, not 2", n)
	}
	if n := w.Counter(int(packet.ForwardFlow)); n != 0 {
		t.Errorf("one packet of a known flow after the highest value is counted as %d, not 0", n)
	}
	bytes := uint64(packet.IPv4Len + 8 + len("a question"))
	want := api.FlowStats{ID: 1, Name: "v", Flows: 2, OpenFlows: 4, PacketsIn: 3, BytesIn: 4*bytes - 1, PacketsOut: math.MaxUint64, BytesOut: math.MaxUint64}
	if got := s.Vservers[0]; got != want {
		t.Errorf("the vserver's figures are %+v, not %+v", got, want)
	}
	if got := s.Workers[0]; got.Packets != 2 || got.Flows != 8 {
		t.Errorf("the worker's figures are %+v", got)
	}
	gone, err := table.Build(&api.Tables{Config: &api.Config{}, Health: &api.Health{}}, w.Tables())
	if err != nil {
		t.Fatal(err)
	}
	w.Publish(gone)
	for range 2 * table.Orphaned {
		clock++
		w.Poll()
	}
	if c.Open != 0 || w.lb.Open(1) != 0 || w.flows.Len() != 0 {
		t.Errorf("%d flows are open, the choice counts %d, the table has %d entries", c.Open, w.lb.Open(1), w.flows.Len())
	}
}
