package schema

import "net/netip"

// The operational commands: they have arguments but no rows.
type (
	// NSConfig is the configuration as a whole.
	NSConfig struct {
		Force string `cli:"force" flag:"yes" only:"clear" help:"Do not ask"`
		Level string `cli:"level" pos:"1" required:"yes" only:"clear" enum:"basic,extended,full" help:"basic keeps addresses, routes and accounts; full keeps the NSIP and its default route only"`
	}
	// RunningConfig is what is in force now.
	RunningConfig struct{}
	// NSConf is what was saved.
	NSConf struct{}
	// Version is the version of the software.
	Version struct{}
	// Hardware is what the appliance runs on.
	Hardware struct{}
	// ARP is the table of neighbors.
	ARP struct {
		IPAddress netip.Addr `cli:"IPAddress" pos:"1" help:"Only this address"`
	}
	// Interface is the list of ports.
	Interface struct {
		ID string `cli:"id" pos:"1" help:"Port, e.g. 1/1"`
	}
	// NS is the appliance as a whole.
	NS struct{}
	// CLIMode is how this session prints.
	CLIMode struct {
		Page    string `cli:"page" enum:"ON,OFF" help:"Stop after each screen"`
		Color   string `cli:"color" enum:"ON,OFF" help:"Colour errors"`
		Timeout uint32 `cli:"timeout" max:"100000000" unit:"seconds" help:"Idle time after which the session ends; 0 is never"`
	}
)

func init() {
	register[NSConfig]("ns config", "ns-config", "save clear", "The whole configuration", false)
	register[RunningConfig]("ns runningConfig", "ns-running-config", "show", "Configuration in force", false)
	register[NSConf]("ns ns.conf", "ns-conf", "show", "Saved configuration", false)
	register[Version]("version", "version", "show", "Version of the software", false)
	register[Hardware]("hardware", "hardware", "show", "What the appliance runs on", false)
	register[ARP]("arp", "arp", "show", "Neighbors and their link addresses", false)
	register[Interface]("interface", "interface", "show", "Ports of the appliance", false)
	register[NS]("ns", "ns", "stat", "Packets, verdicts and drops of the appliance", false)
	register[CLIMode]("cli mode", "cli-mode", "set show", "How this session prints", false)
}
