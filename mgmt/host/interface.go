package host

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"sluice/mgmt/compile"
)

// Interface is what the kernel says of a port's device and twin.
type Interface struct {
	Port     compile.Port
	Present  bool // the device is there; always true of a port that is no kernel device
	Up       bool // device: administratively
	Carrier  bool // device: has a link; of a port that is no kernel device what Linked was told last, at first true
	MAC      [6]byte
	MTU      int  // bytes
	TwinUp   bool // the twin is there and up
	Attached bool // the dataplane holds the twin
}

// Interfaces are the ports in the order of the settings.
func (h *Host) Interfaces() ([]Interface, error) {
	links, err := h.nl.LinkList()
	if err != nil {
		return nil, fmt.Errorf("cannot read the kernel's links: %w", err)
	}
	return h.interfaces(links), nil
}

// Linked notes how the link is of a port that is no kernel device.
func (h *Host) Linked(twin string, up bool) {
	h.linkMu.Lock()
	defer h.linkMu.Unlock()
	if h.unplugged[twin] == !up {
		return
	}
	h.unplugged[twin] = !up
	select {
	case h.relinked <- struct{}{}:
	default: // the watch has not looked yet
	}
}

// interfaces are the ports by the kernel's links and by what Linked was told.
func (h *Host) interfaces(links []netlink.Link) []Interface {
	all := interfacesOf(h.ports, links)
	h.linkMu.Lock()
	defer h.linkMu.Unlock()
	for i, p := range h.ports {
		if p.Device == "" {
			all[i].Carrier = !h.unplugged[p.Twin]
		}
	}
	return all
}

func interfacesOf(ports []compile.Port, links []netlink.Link) []Interface {
	byName := map[string]*netlink.LinkAttrs{}
	for _, l := range links {
		byName[l.Attrs().Name] = l.Attrs()
	}
	all := make([]Interface, len(ports))
	for i, p := range ports {
		all[i] = Interface{Port: p, Present: p.Device == "", Carrier: p.Device == "", Up: p.Device == ""}
		if twin := byName[p.Twin]; twin != nil {
			all[i].TwinUp = twin.RawFlags&unix.IFF_UP != 0
			all[i].Attached = all[i].TwinUp && carrier(twin)
			all[i].describe(twin)
		}
		if dev := byName[p.Device]; dev != nil && p.Device != "" {
			all[i].Present, all[i].Up, all[i].Carrier = true, dev.RawFlags&unix.IFF_UP != 0, carrier(dev)
			all[i].describe(dev)
		}
	}
	return all
}

func (i *Interface) describe(l *netlink.LinkAttrs) {
	i.MAC, i.MTU = [6]byte{}, l.MTU
	copy(i.MAC[:], l.HardwareAddr)
}

func carrier(l *netlink.LinkAttrs) bool { return l.RawFlags&unix.IFF_LOWER_UP != 0 }

// elsewhere are the IPv4 addresses of links that are neither twins, nor devices of ports, nor the loopback. Those of the management
// port are apart.
func (h *Host) elsewhere(links []netlink.Link) (all, management []netip.Prefix, err error) {
	ours, port := map[int]bool{}, -1
	for _, l := range links {
		if l.Attrs().Name == h.management {
			port = l.Attrs().Index
			continue
		}
		if l.Attrs().RawFlags&unix.IFF_LOOPBACK != 0 || h.isOurs(l.Attrs().Name) {
			ours[l.Attrs().Index] = true
		}
	}
	addrs, err := h.nl.AddrList(nil, netlink.FAMILY_V4)
	if err != nil {
		return nil, nil, fmt.Errorf("cannot read the kernel's addresses: %w", err)
	}
	for _, a := range addrs {
		bits, _ := a.Mask.Size()
		switch p := netip.PrefixFrom(addrOf(a.IP), bits); {
		case a.LinkIndex == port:
			management = append(management, p)
		case !ours[a.LinkIndex]:
			all = append(all, p)
		}
	}
	return sorted(all), sorted(management), nil
}

func sorted(all []netip.Prefix) []netip.Prefix {
	slices.SortFunc(all, func(a, b netip.Prefix) int {
		return cmp.Or(a.Addr().Compare(b.Addr()), cmp.Compare(a.Bits(), b.Bits()))
	})
	return slices.Compact(all)
}
