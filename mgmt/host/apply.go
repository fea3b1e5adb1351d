package host

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/netip"
	"slices"
	"strings"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"sluice/mgmt/compile"
)

const (
	// ourRoutes marks routes as ours (`ip route` shows "proto 90"), so that after a restart those of an earlier plan
	// are known from those that somebody else has added.
	ourRoutes = 90
	// ourMetric keeps our routes from replacing those of other links for the same prefix.
	ourMetric = 20
)

// applyAddresses makes the IPv4 addresses of a twin, or of the management port, exactly want. New ones come first, so that a change of a subnet's
// length does not take the address away in between.
func (h *Host) applyAddresses(twin netlink.Link, want []netip.Prefix) error {
	name := twin.Attrs().Name
	called := "twin " + name
	if name == h.management {
		called = "management port " + name
	}
	have, err := h.nl.AddrList(twin, netlink.FAMILY_V4)
	if err != nil {
		return fmt.Errorf("%s: cannot read its addresses: %w", called, err)
	}
	var errs []error
	there := map[netip.Prefix]netlink.Addr{}
	for _, a := range have {
		there[prefixOf(a.IPNet)] = a
	}
	for _, p := range want {
		if _, ok := there[p]; ok {
			continue
		}
		if a := p.Addr(); !a.Is4() || !a.IsGlobalUnicast() && !a.IsLinkLocalUnicast() {
			errs = append(errs, fmt.Errorf("%s: cannot add address %s: it is no IPv4 unicast address", called, p))
			continue
		}
		err := h.nl.AddrAdd(twin, &netlink.Addr{IPNet: ipNet(p)})
		if err != nil && !errors.Is(err, unix.EEXIST) {
			errs = append(errs, fmt.Errorf("%s: cannot add address %s: %w%s", called, p, err, remedy(err, name)))
		}
	}
	for p, a := range there {
		if slices.Contains(want, p) {
			continue
		}
		if err := h.nl.AddrDel(twin, &a); err != nil && !errors.Is(err, unix.EADDRNOTAVAIL) {
			errs = append(errs, fmt.Errorf("%s: cannot remove address %s: %w%s", called, p, err, remedy(err, name)))
		}
	}
	return errors.Join(errs...)
}

// remedy is what an operator can do about an error of the kernel, as the end of a sentence.
func remedy(err error, twin string) string {
	switch {
	case errors.Is(err, unix.EPERM), errors.Is(err, unix.EACCES):
		return ". Management needs the right to configure the network (CAP_NET_ADMIN)"
	case errors.Is(err, unix.ENODEV):
		return ". The device has gone; it comes back when management connects to the dataplane again"
	case errors.Is(err, unix.ENETDOWN):
		return ". The twin is down: ip link set " + twin + " up"
	}
	return ""
}

// applyRoutes makes our routes through the twins exactly want. Routes of one prefix become one route with several
// gateways.
func (h *Host) applyRoutes(twins map[string]netlink.Link, want []compile.HostRoute) error {
	var errs []error
	wanted := map[netip.Prefix][]hop{}
	for _, r := range want {
		twin := twins[r.Twin]
		if twin == nil {
			errs = append(errs, fmt.Errorf("route %s via %s: twin %s is not there", r.Prefix, r.Gateway, r.Twin))
			continue
		}
		hops := append(wanted[r.Prefix.Masked()], hop{twin.Attrs().Index, r.Gateway})
		slices.SortFunc(hops, hop.compare)
		wanted[r.Prefix.Masked()] = slices.Compact(hops)
	}
	filter := &netlink.Route{Protocol: ourRoutes, Table: unix.RT_TABLE_MAIN}
	have, err := h.nl.RouteListFiltered(netlink.FAMILY_V4, filter, netlink.RT_FILTER_PROTOCOL|netlink.RT_FILTER_TABLE)
	if err != nil {
		return errors.Join(append(errs, fmt.Errorf("cannot read the kernel's routes: %w", err))...)
	}
	there := map[netip.Prefix][]hop{}
	for _, r := range have {
		p := prefixOf(r.Dst)
		if r.Priority != ourMetric {
			continue // of the management port: see applyManagement
		}
		if len(wanted[p]) == 0 {
			if err := h.nl.RouteDel(&r); err != nil && !errors.Is(err, unix.ESRCH) {
				errs = append(errs, fmt.Errorf("cannot remove route %s: %w", p, err))
			}
			continue
		}
		there[p] = hopsOf(r)
	}
	for _, p := range slices.SortedFunc(maps.Keys(wanted), netip.Prefix.Compare) {
		if slices.Equal(wanted[p], there[p]) {
			continue
		}
		if err := h.nl.RouteReplace(route(p, wanted[p])); err != nil {
			errs = append(errs, routeError(p, wanted[p], err))
		}
	}
	return errors.Join(errs...)
}

func routeError(p netip.Prefix, hops []hop, err error) error {
	var via []string
	for _, h := range hops {
		via = append(via, h.gateway.String())
	}
	gateways := strings.Join(via, " and ")
	if errors.Is(err, unix.ENETUNREACH) || errors.Is(err, unix.EINVAL) || errors.Is(err, unix.EHOSTUNREACH) {
		return fmt.Errorf("route %s via %s: the gateway is in no subnet of its port. Add a SNIP in the gateway's subnet: %w", p, gateways, err)
	}
	return fmt.Errorf("route %s via %s: %w", p, gateways, err)
}

// hop is where a route leads.
type hop struct {
	link    int
	gateway netip.Addr
}

func (a hop) compare(b hop) int {
	return cmp.Or(a.gateway.Compare(b.gateway), cmp.Compare(a.link, b.link))
}

func hopsOf(r netlink.Route) []hop {
	if len(r.MultiPath) == 0 {
		return []hop{{r.LinkIndex, addrOf(r.Gw)}}
	}
	var hops []hop
	for _, n := range r.MultiPath {
		hops = append(hops, hop{n.LinkIndex, addrOf(n.Gw)})
	}
	slices.SortFunc(hops, hop.compare)
	return hops
}

func route(p netip.Prefix, hops []hop) *netlink.Route {
	r := &netlink.Route{Dst: ipNet(p), Protocol: ourRoutes, Priority: ourMetric, Table: unix.RT_TABLE_MAIN}
	if len(hops) == 1 {
		r.LinkIndex, r.Gw = hops[0].link, ipOf(hops[0].gateway)
		if r.Gw == nil {
			r.Scope = netlink.SCOPE_LINK
		}
		return r
	}
	for _, h := range hops {
		r.MultiPath = append(r.MultiPath, &netlink.NexthopInfo{LinkIndex: h.link, Gw: ipOf(h.gateway)})
	}
	return r
}

func prefixOf(n *net.IPNet) netip.Prefix {
	if n == nil { // how some versions of the library give 0.0.0.0/0
		return netip.PrefixFrom(netip.IPv4Unspecified(), 0)
	}
	ones, _ := n.Mask.Size()
	return netip.PrefixFrom(addrOf(n.IP), ones)
}

func ipNet(p netip.Prefix) *net.IPNet {
	return &net.IPNet{IP: p.Addr().AsSlice(), Mask: net.CIDRMask(p.Bits(), p.Addr().BitLen())}
}

func addrOf(ip net.IP) netip.Addr {
	a, _ := netip.AddrFromSlice(ip)
	return a.Unmap()
}

func ipOf(a netip.Addr) net.IP {
	if !a.IsValid() {
		return nil
	}
	return a.AsSlice()
}
