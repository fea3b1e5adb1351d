package engine

import (
	"context"
	"errors"
	"time"

	"sluice/dataplane/api"
	"sluice/mgmt/compile"
)

// Virtual routers: the speaker hears what they are to do, and the dataplane in which roles this appliance is.

// route tells the speaker what the virtual routers are to do, each time that may have changed. It is a goroutine of its own, since
// the speaker tells of changes while it is told.
func (e *Engine) route(ctx context.Context) {
	if e.opt.Speaker == nil {
		return
	}
	for {
		select {
		case <-ctx.Done():
			return
		case <-e.routers:
			v, s := e.now()
			if v.compiled != nil {
				e.opt.Speaker.Update(compile.Intents(v.config, v.compiled.Routers, s))
			}
		}
	}
}

// rolesOf are the roles of a version in a state.
func rolesOf(v *version, s *compile.State) *api.Roles {
	if v.compiled == nil {
		return &api.Roles{}
	}
	return &api.Roles{List: compile.Roles(v.config, v.compiled.Routers, s)}
}

// Play has the dataplane take the roles that have been observed, and waits for that no longer than the given time: it goes on by
// itself.
func (e *Engine) Play(within time.Duration) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		e.push()
	}()
	select {
	case <-done:
	case <-time.After(within):
	}
}

// ErrOtherRoles tells that the dataplane is still to hear of mastership that has been given up: it gets no lease until it has.
var ErrOtherRoles = errors.New("the dataplane has not taken the roles of the virtual routers yet")

// Roles is the version of the roles for which the dataplane may get a lease: it is master nowhere where this appliance no longer is.
// It never waits for the dataplane.
func (e *Engine) Roles() (version uint64, err error) {
	has := e.roles.Load()
	if has == nil {
		return 0, ErrOtherRoles
	}
	v, s := e.now()
	master := map[api.Role]bool{} // by port and vrID alone
	for _, r := range rolesOf(v, s).List {
		master[api.Role{Port: r.Port, ID: r.ID}] = r.Master
	}
	for _, r := range has.List {
		if r.Master && !master[api.Role{Port: r.Port, ID: r.ID}] {
			return 0, ErrOtherRoles
		}
	}
	return has.Version, nil
}

// Routers are the virtual routers of the configuration in force.
func (e *Engine) Routers() []compile.Router {
	v, _ := e.now()
	if v.compiled == nil {
		return nil
	}
	return v.compiled.Routers
}
