package schema

import "net/netip"

// Server is a named server, by its address or by a domain name that is resolved again and again.
type Server struct {
	Name               string     `cli:"name" key:"1" max:"127" syntax:"name" help:"Name of the server"`
	IPAddress          netip.Addr `cli:"IPAddress" pos:"2" help:"IPv4 address of the server, or its domain name"`
	Domain             string     `cli:"domain" instead:"IPAddress" fixed:"yes" max:"253" syntax:"host" help:"Domain name of the server"`
	DomainResolveRetry uint32     `cli:"domainResolveRetry" def:"5" min:"5" max:"20939" unit:"seconds" help:"Time until a domain name that could not be resolved is asked for again; one that could is when its TTL is over"`
	State              string     `cli:"state" enum:"ENABLED,DISABLED" def:"ENABLED" only:"add" help:"Administrative state; disabling a server disables its services"`
	Comment            string     `cli:"comment" max:"255" help:"Any text about the server"`

	Delay        uint32 `cli:"delay" pos:"9" only:"disable" max:"31536000" unit:"seconds" help:"How long it keeps its connections before it is out of service; with graceFul: at most"`
	GraceFul     string `cli:"graceFul" only:"disable" enum:"YES,NO" def:"NO" help:"It is out of service when its last connection has ended"`
	LeavingSince uint64 `cli:"leavingSince" kept:"yes" max:"253402300799999" help:"When it began to go out of service, in milliseconds since 1970"`
}

func init() {
	register[Server]("server", "server", "add set unset rm rename enable disable show", "Server entity", true)
	unbuilt[Server]("translationIp translationMask IPv6Address=NO domainResolveNow td=0")
}
