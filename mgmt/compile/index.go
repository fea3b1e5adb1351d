package compile

import (
	"net/netip"

	"sluice/vendor-config/schema"
)

// Index is a configuration prepared for look-ups, so that a question about one service does not walk every row. It is
// valid as long as the configuration is the same version.
type Index struct {
	c        *schema.Config
	servers  map[string]*schema.Server
	services map[string]*schema.Service
	monitors map[string]*schema.LBMonitor
	watch    map[string][]*schema.LBMonitor        // by service, enabled or not
	bound    map[string][]*schema.LBVserverService // by vserver
	users    map[string][]string                   // vservers by service
	addrs    map[netip.Addr]*schema.NSIP
	hasSNIP  bool
}

// NewIndex prepares c.
func NewIndex(c *schema.Config) *Index {
	x := &Index{c: c,
		servers:  map[string]*schema.Server{},
		services: map[string]*schema.Service{},
		monitors: map[string]*schema.LBMonitor{},
		watch:    map[string][]*schema.LBMonitor{},
		bound:    map[string][]*schema.LBVserverService{},
		users:    map[string][]string{},
		addrs:    map[netip.Addr]*schema.NSIP{},
	}
	for _, m := range schema.BuiltinMonitors() {
		x.monitors[m.Name] = m
	}
	for _, m := range schema.All[schema.LBMonitor](c) {
		x.monitors[m.Name] = m
	}
	for _, s := range schema.All[schema.Server](c) {
		x.servers[s.Name] = s
	}
	for _, s := range schema.All[schema.Service](c) {
		x.services[s.Name] = s
	}
	for _, b := range schema.All[schema.ServiceMonitor](c) {
		if m := x.monitors[b.Monitor]; m != nil {
			x.watch[b.Service] = append(x.watch[b.Service], m)
		}
	}
	for _, b := range schema.All[schema.LBVserverService](c) {
		x.bound[b.Vserver] = append(x.bound[b.Vserver], b)
		x.users[b.Service] = append(x.users[b.Service], b.Vserver)
	}
	for _, a := range schema.All[schema.NSIP](c) {
		x.addrs[a.IPAddress] = a
		x.hasSNIP = x.hasSNIP || a.Type == "SNIP"
	}
	return x
}

// Service finds a service, or nil.
func (x *Index) Service(name string) *schema.Service { return x.services[name] }

// Bindings are the services bound to a vserver, in the order in which they were bound.
func (x *Index) Bindings(vserver string) []*schema.LBVserverService { return x.bound[vserver] }

// VserversOf are the vservers to which a service is bound.
func (x *Index) VserversOf(service string) []string { return x.users[service] }

// ServerOf finds the server of a service, or nil.
func (x *Index) ServerOf(svc *schema.Service) *schema.Server { return x.servers[svc.Server] }

func enabled(state string) bool { return state != "DISABLED" }
