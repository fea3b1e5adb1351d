package main

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sluice/tests/lab/topology"
)

// behind is an address of the server s2 that s1 leads to as a router.
const behind = "198.51.100.1"

// TestPingAndTraceroute: an operator finds out by ping and traceroute of Debian how hosts are reached. What they send is seen to
// leave by the dataplane's port, and what comes back gets to the kernel, errors of routers as well.
func TestPingAndTraceroute(t *testing.T) {
	mustSettle(t)
	for node, lines := range map[string][]string{
		"s1": {"sysctl -qw net.ipv4.ip_forward=1 net.ipv4.conf.all.send_redirects=0 net.ipv4.conf.e0.send_redirects=0", "ip route replace " + behind + "/32 via 10.2.0.12"},
		"s2": {"ip addr replace " + behind + "/32 dev lo"},
	} {
		for _, l := range lines {
			if err := lab.Run(node, strings.Fields(l)...); err != nil {
				t.Fatal(err)
			}
		}
	}
	defer lab.Run("s1", "sysctl", "-qw", "net.ipv4.ip_forward=0")
	defer lab.Run("s2", "ip", "addr", "del", behind+"/32", "dev", "lo")
	shell(t, "add route 198.51.100.0 255.255.255.0 10.2.0.11")
	defer shell(t, "rm route 198.51.100.0 255.255.255.0 10.2.0.11")
	name := fmt.Sprintf("reach-%d", time.Now().UnixNano())
	shell(t, "start nstrace -size 0 -time 120 -fileName "+name)
	defer lab.Basic().Shell("stop nstrace")

	contains(t, "ping", shell(t, "ping -c 2 -i 0.3 10.2.0.11"), "64 bytes from 10.2.0.11: icmp_seq=2", "2 packets transmitted, 2 received", " Done")
	contains(t, "ping of a chosen size and source", shell(t, "ping -c 1 -s 1400 -S "+topology.SNIP+" -I 1/2 10.2.0.12"), "1408 bytes from 10.2.0.12", " from "+topology.SNIP+" tw1: ")
	contains(t, "ping | grep", shell(t, "ping -c 1 10.2.0.11 | grep -c icmp_seq"), "1\n")
	for line, want := range map[string]string{
		"ping -c 1 -t 2 10.2.0.99":         "No answer [10.2.0.99]",
		"ping -c 1 -S 10.2.0.77 10.2.0.11": "the source is no address of this appliance",
		"ping -c 1 192.0.2.1":              "Network is unreachable",
		"traceroute -S 10.2.0.11":          "Feature not supported in this release [S]",
	} {
		if out, err := lab.Basic().Shell(line); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v\n%s", line, err, out)
		}
	}
	for _, how := range []string{"", "-P ICMP ", "-P TCP -p 80 "} {
		contains(t, "traceroute "+how, shell(t, "traceroute -w 5 -q 1 -m 5 "+how+behind), "\n 1  10.2.0.11  ", "\n 2  "+behind+"  ")
	}

	shell(t, "stop nstrace")
	local := filepath.Join(t.TempDir(), "reach.pcapng")
	sftpGet(t, "/traces/"+name+".pcapng", local)
	contains(t, "at the port", captured(t, local, "icmp or udp"), topology.SNIP+" > 10.2.0.11: ICMP echo request", "10.2.0.11 > "+topology.SNIP+": ICMP echo reply",
		"10.2.0.11 > "+topology.SNIP+": ICMP time exceeded in-transit", behind+" > "+topology.SNIP+": ICMP "+behind+" udp port")
}

// TestPingEndsByCtrlC: at a terminal answers are seen as they come, and Ctrl-C brings the summary and the prompt.
func TestPingEndsByCtrlC(t *testing.T) {
	mustSettle(t)
	session := lab.Basic().OpenSSH([]string{"timeout", "90", "ssh", "-tt"})
	in, err := session.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	seen, out := io.Pipe()
	session.Stdout = out
	if err := session.Start(); err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	until := func(words string) {
		t.Helper()
		b := make([]byte, 4096)
		for !strings.Contains(text.String(), words) {
			n, err := seen.Read(b)
			text.Write(b[:n])
			if err != nil {
				t.Fatalf("%q has not come: %v\n%s", words, err, text.String())
			}
		}
	}
	ended := make(chan error, 1)
	go func() { ended <- session.Wait(); out.Close() }()
	until("> ")
	fmt.Fprint(in, "ping 10.2.0.11\r")
	until("icmp_seq=3")
	text.Reset()
	fmt.Fprint(in, "\x03")
	until("packets transmitted")
	until(" Done")
	fmt.Fprint(in, "exit\r")
	until("Bye!")
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
