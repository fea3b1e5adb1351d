package main

import (
	"fmt"
	"testing"
	"time"

	"sluice/dataplane/api"
	"sluice/tests/lab/topology"
)

// TestSeveralWorkers brings a lab of its own up whose appliance has two workers: real connections, each of which has packets that come
// to the wrong worker, are balanced within the number of workers, and what the workers count adds up. So it is after the
// dataplane was killed.
func TestSeveralWorkers(t *testing.T) {
	if err := topology.Beside(&lab, "workers", settled, func() {
		sharedConnections(t)
		t.Run("Persistence", sharedPersistence)
		neverMore(t)
		t.Run("GroupMemberLeavesGracefully", leavesGracefully)
		kill(t, lab.Basic(), "dataplane")
		if err := topology.Eventually(20*time.Second, func() error {
			if len(counted(t).Vservers) == 0 {
				return fmt.Errorf("the new dataplane has no tables yet")
			}
			return nil
		}); err != nil {
			t.Error(err)
		}
		mustSettle(t)
		sharedConnections(t)
	}); err != nil {
		t.Fatal(err)
	}
}

// sharedConnections has the client ask 300 times for a page of some packets and compares who served it, and who carried it.
func sharedConnections(t *testing.T) {
	t.Helper()
	const n, workers = 300, 2
	before := counted(t)
	if r := get(t, n); r.Failed != 0 {
		t.Errorf("%d of %d requests failed: %v", r.Failed, n, r.Errors)
	} else {
		for _, s := range topology.Servers {
			if d := r.By[s] - n/3; d < -workers || d > workers {
				t.Errorf("%s served %d of %d connections, want %d and no more than %d beside it (all: %v)", s, r.By[s], n, n/3, workers, r.By)
			}
		}
	}
	after := counted(t)
	if len(after.Workers) != workers {
		t.Fatalf("%d workers, want %d", len(after.Workers), workers)
	}
	flows, in, out := since(before.Vservers, after.Vservers)
	if sFlows, sIn, sOut := since(before.Services, after.Services); flows != n || sFlows != n || in != sIn || out != sOut || in < 5*n {
		t.Errorf("vservers counted %d flows, %d packets in and %d out, services %d, %d and %d; the client made %d connections", flows, in, out, sFlows, sIn, sOut, n)
	}
	var handed, taken uint64
	for i, w := range after.Workers {
		if w.Packets == 0 || w.Flows == 0 || w.HandedOver == 0 || w.TakenOver == 0 {
			t.Errorf("worker %d does not share the work: %+v", i, w)
		}
		handed, taken = handed+w.HandedOver, taken+w.TakenOver
	}
	for _, c := range after.Counters {
		if c.Name == "drop-handover-full" && c.Value+taken != handed || c.Name == "drop-no-flow" && c.Value != 0 {
			t.Errorf("%d packets were handed over and %d taken: %s is %d", handed, taken, c.Name, c.Value)
		}
	}
}

// since is what a list has counted between two readings.
func since(before, after []api.FlowStats) (flows, in, out uint64) {
	for _, s := range after {
		flows, in, out = flows+s.Flows, in+s.PacketsIn, out+s.PacketsOut
	}
	for _, s := range before {
		flows, in, out = flows-s.Flows, in-s.PacketsIn, out-s.PacketsOut
	}
	return flows, in, out
}

// counted reads the dataplane's figures at its own socket, when no packet is under way.
func counted(t *testing.T) *api.Stats {
	t.Helper()
	time.Sleep(300 * time.Millisecond)
	c, err := api.Dial(t.Context(), lab.Path("adc/dataplane.sock"))
	if err != nil {
		return &api.Stats{}
	}
	defer c.Close()
	s, err := c.Stats(t.Context())
	if err != nil {
		return &api.Stats{}
	}
	return s
}
