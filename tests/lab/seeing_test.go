package main

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"sluice/tests/lab/topology"
)

// TestShowWhere: before each request the dataplane, which may sleep, is asked which server will serve it; afterwards which has.
func TestShowWhere(t *testing.T) {
	mustSettle(t)
	get(t, 9) // a dataplane that has just started knows no server's MAC address before the first packet to it
	for port := 21000; port < 21007; port++ {
		line := fmt.Sprintf("show where %s %d %s 80 TCP", topology.ClientIP, port, topology.VIP)
		before := shell(t, line)
		if again := shell(t, line); again != before {
			t.Fatalf("%s, asked twice:\n%s\nand then\n%s", line, before, again)
		}
		contains(t, line, before, "Verdict: forward-new-flow", "Flow entry: none", "Vserver: web\t", "the next port of its pool", "MAC: ", "Interface: 1/2")
		out, err := client("curl", "-sS", "-m", "30", "--local-port", strconv.Itoa(port), "http://"+topology.VIP+"/").CombinedOutput()
		served := strings.TrimSpace(string(out))
		if err != nil || !strings.Contains(before, "Service: web-"+served+"\n") {
			t.Fatalf("served by %q (%v), foretold:\n%s", served, err, before)
		}
		after := shell(t, line)
		contains(t, line, after, "Flow entry: client "+topology.ClientIP+":"+strconv.Itoa(port), "State: ")
		if to := translated.FindString(before); to == "" || !strings.Contains(after, strings.Replace(to, "Translated: ", "server ", 1)) {
			t.Errorf("foretold\n%s\nand became\n%s", before, after)
		}
	}
	for line, want := range map[string]string{
		"show where 10.1.0.100 1000 " + topology.VIP + " 81 TCP": "drop-no-vserver",
		"show where 10.1.0.100 1000 10.1.0.5 22 TCP":             "punt-local",
		"show where 10.1.0.100 1000 10.1.0.201 80 TCP":           "drop-not-for-us",
	} {
		contains(t, line, shell(t, line), "Verdict: "+want)
	}
}

var translated = regexp.MustCompile(`Translated: [0-9.:]+ -> [0-9.:]+`)

func contains(t *testing.T, line, got string, want ...string) {
	t.Helper()
	for _, w := range want {
		if !strings.Contains(got, w) {
			t.Errorf("%s: want %q in\n%s", line, w, got)
		}
	}
}

// TestShowTrace: real packets of one request, in both directions, are followed through the stages; what they were and became is
// told, and the trace is over by itself. It outlives the session that began it: each line here is a login of its own.
func TestShowTrace(t *testing.T) {
	mustSettle(t)
	const port = 22000
	shell(t, fmt.Sprintf("start trace -srcIP %s -srcPort %d -destIP %s -destPort 80 -protocol TCP -count 4", topology.ClientIP, port, topology.VIP))
	defer lab.Basic().Shell("stop trace")
	contains(t, "show trace", shell(t, "show trace"), "0 of 4 packets, runs for")
	if out, err := lab.Basic().Shell("start trace -destPort 80"); err == nil || !strings.Contains(err.Error(), "a trace is running") {
		t.Errorf("a second trace: %s %v", out, err)
	}
	get(t, 3) // other flows
	out, err := client("curl", "-sS", "-m", "30", "--local-port", strconv.Itoa(port), "http://"+topology.VIP+"/").CombinedOutput()
	if err != nil {
		t.Fatalf("curl: %v: %s", err, out)
	}
	walks := shell(t, "show trace")
	contains(t, "show trace", walks, "4 of 4 packets, ended", "Vserver: web\tService: web-"+strings.TrimSpace(string(out)),
		fmt.Sprintf("%s:%d -> %s:80 TCP SYN ttl", topology.ClientIP, port, topology.VIP), "balance      translates it", "Verdict: forward-new-flow, leaves by 1/2",
		"TCP SYN,ACK ttl", "Verdict: forward-flow, leaves by 1/1", fmt.Sprintf("%s:80 -> %s:%d TCP SYN,ACK", topology.VIP, topology.ClientIP, port))
	shell(t, fmt.Sprintf("start trace -destIP %s -destPort 81", topology.VIP))
	client("curl", "-sS", "-m", "1", "http://"+topology.VIP+":81/").Run() // nobody listens
	contains(t, "show trace", shell(t, "show trace"), "1 of 1 packets, ended", "balance      decides: drop-no-vserver", "Verdict: drop-no-vserver, dropped")
	shell(t, "start trace -protocol 1 -srcIP "+topology.ClientIP)
	if out, err := client("ping", "-c", "1", "-W", "2", topology.VIP).CombinedOutput(); err != nil {
		t.Fatalf("ping: %v: %s", err, out)
	}
	contains(t, "show trace", shell(t, "show trace"), "local        decides: reply-icmp-echo", "Verdict: reply-icmp-echo, leaves by 1/1")
	shell(t, "start trace -destPort 9 -time 1")
	shell(t, "stop trace")
	contains(t, "show trace", shell(t, "show trace"), "0 of 1 packets, ended")
}

// TestStatWorker: what traffic brings about is seen, and that the worker has the newest tables.
func TestStatWorker(t *testing.T) {
	mustSettle(t)
	figure := func(name string) uint64 {
		out := shell(t, "stat worker 0")
		if strings.Contains(out, "the newest is") {
			t.Errorf("the worker lags behind:\n%s", out)
		}
		m := regexp.MustCompile(`(?m)^` + name + ` .* (\d+)$`).FindStringSubmatch(out)
		if m == nil {
			return 0
		}
		n, _ := strconv.ParseUint(m[1], 10, 64)
		return n
	}
	before, drops := figure("forward-new-flow"), figure("drop-no-vserver")
	get(t, 30)
	client("curl", "-sS", "-m", "1", "http://"+topology.VIP+":81/").Run() // nobody listens
	if n := figure("forward-new-flow") - before; n < 1 || n > 30 {
		t.Errorf("30 requests opened %d flows", n)
	}
	if n := figure("drop-no-vserver") - drops; n == 0 {
		t.Error("a SYN to a port where nobody listens is not among the worker's drops")
	}
	contains(t, "stat worker", shell(t, "stat worker"), "Worker(s) Summary", "lcore")
}
