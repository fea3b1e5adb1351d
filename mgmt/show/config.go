package show

import (
	"net/netip"

	"sluice/vendor-config/schema"
)

func showNSConfig(p *page) error {
	var ip, mask netip.Addr
	others := 0
	for _, a := range schema.All[schema.NSIP](p.Config) {
		switch a.Type {
		case "NSIP":
			ip, mask = a.IPAddress, a.Netmask
		case "SNIP":
			others++
		}
	}
	if ip.IsValid() {
		p.f("\tNetScaler IP: %s  (mask: %s)\n", ip, mask)
	} else {
		p.f("\tNetScaler IP: none\n")
	}
	if m := p.State.Management; m.Device != "" {
		p.f("\tManagement port: %s (%s)\n", m.Name, m.Device)
	}
	p.f("\tNumber of MappedIP(s): %d\n\tNode: Standalone\n\n", others)
	p.f("\tSystem Time: %s\n\tLast Config Changed Time: %s\n", date(p.Now), date(p.ChangedAt))
	if p.Saved.At.IsZero() {
		p.f("\tLast Config Saved Time: never\n")
	} else {
		p.f("\tLast Config Saved Time: %s\n", date(p.Saved.At))
	}
	return nil
}

func showHostName(p *page) error {
	p.f("\tHostname: %s\n", p.System.Host)
	return nil
}
