package show

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"sluice/dataplane/api"
	"sluice/vendor-config/schema"
)

// persistence writes how a vserver knows its clients again.
func (p *page) persistence(v *schema.LBVserver) {
	p.f("\tPersistence: %s", v.PersistenceType)
	if v.PersistenceType != "NONE" {
		p.f("\tPersistence Mask: %s\tPersistence Timeout: %d min", v.PersistMask, v.Timeout)
		if v.PersistBackup != "NONE" {
			p.f("\n\tBackup Persistence: %s\tBackup Persistence Timeout: %d min", v.PersistBackup, v.BackupTimeout)
		}
	}
	p.f("\n")
}

// persistenceNames are the types of sessions by the operator's words.
var persistenceNames = map[api.Persistence]string{
	api.PersistSourceIP: "SOURCEIP", api.PersistDestinationIP: "DESTIP", api.PersistSourceDestinationIP: "SRCIPDESTIP",
}

func showSessions(p *page) error {
	if p.Sessions == nil {
		return p.Without
	}
	all := slices.Clone(p.Sessions.List)
	slices.SortFunc(all, func(a, b api.Session) int {
		return cmp.Or(cmp.Compare(a.Vserver, b.Vserver), a.Src.Compare(b.Src), a.Dst.Compare(b.Dst), cmp.Compare(a.Kind, b.Kind))
	})
	if len(all) == 0 {
		p.f("No persistent sessions\n")
		return nil
	}
	const form = "%-7s %-12s %-15s %-15s %-24s %-24s %-21s %s\n"
	p.f(form, "", "Type", "SRC-IP", "DST-IP", "VSNAME", "SERVICE", "SERVER", "TIMEOUT (s)")
	for i, s := range all {
		kind, to, server := persistenceNames[s.Kind], p.boundName(s.Service), p.serverOf(s.Service)
		if s.Kind == 0 {
			kind, to, server = "SPILLOVER", s.Service, "(backup vserver)"
		}
		p.f(form, fmt.Sprintf("%d)", i+1), kind, address(s.Src), address(s.Dst), s.Vserver, to, server,
			fmt.Sprint(int64((s.Left+time.Second-1)/time.Second)))
	}
	if p.Sessions.Next != 0 {
		p.f("There are more than these; name a vserver to see its sessions alone\n")
	}
	return nil
}

// address is one of a session, which may not count.
func address(a netip.Addr) string {
	if !a.IsValid() {
		return "*"
	}
	return a.String()
}

// serverOf is the address and port of a service.
func (p *page) serverOf(service string) string {
	svc := p.x.Service(service)
	if svc == nil {
		return ""
	}
	return p.serverIP(svc) + ":" + port(svc.Port)
}
