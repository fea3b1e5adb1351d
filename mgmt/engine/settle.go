package engine

import (
	"maps"
	"time"

	"sluice/dataplane/api"
	"sluice/mgmt/compile"
	"sluice/vendor-config/schema"
)

// turn is a change of the effective state of a service or vserver.
type turn struct {
	kind, name, state string
}

// settle works out the effective state of every service and vserver of v about which d says that it may have changed,
// and notes since when it holds. It returns what has changed; an object that is new starts as down.
func settle(v *version, s *compile.State, d compile.Difference, now time.Time) (turns []turn) {
	if d.All {
		for svc := range v.index.Services() {
			turns = settleService(turns, v, s, svc.Name, now)
		}
	}
	for _, name := range d.Services {
		turns = settleService(turns, v, s, name, now)
	}
	if d.All || d.Vservers {
		for row := range v.config.Each(schema.Of[schema.LBVserver]()) {
			turns = settleVserver(turns, v, s, row.(*schema.LBVserver).Name, now)
		}
		return turns
	}
	for _, name := range d.Renewed {
		turns = settleVserver(turns, v, s, name, now)
	}
	for _, name := range d.Services {
		for _, vs := range v.index.VserversOf(name) {
			turns = settleVserver(turns, v, s, vs, now)
		}
	}
	return turns
}

// settleTouched is settle for when monitors have spoken of a few services and nothing else has changed.
func settleTouched(v *version, s *compile.State, now time.Time) (turns []turn) {
	for name := range s.Touched() {
		if v.index.Service(name) == nil {
			s.Forget(func(n string) bool { return n == name }, func(string) bool { return false })
			continue
		}
		forgetMonitors(v, s, name)
		before := len(turns)
		if turns = settleService(turns, v, s, name, now); len(turns) == before {
			continue
		}
		for _, vs := range v.index.VserversOf(name) {
			turns = settleVserver(turns, v, s, vs, now)
		}
	}
	return turns
}

func settleService(turns []turn, v *version, s *compile.State, name string, now time.Time) []turn {
	h := s.Services[name]
	up, leaving := v.index.ServiceUp(s, name), v.index.ServiceLeaving(s, name)
	if h.Up != up || h.Leaving != leaving {
		turns = append(turns, turn{"service", name, v.index.ServiceState(s, name)})
	}
	if h.Up != up || h.Leaving != leaving || h.Since.IsZero() {
		h.Up, h.Leaving, h.Since = up, leaving, now
		s.SetService(name, h)
	}
	return turns
}

func settleVserver(turns []turn, v *version, s *compile.State, name string, now time.Time) []turn {
	was, known := s.Vservers[name]
	up := v.index.VserverUp(s, name)
	if was.Up != up {
		state := "DOWN"
		if up {
			state = "UP"
		}
		turns = append(turns, turn{"lb vserver", name, state})
	}
	if was.Up != up || !known {
		s.SetVserver(name, compile.Since{Up: up, At: now})
	}
	return turns
}

// tell writes changes of state to the log, and has done what is to be done about them.
func (e *Engine) tell(turns []turn) {
	for _, t := range turns {
		e.opt.Log.Info("state changed", "object", t.kind+" "+t.name, "state", t.state)
	}
	e.disablePrimaries(turns)
}

// settledHealth is the part that says which services are up and whose flows end, as settled. It is a copy, since send numbers it. The
// caller holds wire.
func (e *Engine) settledHealth(v *version, s *compile.State) *api.Health {
	e.wire.settled = v.index.Settled(s, e.wire.settled)
	h := *e.wire.settled.Health
	return &h
}

// loadsDiffer tells whether monitors have told of a service another load or response time than before.
func loadsDiffer(v *version, was, is *compile.State) bool {
	for service := range is.Touched() {
		a, knew := v.index.LoadOf(was, service)
		if b, know := v.index.LoadOf(is, service); a != b || knew != know {
			return true
		}
		if v.index.MonitorTime(was, service) != v.index.MonitorTime(is, service) {
			return true
		}
	}
	return false
}

// forgetMonitors drops what was said by probes that do not run: late reports of a monitor that has been taken away do
// not count.
func forgetMonitors(v *version, s *compile.State, service string) {
	h := s.Services[service]
	stale := func(m string, _ compile.MonitorResult) bool {
		_, runs := v.index.Aim(service, m)
		return !runs
	}
	for m, r := range h.Monitors {
		if stale(m, r) {
			h.Monitors = maps.Clone(h.Monitors)
			maps.DeleteFunc(h.Monitors, stale)
			s.SetService(service, h)
			return
		}
	}
}

// carry prepares the state of the version before for the next one, for those services about which d says that they may
// have changed. A service that goes on under the same address keeps what its monitors have said, and its present state
// answers for monitors that are new to it; one that is new, enabled again or at another address starts without.
func carry(prev, next *version, s *compile.State, d compile.Difference) {
	if d.All {
		for svc := range next.index.Services() {
			carryService(prev, next, s, svc.Name)
		}
	}
	for _, name := range d.Services {
		carryService(prev, next, s, name)
	}
	if d.Gone {
		s.Forget(func(name string) bool { return next.index.Service(name) == nil },
			func(name string) bool { return schema.Get[schema.LBVserver](next.config, name) == nil })
	}
}

func carryService(prev, next *version, s *compile.State, name string) {
	h, known := s.Services[name]
	if !known {
		return
	}
	if !sameTarget(prev, next, next.index.Service(name)) {
		h.Inherited, h.Monitors = false, nil
		s.SetService(name, h)
		return
	}
	kept := maps.Clone(h.Monitors)
	maps.DeleteFunc(kept, func(m string, _ compile.MonitorResult) bool {
		was, ran := prev.index.Aim(name, m)
		is, runs := next.index.Aim(name, m)
		return !runs || !ran || was != is
	})
	if h.Inherited == h.Up && len(kept) == len(h.Monitors) {
		return // as it was
	}
	h.Monitors, h.Inherited = kept, h.Up
	s.SetService(name, h)
}

func sameTarget(prev, next *version, svc *schema.Service) bool {
	old := prev.index.Service(svc.Name)
	if old == nil || !prev.index.ServiceEnabled(svc.Name) || !next.index.ServiceEnabled(svc.Name) {
		return false
	}
	return old.ServiceType == svc.ServiceType && old.Port == svc.Port &&
		prev.index.ServerOf(old).IPAddress == next.index.ServerOf(svc).IPAddress
}

// adopt takes over what a running dataplane knows from an earlier management: the numbers of objects, and which
// services it was using.
func adopt(v *version, s *compile.State, st *api.Stats, now time.Time) {
	ids := compile.IDs{Vservers: map[string]uint32{}, Services: map[string]uint32{}, SNIPs: map[string]uint32{}}
	for _, f := range st.Vservers {
		ids.Vservers[f.Name] = f.ID
	}
	for _, f := range st.Services {
		ids.Services[f.Name] = f.ID
		h, known := s.Services[f.Name]
		if f.Up && known && v.index.ServiceEnabled(f.Name) {
			h.Inherited = true
			s.SetService(f.Name, h)
		}
	}
	for _, f := range st.SNIPs {
		ids.SNIPs[f.IP.String()] = f.ID
	}
	s.IDs = compile.AssignIDs(v.config, s.Resolutions, ids)
	settle(v, s, compile.Difference{All: true}, now)
}
