package seeds

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"sluice/tests/lab/topology"
)

// Seed 003: the method of least packets. Each request is one datagram from a port of its own to sinks that do not answer, so N of
// a service is the number of datagrams that it got in the last 14 seconds; monitors ping the sinks all the while, which must
// not count.

// window is longer than what N spans.
const window = 15 * time.Second

// told is the port of the next datagram, which makes it a flow of its own.
var told = 20000

// group are services that nobody else sends to: those of one table.
type group struct{ sent time.Time }

var plain, weighted group // Service-1 to 3, Service-W1 to W3

// quiet waits until no service of the group has a packet in the window.
func (g *group) quiet() { time.Sleep(time.Until(g.sent.Add(window))) }

// tell sends datagrams to services of the group, written as ADDRESS:7=N, and returns which sinks they came to, in the order in which they were sent.
func (g *group) tell(t *testing.T, to ...string) (sinks []string) {
	t.Helper()
	first := told
	for _, s := range to {
		_, count, _ := strings.Cut(s, "=")
		var n int
		if _, err := fmt.Sscan(count, &n); err != nil {
			t.Fatal(err)
		}
		told += n
	}
	client(t, append([]string{"udp-tell", fmt.Sprint(first)}, to...)...)
	g.sent = time.Now()
	err := topology.Eventually(10*time.Second, func() error {
		text, err := os.ReadFile(lab.Path(topology.SinkFile))
		if err != nil {
			return err
		}
		sinks = make([]string, told-first)
		came := 0
		for line := range strings.Lines(string(text)) {
			f := strings.Fields(line) // sink, sender, port of the client
			var port int
			if len(f) == 3 {
				fmt.Sscan(f[2], &port)
			}
			if port >= first && port < told {
				sinks[port-first] = strings.TrimSuffix(f[0], ":7")
				came++
			}
		}
		if came != len(sinks) {
			return fmt.Errorf("%d datagrams were sent and %d came: %v", len(sinks), came, sinks)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return sinks
}

// settled waits until a vserver has its three services UP.
func settled(t *testing.T, vservers ...string) {
	t.Helper()
	if err := lab.Appliance().Settled(60*time.Second, vservers...); err != nil {
		t.Fatal(err)
	}
}

// numbers are the last digits of the sinks: the services' numbers.
func numbers(sinks []string) string {
	var b strings.Builder
	for _, s := range sinks {
		b.WriteByte(s[len(s)-1])
	}
	return b.String()
}

// TestLeastPacketsConfiguration: every line of the document's configuration is accepted, kept and shown.
func TestLeastPacketsConfiguration(t *testing.T) {
	running, err := lab.Appliance().Running()
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"add lb vserver Vserver-LB-1 UDP 10.0.0.100 7 -persistenceType NONE -lbMethod LEASTPACKETS",
		"bind lb vserver Vserver-LB-2 Service-W1 -weight 2", "bind lb vserver Vserver-LB-2 Service-W3 -weight 4"} {
		if !strings.Contains(running, line) {
			t.Errorf("%s is not in the running configuration:\n%s", line, running)
		}
	}
	out := shell(t, "show lb vserver Vserver-LB-1")
	if !strings.Contains(out, "Configured Method: LEASTPACKETS\n") || strings.Contains(out, "Current Method") {
		t.Errorf("show lb vserver:\n%s", out)
	}
	if out := shell(t, "show lb parameter"); !strings.Contains(out, "Startup RR factor: 0") {
		t.Errorf("show lb parameter:\n%s", out)
	}
}

// TestLeastPacketsUnweighted is the document's table row by row, and the four rows that follow from it.
func TestLeastPacketsUnweighted(t *testing.T) {
	settled(t, "Vserver-LB-1")
	plain.quiet()
	sinks := plain.tell(t, "10.0.0.111:7=3", "10.0.0.112:7=5", "10.0.0.113:7=2", topology.LeastPacketsVIP+":7=12")
	if got, want := numbers(sinks[:10]), "1112222233"; got != want {
		t.Fatalf("to begin with, services %s got packets, want %s", got, want)
	}
	n := []int{3, 5, 2}
	for i, want := range []int{3, 1, 3, 1, 3, 1, 2, 3, 1, 2, 3, 1} {
		got := slices.Index(topology.SinkIPs, sinks[10+i]) + 1
		if got != want {
			t.Errorf("request %d with N = %v went to Service-%d, want Service-%d (all: %s)", i+1, n, got, want, numbers(sinks[10:]))
			break
		}
		n[got-1]++
	}
	out, err := lab.Appliance().Script("stat service Service-1\nstat service Service-2\nstat service Service-3\n")
	if err != nil {
		t.Fatal(err)
	}
	var told []string
	for line := range strings.Lines(out) {
		if figure, ok := strings.CutPrefix(line, "Packets in the last 14 seconds"); ok {
			told = append(told, strings.Fields(figure)[1])
		}
	}
	if want := fmt.Sprint(n); fmt.Sprint(told) != want {
		t.Errorf("stat service tells N = %v, want %s", told, want)
	}
}

// TestLeastPacketsWeighted: Nw = N x 10000 / weight with the weights 2, 3 and 4. The document's table prints S3 five times before
// S1, which is this rule with its first request not counted; its own formula gives S1 the fifth.
func TestLeastPacketsWeighted(t *testing.T) {
	settled(t, "Vserver-LB-2")
	weighted.quiet()
	sinks := weighted.tell(t, "10.0.0.121:7=3", "10.0.0.122:7=5", "10.0.0.123:7=2", topology.WeightedVIP+":7=14")
	if got, want := numbers(sinks[10:]), "33331323123323"; got != want {
		t.Errorf("requests went to services %s, want %s", got, want)
	}
}

// TestLeastPacketsExpire: after 14 seconds what a service has got is forgotten, and the choice follows.
func TestLeastPacketsExpire(t *testing.T) {
	settled(t, "Vserver-LB-1")
	plain.quiet()
	// Service-3 has got so much that its turn is far away.
	if got := numbers(plain.tell(t, "10.0.0.113:7=20", topology.LeastPacketsVIP+":7=4")[20:]); strings.Count(got, "1") != 2 || strings.Count(got, "2") != 2 {
		t.Errorf("with 20 packets at Service-3, requests went to services %s", got)
	}
	time.Sleep(window)
	if got := numbers(plain.tell(t, "10.0.0.111:7=1", "10.0.0.112:7=1", topology.LeastPacketsVIP+":7=1")[2:]); got != "3" {
		t.Errorf("14 seconds later a request went to service %s, want 3", got)
	}
}

// TestLeastPacketsStartup: with a factor a new vserver goes round robin first, says so, and then goes by its method.
func TestLeastPacketsStartup(t *testing.T) {
	plain.quiet()
	shell(t, "set lb parameter -startupRRFactor 2")
	defer shell(t, "unset lb parameter -startupRRFactor")
	shell(t, "add lb vserver New UDP 10.0.0.130 7 -lbMethod LEASTPACKETS")
	defer shell(t, "rm lb vserver New")
	for n := 1; n <= 3; n++ {
		shell(t, fmt.Sprintf("bind lb vserver New Service-%d", n))
	}
	settled(t, "New")
	const starting = "Configured Method: LEASTPACKETS\n\tCurrent Method: Round Robin, Reason: A new service is bound\n"
	if out := shell(t, "show lb vserver New"); !strings.Contains(out, starting) {
		t.Errorf("before the first request:\n%s", out)
	}
	sinks := plain.tell(t, "10.0.0.111:7=9", "10.0.0.130:7=9")
	if got := numbers(sinks[9:15]); strings.Count(got, "1") != 2 || strings.Count(got, "2") != 2 || strings.Count(got, "3") != 2 {
		t.Errorf("the first 6 requests went to services %s", got)
	}
	if got := numbers(sinks[15:]); strings.Contains(got, "1") {
		t.Errorf("requests 7 to 9 went to services %s, with 11 packets at Service-1", got)
	}
	if out := shell(t, "show lb vserver New"); !strings.Contains(out, "Configured Method: LEASTPACKETS\n\tMode") {
		t.Errorf("after the start-up:\n%s", out)
	}
}
