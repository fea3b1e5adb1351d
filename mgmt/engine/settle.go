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
	kind, name string
	up         bool
}

// settle works out the effective state of every service and vserver of v and notes since when it holds. It returns
// what has changed; an object that is new starts as down.
func settle(v *version, s *compile.State, now time.Time) (turns []turn) {
	for row := range v.config.Each(schema.Of[schema.Service]()) {
		turns = settleService(turns, v, s, row.(*schema.Service).Name, now)
	}
	for row := range v.config.Each(schema.Of[schema.LBVserver]()) {
		turns = settleVserver(turns, v, s, row.(*schema.LBVserver).Name, now)
	}
	return turns
}

// settleTouched is settle for when monitors have spoken of a few services and nothing else has changed.
func settleTouched(v *version, s *compile.State, now time.Time) (turns []turn) {
	for name := range s.Touched() {
		if v.index.Service(name) == nil {
			delete(s.Services, name)
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
	up := v.index.ServiceUp(s, name)
	if h.Up != up {
		turns = append(turns, turn{"service", name, up})
	}
	if h.Up != up || h.Since.IsZero() {
		h.Up, h.Since = up, now
		s.Services[name] = h
	}
	return turns
}

func settleVserver(turns []turn, v *version, s *compile.State, name string, now time.Time) []turn {
	was, known := s.Vservers[name]
	up := v.index.VserverUp(s, name)
	if was.Up != up {
		turns = append(turns, turn{"lb vserver", name, up})
	}
	if was.Up != up || !known {
		s.Vservers[name] = compile.Since{Up: up, At: now}
	}
	return turns
}

// tell writes changes of state to the log.
func (e *Engine) tell(turns []turn) {
	for _, t := range turns {
		state := "DOWN"
		if t.up {
			state = "UP"
		}
		e.opt.Log.Info("state changed", "object", t.kind+" "+t.name, "state", state)
	}
}

// forget drops what is known of services that are not configured and of probes that do not run: late reports of a
// monitor that has been taken away do not count.
func forget(v *version, s *compile.State) {
	for name := range s.Services {
		if v.index.Service(name) == nil {
			delete(s.Services, name)
			continue
		}
		forgetMonitors(v, s, name)
	}
}

func forgetMonitors(v *version, s *compile.State, service string) {
	h := s.Services[service]
	stale := func(m string, _ compile.MonitorResult) bool {
		_, runs := v.probes[watch{service, m}]
		return !runs
	}
	for m, r := range h.Monitors {
		if stale(m, r) {
			h.Monitors = maps.Clone(h.Monitors)
			maps.DeleteFunc(h.Monitors, stale)
			s.Services[service] = h
			return
		}
	}
}

// carry prepares the state of the version before for the next one. A service that goes on under the same address keeps
// what its monitors have said, and its present state answers for monitors that are new to it; one that is new,
// enabled again or at another address starts without.
func carry(prev, next *version, s *compile.State) {
	for _, svc := range schema.All[schema.Service](next.config) {
		h, known := s.Services[svc.Name]
		if !known {
			continue
		}
		if !sameTarget(prev, next, svc) {
			h.Inherited, h.Monitors = false, nil
			s.Services[svc.Name] = h
			continue
		}
		kept := maps.Clone(h.Monitors)
		maps.DeleteFunc(kept, func(m string, _ compile.MonitorResult) bool {
			return prev.probes[watch{svc.Name, m}] != next.probes[watch{svc.Name, m}]
		})
		h.Monitors, h.Inherited = kept, h.Up
		s.Services[svc.Name] = h
	}
	maps.DeleteFunc(s.Vservers, func(name string, _ compile.Since) bool {
		return schema.Get[schema.LBVserver](next.config, name) == nil
	})
	forget(next, s)
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
			s.Services[f.Name] = h
		}
	}
	for _, f := range st.SNIPs {
		ids.SNIPs[f.IP.String()] = f.ID
	}
	s.IDs = compile.AssignIDs(v.config, ids)
	settle(v, s, now)
}
