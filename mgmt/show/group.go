package show

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"sluice/dataplane/api"
	"sluice/mgmt/compile"
	"sluice/vendor-config/schema"
)

func showGroup(p *page) error {
	rows, one, err := chosen[schema.ServiceGroup](p)
	if err != nil {
		return err
	}
	if !one {
		p.f("%d configured service groups:\n", len(rows))
	}
	for i, g := range rows {
		p.number(i, one)
		p.group(g)
	}
	return nil
}

func (p *page) group(g *schema.ServiceGroup) {
	p.f("%s - %s\n", g.Name, g.ServiceType)
	p.f("\tState: %s\tEffective State: %s\tMonitor Threshold : %d\n", g.State, p.groupState(g), g.MonThreshold)
	p.leaving(g)
	options := compile.OfGroup(g)
	p.limited(options)
	p.treatment(options)
	if g.HealthMonitor == "NO" {
		p.f("\tHealth Monitoring: OFF\n")
	}
	if g.Comment != "" {
		p.f("\tComment: %q\n", g.Comment)
	}
	if g.AutoScale != "DISABLED" {
		p.f("\tAutoscale: %s\n", g.AutoScale)
		p.scaled(g)
	}
	for i, m := range p.x.Members(g.Name) {
		svc := m.Service
		p.f("\t%d)\t%s:%s\tState: %s\tServer Name: %s\tServer ID: None\tWeight: %d\n", i+1, p.serverIP(svc), port(svc.Port),
			p.serviceState(svc.Name), m.Row.Server, m.Row.Weight)
		p.indented("\t", func() {
			p.leaving(m.Row)
			p.since(p.State.Services[svc.Name].Since)
			p.monitors(svc)
		})
	}
}

// scaled writes the names that stand for the members of a group, and how many addresses each has.
func (p *page) scaled(g *schema.ServiceGroup) {
	for _, m := range schema.All[schema.ServiceGroupMember](p.Config) {
		s := schema.Get[schema.Server](p.Config, m.Server)
		if m.Group != g.Name || s == nil {
			continue
		}
		r := p.State.Resolutions[s.Name]
		n := 0
		if r.Domain == s.Domain {
			n = len(r.Addresses)
		}
		p.f("\tName: %s:%s\tDomain: %s\tAddresses: %d\n", s.Name, port(m.Port), s.Domain, n)
		if r.Failure != "" && r.Domain == s.Domain {
			p.f("\t\tDoes not resolve: %s; the last addresses stay in use\n", r.Failure)
		}
	}
}

// indented writes what write writes further to the right.
func (p *page) indented(by string, write func()) {
	whole := p.Builder
	p.Builder = &strings.Builder{}
	write()
	text := p.Builder.String()
	p.Builder = whole
	for line := range strings.Lines(text) {
		p.WriteString(by + line)
	}
}

// groupState is the state of a group: UP with one member that is.
func (p *page) groupState(g *schema.ServiceGroup) string {
	state := "DOWN"
	for _, m := range p.x.Members(g.Name) {
		if p.x.ServiceUp(p.State, m.Service.Name) {
			state = "UP"
		}
	}
	switch {
	case g.State == "DISABLED" && p.x.DepartureOf(g) != nil:
		state = "GOING OUT OF SERVICE"
	case g.State == "DISABLED":
		state = "OUT OF SERVICE"
	}
	return state
}

// boundName is what a service that is bound to a vserver is called there: a member by its group.
func (p *page) boundName(service string) string {
	if m := p.x.MemberOf(service); m != nil {
		return m.Group.Name
	}
	return service
}

func statGroup(p *page) error {
	rows, one, err := chosen[schema.ServiceGroup](p)
	if err != nil {
		return err
	}
	if err := p.counted(); err != nil {
		return err
	}
	const form = "%-24s %14s %14s %8s %8s %12s %10s %10s\n"
	p.f("Service Group(s) Summary\n"+form, "", "Type", "State", "actMbrs", "inactMbr", "Hits", "Hits/s", "CurConns")
	for _, g := range rows {
		var now, before api.FlowStats
		up, all := 0, p.x.Members(g.Name)
		for _, m := range all {
			n, b := p.serviceFlow(m.Service.Name)
			now.Flows, now.OpenFlows, before.Flows = now.Flows+n.Flows, now.OpenFlows+n.OpenFlows, before.Flows+b.Flows
			if p.x.ServiceUp(p.State, m.Service.Name) {
				up++
			}
		}
		p.f(form, g.Name, g.ServiceType, brief(p.groupState(g)), fmt.Sprint(up), fmt.Sprint(len(all)-up), fmt.Sprint(now.Flows),
			p.rate(now.Flows, before.Flows), fmt.Sprint(now.OpenFlows))
	}
	if !one {
		return nil
	}
	p.f("\nService Group Member(s) Summary\n")
	var members []*schema.Service
	for _, m := range p.x.Members(rows[0].Name) {
		members = append(members, m.Service)
	}
	p.services(members)
	return nil
}

func statMember(p *page) error {
	group, server, at := p.arg("serviceGroupName"), p.arg("serverName"), p.arg("port")
	if schema.Get[schema.ServiceGroup](p.Config, group) == nil {
		return schema.Refuse(schema.NoSuchRow, "serviceGroupName", group)
	}
	address, _ := netip.ParseAddr(server)
	all := p.x.Members(group)
	i := slices.IndexFunc(all, func(m *compile.Member) bool {
		srv := p.x.ServerOf(m.Service)
		return fmt.Sprint(m.Row.Port) == at && (m.Row.Server == server || srv != nil && address.IsValid() && srv.IPAddress == address)
	})
	if i < 0 {
		return schema.Refuse(schema.NoSuchRow, "serverName", server+" "+at).Because("it is not bound to " + group)
	}
	if err := p.counted(); err != nil {
		return err
	}
	p.f("Service Group Member(s) Summary\n")
	p.services([]*schema.Service{all[i].Service})
	p.serviceFigures(all[i].Service.Name)
	return nil
}
