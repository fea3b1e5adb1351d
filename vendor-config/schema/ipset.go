package schema

import "net/netip"

// IPSet is a set of addresses of the appliance.
type IPSet struct {
	Name string `cli:"name" key:"1" max:"127" syntax:"name" help:"Name of the set"`
	TD   uint16 `cli:"td" max:"4094" help:"Traffic domain; 0 is the one without a number"`
}

// IPSetAddress is an address in a set.
type IPSetAddress struct {
	Name      string `cli:"name" key:"1" max:"127" ref:"ipset" syntax:"name" help:"Name of the set"`
	IPAddress string `cli:"IPAddress" key:"2" many:"yes" max:"45" syntax:"address" help:"Address of the appliance"`
}

// NetProfile says which source addresses servers see.
type NetProfile struct {
	Name             string `cli:"name" key:"1" max:"127" syntax:"name" help:"Name of the profile"`
	TD               uint16 `cli:"td" fixed:"yes" max:"4094" help:"Traffic domain; 0 is the one without a number"`
	SrcIP            string `cli:"srcIP" max:"255" help:"Address, or ipset, that servers see"`
	Srcippersistency string `cli:"srcippersistency" enum:"ENABLED,DISABLED" def:"DISABLED" help:"A client always gets the same source address"`
	OverrideLsn      string `cli:"overrideLsn" enum:"ENABLED,DISABLED" def:"DISABLED" help:"It comes before large scale NAT"`
}

// NetProfilePorts are source ports of a profile.
type NetProfilePorts struct {
	Name         string `cli:"name" key:"1" max:"127" ref:"net-profile" syntax:"name" help:"Name of the profile"`
	SrcPortRange string `cli:"srcPortRange" key:"2" keyword:"yes" many:"yes" max:"15" syntax:"range" help:"Port, or range of ports"`
}

// NetProfileNAT is a translation of source addresses of a profile.
type NetProfileNAT struct {
	Name      string     `cli:"name" key:"1" max:"127" ref:"net-profile" syntax:"name" help:"Name of the profile"`
	NATRule   netip.Addr `cli:"natRule" key:"2" keyword:"yes" help:"Network of the sources"`
	Netmask   netip.Addr `cli:"netmask" after:"natRule" only:"bind" help:"Subnet mask"`
	RewriteIP netip.Addr `cli:"rewriteIp" after:"netmask" only:"bind" help:"Address that they become"`
}

func init() {
	stored[IPSet]("ipset", "ipset", "add rm show", "Set of addresses")
	stored[IPSetAddress]("ipset", "ipset-address", "bind unbind", "Address in a set")
	stored[NetProfile]("netProfile", "net-profile", "add set unset rm show", "Source addresses toward servers")
	stored[NetProfilePorts]("netProfile", "net-profile-ports", "bind unbind", "Source ports of a profile")
	stored[NetProfileNAT]("netProfile", "net-profile-nat", "bind unbind", "Translation of a profile")
}
