package compile

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"sluice/vendor-config/schema"
)

// Watcher is a monitor of a service and how it is bound to it.
type Watcher struct {
	*schema.LBMonitor
	Weight uint32 // what it counts for when the service has a threshold
	Off    bool   // it or its binding is disabled: it does not probe this service and does not count
}

// MonitorsOf are the monitors that watch the service now: those bound to it, or its protocol's default, or none when
// its healthMonitor is NO.
func (x *Index) MonitorsOf(service string) []Watcher {
	svc := x.Service(service)
	if svc == nil {
		return nil
	}
	return x.monitorsOf(svc)
}

func (x *Index) monitorsOf(svc *schema.Service) []Watcher {
	if svc.HealthMonitor == "NO" {
		return nil
	}
	bound := x.boundTo(svc)
	if slices.ContainsFunc(bound, Watcher.judges) {
		return bound
	}
	usual := x.usual[svc.ServiceType]
	if svc.Port == 0 { // it takes every port, so it has none that TCP could be tried on
		usual = x.usual["ANY"]
	}
	if len(bound) == 0 {
		return usual
	}
	return slices.Concat(bound, usual)
}

// boundTo are the monitors that are bound to the service or to the group of which it is a member.
func (x *Index) boundTo(svc *schema.Service) []Watcher {
	if m := x.memberOf[svc.Name]; m != nil {
		return x.watch[m.Group.Name]
	}
	return x.watch[svc.Name]
}

// judges tells whether the monitor says if a service is UP: those of type LOAD say how busy it is, so that a service to which only
// such are bound has its protocol's default monitor as well.
func (w Watcher) judges() bool { return w.Type != "LOAD" }

// Aim is what a monitor watches: with another one, what it has said of a service is void.
type Aim struct {
	Type   string
	Target netip.AddrPort
	Way    Way
	Via    netip.Addr
}

// Aim tells what a monitor watches for a service, and whether it does so now.
func (x *Index) Aim(service, monitor string) (a Aim, runs bool) {
	svc := x.Service(service)
	if svc == nil || !x.serviceEnabled(svc) || !x.addressed(svc) {
		return a, false
	}
	for _, m := range x.monitorsOf(svc) {
		if m.Name != monitor || m.Off {
			continue
		}
		if p, err := x.probe(svc, x.ServerOf(svc), m.LBMonitor); err == nil {
			return Aim{p.Type, p.Target, p.Way, p.Via}, true
		}
	}
	return a, false
}

// Probes are the monitors that must run now, in the order of services and of the monitors bound to each.
func Probes(c *schema.Config, s *State) []Probe {
	x := NewIndex(c, s)
	n := layout(x, s)
	var out []Probe
	for svc := range x.Services() {
		srv := x.ServerOf(svc)
		if srv == nil {
			continue // Tables has refused this configuration
		}
		if all, err := probes(x, n, svc, srv); err == nil {
			out = append(out, all...)
		}
	}
	return out
}

// probes are the monitors that must run now for one service. The error is about any that is bound to it.
func probes(x *Index, n *network, svc *schema.Service, srv *schema.Server) ([]Probe, error) {
	var out []Probe
	for _, m := range x.monitorsOf(svc) {
		p, err := x.probe(svc, srv, m.LBMonitor)
		if err != nil {
			return nil, err
		}
		if m.Off || !x.serviceEnabled(svc) || !srv.IPAddress.IsValid() {
			continue
		}
		next := p.Target.Addr()
		if p.Way != Direct {
			next = p.Via
		}
		if src := n.sourcesToward(next); len(src) > 0 {
			p.Source = src[0]
		}
		out = append(out, p)
	}
	return out, nil
}

func (x *Index) probe(svc *schema.Service, srv *schema.Server, m *schema.LBMonitor) (Probe, error) {
	p := Probe{Service: svc.Name, Monitor: m.Name, Type: m.Type,
		Interval:    Span(m.Interval, m.IntervalUnit),
		RespTimeout: Span(m.RespTimeout, m.RespTimeoutUnit),
		DownTime:    Span(m.DownTime, m.DownTimeUnit),
		Retries:     m.Retries, SuccessRetries: m.SuccessRetries, FailureRetries: m.FailureRetries, AlertRetries: m.AlertRetries,
		RespThreshold: m.RespThreshold, Learn: m.LRTM == "ENABLED", Deviation: Span(m.Deviation, m.DeviationUnit),
		Reverse: m.Reverse == "YES", Secure: m.Secure == "YES"}
	ip, port := srv.IPAddress, svc.Port
	if p.Way = wayOf(m); p.Way != Direct {
		p.Via, p.DSCP = ip, m.TOSID
	}
	if m.DestIP.IsValid() && !m.DestIP.IsUnspecified() {
		ip = m.DestIP
	}
	if usual := schema.UsualPort(m.Type); usual != 0 {
		port = usual
	}
	if m.DestPort != 0 {
		port = m.DestPort
	}
	if schema.Portless(m.Type) {
		port = 0
	} else if port == 0 && schema.NeedsPort(m.Type) {
		return p, schema.Refuse(schema.NoPrereq, "destPort").Because("service " + svc.Name + " takes every port, so lb monitor " + m.Name + " does not know which one to watch")
	}
	p.Target = netip.AddrPortFrom(ip, port)
	a := x.asks[m.Name]
	p.Ask = a.ask
	return p, a.err
}

// Span is a number of the configuration with its unit as a duration.
func Span(n uint32, unit string) time.Duration {
	switch unit {
	case "MSEC":
		return time.Duration(n) * time.Millisecond
	case "MIN":
		return time.Duration(n) * time.Minute
	}
	return time.Duration(n) * time.Second
}

// respCodes reads status codes and ranges of them, separated by spaces or commas.
func respCodes(text string, least, most uint64) ([][2]uint16, error) {
	var out [][2]uint16
	for _, w := range strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == ',' }) {
		lo, hi, isRange := strings.Cut(w, "-")
		if !isRange {
			hi = lo
		}
		a, err1 := strconv.ParseUint(lo, 10, 16)
		b, err2 := strconv.ParseUint(hi, 10, 16)
		if err1 != nil || err2 != nil || a < least || b > most || a > b {
			return nil, fmt.Errorf("%q is no status code or range", w)
		}
		out = append(out, [2]uint16{uint16(a), uint16(b)})
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("no status code")
	}
	return out, nil
}
