package seeds

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"sluice/dataplane/api"
	"sluice/tests/lab/topology"
)

// lag is longer than what a worker needs to learn what another has counted: that one's second, and some for a busy machine.
const lag = 2 * time.Second

// TestLeastPacketsTwoWorkers brings up a lab whose appliance has two workers. Each knows its own packets at once and those of the
// other after a second: with that time between requests every choice is one of the least, and without it the services stay
// together within what the workers cannot know of each other.
func TestLeastPacketsTwoWorkers(t *testing.T) {
	defer func(p, w group) { plain, weighted = p, w }(plain, weighted)
	plain, weighted = group{}, group{}
	if err := topology.Beside(&lab, "seed003workers", func() error { return nil }, func() {
		settled(t, "Vserver-LB-1", "Vserver-LB-2")
		oneByOne(t)
		atOnce(t)
		bothWork(t)
	}); err != nil {
		t.Fatal(err)
	}
}

// bothWork checks that each worker has some of the flows.
func bothWork(t *testing.T) {
	t.Helper()
	c, err := api.Dial(t.Context(), lab.Path("adc/dataplane.sock"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	s, err := c.Stats(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Workers) != 2 || s.Workers[0].Flows == 0 || s.Workers[1].Flows == 0 {
		t.Errorf("not two workers have flows: %+v", s.Workers)
	}
}

// oneByOne sends requests with time between them, five within the window.
func oneByOne(t *testing.T) {
	t.Helper()
	sinks := plain.tell(t, "10.0.0.111:7=3", "10.0.0.112:7=5", "10.0.0.113:7=2")
	if got, want := numbers(sinks), "1112222233"; got != want {
		t.Fatalf("to begin with, services %s got packets, want %s", got, want)
	}
	begin := time.Now()
	n := []int{3, 5, 2}
	for i := range 5 {
		time.Sleep(lag)
		got := slices.Index(topology.SinkIPs, plain.tell(t, topology.LeastPacketsVIP+":7=1")[0])
		if time.Since(begin) > window-2*time.Second {
			t.Logf("the machine is too slow for more than %d requests within the window", i)
			break
		}
		if got < 0 || n[got] != slices.Min(n) {
			t.Errorf("request %d with N = %v went to Service-%d", i+1, n, got+1)
			break
		}
		n[got]++
	}
}

// atOnce sends many requests together. Each worker keeps its own share even, by N and by Nw.
func atOnce(t *testing.T) {
	t.Helper()
	const workers = 2
	plain.quiet()
	for _, row := range []struct {
		group   *group
		vip     string
		first   int // of the sinks
		n       int
		weights [3]int
	}{{&plain, topology.LeastPacketsVIP, 0, 90, [3]int{1, 1, 1}}, {&weighted, topology.WeightedVIP, 3, 180, [3]int{2, 3, 4}}} {
		var n [3]int
		for _, s := range row.group.tell(t, fmt.Sprintf("%s:7=%d", row.vip, row.n)) {
			n[slices.Index(topology.SinkIPs, s)-row.first]++
		}
		sum := row.weights[0] + row.weights[1] + row.weights[2]
		for i, got := range n {
			want := row.n * row.weights[i] / sum
			if d := got - want; d < -2*workers || d > 2*workers {
				t.Errorf("of %d requests with weights %v the services got %v: %d is not within %d of %d", row.n, row.weights, n, got, 2*workers, want)
			}
		}
	}
}
