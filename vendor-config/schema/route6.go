package schema

// Route6 is a static IPv6 route.
type Route6 struct {
	Network    string `cli:"network" key:"1" max:"45" syntax:"prefix6" help:"Destination network with the length of its prefix"`
	Gateway    string `cli:"gateway" pos:"2" fixed:"yes" max:"45" syntax:"address6" help:"Next hop"`
	VLAN       uint16 `cli:"vlan" fixed:"yes" def:"0" max:"4094" help:"VLAN of a link-local next hop"`
	VXLAN      uint32 `cli:"vxlan" fixed:"yes" min:"1" max:"16777215" help:"VXLAN of a link-local next hop"`
	Weight     uint16 `cli:"weight" def:"1" min:"1" help:"Share of the traffic among routes of the same distance"`
	Distance   uint8  `cli:"distance" def:"1" min:"1" max:"254" help:"Administrative distance; the lowest wins"`
	Cost       uint16 `cli:"cost" def:"0" help:"Cost that routing protocols are told"`
	Advertise  string `cli:"advertise" enum:"DISABLED,ENABLED" help:"Tell routing protocols about the route"`
	MSR        string `cli:"msr" enum:"ENABLED,DISABLED" def:"DISABLED" help:"Use the route only while a monitor says that the next hop is there"`
	Monitor    string `cli:"monitor" max:"255" help:"Monitor that says whether the next hop is there"`
	TD         uint16 `cli:"td" fixed:"yes" max:"4094" help:"Traffic domain; 0 is the one without a number"`
	OwnerGroup string `cli:"ownerGroup" fixed:"yes" def:"DEFAULT_NG" max:"255" help:"Node group of a cluster that it belongs to"`
}

func init() {
	stored[Route6]("route6", "route6", "add set unset rm show", "Static IPv6 route")
}
