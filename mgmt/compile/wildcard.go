package compile

import (
	"fmt"
	"net/netip"

	"sluice/dataplane/api"
	"sluice/dataplane/api/expr"
	"sluice/vendor-config/schema"
)

// noPolicy is a listen policy that narrows nothing.
const noPolicy = "NONE"

// foreignPlace is the place of a vserver for foreign addresses. Several may be on the same pattern as long as their policies tell
// them apart.
func foreignPlace(v *schema.LBVserver) place {
	ip, mask := netip.IPv4Unspecified(), netip.IPv4Unspecified()
	if v.IPPattern.IsValid() {
		p, m := v.IPPattern.As4(), v.IPMask.As4()
		for i := range p {
			p[i] &= m[i]
		}
		ip, mask = netip.AddrFrom4(p), v.IPMask
	}
	return place{ip, v.Port, proto(v.ServiceType), v.ListenPriority, mask, v.ListenPolicy}
}

// listen says in t which packets to foreign addresses v takes.
func listen(t *api.Vserver, v *schema.LBVserver) error {
	at := foreignPlace(v)
	t.IP, t.IPMask, t.ListenPriority = at.ip, at.mask, v.ListenPriority
	if v.ListenPolicy == noPolicy {
		return nil
	}
	e, err := policy(v)
	if err != nil {
		return err
	}
	t.Listen = e.String()
	return nil
}

func policy(v *schema.LBVserver) (*expr.Expr, error) {
	e, err := expr.Parse(v.ListenPolicy)
	if err != nil {
		return nil, schema.Refuse(schema.BadValue, "Listenpolicy", v.ListenPolicy).Because(fmt.Sprintf("%v; it is the listen policy of lb vserver %s", err, v.Name))
	}
	return e, nil
}

// Modernize writes the classic expressions of c, which must be a private clone of prev, in the default syntax. What is wrong is
// left to Compile.
func Modernize(c, prev *schema.Config) {
	if prev != nil && c.Same(prev, vserverRows) {
		return
	}
	for row := range c.Each(vserverRows) {
		v := row.(*schema.LBVserver)
		if v.ListenPolicy == noPolicy || v.ListenPolicy == "" {
			continue
		}
		if e, err := policy(v); err == nil && e.Classic() {
			n := *v
			n.ListenPolicy = e.String()
			schema.Put(c, &n)
		}
	}
}

// portVLANs are the VLANs that untagged frames belong to, by the port's place; none if all are in VLAN 1.
func portVLANs(c *schema.Config, ports []Port) []uint16 {
	on, err := portsOfVLANs(c, ports)
	if err != nil || len(on) == 0 {
		return nil
	}
	list := make([]uint16, len(ports))
	for i := range list {
		list[i] = 1
	}
	for id, port := range on {
		list[port] = id
	}
	return list
}
