package compile

import (
	"net/netip"
	"slices"

	"sluice/vendor-config/schema"
)

// Elsewhere are the addresses on kernel devices that are no ports, with their subnets' lengths: what has been observed, and on
// the management port the NSIP of c as soon as it has one, since nothing else stays there then.
func Elsewhere(c *schema.Config, s *State) []netip.Prefix {
	if s.Management.Device == "" {
		return s.Elsewhere
	}
	for row := range c.Each(schema.Of[schema.NSIP]()) {
		if a := row.(*schema.NSIP); a.Type == "NSIP" {
			if bits, ok := maskBits(a.Netmask); ok {
				return append(slices.Clip(s.Elsewhere), netip.PrefixFrom(a.IPAddress, bits))
			}
		}
	}
	return append(slices.Clip(s.Elsewhere), s.OnManagement...)
}

// byManagement tells whether packets to the gateway leave by the management port. Such routes are the kernel's alone: the
// dataplane neither has the port nor sends to it.
func (n *network) byManagement(gateway netip.Addr) bool {
	return n.nsip != nil && n.nsip.NSIP.Contains(gateway) && !n.nsip.NSIP.IsSingleIP()
}
