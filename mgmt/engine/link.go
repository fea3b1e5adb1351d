package engine

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"sluice/dataplane/api"
	"sluice/mgmt/compile"
	"sluice/vendor-config/schema"
)

const (
	// neighborBatch is how long news of neighbors is gathered before the dataplane hears of it.
	neighborBatch = 10 * time.Millisecond
	// sampleEvery is the spacing of counter readings that rates are computed from.
	sampleEvery = 5 * time.Second
	// tidyEvery is the spacing of attempts to set up the kernel's side after a failure.
	tidyEvery = time.Second
	// resolving is how many neighbors may wait for the kernel to be asked; the dataplane repeats what is lost.
	resolving = 64
)

// link is one connection to the dataplane, from its first reading to its loss.
type link struct {
	dp       Dataplane
	ctx      context.Context // ends with the connection
	cancel   context.CancelFunc
	versions struct{ config, health, fib, neighbors, roles uint64 } // last used; guarded by wire
}

// note records the parts that the dataplane has taken.
func (l *link) note(sent, t *api.Tables) {
	if t.Config != nil {
		sent.Config, l.versions.config = t.Config, t.Config.Version
	}
	if t.Health != nil {
		sent.Health, l.versions.health = t.Health, t.Health.Version
	}
	if t.FIB != nil {
		sent.FIB, l.versions.fib = t.FIB, t.FIB.Version
	}
	if t.Neighbors != nil {
		sent.Neighbors, l.versions.neighbors = t.Neighbors, t.Neighbors.Version
	}
	if t.Roles != nil {
		sent.Roles, l.versions.roles = t.Roles, t.Roles.Version
	}
}

// Run keeps the connection to the dataplane until ctx ends. It returns when everything that it started has ended.
func (e *Engine) Run(ctx context.Context) {
	var beside sync.WaitGroup
	beside.Go(func() { e.keepTidy(ctx) })
	beside.Go(func() { e.watchLeaving(ctx) })
	beside.Go(func() { e.route(ctx) })
	var said string
	for ctx.Err() == nil {
		err := e.connect(ctx)
		if ctx.Err() != nil {
			break
		}
		if err.Error() != said { // a dataplane that stays away is told once
			said = err.Error()
			e.opt.Log.Warn("no connection to the dataplane", "error", err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(e.opt.Retry):
		}
	}
	beside.Wait()
}

// keepTidy sets up the kernel's side again after a failure, and compiles anew when an address has moved between our
// ports and other devices.
func (e *Engine) keepTidy(ctx context.Context) {
	tick := time.NewTicker(tidyEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-e.moved:
			e.recompile()
		case <-tick.C:
			e.retry()
		}
	}
}

func (e *Engine) retry() {
	e.commits.Lock()
	defer e.commits.Unlock()
	if e.untidy && e.tidy() == nil {
		e.opt.Log.Info("the addresses and routes of the kernel are set up")
	}
}

// recompile brings the configuration in force to what has been observed.
func (e *Engine) recompile() {
	e.commits.Lock()
	defer e.commits.Unlock()
	if _, err := e.commit(Author{}, func(*schema.Config) error { return nil }, again); err != nil {
		e.opt.Log.Error("the configuration in force does not fit the appliance's addresses any more", "error", err)
	}
}

// connect makes one connection and serves it until it is lost.
func (e *Engine) connect(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	dialing, stop := context.WithTimeout(ctx, e.opt.Patience)
	dp, err := e.opt.Dial(dialing)
	stop()
	if err != nil {
		return err
	}
	defer dp.Close()
	l := &link{dp: dp, ctx: ctx, cancel: cancel}
	events, err := dp.Events(ctx)
	if err != nil {
		return fmt.Errorf("the dataplane does not send its events: %w", err)
	}
	st, err := e.read(ctx, dp)
	if err != nil {
		return fmt.Errorf("the dataplane does not tell its counters: %w", err)
	}
	if err := e.attach(l, st); err != nil {
		return err
	}
	defer e.detach(l)
	return e.serve(ctx, l, events)
}

// attach brings a dataplane that has just connected to the present configuration and state.
func (e *Engine) attach(l *link, st *api.Stats) error {
	l.versions.config, l.versions.health = st.ConfigVersion, st.HealthVersion
	l.versions.fib, l.versions.neighbors, l.versions.roles = st.FIBVersion, st.NeighborsVersion, st.RolesVersion
	e.commits.Lock()
	defer e.commits.Unlock()
	e.wire.Lock()
	defer e.wire.Unlock()

	e.mu.Lock()
	if !e.wire.everSent && st.ConfigVersion != 0 {
		s := e.state.Clone()
		adopt(e.cur, s, st, e.opt.Now())
		e.state = s
	}
	v, s := e.cur, e.state
	e.mu.Unlock()

	// A dataplane that ended cleanly has flushed its twins' addresses and routes.
	if err := e.tidy(); err != nil {
		e.opt.Log.Error("the addresses and routes of the kernel cannot be set up; trying again every second", "error", err)
	}
	t, err := e.whole(v, s)
	if err != nil {
		return fmt.Errorf("the configuration in force does not compile any more: %w", err)
	}
	e.setLink(l)
	err = e.send(t)
	switch {
	case IsRefusal(err):
		// The connection stays, so that the counters can be read and the next change, if it mends the cause, goes through.
		e.opt.Log.Error("the dataplane refuses the configuration in force", "error", err)
		e.note(&e.trouble.refused, err)
	case err != nil:
		return fmt.Errorf("the dataplane has not taken its tables: %w", err)
	default:
		e.opt.Log.Info("the dataplane is connected", "started", time.UnixMilli(st.StartedUnixMilli).UTC().Format(time.RFC3339),
			"version", v.number, "services", len(t.Config.Services), "vservers", len(t.Config.Vservers))
	}
	poke(e.health)
	poke(e.routers)
	return nil
}

// whole is every part for a dataplane of which it is not known what it has. The objects may have other numbers by now
// than when the version was compiled. The caller holds commits and wire.
func (e *Engine) whole(v *version, s *compile.State) (*api.Tables, error) {
	out, err := compile.Compile(v.config, s, v.compiled)
	if err != nil {
		return nil, err
	}
	next := *v
	next.compiled, next.index = out, out.Index
	e.mu.Lock()
	e.cur = &next
	e.mu.Unlock()
	return e.parts(&next, s), nil
}

// parts are the tables of a version in a state. They are copies, since send numbers them, and what was compiled stays as
// it is. The caller holds wire.
func (e *Engine) parts(v *version, s *compile.State) *api.Tables {
	config, fib := *v.compiled.Tables.Config, *v.compiled.Tables.FIB
	return &api.Tables{Config: &config, FIB: &fib, Health: e.settledHealth(v, s), Neighbors: &api.Neighbors{Entries: s.Neighbors}, Roles: rolesOf(v, s)}
}

func (e *Engine) detach(l *link) {
	l.cancel()
	e.wire.Lock()
	defer e.wire.Unlock()
	if e.link.Load() == l {
		e.setLink(nil)
	}
}

// setLink changes the connection; of a new one it is not known what the dataplane has. The caller holds wire.
func (e *Engine) setLink(l *link) {
	e.link.Store(l)
	e.wire.sent = api.Tables{}
	e.roles.Store(nil)
}

var errLost = errors.New("the connection to the dataplane is lost")

// serve carries news in both directions until the connection is lost.
func (e *Engine) serve(ctx context.Context, l *link, events <-chan api.Event) error {
	wanted := make(chan api.Event, resolving)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		e.resolve(ctx, wanted)
	}()
	go e.sample(ctx, l)
	defer func() { l.cancel(); <-ended }()
	var batch <-chan time.Time
	for {
		select {
		case <-ctx.Done():
			return errLost
		case ev, ok := <-events:
			if !ok {
				return errLost
			}
			if ev.Kind != api.NeighborWanted {
				e.linked(ev)
				continue
			}
			select {
			case wanted <- ev:
			default:
			}
		case <-e.health:
			e.push()
		case <-e.neighbors:
			if batch == nil {
				batch = time.After(neighborBatch)
			}
		case <-batch:
			batch = nil
			e.push()
		}
	}
}

// linked passes on how the link of a port is that the kernel does not see.
func (e *Engine) linked(ev api.Event) {
	if up := ev.Kind == api.LinkUp; e.opt.Linked != nil && (up || ev.Kind == api.LinkDown) && int(ev.Port) < len(e.opt.Ports) {
		e.opt.Linked(e.opt.Ports[ev.Port].Twin, up)
	}
}

// push sends what has been observed since.
func (e *Engine) push() {
	e.wire.Lock()
	defer e.wire.Unlock()
	v, s := e.now()
	t := &api.Tables{Health: e.settledHealth(v, s), Neighbors: &api.Neighbors{Entries: s.Neighbors}, Roles: rolesOf(v, s)}
	if e.wire.sent.Config == nil {
		return // refused so far: health of services that the dataplane does not know says nothing
	}
	if err := e.send(t); IsRefusal(err) {
		e.opt.Log.Error("the dataplane refuses news of services, neighbors and virtual routers", "error", err)
	}
}

// resolve asks the kernel for the neighbors that the dataplane wants.
func (e *Engine) resolve(ctx context.Context, wanted <-chan api.Event) {
	for {
		select {
		case <-ctx.Done():
			return
		case ev := <-wanted:
			if int(ev.Port) >= len(e.opt.Ports) {
				continue
			}
			twin := e.opt.Ports[ev.Port].Twin
			asking, stop := context.WithTimeout(ctx, e.opt.Patience)
			if err := e.opt.Host.Resolve(asking, twin, ev.IP); err != nil {
				e.opt.Log.Warn("the kernel does not look for a neighbor", "neighbor", ev.IP, "twin", twin, "error", err)
			}
			stop()
		}
	}
}
