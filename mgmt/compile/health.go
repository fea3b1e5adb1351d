package compile

import "sluice/vendor-config/schema"

// ServiceUp tells whether the service may take new flows: it and its server are enabled, it has a source address
// toward the server, and its monitors agree.
func ServiceUp(c *schema.Config, s *State, service string) bool {
	return NewIndex(c).ServiceUp(s, service)
}

// VserverUp tells whether the vserver is enabled and has a service that is up.
func VserverUp(c *schema.Config, s *State, vserver string) bool {
	return NewIndex(c).VserverUp(s, vserver)
}

// ServiceEnabled tells whether the service and its server are enabled.
func (x *Index) ServiceEnabled(service string) bool {
	svc := x.Service(service)
	return svc != nil && x.serviceEnabled(svc)
}

func (x *Index) serviceEnabled(svc *schema.Service) bool {
	if !enabled(svc.State) {
		return false
	}
	srv := x.ServerOf(svc)
	return srv != nil && enabled(srv.State)
}

// ServiceUp is the function of that name on an index.
func (x *Index) ServiceUp(s *State, service string) bool {
	svc := x.Service(service)
	if svc == nil || !x.serviceEnabled(svc) {
		return false
	}
	if !x.hasSNIP && svc.USIP != "YES" {
		return false // no address that packets to the server could come from
	}
	monitors := x.monitorsOf(svc)
	if len(monitors) == 0 {
		return true
	}
	h := s.Services[service]
	for _, m := range monitors {
		// A disabled monitor does not count, so a service with only such monitors is taken for up.
		if m.Off {
			continue
		}
		r := h.Monitors[m.Name]
		if r.Known && !r.Up || !r.Known && !h.Inherited {
			return false
		}
	}
	return true
}

// VserverEnabled tells whether the vserver and its VIP are enabled.
func (x *Index) VserverEnabled(v *schema.LBVserver) bool {
	a := x.addrs[v.IPAddress]
	return enabled(v.State) && (a == nil || enabled(a.State))
}

// VserverUp is the function of that name on an index.
func (x *Index) VserverUp(s *State, vserver string) bool {
	v := schema.Get[schema.LBVserver](x.c, vserver)
	if v == nil || !x.VserverEnabled(v) {
		return false
	}
	for _, b := range x.bound[vserver] {
		if x.ServiceUp(s, b.Service) {
			return true
		}
	}
	return false
}
