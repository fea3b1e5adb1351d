package show

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"sluice/mgmt/compile"
	"sluice/vendor-config/schema"
)

// monitors writes what each monitor of a service says.
func (p *page) monitors(s *schema.Service) {
	if s.HealthMonitor == "NO" {
		p.f("\tHealth Monitoring: OFF\n")
	}
	for i, m := range p.x.MonitorsOf(s.Name) {
		r := p.State.Services[s.Name].Monitors[m.Name]
		state := p.monitorState(s.Name, m)
		p.f("%d)\tMonitor Name: %s\n", i+1, m.Name)
		p.f("\t\tState: %s\tWeight: %d\n", state, m.Weight)
		p.f("\t\tProbes: %d\tFailed [Total: %d Current: %d]\n", r.Probes, r.Failed, r.FailedNow)
		if r.Response != "" {
			p.f("\t\tLast response: %s\n", r.Response)
		}
		p.f("\t\tResponse Time: %.3f millisec\n", float64(r.Took.Microseconds())/1000)
		if m.Type == "LOAD" && r.LoadKnown {
			p.f("\t\tLoad: %d\n", r.Load)
		}
		if m.LRTM == "ENABLED" {
			p.f("\t\tAverage Response Time: %.3f millisec\n", float64(r.Average.Microseconds())/1000)
		}
	}
}

func (p *page) monitorState(service string, m compile.Watcher) string {
	r := p.State.Services[service].Monitors[m.Name]
	switch {
	case m.Off:
		return "DISABLED"
	case !p.x.ServiceEnabled(service):
		return "OUT OF SERVICE"
	case r.Known && r.Up:
		return "UP"
	case r.Known:
		return "DOWN"
	}
	return "UNKNOWN"
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
	pair("Success Retries..", fmt.Sprint(m.SuccessRetries), "Reverse..........", m.Reverse)
	switch "YES" {
	case m.Transparent, m.IPTunnel:
		pair("Transparent......", m.Transparent, "IP tunnel........", m.IPTunnel)
	case m.TOS:
		pair("TOS..............", m.TOS, "TOS ID...........", fmt.Sprint(m.TOSID))
	}
	if m.FailureRetries > 0 || m.AlertRetries > 0 {
		pair("Failure Retries..", fmt.Sprint(m.FailureRetries), "Alert Retries....", fmt.Sprint(m.AlertRetries))
	}
	if m.LRTM == "ENABLED" {
		pair("LRTM.............", m.LRTM, "Deviation........", span(m.Deviation, m.DeviationUnit))
	}
	if m.RespThreshold > 0 {
		pair("Resp. threshold..", fmt.Sprintf("%d %%", m.RespThreshold), "", "")
	}
	p.special(m)
	for i, b := range schema.All[schema.LBMonitorMetric](p.Config) {
		if b.Monitor == m.Name {
			p.f("%d)   Metric.....: %10s  Threshold.: %d  Weight.: %d\n", i+1, b.Metric, b.Threshold, b.Weight)
		}
	}
	var bound []string
	for _, b := range schema.All[schema.ServiceMonitor](p.Config) {
		if b.Monitor == m.Name {
			bound = append(bound, p.binding(b))
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

// binding is a service to which a monitor is bound, what the monitor counts for there, and what it says.
func (p *page) binding(b *schema.ServiceMonitor) string {
	text := fmt.Sprintf("%s  Weight: %d", b.Service, b.Weight)
	for _, w := range p.x.MonitorsOf(b.Service) {
		if w.Name == b.Monitor {
			text += "  State: " + p.monitorState(b.Service, w)
		}
	}
	if r := p.State.Services[b.Service].Monitors[b.Monitor]; r.Response != "" {
		text += "  Last response: " + r.Response
	}
	return text
}

// special are the arguments that monitors of some types have, as far as they are given.
func (p *page) special(m *schema.LBMonitor) {
	o, v := schema.Of[schema.LBMonitor](), reflect.ValueOf(m).Elem()
	head := "Special parameters:\n"
	for _, f := range o.Fields {
		text := f.Text(v)
		if f.ForField != "type" || !slices.Contains(f.ForValues, m.Type) || text == "" || text == "0" {
			continue
		}
		label, ok := specialLabels[f.CLI]
		if !ok {
			label = strings.ToUpper(f.CLI[:1]) + f.CLI[1:]
		}
		if f.Secret {
			text = f.Mask(text)
		} else if f.Syntax == "payload" || f.Syntax == "request" {
			text = `"` + text + `"`
		}
		p.f("%s  %s: %s\n", head, (label + strings.Repeat(".", 17))[:max(17, len(label))], text)
		head = ""
	}
}

// specialLabels are the words of the reference product where they are other than the argument's.
var specialLabels = map[string]string{"httpRequest": "HTTP request", "respCode": "Response codes", "send": "Send string", "recv": "Receive string",
	"customHeaders": "Custom headers"}

func showMetricTable(p *page) error {
	rows, one, err := chosen[schema.LBMetricTable](p)
	if err != nil {
		return err
	}
	for i, t := range rows {
		p.number(i, one)
		p.f("Metric Table: %s\n", t.Name)
		for _, e := range schema.All[schema.LBMetric](p.Config) {
			if e.Table == t.Name {
				p.f("\t\tMetric: %s\tSNMP OID: %s\n", e.Metric, e.OID)
			}
		}
	}
	return nil
}
