package topology

// Addresses of the topology nsip. Its clients and servers share one network; the operators have one of their own.
const (
	NSIPVIP    = "10.1.0.50"
	SingleNSIP = "10.1.0.20" // of the appliance with a single NIC
	OpsIP      = "192.168.77.2"
	OpsFar     = "172.16.0.2" // of an operator behind a router
)

// Managed is the appliance of the topology nsip that has a management port.
func (l *Lab) Managed() *Appliance {
	return &Appliance{Lab: l, Node: "adc", From: "ops", Addr: ShellIP, Ports: []Port{{"1/1", "da", "tw0"}}, Workers: 1, Management: "mg0"}
}

// Single is the one that has a single NIC, by which operators come as well as packets.
func (l *Lab) Single() *Appliance {
	return &Appliance{Lab: l, Node: "one", From: "client", Addr: SingleNSIP, Ports: []Port{{"1/1", "da", "tw0"}}, Workers: 1, Startup: singleStartup}
}

// singleStartup is what the first start of a machine leaves behind: where it can be reached.
const singleStartup = `<?xml version="1.0" encoding="UTF-8"?>
<config xmlns="urn:ietf:params:xml:ns:netconf:base:1.0">
  <sluice xmlns="urn:sluice:config">
    <ns-ip>
      <ip-address>` + SingleNSIP + `</ip-address>
      <netmask>255.255.255.0</netmask>
      <type>NSIP</type>
    </ns-ip>
  </sluice>
</config>
`

// nsip: two appliances with one port each on a network of a client and three web servers; one of them has a management port besides.
//
//	client c0 10.1.0.100 ---- [sw] ---- e0 10.1.0.11-13 s1 s2 s3
//	                           | |
//	          [adc: VIP, SNIP] da da [one: NSIP 10.1.0.20, SNIP, VIP]
//	ops m0 192.168.77.2 ---- mg0 of adc (192.168.77.1 until it is told its NSIP)
func (l *Lab) nsip() error {
	nodes := []Node{{Name: "client"}, {Name: "ops"}, {Name: "adc"}, {Name: "one"}, {Name: "sw", Bridge: true}}
	links := []Link{
		{End{Node: "client", If: "c0", Addr: ClientIP + "/24", Full: true}, End{Node: "sw", If: "p9"}},
		{End{Node: "ops", If: "m0", Addr: OpsIP + "/24"}, End{Node: "adc", If: "mg0", Addr: ShellIP + "/24"}},
		{End{Node: "sw", If: "p7"}, End{Node: "adc", If: "da"}},
		{End{Node: "sw", If: "p8"}, End{Node: "one", If: "da"}},
	}
	for i, s := range Servers {
		nodes = append(nodes, Node{Name: s})
		links = append(links, Link{End{Node: s, If: "e0", Addr: NSIPServer(i) + "/24", Full: true}, End{Node: "sw", If: "p" + string(rune('0'+i))}})
	}
	if err := l.wire(nodes, links); err != nil {
		return err
	}
	if err := run("ip", "-n", l.NS("ops"), "addr", "add", OpsFar+"/32", "dev", "lo"); err != nil {
		return err
	}
	for i := range Servers {
		if err := l.WebServer(i); err != nil {
			return err
		}
	}
	for _, a := range []*Appliance{l.Managed(), l.Single()} {
		if err := a.Start(); err != nil {
			return err
		}
	}
	for _, a := range []*Appliance{l.Managed(), l.Single()} {
		if err := a.Ready(); err != nil {
			return err
		}
	}
	return nil
}

// NSIPServer is the address of server number i of the topology nsip.
func NSIPServer(i int) string { return "10.1.0.1" + string(rune('1'+i)) }

// ManagedScript configures an appliance of the topology nsip as an operator types it.
func ManagedScript() string { return nsipScript("10.1.0.5", NSIPVIP) }

// SingleScript is that of the other one.
func SingleScript() string { return nsipScript("10.1.0.25", "10.1.0.60") }

func nsipScript(snip, vip string) string {
	s := "add ns ip " + snip + " 255.255.255.0\nadd lb monitor web-check TCP -interval 1 -resptimeout 1 -downTime 1\nadd lb vserver web HTTP " + vip + " 80 -lbMethod ROUNDROBIN\n"
	for i, n := range Servers {
		s += "add service web-" + n + " " + NSIPServer(i) + " HTTP 80\nbind service web-" + n + " -monitorName web-check\nbind lb vserver web web-" + n + "\n"
	}
	return s
}
