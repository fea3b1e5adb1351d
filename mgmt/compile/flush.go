package compile

import (
	"slices"

	"sluice/dataplane/api"
	"sluice/vendor-config/schema"
)

// serviceHealth says which services are up and how busy, which are leaving, and which flows to services end now: of those that are
// neither up nor leaving and have downStateFlush. service tells what is, by name.
func (x *Index) serviceHealth(s *State, service func(name string) (up, leaving bool)) *api.Health {
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
	slices.Sort(h.Up)
	slices.Sort(h.Leaving)
	slices.Sort(h.Flush)
	byID := func(a, b api.Load) int { return int(a.Service) - int(b.Service) }
	slices.SortFunc(h.Loads, byID)
	slices.SortFunc(h.Times, byID)
	return h
}

// flushed are the vservers whose flows end now: those with downStateFlush that are not up and of which no service is leaving.
func (x *Index) flushed(s *State, vserverUp, leaving func(name string) bool) (ids []uint32) {
	for row := range x.c.Each(vserverRows) {
		v := row.(*schema.LBVserver)
		if v.DownStateFlush == "DISABLED" || vserverUp(v.Name) || x.anyLeaving(v, leaving) {
			continue
		}
		if id := s.IDs.Vservers[v.Name]; id != 0 {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

// Health compiles the part that says which services are up.
func Health(x *Index, s *State) *api.Health {
	h := x.serviceHealth(s, func(name string) (up, leaving bool) { return x.ServiceUp(s, name), x.ServiceLeaving(s, name) })
	h.FlushVservers = x.flushed(s, func(name string) bool { return x.VserverUp(s, name) }, func(name string) bool { return x.ServiceLeaving(s, name) })
	return h
}

// Settled is the part of the health of services and vservers as a state has settled it, with what it follows from.
type Settled struct {
	Health *api.Health

	x        *Index
	services map[string]ServiceHealth
	ids      map[string]uint32
}

// Settled makes that part. What it says of services is taken from an earlier one, or nil, if nothing has changed that it follows from:
// a change of a vserver need not look at forty thousand services.
func (x *Index) Settled(s *State, before *Settled) *Settled {
	n := &Settled{x: x, services: s.Services, ids: s.IDs.Services}
	if b := before; b != nil && identical(b.services, n.services) && identical(b.ids, n.ids) && !x.timed && !b.x.timed &&
		alike(x.c, b.x.c, vserverRows) && x.sameMembers(b.x) && x.sameServers(b.x) {
		h := *b.Health
		n.Health = &h
	} else {
		n.Health = x.serviceHealth(s, func(name string) (up, leaving bool) { h := s.Services[name]; return h.Up, h.Leaving })
	}
	n.Health.FlushVservers = x.flushed(s, func(name string) bool { return s.Vservers[name].Up }, func(name string) bool { return s.Services[name].Leaving })
	return n
}
