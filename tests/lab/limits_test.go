package main

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"sluice/tests/lab/topology"
)

// TestDownStateFlush: idle connections of services that go out of service are reset at both ends, by real kernels, and new
// ones are served once the services are back.
func TestDownStateFlush(t *testing.T) {
	mustSettle(t)
	idle := client("bash", "-c", "exec 3<>/dev/tcp/"+topology.VIP+"/80 && echo open && timeout 20 cat <&3")
	said := make(chan string, 1)
	go func() { b, _ := idle.CombinedOutput(); said <- string(b) }()
	carried(t, 1)
	for _, s := range []string{"web-s1", "web-s2", "web-s3"} {
		shell(t, "disable service "+s)
		defer waitState(t, s, "UP", 15*time.Second)
		defer shell(t, "enable service "+s)
	}
	carried(t, 0)
	select {
	case got := <-said:
		if !strings.Contains(got, "open") || !strings.Contains(got, "reset") {
			t.Errorf("the idle client says %q, not that its connection was reset", got)
		}
	case <-time.After(30 * time.Second):
		t.Error("the idle client was not told")
		idle.Process.Kill()
		<-said
	}
}

// carried waits until so many connections from the SNIP's ports of the dataplane are established at the servers.
func carried(t *testing.T, want int) {
	t.Helper()
	err := topology.Eventually(30*time.Second, func() error {
		n := 0
		for _, s := range topology.Servers {
			k, err := fromClients(s)
			if err != nil {
				return err
			}
			n += k
		}
		if n != want {
			return fmt.Errorf("%d connections are established at the servers, not %d", n, want)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestMaxClient: many clients at once, kept alive, against three real servers that take 4 each: no server ever has more, with one
// worker and with two, and with surge protection everybody is served in the end.
func TestMaxClient(t *testing.T) {
	mustSettle(t)
	neverMore(t)
}

// neverMore drives the clients and watches the servers' own kernels meanwhile.
func neverMore(t *testing.T) {
	t.Helper()
	const most, clients = 4, 24
	for _, s := range []string{"web-s1", "web-s2", "web-s3"} {
		shell(t, fmt.Sprintf("set service %s -maxClient %d -sp ON", s, most))
		defer shell(t, "unset service "+s+" -maxClient -sp")
	}
	before := figures(t)["held-surge-queue"]
	done := make(chan int, clients)
	for range clients {
		go func() {
			// A connection is held for a moment before its request, so that many overlap.
			out, _ := client("bash", "-c", "exec 3<>/dev/tcp/"+topology.VIP+"/80 && sleep 1 && "+
				`printf 'GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n' >&3 && timeout 60 cat <&3`).Output()
			if strings.HasPrefix(string(out), "HTTP/1.1 200") {
				done <- 1
			} else {
				done <- 0
			}
		}()
	}
	served, worst := 0, 0
	for answered := 0; answered < clients; {
		select {
		case n := <-done:
			answered++
			served += n
		case <-time.After(50 * time.Millisecond):
			for _, s := range topology.Servers {
				n, err := fromClients(s)
				if err != nil {
					t.Fatal(err)
				}
				if worst = max(worst, n); n > most {
					t.Fatalf("server %s has %d connections of clients, its limit is %d", s, n, most)
				}
			}
		}
	}
	if served != clients {
		t.Errorf("%d of %d clients were served", served, clients)
	}
	if held := figures(t)["held-surge-queue"] - before; held == 0 {
		t.Errorf("nobody waited: the busiest server had %d connections at most", worst)
	}
}

// fromClients is how many connections of the dataplane's SNIP ports a server's kernel has established; those of monitors come from
// ports of 60000 and above.
func fromClients(server string) (n int, err error) {
	out, err := lab.Command(server, "ss", "-Htn", "state", "established", "sport = :80").Output()
	if err != nil {
		return 0, err
	}
	for l := range strings.Lines(string(out)) {
		if q, err := strconv.Atoi(strings.TrimSpace(l[strings.LastIndex(l, ":")+1:])); err == nil && q < 60000 {
			n++
		}
	}
	return n, nil
}

// TestSlowStart: a server that comes back gets its percentage of the connections while no interval raises that, its full part once one
// does, and nobody is refused.
func TestSlowStart(t *testing.T) {
	mustSettle(t)
	shell(t, "set lb vserver web -newServiceRequest 20 PERCENT")
	defer shell(t, "unset lb vserver web -newServiceRequest -newServiceRequestIncrementInterval")
	if err := lab.Stop("s2-nginx"); err != nil {
		t.Fatal(err)
	}
	waitState(t, "web-s2", "DOWN", 30*time.Second)
	if err := lab.WebServer(1); err != nil {
		t.Fatal(err)
	}
	waitState(t, "web-s2", "UP", 30*time.Second)
	for range 2 { // it stays there
		if r := get(t, 300); r.Failed != 0 || r.By["s2"] == 0 || r.By["s2"] > 60 || r.By["s1"] < 100 || r.By["s3"] < 100 {
			t.Errorf("with 20 percent of a third for s2 %d of 300 failed %v, served by %v", r.Failed, r.Errors, r.By)
		}
	}
	shell(t, "set lb vserver web -newServiceRequestIncrementInterval 1")
	if err := topology.Eventually(30*time.Second, func() error {
		if r := get(t, 60); r.Failed != 0 || r.By["s2"] != 20 {
			return fmt.Errorf("with 20 percent more each second s2 has not a third: %d of 60 failed %v, served by %v", r.Failed, r.Errors, r.By)
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
}
