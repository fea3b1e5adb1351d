package show

import (
	"slices"
	"strings"

	"sluice/vendor-config/schema"
)

// longNames are features and modes in full, by their acronyms. One that is not here is called by its acronym.
var longNames = map[string]string{
	"WL": "Web Logging", "SP": "Surge Protection", "LB": "Load Balancing", "CS": "Content Switching", "CR": "Cache Redirection",
	"CMP": "Compression", "SSL": "SSL Offloading", "GSLB": "Global Server Load Balancing", "CF": "Content Filtering",
	"IC": "Integrated Caching", "SSLVPN": "SSL VPN", "AAA": "AAA", "OSPF": "OSPF Routing", "RIP": "RIP Routing", "BGP": "BGP Routing",
	"REWRITE": "Rewrite", "IPv6PT": "IPv6 protocol translation", "AppFw": "Application Firewall", "RESPONDER": "Responder",
	"push": "Push", "AppFlow": "AppFlow", "CloudBridge": "CloudBridge", "ISIS": "ISIS Routing", "CH": "Call Home",
	"ContentAccelerator": "Content Accelerator", "FEO": "Front End Optimization", "LSN": "Large Scale NAT", "RDPProxy": "RDP Proxy",
	"Rep": "Reputation", "VideoOptimization": "Video Optimization", "ForwardProxy": "Forward Proxy",
	"SSLInterception": "SSL Interception", "AdaptiveTCP": "Adaptive TCP", "CQA": "Connection Quality Analytics",
	"CI": "Content Inspection", "Bot": "Bot Management", "APIGateway": "API Gateway",

	"FR": "Fast Ramp", "L2": "Layer 2 mode", "USIP": "Use Source IP", "CKA": "Client Keep-alive", "TCPB": "TCP Buffering",
	"MBF": "MAC-based forwarding", "Edge": "Edge configuration", "USNIP": "Use Subnet IP", "L3": "Layer 3 mode (ip forwarding)",
	"PMTUD": "Path MTU Discovery", "MediaClassification": "Media Classification", "SRADV": "Static Route Advertisement",
	"DRADV": "Direct Route Advertisement", "IRADV": "Intranet Route Advertisement", "SRADV6": "IPv6 Static Route Advertisement",
	"DRADV6": "IPv6 Direct Route Advertisement", "BridgeBPDUs": "Bridge BPDUs", "ULFD": "Unified Logging Format",
	"single_ip": "Single IP mode",
}

func showFeature(p *page) error { return p.switches("Feature", "feature") }

func showMode(p *page) error { return p.switches("Mode", "mode") }

// switches writes what can be enabled: what is built is always on, and what is not is off.
func (p *page) switches(title, field string) error {
	const form = "%-36s %-20s %s\n"
	f := p.op.Object.Field(field)
	p.f("\t"+form, title, "Acronym", "Status")
	p.f("\t"+form, strings.Repeat("-", len(title)), "-------", "------")
	for i, acronym := range slices.Concat(f.Enum, f.Later) {
		long, status := longNames[acronym], "OFF"
		if long == "" {
			long = acronym
		}
		if i < len(f.Enum) {
			status = "ON"
		}
		p.f("%d)\t"+form, i+1, long, acronym, status)
	}
	return nil
}

// showHANode tells of this appliance, which stands alone and is primary therefore, whatever is stored about pairs.
func showHANode(p *page) error {
	one := len(p.op.Key) > 0
	if one && p.op.Key[0] != "0" {
		return showStored(p)
	}
	var all, down []string
	for _, t := range p.State.Ports {
		all = append(all, t.Name)
		if p.Stats != nil && !p.portStats(t.Name).LinkUp {
			down = append(down, t.Name)
		}
	}
	p.number(0, one)
	p.f("Node ID:      0\n\tIP:           %s (%s)\n", p.nsip(), p.System.Host)
	p.f("\tNode State: UP\n\tMaster State: Primary\n\tFail-Safe Mode: OFF\n\tINC State: DISABLED\n\tSync State: DISABLED\n\tPropagation: DISABLED\n")
	p.f("\tEnabled Interfaces : %s\n\tDisabled Interfaces : None\n\tInterfaces without link : %s\n", orNone(all), orNone(down))
	p.f("\tNode in this Master State for: %s\n", p.ago(p.System.Started))
	var rows []any
	for _, row := range p.Config.Rows(p.op.Object) {
		if !one || row.(*schema.HANode).ID == 0 {
			rows = append(rows, row)
		}
	}
	return p.storedRows(rows, 1, one)
}

// nsip is the address of management, or none.
func (p *page) nsip() string {
	for _, a := range schema.All[schema.NSIP](p.Config) {
		if a.Type == "NSIP" {
			return a.IPAddress.String()
		}
	}
	return "none"
}

func orNone(list []string) string {
	if len(list) == 0 {
		return "None"
	}
	return strings.Join(list, " ")
}

// showPartition tells of the only partition there is, and those that are stored. Collectors take a line with "Name:" for a
// partition that they can switch to; there is none.
func showPartition(p *page) error {
	if len(p.op.Key) == 0 {
		p.f("\tPartition: default, the whole appliance\n")
		return p.storedRows(p.Config.Rows(p.op.Object), 0, false)
	}
	return showStored(p)
}
