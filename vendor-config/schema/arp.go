package schema

import "net/netip"

// ARPEntry is a neighbor whose link address is given by hand.
type ARPEntry struct {
	IPAddress netip.Addr `cli:"IPAddress" key:"1" keyword:"add" help:"IP address"`
	TD        uint16     `cli:"td" max:"4094" help:"Traffic domain; 0 is the one without a number"`
	MAC       string     `cli:"mac" required:"yes" max:"255" syntax:"mac" help:"MAC address"`
	Ifnum     string     `cli:"ifnum" max:"15" syntax:"port" help:"Port, e.g. 1/2"`
	VXLAN     uint32     `cli:"vxlan" min:"1" max:"16777215" help:"VXLAN identifier"`
	Vtep      netip.Addr `cli:"vtep" help:"Address of the tunnel's other end"`
	VLAN      uint16     `cli:"vlan" max:"4094" help:"VLAN"`
	OwnerNode uint8      `cli:"ownerNode" help:"Node of a cluster that it belongs to; 255 is all of them"`
}

// ARPParam are parameters of ARP.
type ARPParam struct {
	Timeout         uint16 `cli:"timeout" def:"1200" min:"5" max:"1200" unit:"seconds" help:"How long a neighbor is remembered"`
	SpoofValidation string `cli:"spoofValidation" enum:"ENABLED,DISABLED" def:"DISABLED" help:"Ignore answers that nobody asked for"`
}

// ND6Entry is an IPv6 neighbor whose link address is given by hand.
type ND6Entry struct {
	Neighbor string     `cli:"neighbor" key:"1" max:"45" syntax:"address6" help:"Address of the neighbor"`
	MAC      string     `cli:"mac" pos:"2" required:"yes" max:"255" syntax:"mac" help:"MAC address"`
	Ifnum    string     `cli:"ifnum" pos:"3" max:"15" syntax:"port" help:"Port, e.g. 1/2"`
	VLAN     uint16     `cli:"vlan" min:"1" max:"4094" help:"VLAN"`
	VXLAN    uint32     `cli:"vxlan" min:"1" max:"16777215" help:"VXLAN identifier"`
	Vtep     netip.Addr `cli:"vtep" help:"Address of the tunnel's other end"`
	TD       uint16     `cli:"td" max:"4094" help:"Traffic domain; 0 is the one without a number"`
}

// BridgeTableEntry is a link address behind a VXLAN tunnel.
type BridgeTableEntry struct {
	MAC        string     `cli:"mac" key:"1" keyword:"add" max:"17" syntax:"mac" help:"MAC address"`
	VXLAN      uint32     `cli:"vxlan" required:"yes" min:"1" max:"16777215" help:"VXLAN identifier"`
	Vtep       netip.Addr `cli:"vtep" required:"yes" help:"Address of the tunnel's other end"`
	Vni        uint32     `cli:"vni" min:"1" max:"16777215" help:"VXLAN identifier toward the other end"`
	DeviceVLAN uint16     `cli:"deviceVlan" min:"1" max:"4094" help:"VLAN of the link address"`
}

// BridgeGroup is a group of VLANs that are bridged.
type BridgeGroup struct {
	ID                 uint16 `cli:"id" key:"1" min:"1" max:"1000" help:"Number of the group"`
	DynamicRouting     string `cli:"dynamicRouting" enum:"ENABLED,DISABLED" def:"DISABLED" help:"Routing protocols run on it"`
	Ipv6DynamicRouting string `cli:"ipv6DynamicRouting" enum:"ENABLED,DISABLED" def:"DISABLED" help:"Routing protocols for IPv6 run on it"`
}

// BridgeGroupVLAN is a VLAN of a bridge group.
type BridgeGroupVLAN struct {
	ID   uint16 `cli:"id" key:"1" min:"1" max:"1000" ref:"bridgegroup" help:"Number of the group"`
	VLAN uint16 `cli:"vlan" key:"2" keyword:"yes" min:"2" max:"4094" help:"VLAN number"`
}

// BridgeGroupIP is an address of the appliance in a bridge group.
type BridgeGroupIP struct {
	ID         uint16     `cli:"id" key:"1" min:"1" max:"1000" ref:"bridgegroup" help:"Number of the group"`
	IPAddress  string     `cli:"IPAddress" key:"2" keyword:"yes" max:"45" syntax:"address" help:"Address of the appliance"`
	Netmask    netip.Addr `cli:"netmask" after:"IPAddress" only:"bind" help:"Subnet mask"`
	TD         uint16     `cli:"td" only:"bind" max:"4094" help:"Traffic domain; 0 is the one without a number"`
	OwnerGroup string     `cli:"ownerGroup" only:"bind" def:"DEFAULT_NG" max:"255" help:"Node group of a cluster that it belongs to"`
}

func init() {
	stored[ARPEntry]("arp", "arp-entry", "add rm", "Neighbor that is given by hand")
	stored[ARPParam]("arpparam", "arp-param", "set unset show", "Parameters of ARP")
	stored[ND6Entry]("nd6", "nd6", "add rm show", "IPv6 neighbor that is given by hand")
	stored[BridgeTableEntry]("bridgetable", "bridgetable", "add rm show", "Link address behind a VXLAN tunnel")
	stored[BridgeGroup]("bridgegroup", "bridgegroup", "add set unset rm show", "VLANs that are bridged")
	stored[BridgeGroupVLAN]("bridgegroup", "bridgegroup-vlan", "bind unbind", "VLAN of a bridge group")
	stored[BridgeGroupIP]("bridgegroup", "bridgegroup-ip", "bind unbind", "Address of a bridge group")
}
