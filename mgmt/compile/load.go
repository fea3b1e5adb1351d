package compile

import "sluice/vendor-config/schema"

// LoadOf is the load of a service: what its monitors of type LOAD say, added up by their weights. known is false if none says
// anything.
func (x *Index) LoadOf(s *State, service string) (load uint32, known bool) {
	svc := x.Service(service)
	if svc == nil {
		return 0, false
	}
	return x.loadOf(s, svc)
}

// loadOf looks at the monitors that are bound alone: a default monitor tells no load.
func (x *Index) loadOf(s *State, svc *schema.Service) (load uint32, known bool) {
	if svc.HealthMonitor == "NO" {
		return 0, false
	}
	sum := uint64(0)
	for _, m := range x.boundTo(svc) {
		if r := s.Services[svc.Name].Monitors[m.Name]; r.LoadKnown && !m.Off {
			sum, known = sum+uint64(r.Load)*uint64(max(m.Weight, 1)), true
		}
	}
	return uint32(min(sum, 1<<32-1)), known
}
