package host

import (
	"context"
	"strings"
	"testing"

	"github.com/google/nftables"
	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netlink/nl"
	"golang.org/x/sys/unix"

	"sluice/mgmt/compile"
)

var basic = []string{"tw0 10.1.0.5/24", "tw1 10.2.0.5/24", "10.3.0.0/16 via 10.2.0.11 dev tw1", "0.0.0.0/0 via 10.1.0.100 dev tw0"}

func (l *lab) apply(h *Host, lines ...string) {
	l.t.Helper()
	l.must(h.Apply(context.Background(), plan(lines...)))
	if f := h.Faults(); len(f) > 0 {
		l.t.Errorf("faults: %q", f)
	}
}

func TestApplyCreates(t *testing.T) {
	l := newLab(t)
	l.must(sysctl("net/ipv4/ip_forward", "1"))
	l.address(l.nl, "da", "192.0.2.1/24") // must go
	h := l.open(ports)
	l.apply(h, basic...)

	for _, p := range ports {
		dev, twin := l.link(l.nl, p.Device).Attrs(), l.link(l.nl, p.Twin)
		tap, ok := twin.(*netlink.Tuntap)
		if !ok || tap.NonPersist || tap.Flags&netlink.TUNTAP_MULTI_QUEUE == 0 || tap.Mode != netlink.TUNTAP_MODE_TAP {
			t.Errorf("%s is no persistent multi-queue tap: %+v", p.Twin, twin)
		}
		if a := twin.Attrs(); a.HardwareAddr.String() != dev.HardwareAddr.String() || a.MTU != dev.MTU || a.TxQLen != 1000 {
			t.Errorf("%s: %s mtu %d qlen %d, want %s as %s", p.Twin, a.HardwareAddr, a.MTU, a.TxQLen, dev.HardwareAddr, p.Device)
		}
		if dev.RawFlags&unix.IFF_UP == 0 || twin.Attrs().RawFlags&unix.IFF_UP == 0 {
			t.Errorf("port %s is not up", p.Name)
		}
		l.same("addresses of "+p.Device, l.addresses(p.Device))
	}
	l.same("addresses of tw0", l.addresses("tw0"), "10.1.0.5/24")
	l.same("addresses of tw1", l.addresses("tw1"), "10.2.0.5/24")
	l.same("routes", l.routes(), "0.0.0.0/0 via 10.1.0.100 dev tw0", "10.3.0.0/16 via 10.2.0.11 dev tw1")
	for name, want := range map[string]string{
		"net/ipv4/ip_forward": "0", "net/ipv4/ip_local_port_range": "60000\t65535",
		"net/ipv4/conf/tw0/arp_ignore": "1", "net/ipv4/conf/tw1/arp_announce": "2", "net/ipv4/conf/tw1/rp_filter": "2",
		"net/ipv4/neigh/tw1/base_reachable_time_ms": "2000",
		"net/ipv6/conf/tw0/disable_ipv6":            "1", "net/ipv6/conf/da/disable_ipv6": "1",
	} {
		if got := l.sysctl(name); got != want {
			t.Errorf("%s = %s, want %s", name, got, want)
		}
	}
}

// TestApplyTwice: the second time the kernel has no change to tell of, also from a management that has just started.
func TestApplyTwice(t *testing.T) {
	l := newLab(t)
	l.apply(l.open(ports), basic...)
	restarted := l.open(ports)
	before := l.state()
	events, err := nl.Subscribe(unix.NETLINK_ROUTE, unix.RTNLGRP_LINK, unix.RTNLGRP_IPV4_IFADDR, unix.RTNLGRP_IPV4_ROUTE)
	l.must(err)
	defer events.Close()
	l.must(events.SetReceiveTimeout(&unix.Timeval{Usec: 100_000}))
	l.apply(restarted, basic...)
	l.apply(restarted, basic...)
	if after := l.state(); after != before {
		t.Errorf("before:\n%s\nafter:\n%s", before, after)
	}
	if m, _, err := events.Receive(); err != unix.EAGAIN {
		t.Errorf("something was changed: %v %v", m, err)
	}
}

func TestApplyChanges(t *testing.T) {
	l := newLab(t)
	h := l.open(ports)
	l.apply(h, basic...)
	steps := []struct {
		name           string
		plan, tw0, tw1 []string
		routes         []string
	}{
		{"a second address and another subnet length",
			[]string{"tw0 10.1.0.5/24", "tw0 10.1.0.6/24", "tw1 10.2.0.5/16", "10.3.0.0/16 via 10.2.0.11 dev tw1"},
			[]string{"10.1.0.5/24", "10.1.0.6/24"}, []string{"10.2.0.5/16"}, []string{"10.3.0.0/16 via 10.2.0.11 dev tw1"}},
		{"the first address of a subnet goes, the second stays",
			[]string{"tw0 10.1.0.6/24", "tw1 10.2.0.5/16"},
			[]string{"10.1.0.6/24"}, []string{"10.2.0.5/16"}, nil},
		{"two gateways",
			[]string{"tw0 10.1.0.6/24", "tw1 10.2.0.5/16", "10.3.0.0/16 via 10.2.0.12 dev tw1", "10.3.0.0/16 via 10.2.0.11 dev tw1"},
			[]string{"10.1.0.6/24"}, []string{"10.2.0.5/16"}, []string{"10.3.0.0/16 via 10.2.0.11 dev tw1 via 10.2.0.12 dev tw1"}},
		{"one of them goes", []string{"tw0 10.1.0.6/24", "tw1 10.2.0.5/16", "10.3.0.0/16 via 10.2.0.12 dev tw1"},
			[]string{"10.1.0.6/24"}, []string{"10.2.0.5/16"}, []string{"10.3.0.0/16 via 10.2.0.12 dev tw1"}},
		{"an address moves to the other port", []string{"tw1 10.1.0.6/24", "10.3.0.0/16 via 10.1.0.100 dev tw1"},
			nil, []string{"10.1.0.6/24"}, []string{"10.3.0.0/16 via 10.1.0.100 dev tw1"}},
		{"nothing", nil, nil, nil, nil},
	}
	for _, s := range steps {
		l.apply(h, s.plan...)
		l.same(s.name+": tw0", l.addresses("tw0"), s.tw0...)
		l.same(s.name+": tw1", l.addresses("tw1"), s.tw1...)
		l.same(s.name+": routes", l.routes(), s.routes...)
	}
}

// TestForeignStays: links that are no ports, and routes that others have made, are not touched; what an earlier
// management has left on the twins is.
func TestForeignStays(t *testing.T) {
	l := newLab(t)
	l.cable("mg0", "pm")
	l.up(l.nl, "mg0")
	l.address(l.nl, "mg0", "192.168.77.1/24")
	foreign := func(dst, gw, link string) {
		a, err := netlink.ParseIPNet(dst)
		l.must(err)
		l.must(l.nl.RouteAdd(&netlink.Route{Dst: a, Gw: ipOf(plan("0.0.0.0/0 via " + gw + " dev x").Routes[0].Gateway), LinkIndex: l.link(l.nl, link).Attrs().Index}))
	}
	foreign("0.0.0.0/0", "192.168.77.2", "mg0")
	first := l.open(ports)
	l.apply(first, append(basic, "tw0 10.9.0.1/24", "10.4.0.0/16 via 10.1.0.100 dev tw0")...)
	first.Close()

	foreign("10.5.0.0/16", "10.2.0.11", "tw1")
	h := l.open(ports)
	l.apply(h, basic...)
	l.same("addresses of mg0", l.addresses("mg0"), "192.168.77.1/24")
	l.same("addresses of tw0", l.addresses("tw0"), "10.1.0.5/24")
	l.same("routes", l.routes(), "0.0.0.0/0 via 10.1.0.100 dev tw0", "0.0.0.0/0 via 192.168.77.2 dev mg0",
		"10.3.0.0/16 via 10.2.0.11 dev tw1", "10.5.0.0/16 via 10.2.0.11 dev tw1")
	l.apply(h)
	l.same("routes after all is gone", l.routes(), "0.0.0.0/0 via 192.168.77.2 dev mg0")
}

// TestRestores does to twins what a dataplane does that ends, and worse, and applies the same plan again.
func TestRestores(t *testing.T) {
	l := newLab(t)
	h := l.open(ports)
	l.apply(h, basic...)
	want := l.state()
	tw0 := l.link(l.nl, "tw0")
	l.must(l.nl.LinkSetDown(tw0)) // routes go
	addr, err := netlink.ParseAddr("10.1.0.5/24")
	l.must(err)
	l.must(l.nl.AddrDel(tw0, addr))
	l.must(l.nl.LinkSetHardwareAddr(tw0, []byte{2, 0, 0, 0, 0, 9}))
	l.must(l.nl.LinkSetMTU(tw0, 1400))
	l.apply(h, basic...)
	if got := l.state(); got != want {
		t.Errorf("after a flush:\n%s\nwant:\n%s", got, want)
	}
	l.must(l.nl.LinkDel(tw0))
	l.apply(h, basic...)
	l.same("addresses of the new tap", l.addresses("tw0"), "10.1.0.5/24")
	l.same("routes", l.routes(), "0.0.0.0/0 via 10.1.0.100 dev tw0", "10.3.0.0/16 via 10.2.0.11 dev tw1")
}

func TestApplySaysWhatIsWrong(t *testing.T) {
	l := newLab(t)
	odd := append([]compile.Port{{Name: "1/3", Device: "dx", Twin: "tw2"}, {Name: "1/4", Twin: "tw3"}}, ports...)
	h := l.open(odd)
	attrs := netlink.NewLinkAttrs()
	attrs.Name = "tw1"
	l.must(l.nl.LinkAdd(&netlink.Veth{LinkAttrs: attrs, PeerName: "other"}))
	err := h.Apply(context.Background(), plan(
		"tw0 10.1.0.5/24", "tw0 224.0.0.5/24", "tw1 10.2.0.5/24", "10.3.0.0/16 via 10.7.0.1 dev tw0", "10.4.0.0/16 via 10.2.0.11 dev tw1",
		"10.5.0.0/16 via 10.1.0.100 dev tw0"))
	if err == nil {
		t.Fatal("no error")
	}
	for _, part := range []string{
		"twin tw0: cannot add address 224.0.0.5/24",
		"address 10.2.0.5/24 cannot be added: port 1/2: twin tw1 exists and is no multi-queue tap. Remove it (ip link delete tw1)",
		"route 10.3.0.0/16 via 10.7.0.1: the gateway is in no subnet of its port. Add a SNIP",
		"route 10.4.0.0/16 via 10.2.0.11: twin tw1 is not there",
	} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q is not in:\n%v", part, err)
		}
	}
	if faults := strings.Join(h.Faults(), "\n"); !strings.Contains(faults, "port 1/3: device dx does not exist. Check `ports`") {
		t.Errorf("faults: %s", faults)
	}
	// What could be done was done.
	l.same("addresses of tw0", l.addresses("tw0"), "10.1.0.5/24")
	l.same("routes", l.routes(), "10.5.0.0/16 via 10.1.0.100 dev tw0")
	l.link(l.nl, "tw2")
	l.link(l.nl, "tw3")

	stranger := compile.HostPlan{Twins: []compile.TwinPlan{{Port: compile.Port{Name: "9/9", Twin: "tw9"}, Addresses: plan("tw0 10.9.0.1/24").Twins[0].Addresses}}}
	if err := h.Apply(context.Background(), stranger); err == nil || !strings.Contains(err.Error(), "twin tw9 of port 9/9 is not in the settings") {
		t.Error(err)
	}
	// A missing card does not keep the operator from configuring.
	l.must(l.nl.LinkDel(l.link(l.nl, "tw1")))
	if err := h.Apply(context.Background(), plan(basic...)); err != nil {
		t.Error(err)
	}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	if err := h.Apply(ended, plan(basic...)); err == nil || !strings.Contains(err.Error(), "in time") {
		t.Error(err)
	}
}

// TestSilence: the address of the twin is not answered by the kernel on the device, though Linux would do so; with the
// dataplane between device and twin it is answered once.
func TestSilence(t *testing.T) {
	l := newLab(t)
	h := l.open(ports)
	l.apply(h, "tw0 10.1.0.5/24")
	pa := l.link(l.far, "pa")
	l.must(l.far.NeighAdd(&netlink.Neigh{LinkIndex: pa.Attrs().Index, IP: []byte{10, 1, 0, 5}, State: netlink.NUD_PERMANENT,
		HardwareAddr: l.link(l.nl, "da").Attrs().HardwareAddr}))
	if n := l.ping("10.1.0.5", 0); n != 0 {
		t.Errorf("the kernel answered %d pings on the device", n)
	}
	l.connect("da", "tw0")
	if n := l.ping("10.1.0.5", 1); n != 1 {
		t.Errorf("%d answers through the twin, want 1", n)
	}
	conn, err := nftables.New()
	l.must(err)
	for _, name := range tables {
		remove(conn, name)
	}
	l.must(conn.Flush())
	if n := l.ping("10.1.0.5", 2); n != 2 {
		t.Errorf("%d answers without the rule: this test proves nothing", n)
	}
	l.apply(h, "tw0 10.1.0.5/24")
	if n := l.ping("10.1.0.5", 1); n != 1 {
		t.Errorf("%d answers after the rule was restored, want 1", n)
	}
}

// TestSilenceHasNoGap: managements that start one after the other renew the rule while packets come, and none gets in.
func TestSilenceHasNoGap(t *testing.T) {
	l := newLab(t)
	l.apply(l.open(ports), "tw0 10.1.0.5/24")
	pa := l.link(l.far, "pa")
	l.must(l.far.NeighAdd(&netlink.Neigh{LinkIndex: pa.Attrs().Index, IP: []byte{10, 1, 0, 5}, State: netlink.NUD_PERMANENT,
		HardwareAddr: l.link(l.nl, "da").Attrs().HardwareAddr}))
	host := &Host{ports: ports, nl: l.nl}
	sent, came := l.flood("10.1.0.5:5555", func() {
		for range 200 {
			host.silenced = nil // as after a start
			l.must(host.silence())
		}
	})
	if came != 0 || sent < 1000 {
		t.Errorf("%d of %d datagrams got in", came, sent)
	}
}
