package compile

import (
	"slices"

	"sluice/dataplane/api"
)

// LoadOf is the load of a service: what its monitors of type LOAD say, added up by their weights. known is false if none says
// anything.
func (x *Index) LoadOf(s *State, service string) (load uint32, known bool) {
	sum := uint64(0)
	for _, m := range x.MonitorsOf(service) {
		if r := s.Services[service].Monitors[m.Name]; r.LoadKnown && !m.Off {
			sum, known = sum+uint64(r.Load)*uint64(max(m.Weight, 1)), true
		}
	}
	return uint32(min(sum, 1<<32-1)), known
}

// loads writes into h what is known of the load of services.
func (x *Index) loads(h *api.Health, s *State) {
	for svc := range x.Services() {
		if id := s.IDs.Services[svc.Name]; id != 0 {
			if n, known := x.LoadOf(s, svc.Name); known {
				h.Loads = append(h.Loads, api.Load{Service: id, Load: n})
			}
		}
	}
	slices.SortFunc(h.Loads, func(a, b api.Load) int { return int(a.Service) - int(b.Service) })
}
