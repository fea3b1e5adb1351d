package main

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"sluice/tests/lab/topology"
)

// foreign is an address that nobody in the lab has; the client sends packets to it by the appliance.
const foreign = "203.0.113.80"

// TestWildcards: a router's traffic to foreign addresses is taken by wildcard vservers as their listen policies say. Under a
// wildcard that takes everything the appliance goes on answering on its own addresses, SSH among them, and its monitors hear
// their answers.
func TestWildcards(t *testing.T) {
	mustSettle(t)
	inNode(t, "client", "ip", "route", "add", foreign+"/32", "via", topology.ClientNIP)
	t.Cleanup(func() { inNode(t, "client", "ip", "route", "del", foreign+"/32") })
	if r := tool(t, "load", "-n", "1", "http://"+foreign+"/"); r.Failed != 1 {
		t.Fatalf("without a wildcard vserver %s is served by %v", foreign, r.By)
	}
	for _, line := range []string{
		"add service any-s1 s1 ANY *", "add lb vserver all ANY * *", "bind lb vserver all any-s1",
		`add lb vserver site HTTP * 80 -lbMethod ROUNDROBIN -Listenpolicy "REQ.IP.SOURCEIP == 10.1.0.0 -netmask 255.255.255.0" -Listenpriority 10`,
		"bind lb vserver site web-s2", "bind lb vserver site web-s3",
	} {
		shell(t, line)
	}
	t.Cleanup(func() {
		for _, line := range []string{"rm lb vserver all site", "rm service any-s1"} {
			shell(t, line)
		}
	})
	waitState(t, "any-s1", "UP", 15*time.Second)
	if r := tool(t, "load", "-n", "20", "http://"+foreign+"/"); r.Failed != 0 || r.By["s2"] != 10 || r.By["s3"] != 10 {
		t.Errorf("%d failed %v, port 80 is served by %v", r.Failed, r.Errors, r.By)
	}
	if r := tool(t, "load", "-n", "5", "http://"+foreign+":8080/"); r.Failed != 0 || r.By["s1"] != 5 {
		t.Errorf("%d failed %v, port 8080 is served by %v", r.Failed, r.Errors, r.By)
	}
	if out := shell(t, "show lb vserver site"); !strings.Contains(out, "site (*:80) - HTTP") ||
		!strings.Contains(out, "Listen Policy: CLIENT.IP.SRC.IN_SUBNET(10.1.0.0/24)\tListen Priority: 10") {
		t.Errorf("the classic expression is not shown in the default syntax:\n%s", out)
	}
	if out := shell(t, "show where 10.1.0.100 40000 "+foreign+" 80 TCP"); !strings.Contains(out, "Vserver: site\t") {
		t.Errorf("show where tells another vserver:\n%s", out)
	}
	if out, err := lab.Basic().Shell("set lb vserver site -Listenpolicy CLIENT.TCP.DSTPORT.EQ(http)"); err == nil ||
		!strings.Contains(out+err.Error(), "at character 23: http is no number from 0 to 65535") {
		t.Errorf("a wrong expression: %v %s", err, out)
	}
	unharmed(t)
}

var probed = regexp.MustCompile(`Probes: (\d+)\tFailed \[Total: (\d+) `)

// unharmed checks, by the port that carries the traffic, what the appliance itself answers and hears.
func unharmed(t *testing.T) {
	t.Helper()
	probes := func() (n, failed int) {
		m := probed.FindStringSubmatch(shell(t, "show service web-s2"))
		if m == nil {
			t.Fatal("show service tells no probes")
		}
		n, _ = strconv.Atoi(m[1])
		failed, _ = strconv.Atoi(m[2])
		return n, failed
	}
	before, failed := probes()
	near := *lab.Basic()
	near.Addr = topology.ClientNIP
	if out, err := near.Shell("show version"); err != nil || !strings.Contains(out, "Sluice") {
		t.Errorf("SSH to %s by port 1/1: %v %s", near.Addr, err, out)
	}
	inNode(t, "client", "ping", "-c", "1", "-W", "5", topology.ClientNIP)
	if r := get(t, 6); r.Failed != 0 || len(r.By) != 3 {
		t.Errorf("the specific vserver: %d failed %v, served by %v", r.Failed, r.Errors, r.By)
	}
	if err := topology.Eventually(20*time.Second, func() error {
		if n, _ := probes(); n < before+3 {
			return fmt.Errorf("%d probes were sent since", n-before)
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
	if _, now := probes(); now != failed {
		t.Errorf("%d probes failed under the wildcard", now-failed)
	}
	mustSettle(t)
}
