package schema

// NSPBR is a policy-based route: packets that match go to a next hop of their own.
type NSPBR struct {
	Name           string `cli:"name" key:"1" max:"127" syntax:"name" help:"Name of the route"`
	Action         string `cli:"action" pos:"2" required:"yes" enum:"ALLOW,DENY" help:"ALLOW sends what matches to the next hop, DENY routes it as usual"`
	TD             uint16 `cli:"td" fixed:"yes" max:"4094" help:"Traffic domain; 0 is the one without a number"`
	SrcIP          string `cli:"srcIP" many:"yes" max:"255" syntax:"compare-address" help:"Source addresses: one or a range a-b, after = (the default) or !="`
	SrcPort        string `cli:"srcPort" many:"yes" max:"255" syntax:"compare-port" help:"Source ports, written likewise"`
	DestIP         string `cli:"destIP" many:"yes" max:"255" syntax:"compare-address" help:"Destination addresses, written likewise"`
	DestPort       string `cli:"destPort" many:"yes" max:"255" syntax:"compare-port" help:"Destination ports, written likewise"`
	NextHop        string `cli:"nextHop" max:"255" syntax:"address" help:"Address that matching packets are sent to"`
	IPTunnel       string `cli:"ipTunnel" max:"255" help:"ipTunnel that matching packets go by"`
	VXLANVLANMap   string `cli:"vxlanVlanMap" max:"255" help:"vxlanVlanMap for the tunnel"`
	SrcMAC         string `cli:"srcMac" max:"255" syntax:"mac" help:"Source MAC address"`
	SrcMACMask     string `cli:"srcMacMask" def:"000000000000" max:"17" help:"Bits of srcMac that count, as 12 hexadecimal digits"`
	Protocol       string `cli:"protocol" enum:"ICMP,IGMP,TCP,EGP,IGP,ARGUS,UDP,RDP,RSVP,EIGRP,L2TP,ISIS" help:"Protocol of the packet"`
	ProtocolNumber uint8  `cli:"protocolNumber" min:"1" help:"The same by its number"`
	VLAN           uint16 `cli:"vlan" min:"1" max:"4094" help:"VLAN in which the packet came"`
	VXLAN          uint32 `cli:"vxlan" min:"1" max:"16777215" help:"VXLAN in which the packet came"`
	Interface      string `cli:"interface" max:"15" help:"Port by which the packet came"`
	Priority       uint32 `cli:"priority" min:"1" max:"81920" help:"Order in which the routes are asked, the lowest first"`
	MSR            string `cli:"msr" enum:"ENABLED,DISABLED" def:"DISABLED" help:"Use the next hop only while a monitor says that it is there"`
	Monitor        string `cli:"monitor" max:"127" help:"Monitor that watches the next hop"`
	State          string `cli:"state" only:"add" enum:"ENABLED,DISABLED" def:"ENABLED" help:"Administrative state"`
	OwnerGroup     string `cli:"ownerGroup" fixed:"yes" def:"DEFAULT_NG" max:"255" help:"Node group of a cluster that it belongs to"`
}

func init() {
	stored[NSPBR]("ns pbr", "ns-pbr", "add set unset rm enable disable show", "Policy-based route")
}
