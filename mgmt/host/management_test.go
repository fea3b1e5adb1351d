package host

import (
	"context"
	"net/netip"
	"strings"
	"testing"

	"github.com/vishvananda/netlink"

	"sluice/mgmt/compile"
)

// rules are the lines "FROM table N" of our rules.
func (l *lab) rules() []string {
	l.t.Helper()
	list, err := l.nl.RuleList(netlink.FAMILY_V4)
	l.must(err)
	var all []string
	for _, r := range list {
		if r.Table == managementTable {
			all = append(all, prefixOf(r.Src).String())
		}
	}
	return all
}

// TestManagement: nothing changes before there is an NSIP; then it is the port's only address, and packets from it leave by the
// port. What fails leaves the port reachable.
func TestManagement(t *testing.T) {
	l := newLab(t)
	l.cable("mg0", "pm")
	l.address(l.nl, "mg0", "192.168.77.1/24")
	h := l.open(ports)
	h.Manage("mg0")
	l.apply(h, basic...)
	l.same("before", l.addresses("mg0"), "192.168.77.1/24")

	with := func(nsip string, gateways ...string) compile.HostPlan {
		p := plan(basic...)
		p.Management = &compile.ManagementPlan{Device: "mg0", NSIP: netip.MustParsePrefix(nsip)}
		for _, g := range gateways {
			p.Management.Routes = append(p.Management.Routes, compile.HostRoute{Prefix: netip.MustParsePrefix("0.0.0.0/0"), Gateway: netip.MustParseAddr(g), Twin: "mg0"})
		}
		return p
	}
	apply := func(p compile.HostPlan) {
		t.Helper()
		l.must(h.Apply(context.Background(), p))
		l.must(h.Apply(context.Background(), p)) // which changes nothing
	}
	apply(with("192.168.77.9/24", "192.168.77.254"))
	l.same("the NSIP", l.addresses("mg0"), "192.168.77.9/24")
	l.same("rules", l.rules(), "192.168.77.9/32")
	l.same("routes", l.routes(), "0.0.0.0/0 via 10.1.0.100 dev tw0", "0.0.0.0/0 via 192.168.77.254 dev mg0", "10.3.0.0/16 via 10.2.0.11 dev tw1")
	out, err := l.nl.RouteGetWithOptions([]byte{8, 8, 8, 8}, &netlink.RouteGetOptions{SrcAddr: []byte{192, 168, 77, 9}})
	l.must(err)
	if len(out) != 1 || out[0].LinkIndex != l.link(l.nl, "mg0").Attrs().Index {
		t.Errorf("packets from the NSIP leave by %v", out)
	}
	l.must(l.nl.LinkSetDown(l.link(l.nl, "tw0"))) // a dataplane that has ended
	if out, err = l.nl.RouteGetWithOptions([]byte{8, 8, 8, 8}, nil); err != nil || out[0].LinkIndex != l.link(l.nl, "mg0").Attrs().Index {
		t.Errorf("without twins what management begins leaves by %v: %v", out, err)
	}
	apply(with("192.168.78.9/25"))
	l.same("another subnet", l.addresses("mg0"), "192.168.78.9/25")
	l.same("rules", l.rules(), "192.168.78.9/32")
	l.same("routes", l.routes(), "0.0.0.0/0 via 10.1.0.100 dev tw0", "10.3.0.0/16 via 10.2.0.11 dev tw1")
	if err := h.Apply(context.Background(), with("192.168.78.9/25", "192.168.1.1")); err == nil || !strings.Contains(err.Error(), "management port mg0: cannot add route 0.0.0.0/0") {
		t.Errorf("a gateway out of reach: %v", err)
	}
	l.apply(h, basic...)
	l.same("the NSIP is taken back", l.addresses("mg0"), "192.168.77.1/24")
	l.same("rules", l.rules())

	l.must(l.nl.LinkDel(l.link(l.nl, "mg0")))
	l.must(h.Apply(context.Background(), with("192.168.77.9/24")))
	if f := strings.Join(h.Faults(), "; "); !strings.Contains(f, "management port mg0: it does not exist. Check `management`") {
		t.Errorf("faults %s", f)
	}
}
