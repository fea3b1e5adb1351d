package topology

import (
	"fmt"
	"slices"
	"strings"
)

// Addresses of the topology upper. Its clients and origin servers have several each, on one node.
var (
	UpperClients = addressesFrom("198.51.100.%d", 11, 24)
	UpperOrigins = addressesFrom("203.0.113.%d", 80, 4)
	UpperNodes   = []string{"n1", "n2", "n3", "n4"} // 10.20.0.21 to 24
)

func addressesFrom(form string, first, n int) []string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf(form, first+i)
	}
	return list
}

// EchoPort is where the origin servers of upper give back what they are sent.
const EchoPort = 7000

// upperShells are the addresses of the two appliances' shells.
var upperShells = []string{ShellIP, "192.168.78.1"}

// Upper is an appliance of the topology upper, 0 or 1.
func (l *Lab) Upper(i int) *Appliance {
	return &Appliance{Lab: l, Node: fmt.Sprintf("adc%d", i+1), From: "client", Addr: upperShells[i],
		Ports: []Port{{"1/1", "da", "tw0"}, {"1/2", "db", "tw1"}}, Workers: l.kind.workers}
}

// upper: two appliances that a router shares its traffic for the origin servers among, by addresses and ports, and behind them four
// transparent nodes: each ends the clients' connections itself, whatever their destination, and opens one of its own to the
// origin. So a connection whose packets come to another node is lost. The answers go from the node to the router and by-pass
// the appliances. A router's way to an appliance ends with its link.
//
//	client c0 198.51.100.11-34 ---- r0 [router] r1 10.10.1.254 ---- da 10.10.1.1 [adc1] db 10.20.0.11 ---- [sw] ---- e0 10.20.0.21-24 n1-n4
//	                                   |  |     r2 10.10.2.254 ---- da 10.10.2.1 [adc2] db 10.20.0.12 ------|
//	origin o0 203.0.113.80-83 ------- r4  r3 10.20.0.1 -----------------------------------------------------|
//	client m1 192.168.77.2, m2 192.168.78.2 ---- mg0 of adc1, adc2 (shell)
func (l *Lab) upper() error {
	nodes := []Node{{Name: "client", Routes: []string{"default via 198.51.100.1"}}, {Name: "router"}, {Name: "sw", Bridge: true},
		{Name: "origin", Routes: []string{"default via 203.0.113.1"}}}
	links := []Link{
		{End{Node: "client", If: "c0", Addr: UpperClients[0] + "/24", Full: true}, End{Node: "router", If: "r0", Addr: "198.51.100.1/24"}},
		{End{Node: "origin", If: "o0", Addr: UpperOrigins[0] + "/24"}, End{Node: "router", If: "r4", Addr: "203.0.113.1/24"}},
		{End{Node: "router", If: "r3", Addr: "10.20.0.1/24"}, End{Node: "sw", If: "p0"}},
	}
	for i, shell := range upperShells {
		adc, n := fmt.Sprintf("adc%d", i+1), i+1
		nodes = append(nodes, Node{Name: adc})
		links = append(links, Link{End{Node: "router", If: fmt.Sprintf("r%d", n), Addr: fmt.Sprintf("10.10.%d.254/24", n), Full: true}, End{Node: adc, If: "da"}},
			Link{End{Node: "sw", If: fmt.Sprintf("a%d", n)}, End{Node: adc, If: "db"}},
			Link{End{Node: "client", If: fmt.Sprintf("m%d", n), Addr: strings.TrimSuffix(shell, "1") + "2/24"}, End{Node: adc, If: "mg0", Addr: shell + "/24"}})
	}
	for i, n := range UpperNodes {
		nodes = append(nodes, Node{Name: n, Routes: []string{"default via 10.20.0.1"}})
		links = append(links, Link{End{Node: n, If: "e0", Addr: fmt.Sprintf("10.20.0.%d/24", 21+i), Full: true}, End{Node: "sw", If: fmt.Sprintf("p%d", i+1)}})
	}
	if err := l.wire(nodes, links); err != nil {
		return err
	}
	if err := l.upperRoutes(); err != nil {
		return err
	}
	if err := l.Start("origin", "origin", l.program("sluice-lab"), "tcp-echo", fmt.Sprint(":", EchoPort)); err != nil {
		return err
	}
	for _, n := range UpperNodes {
		if err := l.Start(n, n, l.program("sluice-lab"), "transparent", fmt.Sprint(":", EchoPort)); err != nil {
			return err
		}
	}
	for i := range upperShells {
		if err := l.Upper(i).Start(); err != nil {
			return err
		}
	}
	for i := range upperShells {
		if err := l.Upper(i).Ready(); err != nil {
			return err
		}
	}
	_, err := l.Upper(1).Script(UpperScript(1))
	return err
}

// upperRoutes gives clients and origin servers their addresses, and the router and the nodes their ways.
func (l *Lab) upperRoutes() error {
	var steps []string
	for node, list := range map[string][]string{"client c0": UpperClients, "origin o0": UpperOrigins} {
		name, dev, _ := strings.Cut(node, " ")
		for _, a := range list[1:] {
			steps = append(steps, name+" ip addr add "+a+"/24 dev "+dev)
		}
	}
	steps = append(steps,
		"router sysctl -qw net.ipv4.ip_forward=1 net.ipv4.fib_multipath_hash_policy=1 net.ipv4.conf.all.ignore_routes_with_linkdown=1",
		"router sysctl -qw net.ipv4.conf.all.rp_filter=0 net.ipv4.conf.r3.rp_filter=0 net.ipv4.conf.all.send_redirects=0",
		"router ip route add table 100 203.0.113.0/24 nexthop via 10.10.1.1 dev r1 nexthop via 10.10.2.1 dev r2",
		"router ip rule add iif r0 to 203.0.113.0/24 lookup 100")
	for _, n := range UpperNodes {
		steps = append(steps, n+" ip route add local default dev lo table 101", n+" ip rule add iif e0 lookup 101",
			n+" sysctl -qw net.ipv4.conf.all.arp_ignore=1") // or it would answer for every address, since each is local to it
	}
	for _, s := range steps {
		f := strings.Fields(s)
		if err := l.Run(f[0], f[1:]...); err != nil {
			return err
		}
	}
	return nil
}

// UpperScript configures an appliance of the topology upper as an operator types it: the second one in another order, and with
// services before the others, so that nothing but the nodes themselves can have both choose alike.
func UpperScript(i int) string {
	var b strings.Builder
	fmt.Fprintf(&b, `add ns ip 10.10.%[1]d.1 255.255.255.0 -vServer DISABLED
add ns ip 10.20.0.1%[1]d 255.255.255.0 -vServer DISABLED
add vlan 20
bind vlan 20 -ifnum 1/2
bind vlan 20 -IPAddress 10.20.0.1%[1]d 255.255.255.0
add lb monitor alive PING -interval 1 -resptimeout 1 -retries 2 -downTime 1
`, i+1)
	add := "add lb vserver upper ANY * * -persistenceType NONE -lbMethod SRCIPDESTIPHASH -m MAC -sessionless ENABLED\n"
	nodes := slices.Clone(UpperNodes)
	if i == 1 {
		slices.Reverse(nodes)
		nodes[0], nodes[2] = nodes[2], nodes[0]
		b.WriteString(add + "add service other 10.20.0.99 TCP 80\n")
	}
	for _, n := range nodes {
		fmt.Fprintf(&b, "add service node-%s 10.20.0.2%s ANY * -usip YES -useproxyport NO\nbind service node-%[1]s -monitorName alive\n", n, n[1:])
	}
	if i == 0 {
		b.WriteString(add)
	}
	for _, n := range nodes {
		b.WriteString("bind lb vserver upper node-" + n + "\n")
	}
	return b.String()
}
