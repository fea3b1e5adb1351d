package schema

// VRID6 is a virtual router of VRRP for IPv6.
type VRID6 struct {
	ID                   uint8  `cli:"id" key:"1" min:"1" help:"Number of the virtual router"`
	Priority             uint8  `cli:"priority" def:"255" help:"Who has the highest becomes master"`
	Preemption           string `cli:"preemption" enum:"ENABLED,DISABLED" def:"ENABLED" help:"A node with a higher priority takes over from a master with a lower one"`
	Sharing              string `cli:"sharing" enum:"ENABLED,DISABLED" def:"DISABLED" help:"Virtual routers on one port may share addresses"`
	Tracking             string `cli:"tracking" enum:"NONE,ONE,ALL,PROGRESSIVE" def:"NONE" help:"How the state of vservers on its addresses lowers the priority"`
	Preemptiondelaytimer uint16 `cli:"preemptiondelaytimer" def:"0" max:"36000" unit:"seconds" help:"How long a preempting node waits before it takes over"`
	TrackifNumPriority   uint8  `cli:"trackifNumPriority" def:"0" help:"By how much a tracked port that is down lowers the priority; 0 is not at all"`
	OwnerNode            uint8  `cli:"ownerNode" max:"31" help:"Node of a cluster that it belongs to; 255 is all of them"`
}

// VRID6Interface is a port on which a virtual router for IPv6 speaks VRRP.
type VRID6Interface struct {
	ID    uint8  `cli:"id" key:"1" min:"1" ref:"vrid6" help:"Number of the virtual router"`
	Ifnum string `cli:"ifnum" key:"2" keyword:"yes" many:"yes" max:"15" syntax:"port" help:"Port, e.g. 1/2"`
}

// VRID6Track is a port whose failure lowers the priority of a virtual router for IPv6.
type VRID6Track struct {
	ID         uint8  `cli:"id" key:"1" min:"1" ref:"vrid6" help:"Number of the virtual router"`
	TrackifNum string `cli:"trackifNum" key:"2" keyword:"yes" many:"yes" max:"15" syntax:"port" help:"Port that is tracked, e.g. 1/2"`
}

func init() {
	stored[VRID6]("vrID6", "vrid6", "add set unset rm show", "Virtual router for IPv6")
	stored[VRID6Interface]("vrID6", "vrid6-interface", "bind unbind", "Port on which a virtual router for IPv6 speaks")
	stored[VRID6Track]("vrID6", "vrid6-track-interface", "bind unbind", "Port whose failure lowers the priority of a virtual router for IPv6")
}
