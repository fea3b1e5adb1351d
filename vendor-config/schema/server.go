package schema

import "net/netip"

// Server is a named server address.
type Server struct {
	Name      string     `cli:"name" key:"1" max:"127" syntax:"name" help:"Name of the server"`
	IPAddress netip.Addr `cli:"IPAddress" pos:"2" required:"yes" help:"IPv4 address of the server"`
	State     string     `cli:"state" enum:"ENABLED,DISABLED" def:"ENABLED" only:"add" help:"Administrative state; disabling a server disables its services"`
	Comment   string     `cli:"comment" max:"255" help:"Any text about the server"`
}

func init() {
	register[Server]("server", "server", "add set unset rm enable disable show", "Server entity", true)
	unbuilt[Server]("translationIp translationMask domainResolveRetry=5 IPv6Address=NO domainResolveNow td=0")
}
