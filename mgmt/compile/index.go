package compile

import (
	"net/netip"
	"slices"

	"sluice/vendor-config/schema"
)

// The objects that compilation reads row by row.
var (
	nsIPs           = schema.Of[schema.NSIP]()
	routerRows      = schema.Of[schema.VRID]()
	trackRows       = schema.Of[schema.VRIDTrack]()
	servers         = schema.Of[schema.Server]()
	serviceRows     = schema.Of[schema.Service]()
	vserverRows     = schema.Of[schema.LBVserver]()
	bindings        = schema.Of[schema.LBVserverService]()
	monitorRows     = schema.Of[schema.LBMonitor]()
	metricRows      = schema.Of[schema.LBMetric]()
	metricBindings  = schema.Of[schema.LBMonitorMetric]()
	monitorBindings = schema.Of[schema.ServiceMonitor]()
	groupRows       = schema.Of[schema.ServiceGroup]()
	memberRows      = schema.Of[schema.ServiceGroupMember]()
	groupMonitors   = schema.Of[schema.ServiceGroupMonitor]()
)

// Index is a configuration prepared for look-ups, so that a question about one service does not walk every row. It is
// valid as long as the configuration is the same version.
type Index struct {
	c        *schema.Config
	monitors map[string]*schema.LBMonitor
	asks     map[string]asked     // by monitor
	usual    map[string][]Watcher // what watches a service to which none is bound, by its type
	watch    map[string][]Watcher // by service or group, enabled or not
	bound    map[string][]Bound   // by vserver
	users    map[string][]string  // vservers by service
	addrs    map[netip.Addr]*schema.NSIP
	hasSNIP  bool

	members  []*Member
	memberOf map[string]*Member   // by the name of the service
	groups   map[string][]*Member // by the name of the group

	timed bool // a vserver has the method LRTM

	scales bool // a group has AutoScale

	departures []*Departure
	named      map[string]named // servers with domain names
}

// NewIndex prepares c; s, which may be nil, knows the addresses of domain names.
func NewIndex(c *schema.Config, s *State) *Index { return newIndex(c, s, nil) }

// newIndex prepares c with what an earlier index, if any, has of the tables that c shares with its configuration.
func newIndex(c *schema.Config, s *State, prev *Index) *Index {
	x := &Index{c: c}
	same := func(objects ...*schema.Object) bool {
		for _, o := range objects {
			if prev == nil || !prev.c.Same(c, o) {
				return false
			}
		}
		return true
	}
	if same(monitorRows, metricRows, metricBindings) {
		x.monitors, x.asks, x.usual = prev.monitors, prev.asks, prev.usual
	} else {
		x.indexMonitors(prev)
	}
	if same(monitorRows, monitorBindings, groupMonitors, metricRows, metricBindings) {
		x.watch = prev.watch
	} else {
		x.indexWatches()
	}
	if same(vserverRows) {
		x.timed = prev.timed
	} else {
		for row := range c.Each(vserverRows) {
			x.timed = x.timed || row.(*schema.LBVserver).LBMethod == "LRTM"
		}
	}
	if same(nsIPs) {
		x.addrs, x.hasSNIP = prev.addrs, prev.hasSNIP
	} else {
		x.indexAddresses()
	}
	x.indexNames(s, prev)
	members := same(groupRows, memberRows) && (!prev.scales || same(servers, nsIPs))
	if members && !prev.scales {
		x.members, x.memberOf, x.groups = prev.members, prev.memberOf, prev.groups
	} else {
		x.indexMembers(s, prev)
		members = members && slices.Equal(x.members, prev.members)
	}
	if members && same(servers, serviceRows) {
		x.departures = prev.departures
	} else {
		x.indexDepartures()
	}
	if members && same(bindings) {
		x.bound, x.users = prev.bound, prev.users
	} else {
		x.indexBindings()
	}
	return x
}

// asked is what a monitor asks, or why it cannot.
type asked struct {
	ask *Ask
	err error
}

func (x *Index) indexMonitors(prev *Index) {
	x.monitors, x.asks = map[string]*schema.LBMonitor{}, map[string]asked{}
	for _, m := range slices.Concat(schema.BuiltinMonitors(), schema.All[schema.LBMonitor](x.c)) {
		x.monitors[m.Name] = m
		if prev != nil && prev.monitors[m.Name] == m && m.Type != "LOAD" {
			x.asks[m.Name] = prev.asks[m.Name] // the same memory, so that who compares probes need not look at it
			continue
		}
		a, err := ask(m)
		a.Metrics = metrics(x.c, m)
		x.asks[m.Name] = asked{a, err}
	}
	x.usual = map[string][]Watcher{}
	for _, t := range append(serviceRows.Field("serviceType").Enum, "ANY") {
		x.usual[t] = []Watcher{{LBMonitor: x.monitors[schema.DefaultMonitor(t)], Weight: 1}}
	}
}

func (x *Index) indexWatches() {
	x.watch = map[string][]Watcher{}
	for _, b := range schema.All[schema.ServiceMonitor](x.c) {
		if m := x.monitors[b.Monitor]; m != nil {
			x.watch[b.Service] = append(x.watch[b.Service], Watcher{m, b.Weight, !enabled(m.State) || !enabled(b.State)})
		}
	}
	for _, b := range schema.All[schema.ServiceGroupMonitor](x.c) { // whose names are no services'
		if m := x.monitors[b.Monitor]; m != nil {
			x.watch[b.Group] = append(x.watch[b.Group], Watcher{m, b.Weight, !enabled(m.State) || !enabled(b.State)})
		}
	}
}

func (x *Index) indexAddresses() {
	x.addrs = make(map[netip.Addr]*schema.NSIP, x.c.Len(nsIPs))
	for row := range x.c.Each(nsIPs) {
		a := row.(*schema.NSIP)
		x.addrs[a.IPAddress] = a
		x.hasSNIP = x.hasSNIP || a.Type == "SNIP"
	}
}

// Service finds a service, which may be a member of a group, or nil.
func (x *Index) Service(name string) *schema.Service {
	if row, ok := x.c.Row(serviceRows, name); ok {
		return row.(*schema.Service)
	}
	if m := x.memberOf[name]; m != nil {
		return m.Service
	}
	return nil
}

// Bindings are the services bound to a vserver, in the order in which they or their groups were bound.
func (x *Index) Bindings(vserver string) []Bound { return x.bound[vserver] }

// VserversOf are the vservers to which a service is bound.
func (x *Index) VserversOf(service string) []string { return x.users[service] }

// ServerOf finds the server of a service, or nil; one with a domain name with the address that the name has, if that is known.
func (x *Index) ServerOf(svc *schema.Service) *schema.Server {
	if x.scales {
		if m := x.memberOf[svc.Name]; m != nil && m.server != nil {
			return m.server
		}
	}
	if n, ok := x.named[svc.Server]; ok {
		return n.server
	}
	if row, ok := x.c.Row(servers, svc.Server); ok {
		return row.(*schema.Server)
	}
	return nil
}

func enabled(state string) bool { return state != "DISABLED" }

// alike tells whether c and d share every table but those named.
func alike(c, d *schema.Config, but ...*schema.Object) bool {
next:
	for _, o := range schema.Objects() {
		for _, b := range but {
			if o == b {
				continue next
			}
		}
		if !c.Same(d, o) {
			return false
		}
	}
	return true
}

// Difference is what two versions say differently about the state of services and vservers.
type Difference struct {
	All      bool     // perhaps about every service; then the rest is empty
	Services []string // those whose rows, or the rows of whose servers, are other ones, or new
	Gone     bool     // there may be services or vservers that are no more
	Vservers bool     // perhaps about every vserver
	Renewed  []string // else: vservers whose rows are other ones, or new; those of Services come on top
}

// Since tells what is different from an earlier version.
func (x *Index) Since(prev *Index) (d Difference) {
	d.Vservers = !alike(x.c, prev.c, serviceRows, servers, vserverRows)
	renewed, gone := since(x.c, prev.c, vserverRows)
	d.Gone = gone
	d.All = x.hasSNIP != prev.hasSNIP || !alike(x.c, prev.c, serviceRows, servers, vserverRows, bindings, nsIPs, groupRows, memberRows)
	d.All = d.All || (x.scales || prev.scales) && !x.sameMembers(prev)
	changed, gone := x.servicesSince(prev)
	d.Gone = d.Gone || gone
	if d.All {
		return d
	}
	if !d.Vservers {
		for _, row := range renewed {
			d.Renewed = append(d.Renewed, row.(*schema.LBVserver).Name)
		}
	}
	for svc := range changed {
		d.Services = append(d.Services, svc.Name)
	}
	if !x.sameServers(prev) {
		moved, _ := since(x.c, prev.c, servers)
		on := map[string]bool{}
		for _, row := range moved {
			on[row.(*schema.Server).Name] = true
		}
		for name, n := range x.named {
			on[name] = on[name] || prev.named[name] != n
		}
		for svc := range x.Services() {
			if on[svc.Server] && !changed[svc] {
				d.Services = append(d.Services, svc.Name)
			}
		}
	}
	return d
}

// servicesSince are the services that are not in an earlier version, and whether some that are in it are no more.
func (x *Index) servicesSince(prev *Index) (changed map[*schema.Service]bool, gone bool) {
	if x.sameServices(prev) {
		return nil, false
	}
	changed = map[*schema.Service]bool{}
	for svc := range x.Services() {
		if prev.Service(svc.Name) != svc {
			changed[svc] = true
		}
	}
	for svc := range prev.Services() {
		gone = gone || x.Service(svc.Name) == nil
	}
	return changed, gone
}

// since are the rows of o that are not in an earlier version, and whether some that are in it are no more.
func since(c, prev *schema.Config, o *schema.Object) (changed []any, gone bool) {
	if c.Same(prev, o) {
		return nil, false
	}
	old := alongside[any]{list: prev.Rows(o)}
	found := 0
	for row := range c.Each(o) {
		was, ok := old.find(func(w any) bool { return w == row || o.Key(w) == o.Key(row) })
		if ok {
			found++
		}
		if was != row {
			changed = append(changed, row)
		}
	}
	return changed, found < len(old.list)
}

// alongside walks a list in step with a later version of it, in which elements were replaced, taken away and added at
// the end.
type alongside[E any] struct {
	list []E
	at   int
}

// find goes on to the element for which is holds; without one it is at the end.
func (a *alongside[E]) find(is func(E) bool) (found E, ok bool) {
	for a.at < len(a.list) {
		e := a.list[a.at]
		if a.at++; is(e) {
			return e, true
		}
	}
	return found, false
}
