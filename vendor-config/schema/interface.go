package schema

// InterfaceSettings are the settings of a port.
type InterfaceSettings struct {
	ID               string `cli:"id" key:"1" max:"15" syntax:"port" help:"Port, e.g. 1/2"`
	Speed            string `cli:"speed" enum:"AUTO,10,100,1000,10000,40000" def:"AUTO" help:"Speed in Mbit/s"`
	Duplex           string `cli:"duplex" enum:"AUTO,HALF,FULL" def:"AUTO" help:"Whether both ends may send at once"`
	FlowControl      string `cli:"flowControl" enum:"OFF,RX,TX,RXTX,ON" def:"OFF" help:"Pause frames"`
	Autoneg          string `cli:"autoneg" enum:"DISABLED,ENABLED" help:"Let the ends of the cable agree on speed and duplex"`
	HaMonitor        string `cli:"haMonitor" enum:"ON,OFF" def:"ON" help:"Its failure makes a pair fail over"`
	HaHeartbeat      string `cli:"haHeartbeat" enum:"OFF,ON" def:"ON" help:"The appliances of a pair hear each other on it"`
	MTU              uint16 `cli:"mtu" def:"1500" min:"1500" max:"9216" help:"Greatest IP packet in bytes"`
	Tagall           string `cli:"tagall" enum:"ON,OFF" def:"OFF" help:"All frames that leave are tagged"`
	Trunkmode        string `cli:"trunkmode" enum:"ON,OFF" def:"OFF" help:"The port carries all VLANs, tagged"`
	TrunkAllowedVLAN string `cli:"trunkAllowedVlan" many:"yes" max:"255" syntax:"numbers" help:"VLANs that it carries"`
	LacpMode         string `cli:"lacpMode" enum:"DISABLED,ACTIVE,PASSIVE" def:"DISABLED" help:"Whether the port joins a channel by LACP"`
	LacpKey          uint8  `cli:"lacpKey" min:"1" max:"8" help:"Channel that it joins"`
	Lagtype          string `cli:"lagtype" enum:"NODE,CLUSTER" def:"NODE" help:"Whether the channel spans the nodes of a cluster"`
	LacpPriority     uint16 `cli:"lacpPriority" def:"32768" min:"1" help:"Who of the ports is in the channel first"`
	LacpTimeout      string `cli:"lacpTimeout" enum:"LONG,SHORT" help:"How soon a silent partner is given up"`
	IfAlias          string `cli:"ifAlias" max:"31" help:"Any name for the port"`
	Throughput       uint32 `cli:"throughput" max:"160000" help:"Least throughput in Mbit/s, below which a pair fails over"`
	LinkRedundancy   string `cli:"linkRedundancy" enum:"ON,OFF" def:"OFF" help:"Links of a channel stand by for each other"`
	BandwidthHigh    uint32 `cli:"bandwidthHigh" max:"160000" help:"Use in Mbit/s above which an alarm is raised"`
	BandwidthNormal  uint32 `cli:"bandwidthNormal" max:"160000" help:"Use in Mbit/s below which the alarm ends"`
	Lldpmode         string `cli:"lldpmode" enum:"NONE,TRANSMITTER,RECEIVER,TRANSCEIVER" help:"Whether LLDP is sent, received, or both"`
	LrsetPriority    uint16 `cli:"lrsetPriority" def:"1024" min:"1" max:"1024" help:"Priority in a set of redundant links"`
	Intftype         string `cli:"intftype" max:"31" help:"Kind of port, as devices write it"`
	Ifnum            string `cli:"ifnum" max:"15" syntax:"port" help:"The port itself, as devices write it"`
	Ringsize         uint32 `cli:"ringsize" help:"Size of its rings, as devices write it"`
	Ringtype         string `cli:"ringtype" max:"31" help:"Kind of its rings, as devices write it"`
}

// Channel is a channel: several ports as one.
type Channel struct {
	ID              string `cli:"id" key:"1" max:"15" syntax:"port" help:"Channel, e.g. LA/1"`
	Ifnum           string `cli:"ifnum" fixed:"yes" many:"yes" max:"255" help:"Ports of the channel"`
	State           string `cli:"state" enum:"ENABLED,DISABLED" def:"ENABLED" help:"Administrative state"`
	Lamac           string `cli:"lamac" max:"255" syntax:"mac" help:"MAC address of the channel"`
	Speed           string `cli:"speed" enum:"AUTO,10,100,1000,10000,40000" def:"AUTO" help:"Speed in Mbit/s"`
	FlowControl     string `cli:"flowControl" enum:"OFF,RX,TX,RXTX,ON" def:"OFF" help:"Pause frames"`
	HaMonitor       string `cli:"haMonitor" enum:"ON,OFF" def:"ON" help:"Its failure makes a pair fail over"`
	HaHeartbeat     string `cli:"haHeartbeat" enum:"OFF,ON" def:"ON" help:"The appliances of a pair hear each other on it"`
	Tagall          string `cli:"tagall" enum:"ON,OFF" def:"OFF" help:"All frames that leave are tagged"`
	IfAlias         string `cli:"ifAlias" max:"31" help:"Any name for the port"`
	Throughput      uint32 `cli:"throughput" max:"160000" help:"Least throughput in Mbit/s, below which a pair fails over"`
	BandwidthHigh   uint32 `cli:"bandwidthHigh" max:"160000" help:"Use in Mbit/s above which an alarm is raised"`
	BandwidthNormal uint32 `cli:"bandwidthNormal" max:"160000" help:"Use in Mbit/s below which the alarm ends"`
	MTU             uint16 `cli:"mtu" def:"1500" min:"1500" max:"9216" help:"Greatest IP packet in bytes"`
	LrMinThroughput uint32 `cli:"lrMinThroughput" max:"80000" help:"Least throughput of the links in use"`
	LinkRedundancy  string `cli:"linkRedundancy" enum:"ON,OFF" def:"OFF" help:"Links of a channel stand by for each other"`
}

// ChannelPort is a port of a channel.
type ChannelPort struct {
	ID    string `cli:"id" key:"1" max:"15" ref:"channel" syntax:"port" help:"Channel, e.g. LA/1"`
	Ifnum string `cli:"ifnum" key:"2" many:"yes" max:"15" syntax:"port" help:"Port, e.g. 1/2"`
}

// LACP is how the appliance speaks LACP.
type LACP struct {
	SysPriority uint16 `cli:"sysPriority" def:"32768" min:"1" help:"Who of the two ends decides"`
	OwnerNode   uint8  `cli:"ownerNode" def:"255" help:"Node of a cluster that it belongs to; 255 is all of them"`
}

// Linkset is a set of links that nodes of a cluster share.
type Linkset struct {
	ID string `cli:"id" key:"1" max:"15" syntax:"port" help:"Link set, e.g. LS/1"`
}

// LinksetPort is a port of a link set.
type LinksetPort struct {
	ID    string `cli:"id" key:"1" max:"15" ref:"linkset" syntax:"port" help:"Link set, e.g. LS/1"`
	Ifnum string `cli:"ifnum" key:"2" keyword:"yes" many:"yes" max:"15" syntax:"port" help:"Port, e.g. 1/2"`
}

func init() {
	stored[InterfaceSettings]("interface", "interface-settings", "set unset rm", "Settings of a port")
	stored[Channel]("channel", "channel", "add set unset rm show", "Ports as one")
	stored[ChannelPort]("channel", "channel-port", "bind unbind", "Port of a channel")
	stored[LACP]("lacp", "lacp", "set show", "Link aggregation control protocol")
	stored[Linkset]("linkset", "linkset", "add rm show", "Set of links of a cluster")
	stored[LinksetPort]("linkset", "linkset-port", "bind unbind", "Port of a link set")
}
