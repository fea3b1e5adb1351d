package host

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"sluice/dataplane/api"
)

// Neighbor is an entry of the kernel's neighbor table on a twin, for the operator.
type Neighbor struct {
	Port   string // name of the port, e.g. "1/1"
	IP     netip.Addr
	MAC    [6]byte
	State  string        // as `ip neigh` has it: REACHABLE, STALE, DELAY, PROBE, INCOMPLETE, FAILED, PERMANENT, NOARP
	Origin string        // DYNAMIC or STATIC
	Age    time.Duration // since the neighbor last answered
}

// usable are the states in which the kernel itself would send to a neighbor.
const usable = netlink.NUD_REACHABLE | netlink.NUD_STALE | netlink.NUD_DELAY | netlink.NUD_PROBE | netlink.NUD_PERMANENT

// kernelTick is the unit of the ages that the kernel gives (USER_HZ).
const kernelTick = 10 * time.Millisecond

// Resolve asks the kernel for the link address of ip on a twin; Watch hears the answer.
func (h *Host) Resolve(_ context.Context, twin string, ip netip.Addr) error {
	link, err := h.link(twin)
	if err == nil && link == nil {
		err = errors.New("the twin is not there")
	}
	if err == nil {
		err = h.use(link.Attrs().Index, ip)
	}
	if err != nil {
		return fmt.Errorf("twin %s: cannot resolve neighbor %s: %w%s", twin, ip, err, remedy(err, twin))
	}
	return nil
}

// use tells the kernel that a neighbor is in use: it asks for one that it does not know, and checks one that has been
// quiet.
func (h *Host) use(link int, ip netip.Addr) error {
	return h.nl.NeighSet(&netlink.Neigh{
		LinkIndex: link, Family: unix.AF_INET, IP: ip.Unmap().AsSlice(), State: netlink.NUD_NONE, Flags: netlink.NTF_USE,
	})
}

// Neighbors are the kernel's neighbors on the twins, by port and address.
func (h *Host) Neighbors() ([]Neighbor, error) {
	var all []Neighbor
	for _, p := range h.ports {
		link, err := h.link(p.Twin)
		if err != nil {
			return nil, fmt.Errorf("twin %s: %w", p.Twin, err)
		}
		if link == nil {
			continue
		}
		list, err := h.nl.NeighList(link.Attrs().Index, netlink.FAMILY_V4)
		if err != nil && !errors.Is(err, netlink.ErrDumpInterrupted) {
			return nil, fmt.Errorf("twin %s: cannot read its neighbors: %w", p.Twin, err)
		}
		first := len(all)
		for _, n := range list {
			if n.State == netlink.NUD_NOARP || n.State == netlink.NUD_NONE {
				continue // multicast and broadcast, which nobody resolves
			}
			e := Neighbor{
				Port: p.Name, IP: addrOf(n.IP), State: stateName(n.State), Origin: "DYNAMIC",
				Age: time.Duration(n.Confirmed) * kernelTick,
			}
			copy(e.MAC[:], n.HardwareAddr)
			if n.State&netlink.NUD_PERMANENT != 0 {
				e.Origin = "STATIC"
			}
			all = append(all, e)
		}
		slices.SortFunc(all[first:], func(a, b Neighbor) int { return a.IP.Compare(b.IP) })
	}
	return all, nil
}

func stateName(state int) string {
	for bit, name := range map[int]string{
		netlink.NUD_INCOMPLETE: "INCOMPLETE", netlink.NUD_REACHABLE: "REACHABLE", netlink.NUD_STALE: "STALE",
		netlink.NUD_DELAY: "DELAY", netlink.NUD_PROBE: "PROBE", netlink.NUD_FAILED: "FAILED",
		netlink.NUD_NOARP: "NOARP", netlink.NUD_PERMANENT: "PERMANENT",
	} {
		if state&bit != 0 {
			return name
		}
	}
	return "NONE"
}

// neighbors is the neighbor table as the watch knows it.
type neighbors map[neighborKey]*neighborEntry

type neighborKey struct {
	link int
	ip   netip.Addr
}

type neighborEntry struct {
	mac       [6]byte
	permanent bool
	asked     time.Time // when it was last used or learnt
}

// observe takes one entry of the kernel and tells whether the dataplane must know, and whether the entry has failed and
// ought to leave the kernel's table.
func (t neighbors) observe(n *netlink.Neigh, gone bool, now time.Time) (changed, failed bool) {
	ip := addrOf(n.IP)
	if !ip.Is4() || ip.IsMulticast() {
		return false, false
	}
	k := neighborKey{n.LinkIndex, ip}
	old := t[k]
	if gone || n.State&usable == 0 || len(n.HardwareAddr) != 6 {
		delete(t, k)
		return old != nil, !gone && n.State&netlink.NUD_FAILED != 0
	}
	mac := [6]byte(n.HardwareAddr)
	if old == nil {
		t[k] = &neighborEntry{mac: mac, permanent: n.State&netlink.NUD_PERMANENT != 0, asked: now}
		return true, false
	}
	changed = old.mac != mac
	old.mac, old.permanent = mac, n.State&netlink.NUD_PERMANENT != 0
	return changed, false
}

// list is the table as the dataplane wants it; portOf gives the port of a twin's link.
func (t neighbors) list(portOf map[int]uint16) []api.Neighbor {
	all := make([]api.Neighbor, 0, len(t))
	for k, e := range t {
		if port, ok := portOf[k.link]; ok {
			all = append(all, api.Neighbor{Port: port, IP: k.ip, MAC: e.mac})
		}
	}
	slices.SortFunc(all, func(a, b api.Neighbor) int {
		if a.Port != b.Port {
			return int(a.Port) - int(b.Port)
		}
		return a.IP.Compare(b.IP)
	})
	return all
}

// due are the neighbors that have not been asked for since before; they count as asked now.
func (t neighbors) due(before, now time.Time) []neighborKey {
	var keys []neighborKey
	for k, e := range t {
		if !e.permanent && e.asked.Before(before) {
			e.asked = now
			keys = append(keys, k)
		}
	}
	return keys
}
