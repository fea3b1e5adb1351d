package compile

import (
	"slices"

	"sluice/dataplane/api"
	"sluice/vendor-config/schema"
)

// health says which services are up and how busy, which are leaving, and whose flows end now: services and vservers that are neither up
// nor leaving and have downStateFlush. The functions tell what is, by name.
func (x *Index) health(s *State, service func(name string) (up, leaving bool), vserverUp func(name string) bool) *api.Health {
	h := &api.Health{Up: make([]uint32, 0, len(s.Services))}
	for svc := range x.Services() {
		id := s.IDs.Services[svc.Name]
		if id == 0 {
			continue
		}
		switch up, leaving := service(svc.Name); {
		case up:
			h.Up = append(h.Up, id)
		case leaving:
			h.Leaving = append(h.Leaving, id)
		case svc.DownStateFlush != "DISABLED":
			h.Flush = append(h.Flush, id)
		}
		if n, known := x.loadOf(s, svc); known {
			h.Loads = append(h.Loads, api.Load{Service: id, Load: n})
		}
		if n := x.monitorTime(s, svc); n != 0 {
			h.Times = append(h.Times, api.Load{Service: id, Load: n})
		}
	}
	leaving := func(name string) bool { _, leaving := service(name); return leaving }
	for row := range x.c.Each(vserverRows) {
		v := row.(*schema.LBVserver)
		if id := s.IDs.Vservers[v.Name]; id != 0 && v.DownStateFlush != "DISABLED" && !vserverUp(v.Name) && !x.anyLeaving(v, leaving) {
			h.FlushVservers = append(h.FlushVservers, id)
		}
	}
	slices.Sort(h.Up)
	slices.Sort(h.Leaving)
	slices.Sort(h.Flush)
	slices.Sort(h.FlushVservers)
	byID := func(a, b api.Load) int { return int(a.Service) - int(b.Service) }
	slices.SortFunc(h.Loads, byID)
	slices.SortFunc(h.Times, byID)
	return h
}

// Health compiles the part that says which services are up.
func Health(x *Index, s *State) *api.Health {
	return x.health(s, func(name string) (up, leaving bool) { return x.ServiceUp(s, name), x.ServiceLeaving(s, name) },
		func(name string) bool { return x.VserverUp(s, name) })
}

// Settled is the part of the health of services and vservers as the state has settled it.
func (x *Index) Settled(s *State) *api.Health {
	return x.health(s, func(name string) (up, leaving bool) { h := s.Services[name]; return h.Up, h.Leaving },
		func(name string) bool { return s.Vservers[name].Up })
}
