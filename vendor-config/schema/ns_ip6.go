package schema

import "net/netip"

// NSIP6 is an IPv6 address of the appliance.
type NSIP6 struct {
	IPv6Address       string     `cli:"IPv6Address" key:"1" max:"45" syntax:"prefix6" help:"IPv6 address with the length of its prefix"`
	Scope             string     `cli:"scope" fixed:"yes" enum:"global,link-local" def:"global" help:"Reach of the address"`
	Type              string     `cli:"type" fixed:"yes" enum:"NSIP,VIP,SNIP,GSLBsiteIP,ADNSsvcIP,RADIUSListenersvcIP,CLIP" def:"SNIP" help:"What the address is for"`
	VLAN              uint16     `cli:"vlan" fixed:"yes" def:"0" max:"4094" help:"VLAN that a link-local address belongs to"`
	ND                string     `cli:"nd" enum:"ENABLED,DISABLED" def:"ENABLED" help:"Answer neighbor solicitations for the address"`
	ICMP              string     `cli:"icmp" enum:"ENABLED,DISABLED" def:"ENABLED" help:"Answer ICMPv6 echo requests to the address"`
	VServer           string     `cli:"vServer" enum:"ENABLED,DISABLED" def:"ENABLED" help:"Allow vservers on the address"`
	Telnet            string     `cli:"telnet" enum:"ENABLED,DISABLED" def:"ENABLED" help:"Telnet to the address"`
	FTP               string     `cli:"ftp" enum:"ENABLED,DISABLED" def:"ENABLED" help:"FTP to the address"`
	GUI               string     `cli:"gui" enum:"ENABLED,SECUREONLY,DISABLED" def:"ENABLED" help:"Web interface on the address"`
	SSH               string     `cli:"ssh" enum:"ENABLED,DISABLED" def:"ENABLED" help:"SSH to the address"`
	SNMP              string     `cli:"snmp" enum:"ENABLED,DISABLED" def:"ENABLED" help:"SNMP to the address"`
	MgmtAccess        string     `cli:"mgmtAccess" enum:"ENABLED,DISABLED" def:"DISABLED" help:"Management on an address that is not the NSIP"`
	RestrictAccess    string     `cli:"restrictAccess" enum:"ENABLED,DISABLED" def:"DISABLED" help:"No service but those of management"`
	DynamicRouting    string     `cli:"dynamicRouting" enum:"ENABLED,DISABLED" def:"DISABLED" help:"Routing protocols run on it"`
	HostRoute         string     `cli:"hostRoute" enum:"ENABLED,DISABLED" help:"Announce a route to the address"`
	NetworkRoute      string     `cli:"networkRoute" enum:"ENABLED,DISABLED" help:"Announce a route to its network"`
	Tag               uint32     `cli:"tag" def:"0" help:"Tag of the announced route"`
	IP6HostRtGw       string     `cli:"ip6hostRtGw" max:"45" syntax:"address6" help:"Next hop of the announced route"`
	Metric            uint32     `cli:"metric" max:"16777215" help:"Metric of the announced route"`
	VserverRHILevel   string     `cli:"vserverRHILevel" enum:"ONE_VSERVER,ALL_VSERVERS,NONE,VSVR_CNTRLD" def:"ONE_VSERVER" help:"When the route is announced: one vserver UP, all of them, or always"`
	Ospf6LSAType      string     `cli:"ospf6LSAType" enum:"INTRA_AREA,EXTERNAL" def:"EXTERNAL" help:"Kind of the OSPF announcement"`
	OspfArea          uint32     `cli:"ospfArea" max:"4294967294" help:"Area of the OSPF announcement"`
	State             string     `cli:"state" enum:"DISABLED,ENABLED" def:"ENABLED" help:"Administrative state"`
	Map               netip.Addr `cli:"map" help:"IPv4 address that it stands for"`
	VrID6             uint8      `cli:"vrID6" min:"1" help:"Virtual router that owns the address"`
	OwnerNode         uint8      `cli:"ownerNode" fixed:"yes" def:"255" help:"Node of a cluster that it belongs to; 255 is all of them"`
	OwnerDownResponse string     `cli:"ownerDownResponse" enum:"YES,NO" def:"YES" help:"Answer for it while its node is down"`
	TD                uint16     `cli:"td" max:"4094" help:"Traffic domain; 0 is the one without a number"`
}

func init() {
	stored[NSIP6]("ns ip6", "ns-ip6", "add set unset rm show", "IPv6 address owned by the appliance")
}
