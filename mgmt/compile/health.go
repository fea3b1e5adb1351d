package compile

import "sluice/vendor-config/schema"

// ServiceUp tells whether the service may take new flows: it and its server are enabled, it has a source address
// toward the server, and its monitors agree.
func ServiceUp(c *schema.Config, s *State, service string) bool {
	return NewIndex(c, s).ServiceUp(s, service)
}

// VserverUp tells whether the vserver is enabled and has a service that is up.
func VserverUp(c *schema.Config, s *State, vserver string) bool {
	return NewIndex(c, s).VserverUp(s, vserver)
}

// ServiceEnabled tells whether the service takes part: it is in service, or still on its way out.
func (x *Index) ServiceEnabled(service string) bool {
	svc := x.Service(service)
	return svc != nil && x.serviceEnabled(svc)
}

func (x *Index) serviceEnabled(svc *schema.Service) bool { return x.standing(svc) != outOfService }

// ServiceUp is the function of that name on an index.
func (x *Index) ServiceUp(s *State, service string) bool {
	svc := x.Service(service)
	return svc != nil && x.standing(svc) == inService && x.usable(s, svc, s.Services[service].Inherited)
}

// ServiceLeaving tells whether the service is on its way out of service and its flows may go on: no monitor says that it
// is down.
func (x *Index) ServiceLeaving(s *State, service string) bool {
	svc := x.Service(service)
	return svc != nil && x.standing(svc) == goingOut && x.usable(s, svc, true)
}

// usable tells whether packets can be sent to the service and its monitors agree. trusted: those that have not spoken do.
func (x *Index) usable(s *State, svc *schema.Service, trusted bool) bool {
	if !x.addressed(svc) {
		return false
	}
	if !x.hasSNIP && svc.USIP != "YES" {
		return false // no address that packets to the server could come from
	}
	monitors := x.monitorsOf(svc)
	if len(monitors) == 0 {
		return true
	}
	h := s.Services[svc.Name]
	missing, weight := false, uint32(0)
	for _, m := range monitors {
		// A disabled monitor does not count, so a service with only such monitors is taken for up, unless a threshold asks for more.
		if m.Off || !m.judges() {
			continue
		}
		if r := h.Monitors[m.Name]; r.Known && r.Up || !r.Known && trusted {
			weight += m.Weight
		} else {
			missing = true
		}
	}
	if svc.MonThreshold != 0 {
		return weight >= svc.MonThreshold
	}
	return !missing
}

// VserverEnabled tells whether the vserver is enabled and one of its VIPs, if it has any.
func (x *Index) VserverEnabled(v *schema.LBVserver) bool {
	on, vips := false, 0
	for ip := range v.VIPs() {
		a := x.addrs[ip]
		on = on || a == nil || enabled(a.State)
		vips++
	}
	return enabled(v.State) && (on || vips == 0)
}

// VserverUp is the function of that name on an index.
func (x *Index) VserverUp(s *State, vserver string) bool {
	v := schema.Get[schema.LBVserver](x.c, vserver)
	if v == nil || !x.VserverEnabled(v) {
		return false
	}
	up := 0
	for _, b := range x.bound[vserver] {
		if x.ServiceUp(s, b.Service) {
			if up++; v.HealthThreshold == 0 {
				return true
			}
		}
	}
	return healthy(v, up, len(x.bound[vserver]))
}

// anyLeaving tells whether the vserver is enabled and a service of it is still on its way out of service.
func (x *Index) anyLeaving(v *schema.LBVserver, leaving func(service string) bool) bool {
	if len(x.departures) == 0 || !x.VserverEnabled(v) {
		return false
	}
	for _, b := range x.bound[v.Name] {
		if leaving(b.Service) {
			return true
		}
	}
	return false
}
