package host

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"sluice/mgmt/compile"
)

const (
	// managementTable has the ways back to who speaks to the NSIP, and managementRule sends packets from it there: they leave by
	// the management port whatever the twins' routes say, and so when the dataplane is dead as well.
	managementTable = 90
	managementRule  = 90
	// managementMetric lets a twin's route to the same prefix win for what management itself begins.
	managementMetric = ourMetric + 10
)

// readyManagement readies the management port, whether or not it has an address.
func (h *Host) readyManagement() error {
	if h.management == "" {
		return nil
	}
	port, err := h.link(h.management)
	if err == nil && port == nil {
		err = errors.New("it does not exist. Check `management` in the settings, or connect the card")
	}
	if err == nil {
		conf := "net/ipv4/conf/" + h.management + "/"
		err = errors.Join(
			sysctl(conf+"arp_ignore", "1"),          // the addresses of the twins are not asked for here
			sysctl(conf+"arp_announce", "2"),        // nor told
			sysctl(conf+"rp_filter", "2"),           // loose: answers leave by the management table
			sysctl(conf+"promote_secondaries", "1"), // the NSIP stays when the address before it goes
		)
		if port.Attrs().RawFlags&unix.IFF_UP == 0 {
			err = errors.Join(err, h.nl.LinkSetUp(port))
		}
	}
	if err != nil {
		return fmt.Errorf("management port %s: %w", h.management, err)
	}
	return nil
}

// applyManagement brings the NSIP to the management port, with its routes. Without a plan the port's addresses stay as they are, so
// that the first operator gets in by those that the machine was given; if the first NSIP cannot be set up they come back. A port that
// is missing is a fault of the machine.
func (h *Host) applyManagement(plan *compile.ManagementPlan) error {
	if h.management == "" || plan == nil && h.given == nil {
		return nil
	}
	port, err := h.link(h.management)
	if err != nil || port == nil {
		return err
	}
	if plan == nil {
		err := h.applyAddresses(port, h.given)
		h.given = nil
		return errors.Join(err, h.applyManagementRoutes(port, nil), h.applyManagementRule(netip.Addr{}))
	}
	if h.given == nil {
		have, err := h.nl.AddrList(port, netlink.FAMILY_V4)
		if err != nil {
			return fmt.Errorf("management port %s: cannot read its addresses: %w", h.management, err)
		}
		h.given = []netip.Prefix{}
		for _, a := range have {
			h.given = append(h.given, prefixOf(a.IPNet))
		}
	}
	return errors.Join(h.applyAddresses(port, []netip.Prefix{plan.NSIP}), h.applyManagementRoutes(port, plan), h.applyManagementRule(plan.NSIP.Addr()))
}

// applyManagementRoutes makes our routes by the management port exactly those of the plan, in the main table and in that of the NSIP;
// without a plan there are none.
func (h *Host) applyManagementRoutes(port netlink.Link, plan *compile.ManagementPlan) error {
	var wanted []netlink.Route
	if plan != nil {
		wanted = managementRoutes(port.Attrs().Index, plan)
	}
	var errs []error
	for _, table := range []int{managementTable, unix.RT_TABLE_MAIN} {
		filter := &netlink.Route{Protocol: ourRoutes, Table: table}
		have, err := h.nl.RouteListFiltered(netlink.FAMILY_V4, filter, netlink.RT_FILTER_PROTOCOL|netlink.RT_FILTER_TABLE)
		errs = append(errs, err)
		for _, r := range have {
			if r.Priority != managementMetric {
				continue
			}
			at := slices.IndexFunc(wanted, func(w netlink.Route) bool { return sameRoute(w, r) })
			if at >= 0 {
				wanted = slices.Delete(wanted, at, at+1)
			} else if err := h.nl.RouteDel(&r); err != nil && !errors.Is(err, unix.ESRCH) {
				errs = append(errs, fmt.Errorf("management port %s: cannot remove route %s: %w", h.management, prefixOf(r.Dst), err))
			}
		}
	}
	for _, r := range wanted {
		if err := h.nl.RouteAppend(&r); err != nil && !errors.Is(err, unix.EEXIST) {
			errs = append(errs, fmt.Errorf("management port %s: cannot add route %s: %w", h.management, prefixOf(r.Dst), err))
		}
	}
	return errors.Join(errs...)
}

// managementRoutes are the routes of a plan.
func managementRoutes(index int, plan *compile.ManagementPlan) []netlink.Route {
	wanted := []netlink.Route{{Dst: ipNet(plan.NSIP.Masked()), LinkIndex: index, Scope: netlink.SCOPE_LINK, Table: managementTable,
		Src: plan.NSIP.Addr().AsSlice(), Protocol: ourRoutes, Priority: managementMetric}}
	for _, r := range plan.Routes {
		for _, table := range []int{managementTable, unix.RT_TABLE_MAIN} {
			wanted = append(wanted, netlink.Route{Dst: ipNet(r.Prefix), Gw: r.Gateway.AsSlice(), LinkIndex: index, Table: table,
				Src: plan.NSIP.Addr().AsSlice(), Protocol: ourRoutes, Priority: managementMetric})
		}
	}
	return wanted
}

func sameRoute(a, b netlink.Route) bool {
	return prefixOf(a.Dst) == prefixOf(b.Dst) && a.Table == b.Table && a.LinkIndex == b.LinkIndex && addrOf(a.Gw) == addrOf(b.Gw) && addrOf(a.Src) == addrOf(b.Src)
}

// applyManagementRule has packets from the NSIP, if there is one, look into the management table, and those from an earlier one no longer.
func (h *Host) applyManagementRule(nsip netip.Addr) error {
	have, err := h.nl.RuleList(netlink.FAMILY_V4)
	if err != nil {
		return fmt.Errorf("cannot read the kernel's rules: %w", err)
	}
	errs, there := []error{}, false
	for _, r := range have {
		switch {
		case r.Priority != managementRule || r.Table != managementTable:
		case nsip.IsValid() && r.Src != nil && prefixOf(r.Src) == netip.PrefixFrom(nsip, 32):
			there = true
		default:
			errs = append(errs, h.nl.RuleDel(&r))
		}
	}
	if !there && nsip.IsValid() {
		rule := netlink.NewRule()
		rule.Family, rule.Priority, rule.Table, rule.Src = netlink.FAMILY_V4, managementRule, managementTable, ipNet(netip.PrefixFrom(nsip, 32))
		errs = append(errs, h.nl.RuleAdd(rule))
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("management port %s: cannot set the rule for packets from %s: %w", h.management, nsip, err)
	}
	return nil
}
