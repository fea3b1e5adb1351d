package schema

import "net/netip"

// Route is a static route.
type Route struct {
	Network  netip.Addr `cli:"network" key:"1" help:"Destination network"`
	Netmask  netip.Addr `cli:"netmask" key:"2" help:"Mask of the network"`
	Gateway  netip.Addr `cli:"gateway" key:"3" help:"Next hop; it must be on a subnet of a SNIP or NSIP"`
	Distance uint16     `cli:"distance" def:"1" max:"255" help:"Administrative distance; the lowest wins"`
}

func init() {
	register[Route]("route", "route", "add set unset rm show", "Static route", true)
	unbuilt[Route]("cost=0 weight=1 advertise=DISABLED protocol msr=DISABLED monitor ownerGroup=DEFAULT_NG td=0")
}
