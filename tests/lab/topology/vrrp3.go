package topology

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Addresses of the topology vrrp3, those of the fixtures and of seed 002.
const (
	VRRPClient  = "203.0.113.10"
	VRRPRouter  = "192.0.2.254"
	VRRPNodes   = 3
	VRRPServers = 2
)

// VRRPVIP is VIP1 to VIP4.
func VRRPVIP(n int) string { return fmt.Sprintf("192.0.2.%d", 10+n) }

// VRRPSource is the address by which NS1 to NS3 speak.
func VRRPSource(n int) string { return fmt.Sprintf("192.0.2.%d", n) }

// VRRP is an appliance of the topology vrrp3: NS1 to NS3.
func (l *Lab) VRRP(n int) *Appliance {
	return &Appliance{Lab: l, Node: fmt.Sprintf("ns%d", n), From: "oper", Addr: fmt.Sprintf("192.168.%d.1", 80+n),
		Ports: []Port{{"1/1", "da", "tw0"}, {"1/2", "db", "tw1"}}, Workers: l.kind.workers}
}

// vrrp3: three appliances that share four VIPs, between a router and two servers.
//
//	client c0 203.0.113.10 ---- r0 [router] r1 192.0.2.254 ---- p0 [sw1] p1-3 ---- da 192.0.2.1-3 [ns1-3] db 198.51.100.101-103 ---- p1-3 [sw2] ---- e0 198.51.100.1-2 s1 s2
//	oper m1-3 192.168.81-83.2 ---- mg0 of ns1-3 (shell)
func (l *Lab) vrrp3() error {
	nodes := []Node{{Name: "client", Routes: []string{"default via 203.0.113.1"}}, {Name: "router"}, {Name: "sw1", Bridge: true}, {Name: "sw2", Bridge: true}, {Name: "oper"}}
	links := []Link{
		{End{Node: "client", If: "c0", Addr: VRRPClient + "/24", Full: true}, End{Node: "router", If: "r0", Addr: "203.0.113.1/24", Full: true}},
		{End{Node: "router", If: "r1", Addr: VRRPRouter + "/24", Full: true}, End{Node: "sw1", If: "p0"}},
	}
	for n := 1; n <= VRRPNodes; n++ {
		a := l.VRRP(n)
		nodes = append(nodes, Node{Name: a.Node})
		links = append(links, Link{End{Node: "sw1", If: fmt.Sprintf("p%d", n)}, End{Node: a.Node, If: "da"}},
			Link{End{Node: "sw2", If: fmt.Sprintf("p%d", n)}, End{Node: a.Node, If: "db"}},
			Link{End{Node: "oper", If: fmt.Sprintf("m%d", n), Addr: strings.TrimSuffix(a.Addr, "1") + "2/24"}, End{Node: a.Node, If: "mg0", Addr: a.Addr + "/24"}})
	}
	for i := range VRRPServers {
		nodes = append(nodes, Node{Name: Servers[i]})
		links = append(links, Link{End{Node: Servers[i], If: "e0", Addr: fmt.Sprintf("198.51.100.%d/24", i+1), Full: true}, End{Node: "sw2", If: fmt.Sprintf("e%d", i+1)}})
	}
	if err := l.wire(nodes, links); err != nil {
		return err
	}
	if err := l.Run("router", "sysctl", "-qw", "net.ipv4.ip_forward=1"); err != nil {
		return err
	}
	for i := range VRRPServers {
		if err := l.WebServer(i); err != nil {
			return err
		}
	}
	for n := 1; n <= VRRPNodes; n++ {
		if err := l.VRRP(n).Start(); err != nil {
			return err
		}
	}
	for n := 1; n <= VRRPNodes; n++ {
		if err := l.VRRP(n).Ready(); err != nil {
			return err
		}
		if n > 1 { // the first one is configured as every lab's appliance is
			if _, err := l.VRRP(n).Script(l.VRRPScript(n) + "save ns config\n"); err != nil {
				return err
			}
		}
	}
	return nil
}

// VRRPScript configures NS1 to NS3: the fixture, a way to the clients, and a monitor that sees within 700 ms that the servers are gone.
func (l *Lab) VRRPScript(n int) string {
	text, err := os.ReadFile(filepath.Join(l.Bin, "..", "cli/grammar/testdata/import", fmt.Sprintf("vrrp_NS%d.conf", n)))
	if err != nil {
		return "# " + err.Error() + "\n"
	}
	return strings.ReplaceAll(string(text), "save ns config\n", "") + `add route 0.0.0.0 0.0.0.0 ` + VRRPRouter + `
add lb monitor alive HTTP -respCode 200 -httpRequest "GET /alive" -interval 300 MSEC -resptimeout 200 MSEC -retries 2 -downTime 1
bind service svc_S1 -monitorName alive
bind service svc_S2 -monitorName alive
`
}
