package compile

import (
	"fmt"
	"net/netip"
	"slices"
	"testing"
	"time"
)

// scalingGroup is a group with the members that two names stand for, bound to vserver v.
const scalingGroup = `add ns ip 10.2.0.5 255.255.255.0
add server www www.example.com
add server api api.example.com
add serviceGroup g TCP -autoScale DNS
bind serviceGroup g www 80 -weight 3
bind serviceGroup g api 8080
add lb vserver v TCP 10.1.0.50 80
bind lb vserver v g`

// bound are the services on the wire with address, port and weight.
func boundOnWire(t *testing.T, s *State, text string) []string {
	t.Helper()
	c := configure(t, text)
	s.IDs = AssignIDs(c, s.Resolutions, s.IDs)
	tab, err := Tables(c, s)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, b := range tab.Config.Vservers[0].Bindings {
		for _, svc := range tab.Config.Services {
			if svc.ID == b.Service {
				out = append(out, fmt.Sprintf("%s:%d*%d", svc.IP, svc.Port, b.Weight))
			}
		}
	}
	return out
}

// TestScaling: a group has a member for each address of each name, of the last answer that had any, once; none is this appliance, and
// a name with very many addresses has a bounded number of members.
func TestScaling(t *testing.T) {
	s := &State{Ports: []Port{{Name: "1/1", Twin: "tw0"}}}
	ips := func(text ...string) (out []netip.Addr) {
		for _, a := range text {
			out = append(out, netip.MustParseAddr(a))
		}
		return out
	}
	now := time.Unix(1, 0)
	for _, step := range []struct {
		server  string
		answer  []netip.Addr
		failure string
		want    []string
	}{
		{"", nil, "", nil},
		{"www", ips("10.2.0.12", "10.2.0.11", "10.2.0.12"), "", []string{"10.2.0.11:80*3", "10.2.0.12:80*3"}},
		{"www", nil, "no such name", []string{"10.2.0.11:80*3", "10.2.0.12:80*3"}},
		{"api", ips("10.2.0.11", "10.2.0.5"), "", []string{"10.2.0.11:80*3", "10.2.0.12:80*3", "10.2.0.11:8080*1"}},
		{"www", ips("10.2.0.13", "10.2.0.12"), "", []string{"10.2.0.12:80*3", "10.2.0.13:80*3", "10.2.0.11:8080*1"}},
	} {
		if step.server != "" {
			s.Resolved(step.server, step.server+".example.com", step.answer, step.failure, now, now)
		}
		if got := boundOnWire(t, s, scalingGroup); !slices.Equal(got, step.want) {
			t.Errorf("after %+v on the wire are %q", step, got)
		}
	}
	var many []netip.Addr
	for a := netip.MustParseAddr("10.9.0.1"); len(many) < 5000; a = a.Next() {
		many = append(many, a)
	}
	s.Resolved("www", "www.example.com", many, "", now, now)
	if got := boundOnWire(t, s, scalingGroup); len(got) != scaleMost+1 {
		t.Errorf("5000 addresses are %d members", len(got))
	}
	probes := Probes(configure(t, scalingGroup), s)
	if len(probes) != scaleMost+1 || probes[0].Target != netip.MustParseAddrPort("10.9.0.1:80") {
		t.Errorf("%d probes, the first %+v", len(probes), probes[0])
	}
}
