package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"sluice/tests/lab/topology"
)

// clientAddresses gives the client more addresses until the test ends.
func clientAddresses(t *testing.T, n int) []string {
	t.Helper()
	var list []string
	for i := range n {
		a := fmt.Sprintf("10.1.0.%d", 150+i)
		inNode(t, "client", "ip", "address", "add", a+"/24", "dev", "c0")
		t.Cleanup(func() { inNode(t, "client", "ip", "address", "del", a+"/24", "dev", "c0") })
		list = append(list, a)
	}
	return list
}

// servers are those that the addresses are served by, each asked for a number of times.
func servers(t *testing.T, from []string, times int) map[string]string {
	t.Helper()
	by := map[string]string{}
	for _, a := range from {
		for range times {
			out, err := client("curl", "-sS", "-m", "30", "--interface", a, "http://"+topology.VIP+"/").CombinedOutput()
			s := strings.TrimSpace(string(out))
			if err != nil {
				t.Fatalf("from %s: %v: %s", a, err, s)
			}
			if by[a] != "" && by[a] != s {
				t.Errorf("%s was served by %s and then by %s", a, by[a], s)
			}
			by[a] = s
		}
	}
	return by
}

// distinct is how many servers there are in by.
func distinct(by map[string]string) int {
	seen := map[string]bool{}
	for _, s := range by {
		seen[s] = true
	}
	return len(seen)
}

// TestSourceIPHash: with SOURCEIPHASH every client address stays with its server; a server that goes down moves its own clients
// and no others, and has them back when it is up again.
func TestSourceIPHash(t *testing.T) {
	mustSettle(t)
	from := clientAddresses(t, 12)
	shell(t, "set lb vserver web -lbMethod SOURCEIPHASH")
	defer shell(t, "set lb vserver web -lbMethod ROUNDROBIN -netmask 255.255.255.255")
	if out := shell(t, "show lb vserver web"); !strings.Contains(out, "Configured Method: SOURCEIPHASH\tNetmask: 255.255.255.255") {
		t.Errorf("show lb vserver web does not say the method:\n%s", out)
	}
	if out := running(t); !strings.Contains(out, "add lb vserver web HTTP "+topology.VIP+" 80 -persistenceType NONE -lbMethod SOURCEIPHASH -cltTimeout 180\n") {
		t.Errorf("the running configuration does not say the method:\n%s", out)
	}
	home := servers(t, from, 3)
	if distinct(home) != 3 {
		t.Fatalf("%d servers serve all addresses, want 3: %v", distinct(home), home)
	}
	if err := lab.Stop("s2-nginx"); err != nil {
		t.Fatal(err)
	}
	waitState(t, "web-s2", "DOWN", 15*time.Second)
	for a, s := range servers(t, from, 1) {
		if s == "s2" || home[a] != "s2" && s != home[a] {
			t.Errorf("with s2 DOWN %s is served by %s, before by %s", a, s, home[a])
		}
	}
	if err := lab.WebServer(1); err != nil {
		t.Fatal(err)
	}
	waitState(t, "web-s2", "UP", 30*time.Second)
	for a, s := range servers(t, from, 1) {
		if s != home[a] {
			t.Errorf("with s2 back %s is served by %s, before by %s", a, s, home[a])
		}
	}
	shell(t, "set lb vserver web -netmask 255.255.255.0")
	if by := servers(t, from, 1); distinct(by) != 1 {
		t.Errorf("with -netmask 255.255.255.0 one network is served by %d servers: %v", distinct(by), by)
	}
}

// TestSourcePortHash: with SRCIPSRCPORTHASH one client's connections spread over the servers.
func TestSourcePortHash(t *testing.T) {
	mustSettle(t)
	shell(t, "set lb vserver web -lbMethod SRCIPSRCPORTHASH")
	defer shell(t, "set lb vserver web -lbMethod ROUNDROBIN")
	if r := get(t, 60); r.Failed != 0 || r.By["s1"] < 8 || r.By["s2"] < 8 || r.By["s3"] < 8 {
		t.Errorf("%d failed %v, served by %v", r.Failed, r.Errors, r.By)
	}
}
