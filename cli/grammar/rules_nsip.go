package grammar

import (
	"fmt"

	"sluice/vendor-config/schema"
)

// setNSIP is `set ns config -IPAddress -netmask`: the NSIP has another address, or there is one now. It is a row of ns ip like
// the others, which `add ns ip -type NSIP` would make as well.
func (op *Op) setNSIP(c *schema.Config) error {
	ips := schema.Of[schema.NSIP]()
	next := ips.Fresh().(*schema.NSIP)
	next.Type = "NSIP"
	for _, ip := range schema.All[schema.NSIP](c) {
		if ip.Type != "NSIP" {
			continue
		}
		*next = *ip
		if same, _ := op.Arg("IPAddress"); same == ip.IPAddress.String() {
			continue // it keeps its place
		}
		for _, b := range schema.All[schema.VLANIP](c) {
			if b.IPAddress == ip.IPAddress {
				return schema.Refuse(schema.RowInUse, ip.IPAddress.String()).Because(fmt.Sprintf("it is bound to vlan %d; unbind it first", b.ID))
			}
		}
		c.Remove(ips, ip)
	}
	for _, a := range []struct {
		field string
		to    interface{ UnmarshalText([]byte) error }
	}{{"IPAddress", &next.IPAddress}, {"netmask", &next.Netmask}} {
		text, given := op.Arg(a.field)
		if !given {
			return schema.Refuse(schema.NoPrereq, a.field).Because("-IPAddress and -netmask are given together")
		}
		if err := a.to.UnmarshalText([]byte(text)); err != nil {
			return schema.Refuse(schema.BadAddress, a.field, text)
		}
	}
	if other := schema.Get[schema.NSIP](c, next.IPAddress.String()); other != nil && other.Type != "NSIP" {
		return schema.Refuse(schema.RowExists, "IPAddress", next.IPAddress.String()).Because("it is a " + other.Type)
	}
	return put(c, ips, next)
}

// plainNSIP: the command setNSIPLine makes the whole row.
func plainNSIP(ip *schema.NSIP) bool {
	plain := *schema.Of[schema.NSIP]().Fresh().(*schema.NSIP)
	plain.IPAddress, plain.Netmask, plain.Type = ip.IPAddress, ip.Netmask, "NSIP"
	return *ip == plain
}

func setNSIPLine(ip *schema.NSIP) string {
	return "set ns config -IPAddress " + ip.IPAddress.String() + " -netmask " + ip.Netmask.String()
}
