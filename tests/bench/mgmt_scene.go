package main

import (
	"fmt"
	"slices"

	"sluice/cli/grammar"
	"sluice/tests/lab/topology"
	"sluice/vendor-config/schema"
)

// bound is how many services each vserver of the management bench has.
const bound = 10

// script is a configuration of so many vservers with ten services each, as an operator types it; every second vserver has the
// method LEASTCONNECTION, the others that of hashMethod. Services are not monitored: no server is there to answer.
func script(vservers int) []string {
	lines := []string{
		"add ns ip " + topology.ClientNIP + " 255.255.255.0",
		"add ns ip " + topology.SNIP + " 255.255.255.0",
		"add vlan 2",
		"bind vlan 2 -ifnum 1/2",
		"bind vlan 2 -IPAddress " + topology.SNIP + " 255.255.255.0",
		"add route 10.64.0.0 255.192.0.0 " + topology.ServerIP(0),
	}
	for i := range vservers * bound {
		lines = append(lines, fmt.Sprintf("add server srv%d 10.%d.%d.%d", i, 64+i>>16, i>>8&255, i&255),
			fmt.Sprintf("add service s%d srv%d TCP 80 -healthMonitor NO", i, i))
	}
	for v := range vservers {
		method := "LEASTCONNECTION"
		if v%2 == 1 {
			method = hashMethod()
		}
		lines = append(lines, fmt.Sprintf("add lb vserver v%d TCP 172.16.%d.%d 80 -lbMethod %s", v, v>>8, v&255, method))
		for i := range bound {
			lines = append(lines, fmt.Sprintf("bind lb vserver v%d s%d", v, v*bound+i))
		}
	}
	return lines
}

// hashMethod is that of every second vserver: one with a table of hashes, if this version builds it.
func hashMethod() string {
	if slices.Contains(schema.Of[schema.LBVserver]().Field("lbMethod").Enum, "SOURCEIPHASH") {
		return "SOURCEIPHASH"
	}
	return "ROUNDROBIN"
}

// configuration is what a script makes of an empty one.
func configuration(lines []string) (*schema.Config, error) {
	c := schema.New()
	for _, l := range lines {
		op, err := grammar.Parse(l)
		if err == nil {
			err = op.Apply(c)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", l, err)
		}
	}
	return c, nil
}

// kind is a command that operators give in a running configuration; n makes one differ from the next.
type kind struct {
	name string
	line func(n int) string
}

func kinds(vservers int) []kind {
	services := vservers * bound
	toggle := func(n int, a, b string) string {
		if n%2 == 0 {
			return a
		}
		return b
	}
	return []kind{
		{"set lb vserver -cltTimeout", func(n int) string { return fmt.Sprintf("set lb vserver v%d -cltTimeout %d", 17*n%vservers, 200+n) }},
		{"set service -svrTimeout", func(n int) string { return fmt.Sprintf("set service s%d -svrTimeout %d", 171*n%services, 200+n) }},
		{"disable, enable service", func(n int) string { return toggle(n, "disable", "enable") + fmt.Sprintf(" service s%d", services/2) }},
		{"unbind, bind lb vserver", func(n int) string {
			return toggle(n, "unbind", "bind") + fmt.Sprintf(" lb vserver v%d s%d", vservers/2, vservers/2*bound)
		}},
		{"add, rm service", func(n int) string {
			return toggle(n, "add service extra srv0 TCP 81 -healthMonitor NO", "rm service extra")
		}},
	}
}
