package schema

import (
	"encoding/hex"
	"net/netip"
	"strconv"
	"strings"
)

// Ping asks a host for echoes, as the appliance's own traffic: the kernel's routes and the ports are those of monitors. Of -i the
// reference product takes 0, which floods; here a fifth of a second is the least.
type Ping struct {
	HostName  string     `cli:"hostName" pos:"1" required:"yes" max:"253" syntax:"station" help:"IPv4 address or domain name of the host"`
	Count     uint16     `cli:"c" only:"ping" min:"1" help:"Echoes to ask for; without it as many as until Ctrl-C, or 5 where there is no terminal"`
	Interval  string     `cli:"i" only:"ping" def:"1" max:"8" syntax:"waiting" help:"Seconds between them, 0.2 to 65535"`
	Interface string     `cli:"I" only:"ping" max:"7" syntax:"ifnum" help:"Port that they leave by, e.g. 1/2"`
	Numeric   string     `cli:"n" only:"ping" flag:"yes" help:"Addresses are not looked up; they never are"`
	Pattern   string     `cli:"p" only:"ping" max:"32" syntax:"hex" help:"What they carry, at most 16 bytes in hexadecimal, again and again"`
	Quiet     string     `cli:"q" only:"ping" flag:"yes" help:"Print the summary alone"`
	Size      uint16     `cli:"s" only:"ping" def:"56" max:"65507" unit:"bytes" help:"Size of what they carry"`
	Source    netip.Addr `cli:"S" only:"ping" help:"Address of the appliance that asks"`
	Timeout   uint16     `cli:"t" only:"ping" min:"1" max:"3600" unit:"seconds" help:"Time after which it ends, whatever has come"`
}

// Traceroute finds the routers on the way to a host, as the appliance's own traffic.
type Traceroute struct {
	Host      string     `cli:"host" pos:"1" required:"yes" max:"253" syntax:"station" help:"IPv4 address or domain name of the host"`
	PacketLen uint16     `cli:"packetlen" pos:"2" def:"44" min:"44" max:"32768" unit:"bytes" help:"Length of the probes with their headers"`
	MinTTL    uint8      `cli:"M" only:"traceroute" def:"1" min:"1" max:"255" help:"Hop to begin with"`
	MaxTTL    uint8      `cli:"m" only:"traceroute" def:"64" min:"1" max:"255" help:"Hop to end with"`
	Numeric   string     `cli:"n" only:"traceroute" flag:"yes" help:"Addresses are not looked up; they never are"`
	Direct    string     `cli:"r" only:"traceroute" flag:"yes" help:"Send straight to a host on a network of the appliance, past the routes"`
	Protocol  string     `cli:"P" only:"traceroute" enum:"UDP,ICMP,TCP" def:"UDP" help:"What the probes are"`
	Port      uint16     `cli:"p" only:"traceroute" min:"1" help:"Port of the host; UDP takes one more for each probe (33434 when left out, 80 for TCP)"`
	Queries   uint8      `cli:"q" only:"traceroute" def:"3" min:"1" max:"10" help:"Probes a hop"`
	Source    netip.Addr `cli:"s" only:"traceroute" help:"Address of the appliance that asks"`
	TOS       uint8      `cli:"t" only:"traceroute" max:"255" help:"Type of service of the probes"`
	Wait      uint16     `cli:"w" only:"traceroute" def:"5" min:"2" max:"60" unit:"seconds" help:"How long an answer is waited for"`
}

func init() {
	register[Ping]("ping", "ping", "ping", "Ask a host for echoes", false)
	unbuilt[Ping]("T")
	register[Traceroute]("traceroute", "traceroute", "traceroute", "Find the routers on the way to a host", false)
	unbuilt[Traceroute]("S T v")
}

// stationFault: a host that is asked or sent to: its IPv4 address, or its domain name.
func stationFault(s string) string {
	ip, err := netip.ParseAddr(s)
	switch {
	case err != nil:
		return hostFault(s)
	case !Unicast(ip) && !ip.IsLoopback():
		return "it is not an IPv4 address of a host"
	}
	return ""
}

// waitingFault: seconds, with a part of them behind a dot, that do not flood.
func waitingFault(s string) string {
	if s == "" {
		return "" // as usual
	}
	if n, err := strconv.ParseFloat(s, 64); err != nil || strings.Trim(s, "0123456789.") != "" || n < 0.2 || n > 65535 {
		return "it is a number of seconds from 0.2 to 65535"
	}
	return ""
}

// hexFault: bytes, two digits each.
func hexFault(s string) string {
	if _, err := hex.DecodeString(s); err != nil {
		return "it is bytes of two hexadecimal digits each, e.g. ff00"
	}
	return ""
}
