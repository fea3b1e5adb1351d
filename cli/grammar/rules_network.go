package grammar

import (
	"net/netip"
	"strconv"

	"sluice/vendor-config/schema"
)

func ipRules() rules {
	return rules{
		check:  typed(checkIP),
		unique: func(row any) string { return onlyNSIP(row.(*schema.NSIP)) },
		taken: func(row, other any) error {
			return schema.Refuse(schema.RowExists, "type", "NSIP").Because("the NSIP is " + other.(*schema.NSIP).IPAddress.String())
		},
		changed: typed(ipChanged),
		inUse:   typed(ipInUse),
		gone:    typed(func(c *schema.Config, ip *schema.NSIP) error { return routesHold(c, ip) }),
	}
}

// onlyNSIP: there is one NSIP.
func onlyNSIP(ip *schema.NSIP) string {
	if ip.Type == "NSIP" {
		return "NSIP"
	}
	return ""
}

func checkIP(c *schema.Config, ip *schema.NSIP) error {
	n := bits(ip.Netmask)
	switch {
	case !schema.Unicast(ip.IPAddress):
		return schema.Refuse(schema.BadAddress, "IPAddress", ip.IPAddress.String()).Because("it is not an address of a host")
	case n < 1:
		return badMask("netmask", ip.Netmask)
	case ip.Type != "VIP" && n < 31 && (edge(ip.IPAddress, n)):
		return schema.Refuse(schema.BadAddress, "IPAddress", ip.IPAddress.String()).Because("with the mask " + ip.Netmask.String() + " it is the network or broadcast address")
	case ip.VRID != 0 && ip.Type != "VIP":
		return schema.Refuse(schema.NotPermitted, "vrID", strconv.Itoa(int(ip.VRID))).Because("only a VIP has a virtual router, and " + ip.IPAddress.String() + " is a " + ip.Type)
	case ip.VRID != 0 && schema.Get[schema.VRID](c, strconv.Itoa(int(ip.VRID))) == nil:
		return schema.Refuse(schema.NoSuchRow, "vrID", strconv.Itoa(int(ip.VRID))).Because("add vrID " + strconv.Itoa(int(ip.VRID)) + " first")
	case ip.State == "DISABLED" && ip.Type != "VIP":
		return schema.Refuse(schema.NotPermitted, ip.IPAddress.String()).Because("only a VIP can be disabled, and it is a " + ip.Type)
	}
	return nil
}

// edge: the first or last address of the subnet.
func edge(a netip.Addr, n int) bool {
	b := a.As4()
	host := (uint32(b[0])<<24 | uint32(b[1])<<16 | uint32(b[2])<<8 | uint32(b[3])) & (1<<(32-n) - 1)
	return host == 0 || host == 1<<(32-n)-1
}

// ipChanged: the address is nobody else's, the bindings to VLANs follow the mask, and routes must still have their
// gateways on a subnet.
func ipChanged(c *schema.Config, ip *schema.NSIP) error {
	if s := serverAt(c, ip.IPAddress); s != nil {
		return schema.Refuse(schema.RowExists, ip.IPAddress.String()).Because("it is the address of server " + s.Name)
	}
	for row := range c.Each(schema.Of[schema.Route]()) {
		if r := row.(*schema.Route); r.Gateway == ip.IPAddress {
			return schema.Refuse(schema.RowExists, ip.IPAddress.String()).Because("it is the gateway of route " + RowName(schema.Of[schema.Route](), r))
		}
	}
	if ip.VServer == "DISABLED" {
		for row := range c.Each(schema.Of[schema.LBVserver]()) {
			if v := row.(*schema.LBVserver); listensOn(v, ip.IPAddress) {
				return schema.Refuse(schema.RowInUse, ip.IPAddress.String()).Because("lb vserver " + v.Name + " is on it")
			}
		}
	}
	for _, b := range schema.All[schema.VLANIP](c) {
		if b.IPAddress == ip.IPAddress && b.Netmask != ip.Netmask {
			n := *b
			n.Netmask = ip.Netmask
			schema.Put(c, &n)
		}
	}
	return routesHold(c, ip)
}

// routesHold refuses a change of ip that leaves a route without a reachable gateway. No route goes by a VIP.
func routesHold(c *schema.Config, ip *schema.NSIP) error {
	if ip.Type == "VIP" {
		return nil
	}
	for row := range c.Each(schema.Of[schema.Route]()) {
		if r := row.(*schema.Route); !reachable(c, r.Gateway) {
			return schema.Refuse(schema.RowInUse, ip.IPAddress.String()).Because("the gateway of route " + RowName(schema.Of[schema.Route](), r) + " is on its subnet")
		}
	}
	return nil
}

func ipInUse(c *schema.Config, ip *schema.NSIP) error {
	refuse := func(by string) error { return schema.Refuse(schema.RowInUse, ip.IPAddress.String()).Because(by) }
	if ip.Type == "NSIP" {
		return schema.Refuse(schema.NotPermitted, ip.IPAddress.String()).Because("the NSIP cannot be removed")
	}
	for row := range c.Each(schema.Of[schema.LBVserver]()) {
		if v := row.(*schema.LBVserver); listensOn(v, ip.IPAddress) {
			return refuse("lb vserver " + v.Name + " is on it")
		}
	}
	for row := range c.Each(schema.Of[schema.VLANIP]()) {
		if b := row.(*schema.VLANIP); b.IPAddress == ip.IPAddress {
			return refuse("it is bound to vlan " + strconv.Itoa(int(b.ID)))
		}
	}
	return nil
}

func listensOn(v *schema.LBVserver, a netip.Addr) bool {
	for ip := range v.VIPs() {
		if ip == a {
			return true
		}
	}
	return false
}

func vlanInterfaceRules() rules {
	return rules{
		// A port is untagged in one VLAN: binding it to another moves it, as on the reference product.
		prepare: typed(func(c *schema.Config, b *schema.VLANInterface) error {
			for _, other := range schema.All[schema.VLANInterface](c) {
				if other.Ifnum == b.Ifnum && other.ID != b.ID {
					c.Delete(schema.Of[schema.VLANInterface](), strconv.Itoa(int(other.ID)), other.Ifnum)
				}
			}
			return nil
		}),
		unique: func(row any) string { return row.(*schema.VLANInterface).Ifnum },
		taken: func(row, other any) error {
			b := other.(*schema.VLANInterface)
			return schema.Refuse(schema.RowExists, "ifnum", b.Ifnum).Because("the port is in vlan " + strconv.Itoa(int(b.ID)))
		},
	}
}

func vlanIPRules() rules {
	return rules{
		prepare: typed(func(c *schema.Config, b *schema.VLANIP) error {
			if ip := schema.Get[schema.NSIP](c, b.IPAddress.String()); ip != nil && !b.Netmask.IsValid() {
				b.Netmask = ip.Netmask
			}
			return nil
		}),
		check: typed(func(c *schema.Config, b *schema.VLANIP) error {
			if ip := schema.Get[schema.NSIP](c, b.IPAddress.String()); ip.Netmask != b.Netmask {
				return schema.Refuse(schema.BadArgument, "netmask", b.Netmask.String()).Because("ns ip " + ip.IPAddress.String() + " has the mask " + ip.Netmask.String())
			}
			return nil
		}),
		unique: func(row any) string { return row.(*schema.VLANIP).IPAddress.String() },
		taken: func(row, other any) error {
			b := other.(*schema.VLANIP)
			return schema.Refuse(schema.RowExists, "IPAddress", b.IPAddress.String()).Because("it is bound to vlan " + strconv.Itoa(int(b.ID)))
		},
	}
}

func checkRoute(c *schema.Config, r *schema.Route) error {
	n := bits(r.Netmask)
	if n < 0 {
		return badMask("netmask", r.Netmask)
	}
	if net := netip.PrefixFrom(r.Network, n).Masked().Addr(); net != r.Network {
		return schema.Refuse(schema.BadValue, "network", r.Network.String()).Because("with the mask " + r.Netmask.String() + " the network is " + net.String())
	}
	if own := schema.Get[schema.NSIP](c, r.Gateway.String()); own != nil {
		return schema.Refuse(schema.BadArgument, "gateway", r.Gateway.String()).Because("it is an address of this appliance")
	}
	if !reachable(c, r.Gateway) {
		return schema.Refuse(schema.NoGateway, r.Gateway.String()).Because("add a SNIP on its subnet first")
	}
	return nil
}

// reachable: the gateway is on the subnet of a SNIP or of the NSIP.
func reachable(c *schema.Config, gateway netip.Addr) bool {
	for row := range c.Each(schema.Of[schema.NSIP]()) {
		ip := row.(*schema.NSIP)
		n := bits(ip.Netmask)
		if ip.Type != "VIP" && n >= 0 && n < 32 && netip.PrefixFrom(ip.IPAddress, n).Contains(gateway) {
			return true
		}
	}
	return false
}
