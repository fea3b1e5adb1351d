package compile

import (
	"net/netip"
	"reflect"
	"strings"
	"testing"

	"sluice/dataplane/api"
)

// managed is a state with a management port that has the addresses.
func managed(elsewhere string, on ...string) *State {
	s := &State{Ports: []Port{{Name: "1/1", Device: "da", Twin: "tw0"}}, Management: Port{Name: "0/1", Device: "mg0"}}
	for _, a := range strings.Fields(elsewhere) {
		s.Elsewhere = append(s.Elsewhere, netip.MustParsePrefix(a))
	}
	for _, a := range on {
		s.OnManagement = append(s.OnManagement, netip.MustParsePrefix(a))
	}
	return s
}

// TestManagementPort: the NSIP and the routes by its subnet are the kernel's alone, and the dataplane drops what comes for it.
func TestManagementPort(t *testing.T) {
	c := configure(t, `set ns config -IPAddress 192.168.77.9 -netmask 255.255.255.0
add ns ip 10.1.0.5 255.255.255.0
add route 0.0.0.0 0.0.0.0 10.1.0.1
add route 0.0.0.0 0.0.0.0 192.168.77.254
add route 172.16.0.0 255.240.0.0 192.168.77.253
`)
	s := managed("", "192.168.77.1/24")
	tables, err := Tables(c, s)
	if err != nil {
		t.Fatal(err)
	}
	gw := netip.MustParseAddr
	wantNSIP := &ManagementPlan{Device: "mg0", NSIP: netip.MustParsePrefix("192.168.77.9/24"), Routes: []HostRoute{
		{netip.MustParsePrefix("0.0.0.0/0"), gw("192.168.77.254"), "mg0"}, {netip.MustParsePrefix("172.16.0.0/12"), gw("192.168.77.253"), "mg0"}}}
	plan := Host(c, s)
	if !reflect.DeepEqual(plan.Management, wantNSIP) {
		t.Errorf("plan %+v", plan.Management)
	}
	if want := []HostRoute{{netip.MustParsePrefix("0.0.0.0/0"), gw("10.1.0.1"), "tw0"}}; !reflect.DeepEqual(plan.Routes, want) {
		t.Errorf("routes by twins %v", plan.Routes)
	}
	if len(plan.Twins[0].Addresses) != 1 {
		t.Errorf("addresses of the twin %v", plan.Twins[0].Addresses)
	}
	for _, r := range tables.FIB.Routes {
		if r.Prefix.Contains(gw("192.168.77.9")) && r.Prefix.Bits() > 0 || r.Gateway == gw("192.168.77.254") {
			t.Errorf("the dataplane has the route %v", r)
		}
	}
	kinds := map[netip.Addr]api.AddressKind{}
	for _, a := range tables.Config.Addresses {
		kinds[a.IP] = a.Kind
	}
	if kinds[gw("192.168.77.9")] != api.OwnElsewhere || kinds[gw("192.168.77.1")] != 0 {
		t.Errorf("addresses %v", kinds)
	}
	shown := 0
	for _, r := range Routes(c, s) {
		if r.Port == "0/1" {
			shown++
		}
	}
	if shown != 3 {
		t.Errorf("routes shown %+v", Routes(c, s))
	}
}

// TestSubnetOfManagement: a SNIP may not be where the operators are.
func TestSubnetOfManagement(t *testing.T) {
	rows := []struct {
		config  string
		s       *State
		refused string
	}{
		{"add ns ip 192.168.77.5 255.255.255.0", managed("", "192.168.77.1/24"), "192.168.77.1/24, which is on no port"},
		{"add ns ip 192.168.77.5 255.255.255.0", managed(""), ""},
		{"set ns config -IPAddress 192.168.78.1 -netmask 255.255.255.0\nadd ns ip 192.168.77.5 255.255.255.0", managed("", "192.168.77.1/24"), ""},
		{"set ns config -IPAddress 192.168.78.1 -netmask 255.255.255.0\nadd ns ip 192.168.78.5 255.255.255.0", managed("", "192.168.77.1/24"), "192.168.78.1/24, which is on no port"},
		{"set ns config -IPAddress 192.168.78.1 -netmask 255.255.255.255", managed(""), ""},
	}
	for _, row := range rows {
		_, err := Tables(configure(t, row.config), row.s)
		if row.refused == "" && err != nil || row.refused != "" && (err == nil || !strings.Contains(err.Error(), row.refused)) {
			t.Errorf("%s: %v, want %q", row.config, err, row.refused)
		}
	}
	// Without a management port the NSIP is on a twin: a machine with a single NIC.
	c := configure(t, "set ns config -IPAddress 10.1.0.9 -netmask 255.255.255.0")
	if plan := Host(c, &State{Ports: []Port{{Name: "1/1", Device: "da", Twin: "tw0"}}}); plan.Management != nil || len(plan.Twins[0].Addresses) != 1 {
		t.Errorf("a single NIC: %+v", plan)
	}
}
