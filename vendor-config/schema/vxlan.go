package schema

import "net/netip"

// VXLAN is a network of VXLAN.
type VXLAN struct {
	ID                 uint32 `cli:"id" key:"1" min:"1" max:"16777215" help:"VXLAN identifier"`
	VLAN               uint16 `cli:"vlan" min:"2" max:"4094" help:"VLAN that it extends"`
	Port               uint16 `cli:"port" def:"4789" min:"1" max:"65534" help:"UDP port"`
	DynamicRouting     string `cli:"dynamicRouting" enum:"ENABLED,DISABLED" def:"DISABLED" help:"What the packets carry"`
	Ipv6DynamicRouting string `cli:"ipv6DynamicRouting" enum:"ENABLED,DISABLED" def:"DISABLED" help:"What the packets carry"`
	Type               string `cli:"type" fixed:"yes" enum:"VXLAN,VXLANGPE" def:"VXLAN" help:"What the packets carry"`
	Protocol           string `cli:"protocol" fixed:"yes" enum:"IPv4,IPv6,ETHERNET,NSH" def:"ETHERNET" help:"What the packets carry"`
	InnerVLANTagging   string `cli:"innerVlanTagging" enum:"ENABLED,DISABLED" def:"DISABLED" help:"Keep VLAN tags inside"`
}

// VXLANSource is the address of a VXLAN on this appliance.
type VXLANSource struct {
	ID    uint32     `cli:"id" key:"1" min:"1" max:"16777215" ref:"vxlan" help:"VXLAN identifier"`
	SrcIP netip.Addr `cli:"srcIP" key:"2" keyword:"yes" help:"SNIP"`
}

// VXLANIP is an address of the appliance in a VXLAN.
type VXLANIP struct {
	ID        uint32     `cli:"id" key:"1" min:"1" max:"16777215" ref:"vxlan" help:"VXLAN identifier"`
	IPAddress string     `cli:"IPAddress" key:"2" keyword:"yes" max:"45" syntax:"address" help:"Address of the appliance"`
	Netmask   netip.Addr `cli:"netmask" after:"IPAddress" only:"bind" help:"Subnet mask"`
}

// VXLANVLANMap says which VLANs belong to which VXLANs.
type VXLANVLANMap struct {
	Name string `cli:"name" key:"1" max:"63" syntax:"name" help:"Name of the map"`
}

// VXLANVLANMapEntry are the VLANs of a VXLAN in a map.
type VXLANVLANMapEntry struct {
	Name  string `cli:"name" key:"1" max:"63" ref:"vxlan-vlan-map" syntax:"name" help:"Name of the map"`
	VXLAN uint32 `cli:"vxlan" key:"2" keyword:"yes" min:"1" max:"16777215" help:"VXLAN identifier"`
	VLAN  string `cli:"vlan" many:"yes" only:"bind" max:"255" syntax:"numbers" help:"VLANs"`
}

// NetBridge is a bridge over tunnels.
type NetBridge struct {
	Name         string `cli:"name" key:"1" max:"127" syntax:"name" help:"Name of the bridge"`
	VXLANVLANMap string `cli:"vxlanVlanMap" max:"63" help:"vxlanVlanMap"`
}

// NetBridgeTunnel is a tunnel of a bridge.
type NetBridgeTunnel struct {
	Name   string `cli:"name" key:"1" max:"127" ref:"netbridge" syntax:"name" help:"Name of the bridge"`
	Tunnel string `cli:"tunnel" key:"2" keyword:"yes" many:"yes" max:"31" help:"ipTunnel"`
}

// NetBridgeVLAN is a VLAN of a bridge.
type NetBridgeVLAN struct {
	Name string `cli:"name" key:"1" max:"127" ref:"netbridge" syntax:"name" help:"Name of the bridge"`
	VLAN uint16 `cli:"vlan" key:"2" keyword:"yes" many:"yes" min:"1" max:"4094" help:"VLAN"`
}

// NetBridgeIP is a subnet that a bridge carries.
type NetBridgeIP struct {
	Name      string     `cli:"name" key:"1" max:"127" ref:"netbridge" syntax:"name" help:"Name of the bridge"`
	IPAddress string     `cli:"IPAddress" key:"2" keyword:"yes" max:"45" syntax:"address" help:"Address in the subnet"`
	Netmask   netip.Addr `cli:"netmask" after:"IPAddress" only:"bind" help:"Subnet mask"`
}

func init() {
	stored[VXLAN]("vxlan", "vxlan", "add set unset rm show", "VXLAN")
	stored[VXLANSource]("vxlan", "vxlan-source", "bind unbind", "Address of a VXLAN on this appliance")
	stored[VXLANIP]("vxlan", "vxlan-ip", "bind unbind", "Address in a VXLAN")
	stored[VXLANVLANMap]("vxlanVlanMap", "vxlan-vlan-map", "add rm show", "VLANs of VXLANs")
	stored[VXLANVLANMapEntry]("vxlanVlanMap", "vxlan-vlan-map-entry", "bind unbind", "VLANs of a VXLAN")
	stored[NetBridge]("netbridge", "netbridge", "add set unset rm show", "Bridge over tunnels")
	stored[NetBridgeTunnel]("netbridge", "netbridge-tunnel", "bind unbind", "Tunnel of a bridge")
	stored[NetBridgeVLAN]("netbridge", "netbridge-vlan", "bind unbind", "VLAN of a bridge")
	stored[NetBridgeIP]("netbridge", "netbridge-ip", "bind unbind", "Address of a bridge")
}
