package show

import (
	"fmt"
	"slices"
	"strings"

	"sluice/vendor-config/schema"
)

// monitors writes what each monitor of a service says.
func (p *page) monitors(s *schema.Service) {
	if s.HealthMonitor == "NO" {
		p.f("\tHealth Monitoring: OFF\n")
	}
	for i, m := range p.x.MonitorsOf(s.Name) {
		r := p.State.Services[s.Name].Monitors[m.Name]
		state := "UNKNOWN"
		switch {
		case m.Off:
			state = "DISABLED"
		case !p.x.ServiceEnabled(s.Name):
			state = "OUT OF SERVICE"
		case r.Known && r.Up:
			state = "UP"
		case r.Known:
			state = "DOWN"
		}
		p.f("%d)\tMonitor Name: %s\n", i+1, m.Name)
		p.f("\t\tState: %s\tWeight: %d\n", state, m.Weight)
		p.f("\t\tProbes: %d\tFailed [Total: %d Current: %d]\n", r.Probes, r.Failed, r.FailedNow)
		if r.Response != "" {
			p.f("\t\tLast response: %s\n", r.Response)
		}
		p.f("\t\tResponse Time: %.3f millisec\n", float64(r.Took.Microseconds())/1000)
	}
}

func showMonitor(p *page) error {
	all := append(slices.Clone(schema.BuiltinMonitors()), schema.All[schema.LBMonitor](p.Config)...)
	rows, one := all, len(p.op.Key) > 0
	if one {
		rows = slices.DeleteFunc(all, func(m *schema.LBMonitor) bool { return m.Name != p.op.Key[0] })
		if len(rows) == 0 {
			return missing(p.op)
		}
	}
	for i, m := range rows {
		p.f("%d)   Name.......: %10s  Type......: %9s  State....: %9s\n", i+1, m.Name, m.Type, m.State)
		if one {
			p.monitor(m)
		}
	}
	return nil
}

func (p *page) monitor(m *schema.LBMonitor) {
	pair := func(a, av, b, bv string) {
		p.f("  %s: %16s", a, av)
		if b != "" {
			p.f("  %s: %16s", b, bv)
		}
		p.f("\n")
	}
	span := func(n uint32, unit string) string { return fmt.Sprintf("%d %s", n, strings.ToLower(unit)) }
	ip, dport := "Bound service", "Bound service"
	if m.DestIP.IsValid() && !m.DestIP.IsUnspecified() {
		ip = m.DestIP.String()
	}
	if m.DestPort != 0 {
		dport = fmt.Sprint(m.DestPort)
	}
	p.f("Standard parameters:\n")
	pair("Interval.........", span(m.Interval, m.IntervalUnit), "Retries..........", fmt.Sprint(m.Retries))
	pair("Response timeout.", span(m.RespTimeout, m.RespTimeoutUnit), "Down time........", span(m.DownTime, m.DownTimeUnit))
	pair("Destination IP...", ip, "Destination port.", dport)
	pair("Success Retries..", fmt.Sprint(m.SuccessRetries), "", "")
	if m.Type == "HTTP" {
		p.f("Special parameters:\n  HTTP request.....: %q\n  Response codes...: %s\n", m.HTTPRequest, m.RespCode)
	}
	var bound []string
	for _, b := range schema.All[schema.ServiceMonitor](p.Config) {
		if b.Monitor == m.Name {
			bound = append(bound, b.Service)
		}
	}
	for _, b := range schema.All[schema.ServiceGroupMonitor](p.Config) {
		if b.Monitor == m.Name {
			bound = append(bound, b.Group)
		}
	}
	if len(bound) > 0 {
		p.f("Bound services:\n  %s\n", strings.Join(bound, "\n  "))
	}
}
