package schema

import "net/netip"

// VLAN is a broadcast domain. Ports without a binding are in VLAN 1 with addresses that have none.
type VLAN struct {
	ID        uint16 `cli:"id" key:"1" min:"2" max:"4094" help:"VLAN number"`
	AliasName string `cli:"aliasName" max:"31" help:"Any name for the VLAN"`
}

// VLANInterface puts a port into a VLAN, untagged.
type VLANInterface struct {
	ID    uint16 `cli:"id" key:"1" ref:"vlan" help:"VLAN number"`
	Ifnum string `cli:"ifnum" key:"2" keyword:"yes" many:"yes" syntax:"ifnum" help:"Port, e.g. 1/2"`
}

// VLANIP puts an address of the appliance into a VLAN: it lives on the VLAN's port.
type VLANIP struct {
	ID        uint16     `cli:"id" key:"1" ref:"vlan" help:"VLAN number"`
	IPAddress netip.Addr `cli:"IPAddress" key:"2" keyword:"yes" ref:"ns ip" help:"Address of the appliance"`
	Netmask   netip.Addr `cli:"netmask" after:"IPAddress" help:"Subnet mask of the address; that of the ns ip when left out"`
}

func init() {
	register[VLAN]("vlan", "vlan", "add set unset rm show", "VLAN", true)
	unbuilt[VLAN]("dynamicRouting=DISABLED ipv6DynamicRouting=DISABLED mtu=0 sharing=DISABLED")
	register[VLANInterface]("vlan", "vlan-interface", "bind unbind", "Port in a VLAN", true)
	unbuilt[VLANInterface]("tagged")
	register[VLANIP]("vlan", "vlan-ip", "bind unbind", "Address in a VLAN", true)
	unbuilt[VLANIP]("td=0 ownerGroup=DEFAULT_NG")
}
