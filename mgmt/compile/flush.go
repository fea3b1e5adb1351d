package compile

import (
	"slices"

	"sluice/dataplane/api"
	"sluice/vendor-config/schema"
)

// flushes writes into h which services are leaving, and whose flows end now: services and vservers that are neither up nor leaving and have downStateFlush.
// The functions tell what is, by name.
func (x *Index) flushes(h *api.Health, ids IDs, serviceUp, leaving, vserverUp func(name string) bool) {
	for svc := range x.Services() {
		switch id := ids.Services[svc.Name]; {
		case id == 0 || serviceUp(svc.Name):
		case leaving(svc.Name):
			h.Leaving = append(h.Leaving, id)
		case svc.DownStateFlush != "DISABLED":
			h.Flush = append(h.Flush, id)
		}
	}
	for row := range x.c.Each(vserverRows) {
		v := row.(*schema.LBVserver)
		if id := ids.Vservers[v.Name]; id != 0 && v.DownStateFlush != "DISABLED" && !vserverUp(v.Name) && !x.anyLeaving(v, leaving) {
			h.FlushVservers = append(h.FlushVservers, id)
		}
	}
	slices.Sort(h.Leaving)
	slices.Sort(h.Flush)
	slices.Sort(h.FlushVservers)
}

// Settled is the part of the health of services and vservers as the state has settled it.
func (x *Index) Settled(s *State) *api.Health {
	h := &api.Health{Up: make([]uint32, 0, len(s.Services))}
	for svc := range x.Services() {
		if id := s.IDs.Services[svc.Name]; id != 0 && s.Services[svc.Name].Up {
			h.Up = append(h.Up, id)
		}
	}
	slices.Sort(h.Up)
	x.loads(h, s)
	x.flushes(h, s.IDs, func(name string) bool { return s.Services[name].Up }, func(name string) bool { return s.Services[name].Leaving },
		func(name string) bool { return s.Vservers[name].Up })
	return h
}
