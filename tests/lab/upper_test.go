package main

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"sluice/tests/lab/topology"
)

// TestUpper: of two appliances that share a router's traffic, one is killed together with its links while connections go through
// both. No connection is lost, since the other one sends each to the node that has it: both hash alike although services were
// added and bound in another order. (The nodes end the clients' connections: one that comes to another node is reset.)
func TestUpper(t *testing.T) {
	if err := topology.Beside(&lab, "upper", upperSettled, func() {
		chooseAlike(t)
		loseAppliance(t)
	}); err != nil {
		t.Fatal(err)
	}
}

// upperSettled waits until all nodes are UP at both appliances.
func upperSettled() error {
	for i := range 2 {
		if err := topology.Eventually(30*time.Second, func() error {
			out, err := lab.Upper(i).Shell("show lb vserver upper")
			if err == nil && !strings.Contains(out, "4 (Total)\t4 (Active)") {
				err = fmt.Errorf("%s has not all nodes UP:\n%s", lab.Upper(i).Node, out)
			}
			return err
		}); err != nil {
			return err
		}
	}
	return nil
}

var chosen = regexp.MustCompile(`Service: node-(n\d)`)

// chooseAlike asks both appliances for the nodes of some clients and origins.
func chooseAlike(t *testing.T) {
	t.Helper()
	by := map[string]int{}
	for k, c := range topology.UpperClients[:8] {
		line := fmt.Sprintf("show where %s %d %s %d TCP", c, 40000+k, topology.UpperOrigins[k%4], topology.EchoPort)
		var nodes [2]string
		for i := range nodes {
			out, err := lab.Upper(i).Shell(line)
			if err != nil {
				t.Fatal(err)
			}
			if m := chosen.FindStringSubmatch(out); m != nil {
				nodes[i] = m[1]
			}
		}
		if nodes[0] == "" || nodes[0] != nodes[1] {
			t.Errorf("%s: adc1 says %q, adc2 %q", line, nodes[0], nodes[1])
		}
		by[nodes[0]]++
	}
	if len(by) < 2 {
		t.Errorf("all go to one node: %v", by)
	}
}

// taken is how many packets an appliance's wildcard has taken.
func taken(t *testing.T, i int) int {
	t.Helper()
	out, err := lab.Upper(i).Shell("stat lb vserver upper")
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`Packets rcvd\s+\S+\s+(\d+)`).FindStringSubmatch(out)
	if m == nil {
		t.Fatalf("stat lb vserver tells no packets:\n%s", out)
	}
	n, _ := strconv.Atoi(m[1])
	return n
}

func loseAppliance(t *testing.T) {
	t.Helper()
	const n = 96 // every client to every origin
	end := lab.Path("end")
	args := []string{"talk", "-n", fmt.Sprint(n), "-until", end, "-from", strings.Join(topology.UpperClients, ",")}
	for _, o := range topology.UpperOrigins {
		args = append(args, fmt.Sprintf("%s:%d", o, topology.EchoPort))
	}
	wait := started(t, args...)
	for i := range 2 {
		if err := topology.Eventually(20*time.Second, func() error {
			if n := taken(t, i); n < 200 {
				return fmt.Errorf("%s has taken %d packets only", lab.Upper(i).Node, n)
			}
			return nil
		}); err != nil {
			t.Error(err)
		}
	}
	for _, dev := range []string{"da", "db"} {
		inNode(t, "adc1", "ip", "link", "set", dev, "down")
	}
	for _, program := range []string{"dataplane", "mgmt"} {
		if err := lab.Stop("adc1-" + program); err != nil {
			t.Error(err)
		}
	}
	time.Sleep(3 * time.Second) // of conversation by the other one
	if err := os.WriteFile(end, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if r := wait(); r.Failed != 0 || r.OK != n {
		t.Errorf("%d of %d connections are lost: %v", r.Failed, n, r.Errors)
	} else {
		t.Logf("%d connections, the longest echo took %.2f s", r.OK, r.Longest)
	}
}
