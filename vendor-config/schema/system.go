package schema

import "net/netip"

// The operational commands: they have arguments but no rows.
type (
	// NSConfig is the configuration as a whole.
	NSConfig struct {
		IPAddress netip.Addr `cli:"IPAddress" only:"set" help:"The NSIP, by which operators reach the appliance; it holds at once"`
		Netmask   netip.Addr `cli:"netmask" only:"set" help:"Mask of its subnet"`
		Force     string     `cli:"force" flag:"yes" only:"clear" help:"Do not ask"`
		Level     string     `cli:"level" pos:"1" required:"yes" only:"clear" enum:"basic,extended,full" help:"basic keeps addresses, routes and accounts; full keeps the NSIP and its default route only"`

		Candidate string `cli:"candidate" flag:"yes" only:"show" help:"The configuration that is being prepared, see load config, and the commit that waits to be confirmed"`
		History   string `cli:"history" flag:"yes" only:"show" help:"Versions of the running configuration: number, time, user, source, and what was typed"`
		Version   uint64 `cli:"version" only:"show" max:"999999999999" help:"The configuration of this version of the history"`
	}
	// RunningConfig is what is in force now.
	RunningConfig struct{}
	// NSConf is what was saved.
	NSConf struct {
		File string `cli:"file" pos:"1" required:"yes" only:"import" max:"4095" help:"File of commands in the configuration directory, e.g. ns.conf"`
	}
	// SavedConfig is the same by its other name.
	SavedConfig struct{}
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
	// Worker is a core that forwards packets.
	Worker struct {
		ID uint8 `cli:"id" pos:"1" max:"63" help:"Number of the worker, from 0"`
	}
	// Where is what would become of the first packet of a flow.
	Where struct {
		SrcIP    netip.Addr `cli:"srcIP" pos:"1" required:"yes" help:"Source address of the packet, e.g. the client's"`
		SrcPort  uint16     `cli:"srcPort" pos:"2" required:"yes" help:"Source port; 0 for protocols without ports"`
		DestIP   netip.Addr `cli:"destIP" pos:"3" required:"yes" help:"Destination address of the packet, e.g. a VIP"`
		DestPort uint16     `cli:"destPort" pos:"4" required:"yes" help:"Destination port; 0 for protocols without ports"`
		Protocol string     `cli:"protocol" pos:"5" required:"yes" syntax:"protocol" help:"TCP, UDP or the number of an IP protocol without ports, e.g. 47"`
	}
	// Trace follows packets through the stages of the dataplane.
	Trace struct {
		SrcIP    netip.Addr `cli:"srcIP" only:"start" help:"Source address of the client's packets; any if left out"`
		SrcPort  uint16     `cli:"srcPort" only:"start" min:"1" help:"Source port of the client's packets"`
		DestIP   netip.Addr `cli:"destIP" only:"start" help:"Destination address of the client's packets, e.g. a VIP"`
		DestPort uint16     `cli:"destPort" only:"start" min:"1" help:"Destination port of the client's packets"`
		Protocol string     `cli:"protocol" only:"start" syntax:"protocol" help:"TCP, UDP or the number of an IP protocol, e.g. 1 for ICMP"`
		Count    uint8      `cli:"count" only:"start" def:"1" min:"1" max:"64" help:"Packets to follow, in both directions of the flows; one that is handed to another worker counts twice"`
		Time     uint16     `cli:"time" only:"start" def:"60" min:"1" max:"3600" unit:"seconds" help:"How long to wait for them"`
	}
	// NS is the appliance as a whole.
	NS struct{}
	// NSFeature switches features. What is built is always on, so enabling it asks for nothing.
	NSFeature struct {
		Feature string `cli:"feature" pos:"1" many:"yes" required:"yes" only:"enable" enum:"LB" later:"WL,SP,CS,CR,CMP,SSL,GSLB,CF,IC,SSLVPN,AAA,OSPF,RIP,BGP,REWRITE,IPv6PT,AppFw,RESPONDER,push,AppFlow,CloudBridge,ISIS,CH,AppQoE,ContentAccelerator,FEO,LSN,RDPProxy,Rep,VideoOptimization,ForwardProxy,SSLInterception,AdaptiveTCP,CQA,CI,Bot,APIGateway" help:"Feature by its acronym"`
	}
	// NSMode switches modes of packet forwarding. What is built is always on.
	NSMode struct {
		Mode string `cli:"mode" pos:"1" many:"yes" required:"yes" only:"enable" enum:"USNIP" later:"FR,L2,USIP,CKA,TCPB,MBF,Edge,L3,PMTUD,MediaClassification,SRADV,DRADV,IRADV,SRADV6,DRADV6,BridgeBPDUs,ULFD,single_ip" help:"Mode by its acronym"`
	}
	// CLIPrompt is the prompt of this session.
	CLIPrompt struct {
		Prompt string `cli:"promptString" pos:"1" required:"yes" only:"set" max:"63" help:"Prompt; %u user, %h host name, %T time, %d date, %! number of the command"`
	}
	// CLIMode is how this session prints.
	CLIMode struct {
		Page    string `cli:"page" enum:"ON,OFF" help:"Stop after each screen"`
		Color   string `cli:"color" enum:"ON,OFF" help:"Colour errors"`
		Timeout uint32 `cli:"timeout" max:"100000000" unit:"seconds" help:"Idle time after which the session ends; 0 is never"`
	}
)

func init() {
	register[NSConfig]("ns config", "ns-config", "set save clear show", "The whole configuration, and the address of management", false)
	register[RunningConfig]("ns runningConfig", "ns-running-config", "show", "Configuration in force", false)
	register[SavedConfig]("ns savedConfig", "ns-saved-config", "show", "Saved configuration", false)
	register[NSConf]("ns ns.conf", "ns-conf", "show import", "Saved configuration; a file of commands to take over", false)
	register[Version]("version", "version", "show", "Version of the software", false)
	register[Hardware]("hardware", "hardware", "show", "What the appliance runs on", false)
	register[ARP]("arp", "arp", "show", "Neighbors and their link addresses", false)
	register[Interface]("interface", "interface", "show", "Ports of the appliance", false)
	register[NS]("ns", "ns", "stat", "Packets, verdicts and drops of the appliance", false)
	register[Worker]("worker", "worker", "stat", "Workers: how busy each is, what it holds and what it drops", false)
	register[Where]("where", "where", "show", "What would become of the first packet of a flow: asked of the dataplane, changes nothing", false)
	register[Trace]("trace", "trace", "start stop show", "Walk of real packets through the stages of the dataplane, each with its verdict", false)
	register[CLIMode]("cli mode", "cli-mode", "set unset show", "How this session prints", false)
	unbuilt[CLIMode]("total=OFF disabledFeatureAction=NONE|ALLOW regex=ON")
	unbuilt[NSConfig]("nsvlan ifnum tagged RBAconfig=YES")
	unbuilt[RunningConfig]("withDefaults")
	register[CLIPrompt]("cli prompt", "cli-prompt", "set clear show", "Prompt of this session", false)
	register[NSFeature]("ns feature", "ns-feature", "enable show", "Features of the appliance", false)
	register[NSMode]("ns mode", "ns-mode", "enable show", "Modes of packet forwarding", false)
}
