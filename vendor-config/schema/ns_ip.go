package schema

import "net/netip"

// NSIP is an address of the appliance: NSIP (management), SNIP (source toward servers) or VIP (for vservers).
type NSIP struct {
	IPAddress netip.Addr `cli:"IPAddress" key:"1" help:"IPv4 address"`
	Netmask   netip.Addr `cli:"netmask" pos:"2" required:"yes" help:"Subnet mask, e.g. 255.255.255.0"`
	Type      string     `cli:"type" enum:"SNIP,VIP,NSIP" alias:"MIP=SNIP" later:"GSLBsiteIP,CLIP,LSN" def:"SNIP" fixed:"yes" only:"add,show" help:"What the address is for; MIP is accepted and means SNIP"`
	ARP       string     `cli:"arp" enum:"ENABLED,DISABLED" def:"ENABLED" help:"Answer ARP requests for the address"`
	ICMP      string     `cli:"icmp" enum:"ENABLED,DISABLED" def:"ENABLED" help:"Answer ICMP echo requests to the address"`
	VServer   string     `cli:"vServer" enum:"ENABLED,DISABLED" def:"ENABLED" help:"Allow vservers on the address"`
	VRID      uint8      `cli:"vrID" min:"1" help:"Virtual router of a VIP: of the appliances that have it the master alone answers for the VIP"`
	State     string     `cli:"state" enum:"ENABLED,DISABLED" def:"ENABLED" only:"add" help:"Administrative state; only a VIP can be disabled"`
}

// Unicast tells whether a host may have the address.
func Unicast(a netip.Addr) bool {
	return a.Is4() && !a.IsUnspecified() && !a.IsLoopback() && a.As4()[0] != 0 && a.As4()[0] < 224
}

func init() {
	register[NSIP]("ns ip", "ns-ip", "add set unset rm enable disable show", "IP address owned by the appliance", true)
	unbuilt[NSIP]("telnet=DISABLED ftp=DISABLED gui=DISABLED ssh=DISABLED snmp=DISABLED mgmtAccess=DISABLED restrictAccess=DISABLED " +
		"dynamicRouting=DISABLED hostRoute=DISABLED networkRoute=DISABLED tag=0 hostRtGw metric=0 vserverRHILevel vserverRHIMode " +
		"ospfLSAType ospfArea icmpResponse=NONE arpResponse=NONE ownerNode ownerDownResponse=YES td=0")
}
