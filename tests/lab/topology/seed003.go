package topology

import (
	_ "embed"
	"fmt"
)

// Addresses of the topology seed003, all in one subnet. The operator's network is that of basic.
const (
	LeastPacketsVIP = "10.0.0.100"
	WeightedVIP     = "10.0.0.101"
)

// SinkIPs are the addresses of the services of seed003: Service-1 to 3, then Service-W1 to W3.
var SinkIPs = []string{"10.0.0.11", "10.0.0.12", "10.0.0.13", "10.0.0.21", "10.0.0.22", "10.0.0.23"}

//go:embed leastpackets.conf
var leastPackets string

// LeastPacketsScript configures the topology seed003 as an operator types it.
func LeastPacketsScript() string { return leastPackets }

// SinkFile is where the sinks of seed003 write a line for each datagram, in the order of arrival: the sink's address, the sender's
// and the text.
const SinkFile = "sinks.txt"

// Seed003 is the appliance of the topology seed003.
func (l *Lab) Seed003() *Appliance {
	return &Appliance{Lab: l, Node: "adc", From: "client", Addr: ShellIP, Ports: []Port{{"1/1", "da", "tw0"}}, Workers: l.kind.workers}
}

// seed003: a client, an appliance with one port, and sinks for UDP at the addresses of the services, on one switch.
//
//	client c0 10.0.0.200 ---- [sw] ---- da [adc: SNIP 10.0.0.5, VIPs 10.0.0.100 and above]
//	                            |------ e0 10.0.0.11-13, 21-23 sinks
//	client m0 192.168.77.2 ---- mg0 192.168.77.1 (shell)
func (l *Lab) seed003() error {
	nodes := []Node{{Name: "client"}, {Name: "adc"}, {Name: "sw", Bridge: true}, {Name: "sinks"}}
	links := []Link{
		{End{Node: "client", If: "c0", Addr: "10.0.0.200/24", Full: true}, End{Node: "sw", If: "p0"}},
		{End{Node: "adc", If: "da"}, End{Node: "sw", If: "p1"}},
		{End{Node: "sinks", If: "e0", Addr: SinkIPs[0] + "/24", Full: true}, End{Node: "sw", If: "p2"}},
		{End{Node: "client", If: "m0", Addr: "192.168.77.2/24"}, End{Node: "adc", If: "mg0", Addr: ShellIP + "/24"}},
	}
	if err := l.wire(nodes, links); err != nil {
		return err
	}
	args := []string{l.program("sluice-lab"), "udp-sink", l.Path(SinkFile)}
	for i, ip := range SinkIPs {
		if i > 0 {
			if err := run("ip", "-n", l.NS("sinks"), "addr", "add", ip+"/24", "dev", "e0"); err != nil {
				return err
			}
		}
		args = append(args, ip+":7")
	}
	if err := l.Start("sinks", "sinks", args...); err != nil {
		return err
	}
	if err := l.Seed003().Start(); err != nil {
		return fmt.Errorf("seed003: %w", err)
	}
	return l.Seed003().Ready()
}
