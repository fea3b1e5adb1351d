package topology

import "fmt"

// Guests is how many virtual machines the topology guest has places for.
const Guests = 2

// Guest is the appliance in virtual machine number i of the topology guest, as its operator reaches it. Who starts the machine
// has its key and its configuration; the two lie where those of the other appliances do.
func (l *Lab) Guest(i int) *Appliance {
	return &Appliance{Lab: l, Node: fmt.Sprintf("vm%d", i), From: "ops", Addr: GuestNSIP(i), Ports: []Port{{"1/1", "", "tw0"}, {"1/2", "", "tw1"}}, Workers: 1}
}

// GuestNSIP is the address of the management port of virtual machine number i.
func GuestNSIP(i int) string { return fmt.Sprintf("192.168.77.%d", 11+i) }

// Box is the appliance in the container of the topology guest: a node whose devices are named as an engine does it, and whose first
// one is for operators.
func (l *Lab) Box() *Appliance {
	return &Appliance{Lab: l, Node: "box", From: "ops", Addr: ShellIP, Ports: []Port{{"1/1", "eth1", "tw0"}, {"1/2", "eth2", "tw1"}}, Workers: 1, Management: "eth0"}
}

// GuestNode is the node in which the virtual machines' QEMUs run.
const GuestNode = "vm"

// GuestTap is the tap in GuestNode that is the network card of virtual machine number i on the operators' network (m), the clients'
// (f) or the servers' (b).
func GuestTap(net string, i int) string { return fmt.Sprintf("%s%d", net, i) }

// guest: basic, but the appliance is a virtual machine: its network cards are taps on a bridge for each of the three networks, which
// stay when it ends. There is room for two of them, and for a container.
//
//	client c0 10.1.0.100 ----- (bridge f: taps f0 f1) ---- eth1
//	ops m0 192.168.77.2 ------ (bridge m: taps m0 m1) ---- eth0 192.168.77.1 [box]
//	[sw] e0 10.2.0.11-13 ----- (bridge b: taps b0 b1) ---- eth2
func (l *Lab) guest() error {
	nodes := []Node{{Name: "client"}, {Name: "ops"}, {Name: GuestNode}, {Name: "sw", Bridge: true}, {Name: "box"}}
	links := []Link{
		{End{Node: "client", If: "c0", Addr: ClientIP + "/24", Full: true}, End{Node: GuestNode, If: "cf"}},
		{End{Node: "ops", If: "m0", Addr: OpsIP + "/24"}, End{Node: GuestNode, If: "cm"}},
		{End{Node: "sw", If: "p0"}, End{Node: GuestNode, If: "cb"}},
		{End{Node: "box", If: "eth0", Addr: ShellIP + "/24"}, End{Node: GuestNode, If: "xm"}},
		{End{Node: "box", If: "eth1"}, End{Node: GuestNode, If: "xf"}},
		{End{Node: "box", If: "eth2", Addr: "10.2.0.99/24"}, End{Node: GuestNode, If: "xb"}}, // an address that the engine has given
	}
	for i, s := range Servers {
		nodes = append(nodes, Node{Name: s, Routes: []string{"default via " + SNIP}})
		links = append(links, Link{End{Node: s, If: "e0", Addr: ServerIP(i) + "/24", Full: true}, End{Node: "sw", If: fmt.Sprintf("p%d", i+1)}})
	}
	if err := l.wire(nodes, links); err != nil {
		return err
	}
	for _, net := range []string{"m", "f", "b"} {
		if err := l.cards(net); err != nil {
			return err
		}
	}
	for i := range Servers {
		if err := l.WebServer(i); err != nil {
			return err
		}
		if err := l.Start(Servers[i], Servers[i]+"-echo", l.program("sluice-lab"), "udp-echo", "0.0.0.0:7", Servers[i]); err != nil {
			return err
		}
	}
	return nil
}

// cards makes a network's bridge and the taps on it.
func (l *Lab) cards(net string) error {
	ns, bridge := l.NS(GuestNode), "br-"+net
	steps := [][]string{
		{"ip", "-n", ns, "link", "add", bridge, "type", "bridge"},
		{"ip", "-n", ns, "link", "set", bridge, "up"},
		{"ip", "-n", ns, "link", "set", "c" + net, "master", bridge},
		{"ip", "-n", ns, "link", "set", "x" + net, "master", bridge},
	}
	for i := range Guests {
		tap := GuestTap(net, i)
		steps = append(steps, []string{"ip", "-n", ns, "tuntap", "add", tap, "mode", "tap"},
			[]string{"ip", "-n", ns, "link", "set", tap, "master", bridge},
			[]string{"ip", "-n", ns, "link", "set", tap, "up"})
	}
	for _, s := range steps {
		if err := run(s...); err != nil {
			return err
		}
	}
	return nil
}
