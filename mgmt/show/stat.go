package show

import (
	"fmt"
	"slices"
	"strings"

	"sluice/dataplane/api"
	"sluice/vendor-config/schema"
)

// counted tells why there are no counters, or nil.
func (p *page) counted() error {
	if p.Stats != nil {
		return nil
	}
	return p.Without
}

// rate is the increase a second between both readings.
func (p *page) rate(now, before uint64) string {
	if p.Before == nil || p.Elapsed <= 0 {
		return "--"
	}
	if now < before {
		return "0"
	}
	return fmt.Sprintf("%.0f", float64(now-before)/p.Elapsed.Seconds())
}

func (p *page) head(what string) {
	p.f("%s\n%-40s %18s %20s\n", what, "", "Rate (/s)", "Total")
}

func (p *page) row(name string, now, before uint64) {
	p.f("%-40s %18s %20d\n", name, p.rate(now, before), now)
}

// level is a figure that has no rate.
func (p *page) level(name string, now uint64) { p.f("%-40s %18s %20d\n", name, "--", now) }

// flow finds the counters of an object in both readings.
func flow(now, before *api.Stats, of func(*api.Stats) []api.FlowStats, name string) (n, b api.FlowStats) {
	find := func(s *api.Stats) (f api.FlowStats) {
		if s == nil {
			return f
		}
		all := of(s)
		if i := slices.IndexFunc(all, func(f api.FlowStats) bool { return f.Name == name }); i >= 0 {
			f = all[i]
		}
		return f
	}
	return find(now), find(before)
}

func (p *page) vserverFlow(name string) (now, before api.FlowStats) {
	return flow(p.Stats, p.Before, func(s *api.Stats) []api.FlowStats { return s.Vservers }, name)
}

func (p *page) serviceFlow(name string) (now, before api.FlowStats) {
	return flow(p.Stats, p.Before, func(s *api.Stats) []api.FlowStats { return s.Services }, name)
}

func (p *page) flowRows(hits string, n, b api.FlowStats) {
	p.row(hits, n.Flows, b.Flows)
	p.row("Request bytes", n.BytesIn, b.BytesIn)
	p.row("Response bytes", n.BytesOut, b.BytesOut)
	p.row("Total Packets rcvd", n.PacketsIn, b.PacketsIn)
	p.row("Total Packets sent", n.PacketsOut, b.PacketsOut)
	p.level("Current connections", n.OpenFlows)
}

func statVserver(p *page) error {
	rows, one, err := chosen[schema.LBVserver](p)
	if err != nil {
		return err
	}
	if err := p.counted(); err != nil {
		return err
	}
	const form = "%-24s %15s %5s %8s %14s %7s %8s %8s %12s %10s\n"
	p.f("Virtual Server(s) Summary\n"+form, "", "vsvrIP", "port", "Protocol", "State", "Health", "actSvcs", "inactSvc", "Hits", "Hits/s")
	for _, v := range rows {
		bound := p.x.Bindings(v.Name)
		up := 0
		for _, b := range bound {
			if p.x.ServiceUp(p.State, b.Service) {
				up++
			}
		}
		health := 0
		if len(bound) > 0 {
			health = 100 * up / len(bound)
		}
		n, b := p.vserverFlow(v.Name)
		ip, _, _ := strings.Cut(v.Place(), ":")
		p.f(form, v.Name, ip, port(v.Port), v.ServiceType, p.vserverState(v), fmt.Sprint(health), fmt.Sprint(up), fmt.Sprint(len(bound)-up),
			fmt.Sprint(n.Flows), p.rate(n.Flows, b.Flows))
	}
	if !one {
		return nil
	}
	n, b := p.vserverFlow(rows[0].Name)
	p.head("\nVirtual Server Statistics")
	p.flowRows("Vserver hits", n, b)
	p.level("Current Persistence Sessions", n.Sessions)
	p.row("Spill Over Hits", n.Spilled, b.Spilled)
	p.level("Requests in surge queue", n.Waiting)
	p.f("\nBound Service(s) Summary\n")
	var services []*schema.Service
	for _, b := range p.x.Bindings(rows[0].Name) {
		if svc := p.x.Service(b.Service); svc != nil {
			services = append(services, svc)
		}
	}
	p.services(services)
	return nil
}

func statService(p *page) error {
	rows, one, err := chosen[schema.Service](p)
	if err != nil {
		return err
	}
	if err := p.counted(); err != nil {
		return err
	}
	p.f("Service(s) Summary\n")
	p.services(rows)
	if one {
		p.serviceFigures(rows[0].Name)
	}
	return nil
}

// serviceFigures writes all that is counted of one service.
func (p *page) serviceFigures(name string) {
	n, b := p.serviceFlow(name)
	p.head("\nService Statistics")
	p.flowRows("Service hits", n, b)
	p.level("Packets in the last 14 seconds", n.RecentPackets)
	p.level("Bytes in the last 14 seconds", n.RecentBytes)
}

func (p *page) services(rows []*schema.Service) {
	const form = "%-24s %15s %5s %8s %14s %12s %10s %10s\n"
	p.f(form, "", "IP", "port", "Type", "State", "Hits", "Hits/s", "CurConns")
	for _, s := range rows {
		n, b := p.serviceFlow(s.Name)
		p.f(form, s.Name, p.serverIP(s), port(s.Port), s.ServiceType, brief(p.serviceState(s.Name)), fmt.Sprint(n.Flows), p.rate(n.Flows, b.Flows), fmt.Sprint(n.OpenFlows))
	}
}

func statNS(p *page) error {
	if err := p.counted(); err != nil {
		return err
	}
	busy, total, flows, capacity := p.load()
	p.f("System overview\n")
	p.line("Packet CPU usage (%)", percent(busy, total))
	p.line("Flow entries in use", outOf(flows, capacity))
	p.extremes()
	p.line("Packet buffers in use", outOf(p.Stats.Buffers-min(p.Stats.BuffersFree, p.Stats.Buffers), p.Stats.Buffers))

	p.head("\nInterfaces")
	for i, n := range p.Stats.Ports {
		var b api.PortStats
		if p.Before != nil && i < len(p.Before.Ports) {
			b = p.Before.Ports[i]
		}
		p.row(n.Name+" Packets received", n.RxPackets, b.RxPackets)
		p.row(n.Name+" Bytes received", n.RxBytes, b.RxBytes)
		p.row(n.Name+" Packets transmitted", n.TxPackets, b.TxPackets)
		p.row(n.Name+" Bytes transmitted", n.TxBytes, b.TxBytes)
		p.row(n.Name+" Packets missed by the port", n.RxMissed, b.RxMissed)
		p.row(n.Name+" Packets the port did not take", n.TxFull, b.TxFull)
		p.row(n.Name+" Packets to the kernel", n.TwinTxPackets, b.TwinTxPackets)
		p.row(n.Name+" Packets from the kernel", n.TwinRxPackets, b.TwinRxPackets)
	}
	var before []api.Counter
	if p.Before != nil {
		before = p.Before.Counters
	}
	p.counters(p.Stats.Counters, before)
	return nil
}

// counters writes verdicts, then the drops that have happened with what each means.
func (p *page) counters(now, before []api.Counter) {
	p.head("\nVerdicts")
	for _, c := range now {
		if !isDrop(c) {
			p.row(c.Name, c.Value, valueOf(before, c.Name))
		}
	}
	dropped := false
	for _, c := range now {
		if !isDrop(c) || c.Value == 0 {
			continue
		}
		if !dropped {
			p.head("\nDrops")
		}
		dropped = true
		p.row(c.Name, c.Value, valueOf(before, c.Name))
		p.f("    %s\n", c.Help)
	}
	if !dropped {
		p.f("\nDrops: none\n")
	}
}

func isDrop(c api.Counter) bool { return strings.HasPrefix(c.Name, "drop-") }

// valueOf is the counter of a name, 0 if there is none.
func valueOf(all []api.Counter, name string) uint64 {
	if i := slices.IndexFunc(all, func(c api.Counter) bool { return c.Name == name }); i >= 0 {
		return all[i].Value
	}
	return 0
}

// load sums the workers: cycles between both readings (since the start when there is but one) and flow entries.
func (p *page) load() (busy, total, flows, capacity uint64) {
	for i, w := range p.Stats.Workers {
		b, t := p.cycles(i)
		flows, capacity, busy, total = flows+w.Flows, capacity+w.FlowCapacity, busy+b, total+t
	}
	return busy, total, flows, capacity
}

func percent(part, whole uint64) string {
	if whole == 0 {
		return "0.0"
	}
	return fmt.Sprintf("%.1f", 100*float64(part)/float64(whole))
}
