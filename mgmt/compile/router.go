package compile

import (
	"cmp"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"time"

	"sluice/dataplane/api"
	"sluice/mgmt/vrrp"
	"sluice/vendor-config/schema"
)

// Router is a virtual router on a port that carries VIPs of it: those that are bound to a VLAN of the port, or else are on a subnet
// of it.
type Router struct {
	Row    *schema.VRID
	Port   int // by index, as in the dataplane's settings
	Twin   string
	Name   string         // of the port
	Source netip.Prefix   // primary address of the twin: on the subnet of the VIPs, or else its first
	OnLink []netip.Prefix // the other addresses of the twin
	VIPs   []netip.Addr   // on this port, ascending

	Vservers []string // enabled ones on VIPs of the virtual router, on this port or others
	Tracked  []string // ports
}

// RouterOn names a virtual router on a port.
type RouterOn struct {
	ID   uint8
	Twin string
}

// On is the name of r.
func (r *Router) On() RouterOn { return RouterOn{r.Row.ID, r.Twin} }

// routers finds the virtual routers on ports, by vrID and port.
func (m *maker) routers() []Router {
	if m.x.c.Len(routerRows) == 0 {
		return nil
	}
	ids, vips := map[netip.Addr]uint8{}, map[RouterOn][]netip.Addr{}
	on := m.out.net.placesOfVIPs(m.x.c)
	for row := range m.x.c.Each(nsIPs) {
		a := row.(*schema.NSIP)
		if a.VRID == 0 || a.Type != "VIP" || !enabled(a.State) {
			continue
		}
		ids[a.IPAddress] = a.VRID
		if port := on(a.IPAddress); port != noPort {
			k := RouterOn{a.VRID, m.out.net.ports[port].Twin}
			vips[k] = append(vips[k], a.IPAddress)
		}
	}
	vservers := m.x.vserversOfRouters(ids)
	var out []Router
	for row := range m.x.c.Each(routerRows) {
		v := row.(*schema.VRID)
		for i, p := range m.out.net.ports {
			list := vips[RouterOn{v.ID, p.Twin}]
			if len(list) == 0 {
				continue
			}
			slices.SortFunc(list, netip.Addr.Compare)
			r := Router{Row: v, Port: i, Twin: p.Twin, Name: p.Name, VIPs: list, Vservers: vservers[v.ID], Tracked: TrackedPorts(m.x.c, v.ID)}
			r.Source, r.OnLink = m.out.net.primary(i, list[0])
			out = append(out, r)
		}
	}
	slices.SortStableFunc(out, func(a, b Router) int { return cmp.Or(cmp.Compare(a.Row.ID, b.Row.ID), cmp.Compare(a.Port, b.Port)) })
	return out
}

// placesOfVIPs tells the port of a VIP: that of its VLAN, or that of its subnet, or none.
func (n *network) placesOfVIPs(c *schema.Config) func(netip.Addr) int {
	vlanPort, _ := portsOfVLANs(c, n.ports)
	bound := map[netip.Addr]int{}
	for _, b := range schema.All[schema.VLANIP](c) {
		if p, ok := vlanPort[b.ID]; ok {
			bound[b.IPAddress] = p
		}
	}
	return func(ip netip.Addr) int {
		if p, ok := bound[ip]; ok {
			return p
		}
		if s, ok := n.subnetOf(ip); ok {
			return s.port
		}
		return noPort
	}
}

// primary is the address of a port by which it speaks for a VIP, and the port's others.
func (n *network) primary(port int, vip netip.Addr) (source netip.Prefix, others []netip.Prefix) {
	for _, a := range n.addrs {
		if a.port != port {
			continue
		}
		switch {
		case !source.IsValid():
			source = a.prefix
		case !source.Contains(vip) && a.prefix.Contains(vip):
			others = append(others, source)
			source = a.prefix
		default:
			others = append(others, a.prefix)
		}
	}
	return source, others
}

// vserversOfRouters are the enabled vservers by the virtual router of one of their addresses. One that is disabled is meant to be so,
// and says nothing about the appliance.
func (x *Index) vserversOfRouters(ids map[netip.Addr]uint8) map[uint8][]string {
	all := map[uint8][]string{}
	for row := range x.c.Each(vserverRows) {
		v := row.(*schema.LBVserver)
		if !x.VserverEnabled(v) {
			continue
		}
		for ip := range v.VIPs() {
			if id := ids[ip]; id != 0 && (len(all[id]) == 0 || all[id][len(all[id])-1] != v.Name) {
				all[id] = append(all[id], v.Name)
			}
		}
	}
	return all
}

// checkTracked refuses to track a port that is not there: it would never be DOWN, and a slip of the finger be a tracking that does
// nothing.
func (m *maker) checkTracked() error {
	for row := range m.x.c.Each(trackRows) {
		t := row.(*schema.VRIDTrack)
		if !slices.ContainsFunc(m.s.Ports, func(p Port) bool { return p.Name == t.TrackifNum }) {
			return noPortNamed("trackifNum", t.TrackifNum, m.s.Ports)
		}
	}
	return nil
}

// TrackedPorts are the ports that a virtual router tracks.
func TrackedPorts(c *schema.Config, id uint8) (ports []string) {
	for _, t := range schema.All[schema.VRIDTrack](c) {
		if t.ID == id {
			ports = append(ports, t.TrackifNum)
		}
	}
	return ports
}

// Priority is the effective priority of a virtual router, and why it is not the configured one.
func (r *Router) Priority(s *State) (priority uint8, why string) {
	n, down := len(r.Vservers), 0
	for _, v := range r.Vservers {
		if !s.Vservers[v].Up {
			down++
		}
	}
	var because []string
	priority = byVservers(r.Row.Priority, r.Row.Tracking, n, down)
	if priority != r.Row.Priority {
		because = append(because, fmt.Sprintf("%d of %d vservers DOWN with tracking %s", down, n, r.Row.Tracking))
	}
	if r.Row.TrackifNumPriority != 0 {
		lost := slices.DeleteFunc(slices.Clone(r.Tracked), func(p string) bool { return s.Down[p] == "" })
		if len(lost) > 0 {
			priority -= min(r.Row.TrackifNumPriority, priority)
			because = append(because, "tracked port "+strings.Join(lost, " ")+" DOWN")
		}
	}
	return priority, strings.Join(because, "; ")
}

// byVservers lowers a priority by the state of n vservers, of which some are down; without any it stays.
func byVservers(priority uint8, tracking string, n, down int) uint8 {
	switch {
	case n == 0 || down == 0 || tracking == "NONE" || tracking == "ONE" && down < n:
		return priority
	case tracking == "PROGRESSIVE":
		return uint8(int(priority) * (n - down) / n) // cut off, not rounded
	}
	return 0
}

// Intents are what the speaker of VRRP is to do.
func Intents(c *schema.Config, routers []Router, s *State) []vrrp.Intent {
	common := commonIntent(c)
	out := make([]vrrp.Intent, 0, len(routers))
	for i := range routers {
		r, in := &routers[i], common
		in.ID, in.Device, in.Source, in.OnLink, in.VIPs = r.Row.ID, r.Twin, r.Source, r.OnLink, r.VIPs
		in.Preempt, in.Delay = r.Row.Preemption == "ENABLED", time.Duration(r.Row.Preemptiondelaytimer)*time.Second
		in.Held, in.Down = s.Held[r.Row.ID], s.Down[r.Name]
		in.Priority, in.Reason = r.Priority(s)
		out = append(out, in)
	}
	return out
}

// commonIntent is what the intents of all virtual routers have in common.
func commonIntent(c *schema.Config) vrrp.Intent {
	p := schema.Single[schema.VRIDParam](c)
	in := vrrp.Intent{Hello: time.Duration(p.HelloInterval) * time.Millisecond, Dead: time.Duration(p.DeadInterval) * time.Second, Version: 3}
	if p.Version == "2" {
		in.Version = 2
	}
	switch p.Checksum {
	case "rfc9568":
		in.Checksum = vrrp.ChecksumRFC9568
	case "rfc5798":
		in.Checksum = vrrp.ChecksumRFC5798
	}
	return in
}

// Lease is how long mastership holds in the dataplane without another renewal.
func Lease(c *schema.Config) time.Duration {
	in := commonIntent(c)
	return in.Lease()
}

// Roles are what the dataplane is to do with the VIPs.
func Roles(c *schema.Config, routers []Router, s *State) []api.Role {
	send := schema.Single[schema.VRIDParam](c).SendToMaster == "ENABLED"
	var out []api.Role
	for i := range routers {
		r := &routers[i]
		st := s.Routers[r.On()]
		role := api.Role{Port: uint16(r.Port), ID: r.Row.ID, Master: st.Role == vrrp.Master, Sharing: r.Row.Sharing == "ENABLED"}
		if send && st.Role == vrrp.Backup {
			role.Via = st.MasterAddress
		}
		out = append(out, role)
	}
	return out
}

// Stands notes where a virtual router stands. It is for use within Engine.Observe.
func (s *State) Stands(st vrrp.State) {
	s.Routers = maps.Clone(s.Routers)
	if s.Routers == nil {
		s.Routers = map[RouterOn]vrrp.State{}
	}
	s.Routers[RouterOn{st.ID, st.Device}] = st
}

// Hold keeps a virtual router backup, or lets it go. It is for use within Engine.Observe.
func (s *State) Hold(id uint8, held bool) {
	s.Held = maps.Clone(s.Held)
	if s.Held == nil {
		s.Held = map[uint8]bool{}
	}
	if s.Held[id] = held; !held {
		delete(s.Held, id)
	}
}
