package schema

import "net/netip"

// ForwardingSession says of which forwarded packets connections are kept.
type ForwardingSession struct {
	Name             string     `cli:"name" key:"1" max:"127" syntax:"name" help:"Name of the rule"`
	Network          string     `cli:"network" pos:"2" fixed:"yes" max:"49" help:"Network of the packets"`
	Netmask          netip.Addr `cli:"netmask" pos:"3" fixed:"yes" help:"Subnet mask"`
	ACL6Name         string     `cli:"acl6name" max:"127" help:"ns acl6 that packets match"`
	Aclname          string     `cli:"aclname" max:"127" help:"ns acl that packets match"`
	TD               uint16     `cli:"td" fixed:"yes" max:"4094" help:"Traffic domain; 0 is the one without a number"`
	Connfailover     string     `cli:"connfailover" enum:"ENABLED,DISABLED" def:"DISABLED" help:"Tell the peer appliance about connections, so that they outlive a failure"`
	Sourceroutecache string     `cli:"sourceroutecache" enum:"ENABLED,DISABLED" def:"DISABLED" help:"Send answers back where the first packet came from"`
	ProcessLocal     string     `cli:"processLocal" enum:"ENABLED,DISABLED" def:"DISABLED" help:"Handle the packets on the node of a cluster that they come to"`
}

// FIS is a set of ports of which one must be up.
type FIS struct {
	Name      string `cli:"name" key:"1" max:"15" syntax:"name" help:"Name of the set"`
	OwnerNode uint8  `cli:"ownerNode" help:"Node of a cluster that it belongs to; 255 is all of them"`
}

// FISPort is a port of a set that fails together.
type FISPort struct {
	Name  string `cli:"name" key:"1" max:"15" ref:"fis" syntax:"name" help:"Name of the set"`
	Ifnum string `cli:"ifnum" key:"2" many:"yes" max:"15" syntax:"port" help:"Port, e.g. 1/2"`
}

func init() {
	stored[ForwardingSession]("forwardingSession", "forwarding-session", "add set rm show", "Connections that are only forwarded")
	stored[FIS]("fis", "fis", "add rm show", "Ports that fail together")
	stored[FISPort]("fis", "fis-port", "bind unbind", "Port of a set")
}
