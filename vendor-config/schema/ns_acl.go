package schema

import "net/netip"

// NSACL is an extended access control list entry.
type NSACL struct {
	Aclname        string `cli:"aclname" key:"1" max:"127" syntax:"name" help:"Name of the entry"`
	Aclaction      string `cli:"aclaction" pos:"2" required:"yes" enum:"BRIDGE,DENY,ALLOW" help:"What becomes of packets that match"`
	TD             uint16 `cli:"td" fixed:"yes" max:"4094" help:"Traffic domain; 0 is the one without a number"`
	SrcIP          string `cli:"srcIP" many:"yes" max:"255" syntax:"compare-address" help:"Source addresses: one or a range a-b, after = (the default) or !="`
	SrcPort        string `cli:"srcPort" many:"yes" max:"255" syntax:"compare-port" help:"Source ports, written likewise"`
	DestIP         string `cli:"destIP" many:"yes" max:"255" syntax:"compare-address" help:"Destination addresses, written likewise"`
	DestPort       string `cli:"destPort" many:"yes" max:"255" syntax:"compare-port" help:"Destination ports, written likewise"`
	TTL            uint32 `cli:"TTL" fixed:"yes" min:"1" max:"2147483647" help:"Seconds after which the entry is gone"`
	SrcMAC         string `cli:"srcMac" max:"255" syntax:"mac" help:"Source MAC address"`
	SrcMACMask     string `cli:"srcMacMask" def:"000000000000" max:"17" help:"Bits of srcMac that count, as 12 hexadecimal digits"`
	Protocol       string `cli:"protocol" enum:"ICMP,IGMP,TCP,EGP,IGP,ARGUS,UDP,RDP,RSVP,EIGRP,L2TP,ISIS" help:"Protocol of the packet"`
	ProtocolNumber uint8  `cli:"protocolNumber" min:"1" help:"Protocol of the packet by its number"`
	VLAN           uint16 `cli:"vlan" min:"1" max:"4094" help:"VLAN in which the packet came"`
	VXLAN          uint32 `cli:"vxlan" min:"1" max:"16777215" help:"VXLAN in which the packet came"`
	Interface      string `cli:"interface" max:"15" help:"Port by which the packet came"`
	Established    string `cli:"established" flag:"yes" enum:"YES" help:"Only TCP packets with ACK or RST"`
	ICMPType       uint16 `cli:"icmpType" max:"255" help:"Type of ICMP"`
	ICMPCode       uint16 `cli:"icmpCode" max:"255" help:"Code of ICMP"`
	Priority       uint32 `cli:"priority" min:"1" max:"100000" help:"Order in which they are asked, the lowest first"`
	State          string `cli:"state" only:"add" enum:"ENABLED,DISABLED" def:"ENABLED" help:"Administrative state"`
	Logstate       string `cli:"logstate" enum:"ENABLED,DISABLED" def:"DISABLED" help:"Log packets that match"`
	Ratelimit      uint16 `cli:"ratelimit" def:"100" min:"1" max:"10000" help:"Most log messages a second"`
}

// NSSimpleACL is an entry of the simple access control list: packets from one address are dropped.
type NSSimpleACL struct {
	Aclname   string     `cli:"aclname" key:"1" max:"127" syntax:"name" help:"Name of the entry"`
	Aclaction string     `cli:"aclaction" pos:"2" required:"yes" enum:"DENY" help:"What becomes of packets that match"`
	TD        uint16     `cli:"td" max:"4094" help:"Traffic domain; 0 is the one without a number"`
	SrcIP     netip.Addr `cli:"srcIP" required:"yes" help:"Source address"`
	DestPort  uint16     `cli:"destPort" min:"1" help:"Destination port"`
	Protocol  string     `cli:"protocol" enum:"TCP,UDP" help:"Seconds after which the entry is gone"`
	TTL       uint32     `cli:"TTL" min:"4" max:"2147483647" help:"Seconds after which the entry is gone"`
}

func init() {
	stored[NSACL]("ns acl", "ns-acl", "add set unset rm enable disable rename show", "Access control list")
	stored[NSSimpleACL]("ns simpleacl", "ns-simpleacl", "add rm show", "Simple access control list")
}
