package schema

import "net/netip"

// LBGroup is a group of vservers that keep a client at the same server.
type LBGroup struct {
	Name                     string     `cli:"name" key:"1" max:"127" syntax:"name" help:"Name of the group"`
	PersistenceType          string     `cli:"persistenceType" enum:"SOURCEIP,COOKIEINSERT,RULE,NONE" help:"How a client is known again"`
	PersistenceBackup        string     `cli:"persistenceBackup" enum:"SOURCEIP,NONE" help:"The same where the first way fails"`
	BackupPersistenceTimeout uint16     `cli:"backupPersistenceTimeout" def:"2" min:"2" max:"1440" unit:"minutes" help:"How long persistenceBackup lasts"`
	PersistMask              netip.Addr `cli:"persistMask" def:"255.255.255.255" help:"Part of the address by which clients are told apart"`
	CookieName               string     `cli:"cookieName" max:"255" help:"Name of the cookie"`
	V6Persistmasklen         uint8      `cli:"v6persistmasklen" def:"128" min:"1" max:"128" help:"The same as persistMask for IPv6, as length of the prefix"`
	CookieDomain             string     `cli:"cookieDomain" max:"253" help:"Domain of the cookie"`
	Timeout                  uint16     `cli:"timeout" def:"2" max:"1440" unit:"minutes" help:"How long a client is remembered"`
	Rule                     string     `cli:"rule" max:"1499" help:"Expression by which a client is known again"`
	UseVserverPersistency    string     `cli:"useVserverPersistency" enum:"ENABLED,DISABLED" help:"Each vserver keeps its own kind of persistence"`
	MasterVserver            string     `cli:"masterVserver" max:"255" help:"Vserver of which the others take their clients"`
}

// LBGroupVserver is a vserver in a group of them.
type LBGroupVserver struct {
	Name        string `cli:"name" key:"1" max:"127" ref:"lb-group" syntax:"name" help:"Name of the group"`
	VServerName string `cli:"vServerName" key:"2" many:"yes" max:"127" ref:"lb-vserver" syntax:"name" help:"lb vserver"`
}

// LBRoute is a route by way of a vserver that balances next hops.
type LBRoute struct {
	Network     netip.Addr `cli:"network" key:"1" help:"Destination network"`
	Netmask     netip.Addr `cli:"netmask" key:"2" help:"Subnet mask"`
	GatewayName string     `cli:"gatewayName" pos:"3" required:"yes" max:"127" ref:"lb-vserver" help:"lb vserver with the next hops"`
	TD          uint16     `cli:"td" def:"0" max:"4094" help:"Traffic domain; 0 is the one without a number"`
}

// LBWLM is a workload manager that tells weights of servers.
type LBWLM struct {
	WlmName   string `cli:"wlmName" key:"1" max:"127" syntax:"name" help:"Name of the workload manager"`
	IPAddress string `cli:"IPAddress" pos:"2" required:"yes" fixed:"yes" max:"255" syntax:"address" help:"Its address"`
	Port      string `cli:"port" pos:"3" required:"yes" fixed:"yes" max:"255" help:"Its port"`
	LBUID     string `cli:"LBUID" required:"yes" fixed:"yes" max:"127" help:"Who this appliance is to it"`
	KATimeout uint16 `cli:"KATimeout" def:"2" max:"1440" unit:"minutes" help:"Time without a word after which it is asked"`
}

// LBWLMVserver is a vserver that a workload manager tells weights for.
type LBWLMVserver struct {
	WlmName     string `cli:"wlmName" key:"1" max:"127" ref:"lb-wlm" syntax:"name" help:"Name of the workload manager"`
	VServerName string `cli:"vServerName" key:"2" max:"127" ref:"lb-vserver" syntax:"name" help:"lb vserver"`
}

func init() {
	stored[LBGroup]("lb group", "lb-group", "add set unset rm rename show", "Group of vservers with one persistence")
	stored[LBGroupVserver]("lb group", "lb-group-vserver", "bind unbind", "Vserver in a group")
	stored[LBRoute]("lb route", "lb-route", "add rm show", "Route whose next hop is balanced")
	stored[LBWLM]("lb wlm", "lb-wlm", "add set unset rm show", "Workload manager")
	stored[LBWLMVserver]("lb wlm", "lb-wlm-vserver", "bind unbind", "Vserver that a workload manager tells weights for")
}
