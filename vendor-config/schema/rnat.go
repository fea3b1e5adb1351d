package schema

import "net/netip"

// RNAT translates source addresses of what servers open.
type RNAT struct {
	Network          string     `cli:"network" key:"1" max:"127" syntax:"name" help:"Network of the servers, or name of an ns acl"`
	Netmask          netip.Addr `cli:"netmask" pos:"2" only:"set" help:"Subnet mask"`
	RedirectPort     uint16     `cli:"redirectPort" min:"1" help:"Port that connections are sent to"`
	NATIP            string     `cli:"natIP" many:"yes" max:"1023" help:"Addresses that the sources become"`
	TD               uint16     `cli:"td" max:"4094" help:"Traffic domain; 0 is the one without a number"`
	Srcippersistency string     `cli:"srcippersistency" enum:"ENABLED,DISABLED" def:"DISABLED" help:"A client always gets the same source address"`
	Useproxyport     string     `cli:"useproxyport" enum:"ENABLED,DISABLED" def:"ENABLED" help:"The source port is ours (ENABLED) or the client's"`
	OwnerGroup       string     `cli:"ownerGroup" def:"DEFAULT_NG" max:"255" help:"Node group of a cluster that it belongs to"`
	Connfailover     string     `cli:"connfailover" enum:"ENABLED,DISABLED" def:"DISABLED" help:"Tell the peer appliance about connections, so that they outlive a failure"`
}

// RNATParam are parameters of the translation of source addresses.
type RNATParam struct {
	Tcpproxy         string `cli:"tcpproxy" enum:"ENABLED,DISABLED" def:"ENABLED" help:"Answer for the other end of TCP connections"`
	Srcippersistency string `cli:"srcippersistency" enum:"ENABLED,DISABLED" def:"DISABLED" help:"A client always gets the same source address"`
}

func init() {
	stored[RNAT]("rnat", "rnat", "set unset rm show", "Translation of source addresses")
	stored[RNATParam]("rnatparam", "rnat-param", "set unset show", "Parameters of rnat")
}
