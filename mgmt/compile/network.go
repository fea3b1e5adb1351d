package compile

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"sluice/dataplane/api"
	"sluice/vendor-config/schema"
)

// noPort is the place of an address that lives on none of our ports.
const noPort = -1

// network is where addresses live and which way packets leave.
type network struct {
	ports     []Port
	elsewhere []netip.Prefix // addresses on devices that are no ports, the NSIP on the management port among them
	addrs     []owned
	connected []subnet
	routes    []api.Route
	kernel    []HostRoute // static routes, for the kernel's side

	management Port            // see State
	nsip       *ManagementPlan // nil: there is no management port, or no NSIP
}

// owned is an address that lives on a port's twin, or on another kernel device (noPort).
type owned struct {
	ip     netip.Addr
	prefix netip.Prefix // address with its subnet's length
	kind   string       // SNIP, NSIP
	port   int
}

type subnet struct {
	prefix netip.Prefix
	port   int
	owner  netip.Addr
}

// layout is network without its error, for those who ask after Tables has accepted the configuration.
func layout(x *Index, s *State) *network {
	n, _ := newNetwork(x, s)
	return n
}

// newNetwork places the addresses on the ports and works out the forwarding table. The error names the first object
// at fault; what could be worked out is returned all the same.
func newNetwork(x *Index, s *State) (*network, error) {
	n := &network{ports: s.Ports, elsewhere: Elsewhere(x.c, s), management: s.Management}
	first := n.place(x, s)
	if err := n.connect(); first == nil {
		first = err
	}
	if err := n.route(x.c); first == nil {
		first = err
	}
	return n, first
}

// place finds the port of every SNIP and NSIP.
func (n *network) place(x *Index, s *State) error {
	vlanPort, err := portsOfVLANs(x.c, s.Ports)
	bound := boundSubnets(x.c, vlanPort)
	for _, a := range schema.All[schema.NSIP](x.c) {
		if a.Type == "VIP" {
			continue
		}
		bits, ok := maskBits(a.Netmask)
		if !ok {
			if err == nil {
				err = schema.Refuse(schema.BadValue, "netmask", a.Netmask.String()).Because("it is the mask of ns ip " + a.IPAddress.String())
			}
			continue
		}
		o := owned{a.IPAddress, netip.PrefixFrom(a.IPAddress, bits), a.Type, 0}
		for _, b := range bound {
			if b.owner == o.ip || b.prefix.Contains(o.ip) && b.prefix.Bits() <= bits {
				if o.port = b.port; b.owner == o.ip {
					break
				}
			}
		}
		if len(s.Ports) == 0 || a.Type == "NSIP" && slices.ContainsFunc(n.elsewhere, func(e netip.Prefix) bool { return e.Addr() == a.IPAddress }) {
			o.port = noPort
		}
		if a.Type == "NSIP" && s.Management.Device != "" {
			n.nsip = &ManagementPlan{Device: s.Management.Device, NSIP: o.prefix}
		}
		if e := o.takes(n.elsewhere); e.IsValid() && err == nil {
			err = schema.Refuse(schema.NotPermitted, "IPAddress", a.IPAddress.String()).Because(fmt.Sprintf(
				"its subnet is that of the address %s, which is on no port; the appliance would lose the hosts there", e))
		}
		n.addrs = append(n.addrs, o)
	}
	return err
}

// takes finds the subnet of another kernel device whose hosts, often the operator's own, the kernel would look for on
// our port once o is there; none is the zero Prefix. A subnet that is a proper part of the other's does no harm.
func (o owned) takes(elsewhere []netip.Prefix) netip.Prefix {
	for _, e := range elsewhere {
		part := o.prefix.Bits() > e.Bits() && !o.prefix.IsSingleIP()
		if o.port != noPort && e.Contains(o.ip) && !part {
			return e
		}
	}
	return netip.Prefix{}
}

// boundSubnets are the subnets of the addresses that VLANs are bound to: with its address a whole subnet is bound, so that
// further addresses in it come to the same port. Wider ones come first. A VLAN without a port has noPort.
func boundSubnets(c *schema.Config, vlanPort map[uint16]int) []subnet {
	var list []subnet
	for _, b := range schema.All[schema.VLANIP](c) {
		a := schema.Get[schema.NSIP](c, b.IPAddress.String())
		if a == nil {
			continue
		}
		bits, ok := maskBits(a.Netmask)
		if !ok {
			continue
		}
		s := subnet{prefix: netip.PrefixFrom(b.IPAddress, bits).Masked(), port: noPort, owner: b.IPAddress}
		if p, ok := vlanPort[b.ID]; ok {
			s.port = p
		}
		list = append(list, s)
	}
	slices.SortStableFunc(list, func(a, b subnet) int { return cmp.Compare(a.prefix.Bits(), b.prefix.Bits()) })
	return list
}

func portsOfVLANs(c *schema.Config, ports []Port) (map[uint16]int, error) {
	out := map[uint16]int{}
	var first error
	fail := func(r *schema.Refusal) {
		if first == nil {
			first = r
		}
	}
	for _, b := range schema.All[schema.VLANInterface](c) {
		p := slices.IndexFunc(ports, func(p Port) bool { return p.Name == b.Ifnum })
		if p < 0 {
			fail(noPortNamed("ifnum", b.Ifnum, ports))
			continue
		}
		if q, ok := out[b.ID]; ok && q != p {
			fail(schema.Refuse(schema.NotSupported, "ifnum", b.Ifnum).Because(fmt.Sprintf("vlan %d has the port %s, and a VLAN has one port", b.ID, ports[q].Name)))
			continue
		}
		out[b.ID] = p
	}
	return out, first
}

// noPortNamed refuses a port that the machine does not have; what it has stands behind it.
func noPortNamed(word, name string, ports []Port) *schema.Refusal {
	var names []string
	for _, p := range ports {
		names = append(names, p.Name)
	}
	return schema.Refuse(schema.NoSuchRow, word, name).Because("the interfaces are " + strings.Join(names, ", "))
}

// connect derives the connected subnets.
func (n *network) connect() error {
	for _, a := range n.addrs {
		if a.port == noPort || a.prefix.Bits() == 32 {
			continue
		}
		p := a.prefix.Masked()
		i := slices.IndexFunc(n.connected, func(s subnet) bool { return s.prefix == p })
		if i < 0 {
			n.connected = append(n.connected, subnet{p, a.port, a.ip})
			n.routes = append(n.routes, api.Route{Prefix: p, Port: uint16(a.port)})
			continue
		}
		if s := n.connected[i]; s.port != a.port {
			return schema.Refuse(schema.NotPermitted, "IPAddress", a.ip.String()).Because(fmt.Sprintf("its subnet %s would be on port %s, and %s has it on %s",
				p, n.ports[a.port].Name, s.owner, n.ports[s.port].Name))
		}
	}
	return nil
}

// route adds the static routes: of those with the same prefix the lowest distance wins, equals share the flows.
func (n *network) route(c *schema.Config) error {
	type static struct {
		api.Route
		distance uint16
	}
	best := map[netip.Prefix]uint16{}
	var all []static
	var first error
	for _, r := range schema.All[schema.Route](c) {
		bits, ok := maskBits(r.Netmask)
		p := netip.PrefixFrom(r.Network, bits)
		if !ok || p.Masked() != p {
			if first == nil {
				first = schema.Refuse(schema.BadValue, "netmask", r.Netmask.String()).Because("it is the mask of route " + r.Network.String())
			}
			continue
		}
		via, ok := n.subnetOf(r.Gateway)
		if !ok && n.byManagement(r.Gateway) {
			n.nsip.Routes = append(n.nsip.Routes, HostRoute{p, r.Gateway, n.nsip.Device})
			continue
		}
		if !ok {
			if first == nil {
				first = schema.Refuse(schema.NoGateway, "gateway", r.Gateway.String()).Because("no port has a subnet with the gateway of route " + r.Network.String() + " " + r.Netmask.String())
			}
			continue
		}
		all = append(all, static{api.Route{Prefix: p, Port: uint16(via.port), Gateway: r.Gateway}, r.Distance})
		if d, ok := best[p]; !ok || r.Distance < d {
			best[p] = r.Distance
		}
	}
	for _, r := range all {
		direct := slices.ContainsFunc(n.connected, func(s subnet) bool { return s.prefix == r.Prefix })
		if direct || r.distance != best[r.Prefix] {
			continue
		}
		n.routes = append(n.routes, r.Route)
		n.kernel = append(n.kernel, HostRoute{r.Prefix, r.Gateway, n.ports[r.Port].Twin})
	}
	slices.SortStableFunc(n.routes, func(a, b api.Route) int {
		return cmp.Or(a.Prefix.Addr().Compare(b.Prefix.Addr()), cmp.Compare(a.Prefix.Bits(), b.Prefix.Bits()))
	})
	return first
}

// subnetOf finds the longest connected subnet that holds ip.
func (n *network) subnetOf(ip netip.Addr) (subnet, bool) {
	var best subnet
	for _, s := range n.connected {
		if s.prefix.Contains(ip) && (!best.prefix.IsValid() || s.prefix.Bits() > best.prefix.Bits()) {
			best = s
		}
	}
	return best, best.prefix.IsValid()
}

// nextHops are the addresses to which a packet for ip may be sent next; none when there is no route.
func (n *network) nextHops(ip netip.Addr) []api.Route {
	bits := -1
	for _, r := range n.routes {
		if r.Prefix.Contains(ip) {
			bits = max(bits, r.Prefix.Bits())
		}
	}
	var out []api.Route
	for _, r := range n.routes {
		if r.Prefix.Bits() == bits && r.Prefix.Contains(ip) {
			out = append(out, r)
		}
	}
	return out
}

// sourcesToward are the SNIPs that may be the source of packets to ip, best first: those on the subnet of the next
// hop, the closest subnet first, or all of them when there is none.
func (n *network) sourcesToward(ip netip.Addr) []netip.Addr {
	var all []netip.Addr
	var near []owned
	hops := n.nextHops(ip)
	for _, a := range n.addrs {
		if a.kind != "SNIP" {
			continue
		}
		all = append(all, a.ip)
		on := func(r api.Route) bool {
			hop := ip
			if r.Gateway.IsValid() {
				hop = r.Gateway
			}
			return a.port == int(r.Port) && a.prefix.Contains(hop)
		}
		if slices.ContainsFunc(hops, on) {
			near = append(near, a)
		}
	}
	if len(near) == 0 {
		return all
	}
	slices.SortStableFunc(near, func(a, b owned) int { return b.prefix.Bits() - a.prefix.Bits() })
	out := make([]netip.Addr, len(near))
	for i, a := range near {
		out[i] = a.ip
	}
	return out
}

// maskBits is the prefix length of a netmask.
func maskBits(mask netip.Addr) (int, bool) {
	if !mask.Is4() {
		return 0, false
	}
	b := mask.As4()
	m := uint32(b[0])<<24 | uint32(b[1])<<16 | uint32(b[2])<<8 | uint32(b[3])
	n := 0
	for m&(1<<31) != 0 {
		n++
		m <<= 1
	}
	return n, m == 0
}

// Host says which addresses and routes belong on the kernel's side of the ports.
func Host(c *schema.Config, s *State) HostPlan { return layout(NewIndex(c, s), s).plan() }

func (n *network) plan() HostPlan {
	plan := HostPlan{Routes: n.kernel, Management: n.nsip}
	for i, p := range n.ports {
		t := TwinPlan{Port: p}
		for _, a := range n.addrs {
			if a.port == i {
				t.Addresses = append(t.Addresses, a.prefix)
			}
		}
		plan.Twins = append(plan.Twins, t)
	}
	return plan
}

// RouteEntry is a route as an operator sees it.
type RouteEntry struct {
	Prefix  netip.Prefix
	Gateway netip.Addr // zero for a connected subnet
	Owner   netip.Addr // of a connected subnet: the address that makes it
	Port    string     // e.g. "1/1"
	InUse   bool       // false: another route to the same prefix is nearer
}

// Routes are all routes, connected ones first, then static ones in the order in which they were added.
func Routes(c *schema.Config, s *State) []RouteEntry {
	n := layout(NewIndex(c, s), s)
	var out []RouteEntry
	for _, d := range n.connected {
		out = append(out, RouteEntry{Prefix: d.prefix, Owner: d.owner, Port: n.ports[d.port].Name, InUse: true})
	}
	if n.nsip != nil && !n.nsip.NSIP.IsSingleIP() {
		out = append(out, RouteEntry{Prefix: n.nsip.NSIP.Masked(), Owner: n.nsip.NSIP.Addr(), Port: n.management.Name, InUse: true})
	}
	for _, r := range schema.All[schema.Route](c) {
		bits, ok := maskBits(r.Netmask)
		via, near := n.subnetOf(r.Gateway)
		p := netip.PrefixFrom(r.Network, bits)
		if ok && !near && n.byManagement(r.Gateway) {
			out = append(out, RouteEntry{p, r.Gateway, netip.Addr{}, n.management.Name, true})
		}
		if !ok || !near {
			continue
		}
		used := slices.ContainsFunc(n.routes, func(u api.Route) bool { return u.Prefix == p && u.Gateway == r.Gateway })
		out = append(out, RouteEntry{p, r.Gateway, netip.Addr{}, n.ports[via.port].Name, used})
	}
	return out
}
