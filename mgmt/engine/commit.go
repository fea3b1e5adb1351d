package engine

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"sluice/dataplane/api"
	"sluice/mgmt/compile"
	"sluice/vendor-config/schema"
)

// Sentences that a successful change may come with.
const (
	warnNotConnected = "The dataplane is not connected; the change takes effect as soon as it is."
	warnLost         = "The dataplane has not answered; the change takes effect as soon as it is connected again."
)

// Commit changes the configuration: all or nothing. change works on a copy; if it or any later step fails nothing has
// changed and the error says which object is at fault. change must not call the engine, and leaves a configuration that
// is right in itself, as operations do, which check what they touch. What cannot be compiled is refused in any case.
func (e *Engine) Commit(who Author, change func(*schema.Config) error) (Result, error) {
	e.commits.Lock()
	defer e.commits.Unlock()
	r, err := e.commit(who, change, command)
	e.audit(who, r, err)
	if err == nil {
		e.noted(who)
	}
	return r, err
}

// Outcome is what became of one of several changes.
type Outcome struct {
	Result
	Err error
}

// CommitAll makes changes one after the other, each all or nothing as by Commit, and puts those that follow each other
// without a fault in force together. A pasted file of ten thousand lines would otherwise be compiled and sent ten thousand
// times. who says by whom each is.
func (e *Engine) CommitAll(who []Author, changes []func(*schema.Config) error) []Outcome {
	e.commits.Lock()
	defer e.commits.Unlock()
	var out []Outcome
	var done []Author
	for len(out) < len(changes) {
		from := len(out)
		out = append(out, e.together(who[from:], changes[from:])...)
		for i, o := range out[from:] {
			e.audit(who[from+i], o.Result, o.Err)
			if o.Err == nil {
				done = append(done, who[from+i])
			}
		}
	}
	if len(done) > 0 {
		e.noted(done...)
	}
	return out
}

// noted tells of the present configuration, which by have made of the one before. The caller holds commits.
func (e *Engine) noted(by ...Author) {
	if e.opt.Note == nil {
		return
	}
	v, _ := e.now()
	e.opt.Note(Noted{v.config, v.number, v.at, by})
}

// together puts in force what can be before the first change that fails, or tells why the first one fails.
func (e *Engine) together(who []Author, changes []func(*schema.Config) error) []Outcome {
	prev, _ := e.now()
	n, _ := inTurn(prev.config.Clone(), changes)
	if n > 1 {
		all := func(c *schema.Config) error { _, err := inTurn(c, changes[:n]); return err }
		if r, err := e.commit(who[n-1], all, command); err == nil {
			return slices.Repeat([]Outcome{{Result: r}}, n)
		}
	}
	// Each by itself: the first has failed, or one of them is refused only by what follows from it.
	var out []Outcome
	for i := range max(n, 1) {
		r, err := e.commit(who[i], changes[i], command)
		out = append(out, Outcome{r, err})
	}
	return out
}

// inTurn makes changes until one fails; it tells how many have not.
func inTurn(c *schema.Config, changes []func(*schema.Config) error) (int, error) {
	for i, change := range changes {
		if err := change(c); err != nil {
			return i, err
		}
	}
	return len(changes), nil
}

// Boot takes the startup configuration as it is. Unlike Commit it succeeds when the kernel's side cannot be set up,
// which is tried again every second: the appliance must stay reachable.
func (e *Engine) Boot(c *schema.Config) (Result, error) {
	who := Author{User: "system", Source: "boot", Line: "startup configuration"}
	e.commits.Lock()
	defer e.commits.Unlock()
	r, err := e.commit(who, func(to *schema.Config) error {
		for _, o := range schema.Objects() {
			for _, row := range c.Rows(o) {
				to.Put(o, row)
			}
		}
		return nil
	}, boot)
	e.audit(who, r, err)
	return r, err
}

// occasion is why a configuration is put in force.
type occasion uint8

const (
	command occasion = iota // an operator's change: every step must succeed
	boot                    // the startup configuration: the kernel's side may fail and is tried again
	again                   // the same configuration on other observations: as boot, and it is no new version
)

// Check tells why a configuration could not be committed, without changing anything: the check of the whole, then
// compilation on this appliance's ports.
func (e *Engine) Check(c *schema.Config) error {
	if err := e.check(c); err != nil {
		return err
	}
	v, s := e.now()
	_, _, err := e.compile(c, v, s)
	return err
}

func (e *Engine) check(c *schema.Config) error {
	if e.opt.Check == nil {
		return nil
	}
	return e.opt.Check(c)
}

// compile compiles c on what was made of the version before. The numbers that it returns are those of c's objects.
func (e *Engine) compile(c *schema.Config, prev *version, now *compile.State) (*compile.Compiled, compile.IDs, error) {
	s := *now // its maps are only read
	s.IDs = compile.RenewIDs(c, prev.config, s.Resolutions, s.IDs)
	out, err := compile.Compile(c, &s, prev.compiled)
	return out, s.IDs, err
}

func (e *Engine) commit(who Author, change func(*schema.Config) error, why occasion) (Result, error) {
	prev, now := e.now()
	c := prev.config.Clone()
	if err := change(c); err != nil {
		return Result{}, err
	}
	compile.Modernize(c, prev.config)
	if why == boot {
		if err := e.check(c); err != nil {
			return Result{}, err
		}
	}
	out, ids, err := e.compile(c, prev, now)
	if err != nil {
		return Result{}, err
	}
	next := &version{number: prev.number + 1, config: c, compiled: out, index: out.Index, at: e.opt.Now(), by: who.User}
	if why == again {
		next.number, next.at, next.by = prev.number, prev.at, prev.by
	}
	r := Result{Version: next.number}
	undo, err := e.applyHost(out.Host)
	if err != nil && why == command {
		return Result{}, err
	}
	if err != nil {
		r.Warnings = append(r.Warnings, err.Error())
	}
	warning, err := e.applyTables(prev, next, ids)
	if err != nil {
		undo()
		return Result{}, err
	}
	if warning != "" && why == command {
		r.Warnings = append(r.Warnings, warning)
	}
	if prev.compiled == nil || !identical(prev.compiled.Probes, out.Probes) {
		e.opt.Prober.Set(out.Probes)
	}
	if e.opt.Resolver != nil && (prev.compiled == nil || !identical(prev.compiled.Queries, out.Queries)) {
		e.opt.Resolver.Set(out.Queries)
	}
	poke(e.routers)
	if e.opt.InForce != nil {
		e.opt.InForce(c)
	}
	return r, nil
}

// applyHost brings the kernel's side to the plan. undo brings back the plan before. The caller holds commits.
func (e *Engine) applyHost(plan compile.HostPlan) (undo func(), err error) {
	old, wasUntidy := e.plan, e.untidy
	if !wasUntidy && reflect.DeepEqual(old, plan) {
		return func() {}, nil
	}
	e.plan = plan
	if err = e.tidy(); err == nil {
		return func() {
			e.plan = old
			if err := e.tidy(); err != nil {
				e.opt.Log.Error("the addresses and routes of the kernel cannot be brought back", "error", err)
			}
		}, nil
	}
	if !reflect.DeepEqual(old, compile.HostPlan{}) {
		e.plan = old
		if back := e.tidy(); back != nil {
			e.opt.Log.Error("the addresses and routes of the kernel cannot be brought back", "error", back)
		}
	}
	return func() {}, err
}

// tidy applies the plan to the kernel. The caller holds commits.
func (e *Engine) tidy() error {
	ctx, cancel := context.WithTimeout(context.Background(), e.opt.Patience)
	defer cancel()
	err := e.opt.Host.Apply(ctx, e.plan)
	e.untidy = err != nil
	e.note(&e.trouble.kernel, err)
	return err
}

// applyTables gives the dataplane what is new and publishes the version, in one step as seen by every other sender.
// The error is the dataplane's refusal; then nothing is published.
func (e *Engine) applyTables(prev, next *version, ids compile.IDs) (warning string, err error) {
	e.wire.Lock()
	defer e.wire.Unlock()

	// Monitors may have spoken since compilation, so health is worked out on what is known by now.
	_, now := e.now()
	s, turns := e.arrange(prev, next, ids, now)
	t := e.parts(next, s) // neighbors as well, which no command changes: they may have been refused before
	switch err := e.send(t); {
	case err == nil && e.link.Load() == nil:
		warning = warnNotConnected
	case IsRefusal(err):
		return "", err
	case err != nil:
		warning = warnLost
	}
	e.mu.Lock()
	if e.state != now { // they have spoken while the dataplane was busy
		s, turns = e.arrange(prev, next, ids, e.state)
		poke(e.health)
		poke(e.neighbors)
	}
	e.cur, e.state = next, s
	e.mu.Unlock()
	e.tell(turns)
	return warning, nil
}

// arrange makes the state for the next version of what has been observed so far.
func (e *Engine) arrange(prev, next *version, ids compile.IDs, now *compile.State) (*compile.State, []turn) {
	s := now.Clone()
	s.IDs = ids
	s.Unresolve(next.config)
	d := next.index.Since(prev.index)
	carry(prev, next, s, d)
	return s, settle(next, s, d, e.opt.Now())
}

// send applies the parts of t that differ from what the dataplane has. Without a connection it does nothing. The
// caller holds wire. After an error that is no refusal the connection is given up.
func (e *Engine) send(t *api.Tables) error {
	l, w := e.link.Load(), &e.wire
	if l == nil {
		return nil
	}
	var diff api.Tables
	if t.Config != nil && !sameConfig(t.Config, w.sent.Config) {
		diff.Config = t.Config
		diff.Config.Version = l.versions.config + 1
	}
	if t.FIB != nil && (w.sent.FIB == nil || !slices.Equal(t.FIB.Routes, w.sent.FIB.Routes)) {
		diff.FIB = t.FIB
		diff.FIB.Version = l.versions.fib + 1
	}
	if t.Health != nil && !sameHealth(t.Health, w.sent.Health) {
		diff.Health = t.Health
		diff.Health.Version = l.versions.health + 1
	}
	if t.Neighbors != nil && (w.sent.Neighbors == nil || !slices.Equal(t.Neighbors.Entries, w.sent.Neighbors.Entries)) {
		diff.Neighbors = t.Neighbors
		diff.Neighbors.Version = l.versions.neighbors + 1
	}
	if t.Roles != nil && (w.sent.Roles == nil || !slices.Equal(t.Roles.List, w.sent.Roles.List)) {
		diff.Roles = t.Roles
		diff.Roles.Version = l.versions.roles + 1
	}
	if diff == (api.Tables{}) {
		return nil
	}
	ctx, cancel := context.WithTimeout(l.ctx, e.opt.Patience)
	defer cancel()
	if err := l.dp.Apply(ctx, &diff); err != nil {
		if !IsRefusal(err) {
			e.opt.Log.Error("the dataplane has not taken new tables; connecting again", "error", err)
			e.setLink(nil)
			l.cancel()
		}
		return err
	}
	w.everSent = true
	e.note(&e.trouble.refused, nil)
	l.note(&w.sent, &diff)
	e.roles.Store(w.sent.Roles)
	return nil
}

// sameConfig compares two parts without their versions. A list that compilation has found equal to the one before is the
// same memory, so that ten thousand services need not be looked at.
func sameConfig(a, b *api.Config) bool {
	if b == nil {
		return false
	}
	v, w := reflect.ValueOf(a).Elem(), reflect.ValueOf(b).Elem()
	for i := range v.NumField() {
		f, g := v.Field(i), w.Field(i)
		switch {
		case v.Type().Field(i).Name == "Version":
		case f.Kind() == reflect.Slice && (f.Len() != g.Len() || f.Pointer() != g.Pointer()),
			f.Kind() != reflect.Slice && !f.Equal(g):
			return false
		}
	}
	return true
}

// sameHealth compares two parts without their versions.
func sameHealth(a, b *api.Health) bool {
	return b != nil && slices.Equal(a.Up, b.Up) && slices.Equal(a.Flush, b.Flush) && slices.Equal(a.FlushVservers, b.FlushVservers) &&
		slices.Equal(a.Loads, b.Loads) && slices.Equal(a.Times, b.Times) && slices.Equal(a.Leaving, b.Leaving)
}

// identical tells whether two lists are the same memory.
func identical[T any](a, b []T) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

// IsRefusal tells whether an error is the dataplane's own answer; the connection is still good.
func IsRefusal(err error) bool {
	var r *api.RefusedError
	return errors.As(err, &r)
}

// audit writes who has changed what, or tried to.
func (e *Engine) audit(who Author, r Result, err error) {
	attrs := []any{"user", who.User, "source", who.Source, "line", who.Line}
	if err != nil {
		e.opt.Log.Warn("change refused", append(attrs, "result", fmt.Sprintf("ERROR: %v", err))...)
		return
	}
	attrs = append(attrs, "version", r.Version, "result", "Done")
	for _, w := range r.Warnings {
		attrs = append(attrs, "warning", w)
	}
	e.opt.Log.Info("change", attrs...)
}
