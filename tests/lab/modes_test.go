package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sluice/tests/lab/topology"
)

const (
	modeVIP  = "10.1.0.60" // on the loopback of s1
	tunnelIf = "unwrap0"
)

// loopbackVIP gives s1 the VIP, for which nobody else may hear it, and a way to the client that does not lead by the appliance.
func loopbackVIP(t *testing.T) {
	t.Helper()
	ip := func(node string, args ...string) { inNode(t, node, append([]string{"ip"}, args...)...) }
	ip("s1", "addr", "add", modeVIP+"/32", "dev", "lo")
	ip("s1", "link", "add", "back", "type", "veth", "peer", "name", "back", "netns", lab.NS("client"))
	t.Cleanup(func() {
		ip("s1", "link", "del", "back")
		ip("s1", "addr", "del", modeVIP+"/32", "dev", "lo")
	})
	for node, own := range map[string]string{"s1": "10.9.0.2/30", "client": "10.9.0.1/30"} {
		ip(node, "addr", "add", own, "dev", "back")
		ip(node, "link", "set", "back", "up")
		inNode(t, node, "sysctl", "-qw", "net.ipv4.conf.all.rp_filter=0", "net.ipv4.conf.back.rp_filter=0")
	}
	ip("s1", "route", "add", topology.ClientIP+"/32", "via", "10.9.0.1")
}

// wayChecks are monitors of three protocols, and what each of them needs.
var wayChecks = map[string]string{"HTTP": `-httpRequest "GET /alive"`, "PING": "", "UDP-ECV": "-send hello -recv s1 -destPort 9"}

// modeVserver adds vserver dsr with a service, watched at the VIP by the way given, and removes them in the end.
func modeVserver(t *testing.T, service, options, way string) {
	t.Helper()
	shell(t, "add service direct "+service)
	t.Cleanup(func() { shell(t, "rm service direct") })
	if err := lab.Start("s1", "s1-vip-echo", filepath.Join(lab.Bin, "sluice-lab"), "udp-echo", modeVIP+":9", "s1"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := lab.Stop("s1-vip-echo"); err != nil {
			t.Error(err)
		}
	})
	for kind, asks := range wayChecks {
		name := "way-" + kind
		port := " -destPort 80 "
		if strings.Contains(asks, "destPort") {
			port = " "
		}
		shell(t, "add lb monitor "+name+" "+kind+" -destIP "+modeVIP+port+asks+" "+way+" -interval 1 -resptimeout 1 -retries 2 -downTime 1")
		t.Cleanup(func() { shell(t, "rm lb monitor "+name+" "+kind) })
		shell(t, "bind service direct -monitorName "+name)
		t.Cleanup(func() { shell(t, "unbind service direct -monitorName "+name) })
	}
	shell(t, "add lb vserver dsr TCP "+modeVIP+" 80 "+options)
	shell(t, "bind lb vserver dsr direct")
	t.Cleanup(func() {
		for _, line := range []string{"rm lb vserver dsr", "rm ns ip " + modeVIP} {
			shell(t, line)
		}
	})
	waitState(t, "direct", "UP", 30*time.Second)
}

// brokenWay: when the way to the VIP is broken every monitor says so, though the server itself answers, until it is mended.
func brokenWay(t *testing.T, breaks, mends func()) {
	t.Helper()
	breaks()
	err := topology.Eventually(30*time.Second, func() error {
		out := shell(t, "show service direct")
		if n := strings.Count(out, "\t\tState: DOWN"); n != len(wayChecks) {
			return fmt.Errorf("%d monitors say DOWN:\n%s", n, out)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	mends()
	waitState(t, "direct", "UP", 30*time.Second)
}

// byServer has the client ask n times, all to be answered by s1.
func byServer(t *testing.T, n string, want int) {
	t.Helper()
	if r := tool(t, "load", "-n", n, "http://"+modeVIP+"/"); r.Failed != 0 || r.By["s1"] != want {
		t.Fatalf("%d failed %v, served by %v\n%s", r.Failed, r.Errors, r.By, shell(t, "show where 10.1.0.100 40000 "+modeVIP+" 80 TCP"))
	}
}

// TestTOSToLoopback: s1 maps the DSCP back to the VIP, which is on its loopback, and answers the client itself.
func TestTOSToLoopback(t *testing.T) {
	mustSettle(t)
	loopbackVIP(t)
	inNode(t, "s1", "nft", "add table ip dsr; add chain ip dsr pre { type filter hook prerouting priority -300; }; add rule ip dsr pre ip dscp 37 ip daddr set "+modeVIP)
	t.Cleanup(func() { inNode(t, "s1", "nft", "delete", "table", "ip", "dsr") })
	modeVserver(t, "s1 TCP * -usip YES", "-m TOS -tosId 37", "-tos YES -tosId 37")
	byServer(t, "30", 30)
	if out := shell(t, "stat lb vserver dsr"); out == "" || strings.Contains(shell(t, "show where 10.1.0.100 40000 "+modeVIP+" 80 TCP"), "Vserver: none") {
		t.Errorf("show where does not know the vserver; stat says\n%s", out)
	}
	shell(t, "set lb vserver dsr -sessionless ENABLED -lbMethod SRCIPSRCPORTHASH")
	byServer(t, "30", 30)
	brokenWay(t, func() { inNode(t, "s1", "nft", "flush", "chain", "ip", "dsr", "pre") },
		func() { inNode(t, "s1", "nft", "add rule ip dsr pre ip dscp 37 ip daddr set "+modeVIP) })
}

// TestTunnelToLoopback: s1 unpacks what comes in IP packets and answers the client itself; a client that sends more than fits
// learns the size that does.
func TestTunnelToLoopback(t *testing.T) {
	mustSettle(t)
	loopbackVIP(t)
	if err := lab.Start("s1", "s1-unwrap", filepath.Join(lab.Bin, "sluice-lab"), "unwrap", tunnelIf); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := lab.Stop("s1-unwrap"); err != nil {
			t.Error(err)
		}
	})
	if err := topology.Eventually(10*time.Second, func() error {
		return exec.Command("ip", "-n", lab.NS("s1"), "link", "set", tunnelIf, "up").Run() // once there is one
	}); err != nil {
		t.Fatal(err)
	}
	inNode(t, "s1", "sysctl", "-qw", "net.ipv4.conf."+tunnelIf+".rp_filter=0")
	modeVserver(t, "s1 TCP *", "-m IPTUNNEL", "-ipTunnel YES")
	byServer(t, "30", 30)
	brokenWay(t, func() { inNode(t, "s1", "ip", "link", "set", tunnelIf, "down") },
		func() { inNode(t, "s1", "ip", "link", "set", tunnelIf, "up") })
	big := filepath.Join(t.TempDir(), "big")
	if err := os.WriteFile(big, make([]byte, 20000), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := client("curl", "-sS", "-m", "15", "--data-binary", "@"+big, "http://"+modeVIP+"/").CombinedOutput(); err != nil || string(out) != "s1\n" {
		t.Errorf("20,000 bytes to the server: %v %s", err, out)
	}
	if out := inNode(t, "client", "ip", "route", "get", modeVIP); !strings.Contains(out, "mtu 1480") {
		t.Errorf("the client has not learned that 1480 bytes fit: %s", out)
	}
}

// TestMACThroughTransparentBox: s2 is a device on the way, which routes to s1, where the VIP is, and back by the appliance.
func TestMACThroughTransparentBox(t *testing.T) {
	mustSettle(t)
	inNode(t, "s1", "ip", "addr", "add", modeVIP+"/32", "dev", "lo")
	inNode(t, "s1", "ip", "route", "add", topology.ClientIP+"/32", "via", topology.ServerIP(1))
	inNode(t, "s2", "ip", "route", "add", modeVIP+"/32", "via", topology.ServerIP(0))
	inNode(t, "s2", "sysctl", "-qw", "net.ipv4.ip_forward=1", "net.ipv4.conf.all.rp_filter=0", "net.ipv4.conf.e0.rp_filter=0", "net.ipv4.conf.all.send_redirects=0", "net.ipv4.conf.e0.send_redirects=0")
	t.Cleanup(func() {
		inNode(t, "s2", "sysctl", "-qw", "net.ipv4.ip_forward=0")
		inNode(t, "s2", "ip", "route", "del", modeVIP+"/32")
		inNode(t, "s1", "ip", "route", "del", topology.ClientIP+"/32")
		inNode(t, "s1", "ip", "addr", "del", modeVIP+"/32", "dev", "lo")
	})
	modeVserver(t, "s2 TCP * -usip YES", "-m MAC", "-transparent YES")
	byServer(t, "30", 30)
	brokenWay(t, func() { inNode(t, "s2", "sysctl", "-qw", "net.ipv4.ip_forward=0") },
		func() { inNode(t, "s2", "sysctl", "-qw", "net.ipv4.ip_forward=1") })
}

// TestManyThroughOneDevice: hundreds of services behind one device are all found UP, each second, though none of their probes asks
// for the device's MAC address by itself.
func TestManyThroughOneDevice(t *testing.T) {
	mustSettle(t)
	inNode(t, "s2", "sysctl", "-qw", "net.ipv4.ip_forward=1", "net.ipv4.conf.all.send_redirects=0", "net.ipv4.conf.e0.send_redirects=0")
	t.Cleanup(func() { inNode(t, "s2", "sysctl", "-qw", "net.ipv4.ip_forward=0") })
	const n = 300
	shell(t, "add lb monitor through TCP -transparent YES -destIP "+topology.ServerIP(0)+" -destPort 80 -interval 1 -resptimeout 1 -downTime 1")
	var add, rm strings.Builder
	rm.WriteString("rm service")
	for i := range n {
		fmt.Fprintf(&add, "add service through-%d s2 TCP %d; bind service through-%d -monitorName through; ", i, 10000+i, i)
		fmt.Fprintf(&rm, " through-%d", i)
	}
	t.Cleanup(func() { shell(t, rm.String()); shell(t, "rm lb monitor through TCP") })
	shell(t, add.String())
	err := topology.Eventually(60*time.Second, func() error {
		out := shell(t, "show service")
		if up := strings.Count(out, "Last response: Success - TCP syn+ack received."); up < n {
			return fmt.Errorf("%d of %d are UP", up, n)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// TestDetourRemoved: when somebody removes the device of the detour, the next probes find a new one.
func TestDetourRemoved(t *testing.T) {
	mustSettle(t)
	shell(t, "add lb monitor tunnelled PING -ipTunnel YES -destIP 10.2.0.200 -interval 1 -resptimeout 1 -downTime 1; add service tunnelled s2 TCP 9; bind service tunnelled -monitorName tunnelled")
	t.Cleanup(func() { shell(t, "rm service tunnelled; rm lb monitor tunnelled PING") })
	device := func() error { return exec.Command("ip", "-n", lab.NS("adc"), "link", "show", "probe0").Run() }
	for range 2 {
		if err := topology.Eventually(40*time.Second, device); err != nil {
			t.Fatalf("there is no device for probes: %v", err)
		}
		inNode(t, "adc", "ip", "link", "del", "probe0")
	}
}
