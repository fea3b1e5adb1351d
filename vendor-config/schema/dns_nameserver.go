package schema

import "net/netip"

// DNSNameServer is a name server that the appliance itself asks. The enabled ones are asked in the place of those of the settings'
// resolv-conf, without its search list; each is asked by UDP, and by TCP for what does not fit.
type DNSNameServer struct {
	IP    netip.Addr `cli:"IP" key:"1" help:"IPv4 address of the name server"`
	State string     `cli:"state" enum:"ENABLED,DISABLED" def:"ENABLED" only:"add" help:"Whether it is asked"`
}

func init() {
	register[DNSNameServer]("dns nameServer", "dns-name-server", "add rm enable disable show", "Name server that resolves the names of servers", true)
	unbuilt[DNSNameServer]("local type=UDP|UDP_TCP dnsProfileName")
}

// NameServers are the name servers to ask, in the order of the configuration.
func NameServers(c *Config) []netip.Addr {
	var all []netip.Addr
	for _, s := range All[DNSNameServer](c) {
		if s.State == "ENABLED" {
			all = append(all, s.IP)
		}
	}
	return all
}
