package firstboot

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

// networkConfig reads the file network-config, version 1 or 2. It is about the management card alone: ports that carry data are
// configured by commands.
func (a *Answers) networkConfig(data []byte) {
	const file = "network-config"
	n := a.node(file, data)
	if n == nil {
		return
	}
	var version string
	known := map[string]reader{
		"version":   text(func(s string) error { version = s; return nil }),
		"ethernets": a.ethernets,
		"renderer":  nil,
		"config":    func(n *yaml.Node) error { return a.devices(n) },
	}
	if n.Kind == yaml.MappingNode && len(n.Content) >= 2 && n.Content[0].Value == "network" {
		n = plainNode(n.Content[1]) // netplan's own files have it around
	}
	a.mapping(file, n, known)
	if version != "1" && version != "2" {
		a.problem("%s has no version 1 or 2", file)
	}
}

// ethernets reads version 2. The first card is the management card.
func (a *Answers) ethernets(n *yaml.Node) error {
	if n.Kind != yaml.MappingNode {
		return fmt.Errorf("cards by their names are expected")
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if i > 0 {
			a.problem("network-config, line %d: the first card is the management card; others carry data, and their addresses are given by commands (add ns ip)", n.Content[i].Line)
			return nil
		}
		a.mapping("network-config", plainNode(n.Content[1]), map[string]reader{
			"match": func(n *yaml.Node) error {
				a.mapping("network-config", n, map[string]reader{"macaddress": text(a.setManagement)})
				return nil
			},
			"set-name":    nil, // what the kernel calls it concerns nobody
			"dhcp4":       nil, // asked for whenever there is no address
			"dhcp6":       noIPv6,
			"addresses":   each(text(a.firstAddress)),
			"gateway4":    text(a.SetGateway),
			"routes":      each(a.route),
			"nameservers": func(n *yaml.Node) error { a.nameservers(n); return nil },
		})
	}
	return nil
}

func noIPv6(n *yaml.Node) error {
	if n.Value == "true" || n.Value == "yes" {
		return fmt.Errorf("the management port has no IPv6 yet")
	}
	return nil
}

// firstAddress takes the first address; a card has one here.
func (a *Answers) firstAddress(s string) error {
	if a.Address.IsValid() {
		return fmt.Errorf("the management card has one address, which is the first; others are given by commands (add ns ip)")
	}
	return a.SetAddress(s, "")
}

// nameservers reads addresses of name servers.
func (a *Answers) nameservers(n *yaml.Node) {
	a.mapping("network-config", n, map[string]reader{"addresses": texts(a.addDNS)})
}

// route takes the default route; others are given by commands.
func (a *Answers) route(n *yaml.Node) error {
	var to, mask, via string
	keep := func(to *string) reader { return text(func(s string) error { *to = s; return nil }) }
	a.mapping("network-config", n, map[string]reader{"to": keep(&to), "via": keep(&via), "network": keep(&to), "netmask": keep(&mask), "gateway": keep(&via)})
	if to != "default" && to != "0.0.0.0/0" && (to != "0.0.0.0" || mask != "0.0.0.0") {
		return fmt.Errorf("of routes only the default one is taken; others are given by commands (add route)")
	}
	return a.SetGateway(via)
}

// devices reads version 1.
func (a *Answers) devices(n *yaml.Node) error {
	cards := 0
	return each(func(n *yaml.Node) error {
		switch kind := valueOf(n, "type"); kind {
		case "physical":
			if cards++; cards > 1 {
				return fmt.Errorf("the first card is the management card; others carry data, and their addresses are given by commands (add ns ip)")
			}
			a.mapping("network-config", n, map[string]reader{"type": nil, "name": nil, "mac_address": text(a.setManagement),
				"subnets": each(func(n *yaml.Node) error { return a.subnet(n) })})
		case "nameserver":
			a.mapping("network-config", n, map[string]reader{"type": nil, "address": texts(a.addDNS)})
		default:
			return fmt.Errorf("the type %s is not understood", quoted(kind))
		}
		return nil
	})(n)
}

// subnet reads how a card of version 1 finds its address.
func (a *Answers) subnet(n *yaml.Node) error {
	var address, mask string
	keep := func(to *string) reader { return text(func(s string) error { *to = s; return nil }) }
	a.mapping("network-config", n, map[string]reader{"type": nil, "control": nil, "address": keep(&address), "netmask": keep(&mask),
		"gateway": text(a.SetGateway), "dns_nameservers": texts(a.addDNS), "routes": each(a.route)})
	switch kind := valueOf(n, "type"); kind {
	case "dhcp", "dhcp4":
		return nil
	case "static":
		if a.Address.IsValid() {
			return a.firstAddress(address)
		}
		return a.SetAddress(address, mask)
	default:
		return fmt.Errorf("the type %s is not understood", quoted(kind))
	}
}

// valueOf is the word of a mapping's key, or "".
func valueOf(n *yaml.Node, key string) string {
	if n.Kind == yaml.MappingNode {
		for i := 0; i+1 < len(n.Content); i += 2 {
			if n.Content[i].Value == key {
				return strings.TrimSpace(plainNode(n.Content[i+1]).Value)
			}
		}
	}
	return ""
}
