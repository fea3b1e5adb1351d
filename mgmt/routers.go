package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"sluice/cli/grammar"
	"sluice/dataplane/api"
	"sluice/mgmt/compile"
	"sluice/mgmt/engine"
	"sluice/mgmt/host"
	"sluice/mgmt/telemetry"
	"sluice/mgmt/vrrp"
	"sluice/vendor-config/schema"
)

const (
	// playTime is how long the speaker waits for the dataplane to take a role, so that who hears of the new master finds one.
	playTime = 5 * time.Millisecond
	// renewTime bounds one renewal of the lease; the next beat tries again.
	renewTime = 80 * time.Millisecond
	// lastWord is how long management waits at its end for the dataplane to hear that it is master nowhere.
	lastWord = time.Second
)

// changed notes where a virtual router stands. The speaker calls it in its loop.
func (a *appliance) changed(st vrrp.State) {
	before := a.engine.State()
	was := before.Routers[compile.RouterOn{ID: st.ID, Twin: st.Device}]
	a.observe(func(s *compile.State) { s.Stands(st) })
	a.engine.Play(playTime)
	if was.Role != st.Role {
		a.log.Info("state changed", "object", fmt.Sprintf("vrID %d", st.ID), "port", before.PortOf(st.Device), "state", st.Role.String(), "reason", st.Reason,
			"master", st.MasterAddress)
	}
}

// interfaces notes which ports cannot be used, and why.
func (a *appliance) interfaces(all []host.Interface) {
	down := map[string]string{}
	for _, i := range all {
		switch {
		case !i.Present || !i.Up || !i.Carrier:
			down[i.Port.Name] = "interface " + i.Port.Name + " is DOWN"
		case !i.Attached:
			down[i.Port.Name] = "the dataplane does not serve interface " + i.Port.Name
		}
	}
	a.observe(func(s *compile.State) { s.Down = down })
}

// speak renews the dataplane's lease on each beat of the speaker and never otherwise, on a connection of its own, since calls of one
// wait for each other and tables may take long. It returns the function that ends it, with mastership handed over.
func (a *appliance) speak(speaker *vrrp.Speaker, dial func(context.Context) (engine.Dataplane, error), running *sync.WaitGroup) (end func()) {
	ctx, cancel := context.WithCancel(context.Background())
	running.Go(func() {
		var to engine.Dataplane
		defer func() {
			if to != nil {
				to.Close()
			}
		}()
		for {
			select {
			case <-ctx.Done():
				return
			case <-speaker.Beat():
			}
			if len(a.engine.Routers()) == 0 {
				continue
			}
			if err := a.renew(ctx, &to, dial); err != nil && to != nil {
				to.Close()
				to = nil
			}
		}
	})
	return func() {
		ending, stop := context.WithTimeout(context.Background(), farewell)
		defer stop()
		if err := speaker.Close(ending); err != nil {
			a.log.Warn("virtual routers", "problem", err)
		}
		a.engine.Play(lastWord)
		cancel()
	}
}

// renew renews the lease once. The error is that of the connection.
func (a *appliance) renew(ctx context.Context, to *engine.Dataplane, dial func(context.Context) (engine.Dataplane, error)) (err error) {
	version, err := a.engine.Roles()
	if err != nil {
		return nil // it is about to hear of them
	}
	ctx, stop := context.WithTimeout(ctx, renewTime)
	defer stop()
	if *to == nil {
		if *to, err = dial(ctx); err != nil {
			*to = nil
			return err
		}
	}
	err = (*to).Lease(ctx, &api.Lease{Roles: version, Millis: uint32(compile.Lease(a.engine.Config()).Milliseconds())})
	if engine.IsRefusal(err) {
		return nil // it has newer ones by now
	}
	return err
}

// routers are the virtual routers as metrics tell them.
func (a *appliance) routers() (out []telemetry.Router) {
	states, counts := a.speaker.States(), a.speaker.Counters()
	for _, r := range a.engine.Routers() {
		v := telemetry.Router{ID: r.Row.ID, Port: r.Name, State: vrrp.Init.String(), Ignored: map[string]uint64{}}
		v.Priority, _ = r.Priority(a.engine.State())
		for _, s := range states {
			if s.ID == r.Row.ID && s.Device == r.Twin {
				v.State = s.Role.String()
			}
		}
		for _, c := range counts {
			if c.ID == r.Row.ID && c.Device == r.Twin {
				v.Transitions, v.Sent, v.Received, v.Gratuitous = c.Transitions, c.Sent, c.Received, c.Gratuitous
				for why, n := range c.Refused {
					v.Ignored[string(why)] = n
				}
			}
		}
		out = append(out, v)
	}
	return out
}

// force keeps a virtual router backup, or lets it go.
func (o *operator) force(who engine.Author, op *grammar.Op) (warning string, err error) {
	defer func() { o.audit("force vrID", who, "Done", err) }()
	text, _ := op.Arg("id")
	v := schema.Get[schema.VRID](o.engine.Config(), text)
	_, backup := op.Arg("backup")
	_, release := op.Arg("release")
	switch {
	case v == nil:
		return "", schema.Refuse(schema.NoSuchRow, "id", strings.TrimSpace(text))
	case backup == release:
		return "", schema.Refuse(schema.Missing, "-backup", "-release").Because("give one of the two")
	case release && !o.engine.State().Held[v.ID]:
		return "", schema.Refuse(schema.NotPermitted, "release").Because(fmt.Sprintf("vrID %d is not kept backup", v.ID))
	}
	o.holding.Lock()
	defer o.holding.Unlock()
	o.observe(func(s *compile.State) { s.Hold(v.ID, backup) })
	if err := o.store.KeepBackup(slices.Collect(maps.Keys(o.engine.State().Held))); err != nil {
		o.log.Error("maintenance", "problem", err)
		return warnings([]string{err.Error()}), nil
	}
	return "", nil
}

// goOnHolding keeps backup what an earlier run of management has kept so.
func (a *appliance) goOnHolding() {
	ids, err := a.store.KeptBackup()
	if err != nil {
		a.degrade("maintenance", err.Error())
	}
	for _, id := range ids {
		a.observe(func(s *compile.State) { s.Hold(id, true) })
		a.log.Warn("management was restarted and goes on to keep a virtual router backup", "object", fmt.Sprintf("vrID %d", id))
	}
}
