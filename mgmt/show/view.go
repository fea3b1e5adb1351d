// Package show writes what `show` and `stat` print, in the forms that administrators of the reference product and their
// tools know. It is pure text: everything that it tells is in the View that it is given.
package show

import (
	"fmt"
	"net/netip"
	"strings"
	"time"

	"sluice/cli/grammar"
	"sluice/dataplane/api"
	"sluice/mgmt/capture"
	"sluice/mgmt/clock"
	"sluice/mgmt/compile"
	"sluice/mgmt/vrrp"
	"sluice/vendor-config/schema"
)

// View is everything that can be told, of one moment.
type View struct {
	Config *schema.Config
	State  *compile.State
	Now    time.Time
	System System

	// Counters of the dataplane, nil while it is not connected, with the sentence why. Before is an earlier reading of
	// the same process, nil when there is none; Elapsed is the time between both.
	Stats   *api.Stats
	Before  *api.Stats
	Elapsed time.Duration
	Without error

	Neighbors []Neighbor
	Where     *api.Where // the dataplane's answer; nil: Without tells why
	Trace     *api.Trace // the same
	Sessions  *api.Sessions
	Capture   capture.State
	Logins    []Login

	Routers []compile.Router // virtual routers on ports
	Stands  []vrrp.State     // where they stand
	Adverts []vrrp.Count     // what the speaker has counted
	Clock   clock.Status
	Endings map[string]Ending // of certificates, by the names of their pairs

	Receivers map[string]Receiver // syslog servers that are in force, by their actions

	ChangedAt time.Time // of the running configuration
	Saved     Saved
}

// Neighbor is a resolved neighbor.
type Neighbor struct {
	Port   string // e.g. "1/1"
	IP     netip.Addr
	MAC    [6]byte
	Origin string // DYNAMIC, STATIC
}

// Receiver is how a syslog server is doing.
type Receiver struct {
	Connected  bool
	Problem    string // why it is not
	Sent, Lost uint64 // messages
	Waiting    int
}

// Saved is the startup configuration on disk.
type Saved struct {
	Config   *schema.Config // nil when nothing has been saved
	By       string
	At       time.Time
	Problems []string // what in the file is not in force
}

// System is what the appliance is.
type System struct {
	Host    string
	Release string    // e.g. "0.1"
	Build   string    // e.g. a short commit hash
	Built   time.Time // zero when not known
	Started time.Time // of management
	// Degraded are sentences about what is not as the saved configuration says, for every login.
	Degraded []string
	Machine  Machine
}

// Machine is the hardware.
type Machine struct {
	Product, CPU, Kernel string
	CPUs                 int
	MHz                  float64
	MemoryMB             uint64
	Serial               string
}

// Text answers a `show` or `stat` operation.
func Text(op *grammar.Op, v *View) (string, error) {
	write, ok := writers[op.Verb+" "+op.Object.YANG]
	if !ok && op.Verb == "show" && op.Object.Stored {
		write, ok = showStored, true
	}
	if !ok {
		return "", schema.Refuse(schema.NotSupported, op.Verb+" "+op.Object.Name())
	}
	var b strings.Builder
	if err := write(&page{Builder: &b, View: v, x: compile.NewIndex(v.Config, v.State), op: op}); err != nil {
		return "", err
	}
	return b.String(), nil
}

// page is one answer that is being written.
type page struct {
	*strings.Builder
	*View
	x  *compile.Index
	op *grammar.Op
}

var writers = map[string]func(*page) error{
	"show ns-ip": showIP, "show vlan": showVLAN, "show route": showRoute, "show arp": showARP, "show interface": showInterface,
	"show server": showServer, "show service": showService, "show lb-vserver": showVserver, "show lb-monitor": showMonitor, "show lb-metric-table": showMetricTable,
	"show vrid": showRouter, "stat vrid": statRouter, "show vrid-param": showRouterParam,
	"show lb-parameter": showParameter, "show ns-tcpparam": showTCPParam, "show l4-param": showL4Param, "show ns-timeout": showTimeout, "show service-group": showGroup, "stat service-group": statGroup,
	"stat service-group-member-stat": statMember,

	"show ns-config": showNSConfig, "show ns-hostname": showHostName, "show dns-name-server": showNameServer,
	"show ntp-server": showNTPServer, "show ntp-sync": showNTPSync, "show ntp-status": showNTPStatus,
	"show audit-syslog-action": showSyslogAction, "show audit-syslog-policy": showSyslogPolicy, "show audit-syslog-global": showSyslogGlobal,
	"show audit-syslog-params": showSyslogParams,
	"show ns-feature":          showFeature, "show ns-mode": showMode, "show ha-node": showHANode, "show ns-partition": showPartition,
	"show version": showVersion, "show hardware": showHardware,
	"show ns-running-config": showRunning, "show ns-conf": showSaved, "show ns-saved-config": showSaved,
	"stat ns": statNS, "stat lb-vserver": statVserver, "stat service": statService,
	"stat worker": statWorker, "show where": showWhere, "show trace": showTrace, "show nstrace": showNSTrace,
	"show lb-persistent-sessions": showSessions, "show ns-line": showLines,

	"show system-user": showUser, "show system-group": showUserGroup, "show system-cmd-policy": showCmdPolicy,
	"show system-parameter": showSystemParameter, "show system-session": showLogins, "show system-global": showSystemGlobal,
	"show authentication-radius-action": showRadiusAction, "show authentication-ldap-action": showLDAPAction,
	"show authentication-radius-policy": showServerPolicies(func(r *schema.RadiusPolicy) (string, string, string) { return r.Name, r.Rule, r.Action }),
	"show authentication-ldap-policy":   showServerPolicies(func(r *schema.LDAPPolicy) (string, string, string) { return r.Name, r.Rule, r.Action }),
	"show authentication-policy":        showServerPolicies(func(r *schema.AuthenticationPolicy) (string, string, string) { return r.Name, r.Rule, r.Action }),
}

func (p *page) f(format string, a ...any) { fmt.Fprintf(p.Builder, format, a...) }

// arg is the value of an argument of the operation, or "".
func (p *page) arg(cli string) string {
	for _, a := range p.op.Args {
		if strings.EqualFold(a.Field.CLI, cli) {
			return a.Value
		}
	}
	return ""
}

// chosen are the rows that the operation names, or all of them; one that is named and missing is an error.
func chosen[T any](p *page) (rows []*T, one bool, err error) {
	if len(p.op.Key) == 0 {
		return schema.All[T](p.Config), false, nil
	}
	row := schema.Get[T](p.Config, p.op.Key...)
	if row == nil {
		return nil, true, missing(p.op)
	}
	return []*T{row}, true, nil
}

func missing(op *grammar.Op) error {
	return schema.Refuse(schema.NoSuchRow, grammar.Label(op.Object), op.Named())
}

// number begins an entry of a list with its number, or the only entry without.
func (p *page) number(i int, one bool) {
	if !one {
		p.f("%d)", i+1)
	}
	p.f("\t")
}

// date is a time as the reference product writes it.
func date(t time.Time) string { return t.Format("Mon Jan _2 15:04:05 2006") }

// ago is the time since t as "0 days, 01:05:51.510".
func (p *page) ago(t time.Time) string {
	d := max(p.Now.Sub(t), 0)
	ms := d.Milliseconds()
	return fmt.Sprintf("%d days, %02d:%02d:%02d.%03d", ms/86400000, ms/3600000%24, ms/60000%60, ms/1000%60, ms%1000)
}

// since writes the two lines about the last change of a state.
func (p *page) since(t time.Time) {
	if t.IsZero() {
		return
	}
	p.f("\tLast state change was at %s\n", date(t))
	p.f("\tTime since last state change: %s\n", p.ago(t))
}

// title turns ENABLED into Enabled.
func title(s string) string {
	if s == "" {
		return s
	}
	return s[:1] + strings.ToLower(s[1:])
}

func (p *page) serviceState(name string) string { return p.x.ServiceState(p.State, name) }

func (p *page) vserverState(v *schema.LBVserver) string {
	switch {
	case !p.x.VserverEnabled(v):
		return "OUT OF SERVICE"
	case p.x.VserverUp(p.State, v.Name):
		return "UP"
	}
	return "DOWN"
}

// port writes port 0 as the operator typed it.
func port(n uint16) string {
	if n == 0 {
		return "*"
	}
	return fmt.Sprint(n)
}

func (p *page) serverIP(svc *schema.Service) string {
	if s := p.x.ServerOf(svc); s != nil && s.IPAddress.IsValid() {
		return s.IPAddress.String()
	}
	return "0.0.0.0"
}
