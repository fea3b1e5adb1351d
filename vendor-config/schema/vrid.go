package schema

// VRID is a virtual router of VRRP: VIPs that one of several appliances answers for at a time.
type VRID struct {
	ID                   uint8  `cli:"id" key:"1" min:"1" help:"Number of the virtual router: that of the same VIPs on all appliances"`
	Priority             uint8  `cli:"priority" def:"255" help:"Whoever has the highest becomes master; 0 never does"`
	Preemption           string `cli:"preemption" enum:"ENABLED,DISABLED" def:"ENABLED" help:"This appliance takes over from a master with a lower priority"`
	Sharing              string `cli:"sharing" enum:"ENABLED,DISABLED" def:"DISABLED" help:"While it is backup this appliance serves what comes for the VIPs all the same"`
	Tracking             string `cli:"tracking" enum:"NONE,ONE,ALL,PROGRESSIVE" def:"NONE" help:"How vservers on the VIPs that are DOWN lower the priority: ALL to 0 when one is, ONE to 0 when all are, PROGRESSIVE by the share of them that are; vservers that are disabled do not count"`
	TrackifNumPriority   uint8  `cli:"trackifNumPriority" def:"0" help:"By how much the priority is lower while a tracked port is DOWN, once however many are; 0 is not at all"`
	Preemptiondelaytimer uint16 `cli:"preemptiondelaytimer" def:"0" max:"36000" unit:"seconds" help:"How much longer it waits before it takes over from a master that lives"`
}

// VRIDInterface is a port whose MAC address two appliances of a pair share.
type VRIDInterface struct {
	ID    uint8  `cli:"id" key:"1" min:"1" ref:"vrid" help:"Number of the virtual router"`
	Ifnum string `cli:"ifnum" key:"2" keyword:"yes" many:"yes" max:"15" syntax:"port" help:"Port, e.g. 1/2"`
}

// VRIDTrack is a port whose failure lowers the priority of a virtual router.
type VRIDTrack struct {
	ID         uint8  `cli:"id" key:"1" min:"1" ref:"vrid" help:"Number of the virtual router"`
	TrackifNum string `cli:"trackifNum" key:"2" keyword:"yes" many:"yes" max:"15" syntax:"ifnum" help:"Port that is tracked, e.g. 1/2"`
}

// VRIDParam is what holds for all virtual routers of this appliance. The version and the form of the checksum are ours: the
// reference product has neither argument.
type VRIDParam struct {
	SendToMaster  string `cli:"sendToMaster" enum:"ENABLED,DISABLED" def:"DISABLED" help:"A backup sends what comes for the VIPs on to the master, unless it shares"`
	HelloInterval uint16 `cli:"helloInterval" def:"1000" min:"200" max:"1000" unit:"milliseconds" help:"Time between two advertisements of a master"`
	DeadInterval  uint8  `cli:"deadInterval" def:"3" min:"1" max:"3" unit:"seconds" help:"Silence after which a master is taken for dead, if that is less than three of its intervals"`
	Version       string `cli:"version" enum:"2,3" def:"3" help:"Version of VRRP: 3 (RFC 9568), or 2 (RFC 3768), whose interval is whole seconds; of this appliance alone, no other product has the argument"`
	Checksum      string `cli:"checksum" enum:"auto,rfc9568,rfc5798" def:"auto" help:"Checksum that advertisements of version 3 leave with: rfc9568 over the message, rfc5798 with a pseudo-header as keepalived has it, auto as the last one that was heard; both are accepted always; of this appliance alone"`
}

// VRIDForce makes a virtual router stay backup, or lets it go again.
type VRIDForce struct {
	ID      uint8  `cli:"id" pos:"1" required:"yes" min:"1" help:"Number of the virtual router"`
	Backup  string `cli:"backup" flag:"yes" only:"force" help:"It gives up mastership and stays backup until it is let go, or the machine starts anew; restarts of management change nothing"`
	Release string `cli:"release" flag:"yes" only:"force" help:"It takes part in elections again"`
}

// VRIDAll are all virtual routers.
type VRIDAll struct {
	All string `cli:"all" flag:"yes" only:"rm" help:"All virtual routers, none of which may have a VIP, instead of those that are named"`
}

func init() {
	register[VRID]("vrID", "vrid", "add set unset rm show stat", "Virtual router: VIPs that appliances share by VRRP", true)
	unbuilt[VRID]("ownerNode=255")
	stored[VRIDInterface]("vrID", "vrid-interface", "bind unbind", "Port whose MAC address a pair of appliances shares")
	register[VRIDTrack]("vrID", "vrid-track-interface", "bind unbind", "Port whose failure lowers the priority of a virtual router", true)
	register[VRIDParam]("vrIDParam", "vrid-param", "set unset show", "What holds for all virtual routers: timers, version, what a backup does", true)
	register[VRIDAll]("vrID", "vrid-all", "rm", "All virtual routers", false)
	register[VRIDForce]("vrID", "vrid-force", "force", "Keep a virtual router backup, e.g. for maintenance", false)
}
