package schema

import "net/netip"

// HANode is a node of a high availability pair; number 0 is this appliance.
type HANode struct {
	ID            uint8  `cli:"id" key:"1" max:"64" help:"Number of the node; 0 is this appliance"`
	IPAddress     string `cli:"IPAddress" pos:"2" fixed:"yes" max:"255" syntax:"address" help:"Its NSIP"`
	Inc           string `cli:"inc" fixed:"yes" enum:"ENABLED,DISABLED" def:"DISABLED" help:"The nodes are in different networks"`
	HaStatus      string `cli:"haStatus" enum:"ENABLED,STAYSECONDARY,DISABLED,STAYPRIMARY" help:"What the node does by itself"`
	HaSync        string `cli:"haSync" enum:"ENABLED,DISABLED" def:"ENABLED" help:"Take the configuration over from the primary"`
	HaProp        string `cli:"haProp" enum:"ENABLED,DISABLED" def:"ENABLED" help:"Send each command on to the secondary"`
	HelloInterval uint16 `cli:"helloInterval" def:"200" min:"200" max:"1000" unit:"milliseconds" help:"Time between two messages to the peer"`
	DeadInterval  uint8  `cli:"deadInterval" def:"3" min:"3" max:"60" unit:"seconds" help:"Time without one after which the peer is taken for dead"`
	FailSafe      string `cli:"failSafe" enum:"ON,OFF" def:"OFF" help:"One node stays primary though both have failed"`
	MaxFlips      uint32 `cli:"maxFlips" def:"0" help:"Most failovers within maxFlipTime; 0 is no limit"`
	MaxFlipTime   uint32 `cli:"maxFlipTime" def:"0" unit:"seconds" help:"Time in which they are counted"`
	Syncvlan      uint16 `cli:"syncvlan" min:"1" max:"4094" help:"VLAN by which the configuration is sent"`
}

// HANodeRouteMonitor is a route without which a node fails over.
type HANodeRouteMonitor struct {
	ID           uint8      `cli:"id" key:"1" max:"64" help:"Number of the node"`
	RouteMonitor string     `cli:"routeMonitor" key:"2" keyword:"yes" max:"49" syntax:"prefix" help:"Network of the route"`
	Netmask      netip.Addr `cli:"netmask" after:"routeMonitor" only:"bind" help:"Subnet mask"`
}

func init() {
	stored[HANode]("HA node", "ha-node", "add set unset rm show", "Node of a high availability pair")
	stored[HANodeRouteMonitor]("HA node", "ha-node-route-monitor", "bind unbind", "Route that a node must have")
}
