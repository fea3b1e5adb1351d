package show

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"sluice/dataplane/api"
	"sluice/mgmt/compile"
	"sluice/vendor-config/schema"
)

func showIP(p *page) error {
	rows, _, err := chosen[schema.NSIP](p)
	if err != nil {
		return err
	}
	types := map[string]string{"NSIP": "NetScaler IP", "SNIP": "SNIP", "VIP": "VIP"}
	order := []string{"NSIP", "SNIP", "VIP"}
	slices.SortStableFunc(rows, func(a, b *schema.NSIP) int { return slices.Index(order, a.Type) - slices.Index(order, b.Type) })
	const form = "%-16s %-15s %-16s %-8s %-8s %-8s %-8s %s\n"
	p.f("\t"+form, "Ipaddress", "Traffic Domain", "Type", "Mode", "Arp", "Icmp", "Vserver", "State")
	p.f("\t"+form, "---------", "--------------", "----", "----", "---", "----", "-------", "------")
	n := 0
	for _, a := range rows {
		if t := p.arg("type"); t != "" && t != a.Type {
			continue
		}
		n++
		vserver := "NA"
		if a.Type == "VIP" {
			vserver = title(a.VServer)
		}
		p.f("%d)\t"+form, n, a.IPAddress, "0", types[a.Type], "Active", title(a.ARP), title(a.ICMP), vserver, title(a.State))
		if a.VRID != 0 {
			p.f("\t\tVirtual router ID: %d\n", a.VRID)
		}
	}
	return nil
}

func showVLAN(p *page) error {
	rows, one, err := chosen[schema.VLAN](p)
	if err != nil {
		return err
	}
	// VLAN 1 is where ports and addresses without a binding are. It is no row.
	if !one {
		rows = append([]*schema.VLAN{{ID: 1}}, rows...)
	}
	for i, v := range rows {
		p.number(i, one)
		p.f("VLAN ID: %d", v.ID)
		if v.ID != 1 {
			p.f("\tVLAN Alias Name: %s", v.AliasName)
		}
		p.f("\n\tInterfaces :")
		for _, t := range p.State.Ports {
			if p.nativeVLAN(t.Name) == v.ID {
				p.f(" %s", t.Name)
			}
		}
		p.f("\n")
		head := "\tIPs :\n"
		for _, b := range schema.All[schema.VLANIP](p.Config) {
			if b.ID != v.ID {
				continue
			}
			mask := b.Netmask
			if a := schema.Get[schema.NSIP](p.Config, b.IPAddress.String()); a != nil {
				mask = a.Netmask
			}
			p.f("%s\t     %s\t\tMask: %s\n", head, b.IPAddress, mask)
			head = ""
		}
	}
	return nil
}

// nativeVLAN is the VLAN of a port's untagged frames.
func (p *page) nativeVLAN(port string) uint16 {
	for _, b := range schema.All[schema.VLANInterface](p.Config) {
		if b.Ifnum == port {
			return b.ID
		}
	}
	return 1
}

func showRoute(p *page) error {
	const form = "%-16s %-16s %-16s %-9s %-6s %s\n"
	var rows []compile.RouteEntry
	for _, r := range compile.Routes(p.Config, p.State) {
		key := []string{r.Prefix.Addr().String(), mask(r.Prefix.Bits()), r.Gateway.String()}
		if len(p.op.Key) <= len(key) && slices.Equal(p.op.Key, key[:len(p.op.Key)]) {
			rows = append(rows, r)
		}
	}
	if len(p.op.Key) > 0 && len(rows) == 0 {
		return missing(p.op)
	}
	p.f("%d configured routes:\n", len(rows))
	p.f("\t"+form, "Network", "Netmask", "Gateway/OwnedIP", "Interface", "State", "Type")
	p.f("\t"+form, "-------", "-------", "---------------", "---------", "-----", "----")
	for i, r := range rows {
		via, kind, state := r.Gateway, "STATIC", "UP"
		if !via.IsValid() {
			via, kind = r.Owner, "DIRECT"
		}
		if !r.InUse {
			state = "DOWN"
		}
		p.f("%d)\t"+form, i+1, r.Prefix.Addr(), mask(r.Prefix.Bits()), via, r.Port, state, kind)
	}
	return nil
}

func mask(bits int) string {
	m := uint32(0xffffffff) << (32 - bits)
	return netip.AddrFrom4([4]byte{byte(m >> 24), byte(m >> 16), byte(m >> 8), byte(m)}).String()
}

func showARP(p *page) error {
	const form = "%-16s %-18s %-7s %-5s %-10s %-8s %s\n"
	only := p.arg("IPAddress")
	rows := slices.DeleteFunc(slices.Clone(p.Neighbors), func(n Neighbor) bool {
		return only != "" && n.IP.String() != only
	})
	if only != "" && len(rows) == 0 {
		return schema.Refuse(schema.NoSuchRow, "IPAddress", only)
	}
	slices.SortFunc(rows, func(a, b Neighbor) int { return cmp.Or(a.IP.Compare(b.IP), cmp.Compare(a.Port, b.Port)) })
	p.f("%d configured arps:\n", len(rows))
	p.f("\t"+form, "IP", "MAC", "Inface", "VLAN", "Origin", "TTL", "Traffic Domain")
	p.f("\t"+form, "--", "---", "------", "----", "------", "---", "--------------")
	for i, n := range rows {
		p.f("%d)\t"+form, i+1, n.IP, mac(n.MAC), n.Port, fmt.Sprint(p.nativeVLAN(n.Port)), n.Origin, "N/A", "0")
	}
	return nil
}

func mac(m [6]byte) string {
	return fmt.Sprintf("%02x:%02x:%02x:%02x:%02x:%02x", m[0], m[1], m[2], m[3], m[4], m[5])
}

func showInterface(p *page) error {
	only, n := p.arg("id"), 0
	for i, t := range p.State.Ports {
		if only != "" && only != t.Name {
			continue
		}
		n++
		p.number(i, only != "")
		driver := "DPDK port"
		if t.Device+t.PCI != "" {
			driver = "DPDK port on " + t.Device + t.PCI
		}
		p.f("Interface %s (%s) #%d\n", t.Name, driver, i)
		p.port(t)
	}
	if only != "" && n == 0 {
		return schema.Refuse(schema.NoSuchRow, "id", only)
	}
	return nil
}

// portStats are the counts of a port and its link, as the dataplane last said; nothing where it has not.
func (p *page) portStats(name string) api.PortStats {
	if p.Stats != nil {
		for _, s := range p.Stats.Ports {
			if s.Name == name {
				return s
			}
		}
	}
	return api.PortStats{}
}

func (p *page) port(t compile.Port) {
	s := p.portStats(t.Name)
	flags, link := "0x4000", "DOWN"
	if s.LinkUp {
		flags, link = "0xc000", "UP"
	}
	uptime := time.Duration(0)
	if p.Stats != nil {
		uptime = max(p.Now.Sub(time.UnixMilli(p.Stats.StartedUnixMilli)), 0).Truncate(time.Second)
	}
	p.f("\tflags=%s <ENABLED, %s, %s>\n", flags, link, link)
	if p.Stats == nil {
		p.f("\t%s; the port is not served.\n", p.Without)
		return
	}
	p.f("\tMTU=%d, native vlan=%d, MAC=%s, uptime %dh%02dm%02ds\n", s.MTU, p.nativeVLAN(t.Name), mac(s.MAC),
		int(uptime.Hours()), int(uptime.Minutes())%60, int(uptime.Seconds())%60)
	p.f("\tRX: Pkts(%d) Bytes(%d) Errs(%d) Drops(%d) Stalls(0)\n", s.RxPackets, s.RxBytes, s.RxErrors, s.RxMissed)
	p.f("\tTX: Pkts(%d) Bytes(%d) Errs(%d) Drops(%d) Stalls(0)\n", s.TxPackets, s.TxBytes, s.TxErrors, s.TxFull)
	p.f("\tTwin: %s, to the kernel Pkts(%d), from the kernel Pkts(%d), Drops(%d)\n", t.Twin, s.TwinTxPackets, s.TwinRxPackets, s.TwinTxFull)
	p.f("\tBandwidth thresholds are not set.\n")
}
