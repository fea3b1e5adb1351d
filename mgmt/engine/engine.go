// Package engine is the one owner of configuration and observed state. Commands enter by Commit, news by Observe;
// both are compiled and what has changed is handed to the kernel's side (Host), the monitors (Prober) and the
// dataplane. It holds no rule of its own about what tables look like: that is compile's.
package engine

import (
	"context"
	"io"
	"log/slog"
	"net/netip"
	"time"

	"sluice/dataplane/api"
	"sluice/mgmt/compile"
	"sluice/vendor-config/schema"
)

// Host is the kernel's side of the ports.
type Host interface {
	// Apply makes twins, addresses and routes be as planned and removes those of an earlier plan. Applying the same
	// plan again restores whatever has been lost since.
	Apply(ctx context.Context, plan compile.HostPlan) error
	// Resolve asks the kernel for the link address of ip on a twin; the answer arrives by Observe.
	Resolve(ctx context.Context, twin string, ip netip.Addr) error
}

// Prober runs monitors. Results come back by Observe (State.Record).
type Prober interface {
	// Set replaces the probes that run. Those that stay the same go on undisturbed. It does not wait for results.
	Set(probes []compile.Probe)
}

// Dataplane is a connection to the packet plane.
type Dataplane interface {
	api.Dataplane
	io.Closer
}

// Options are what an engine needs. Dial and Log may be nil only in tests.
type Options struct {
	Ports  []compile.Port                               // by index, as in the dataplane's settings
	Host   Host                                         // kernel's side
	Prober Prober                                       // monitors
	Dial   func(ctx context.Context) (Dataplane, error) // one attempt to reach the dataplane
	Log    *slog.Logger                                 // audit and faults
	Now    func() time.Time                             // clock; time.Now when nil
}

// Author is who asks for a change, for the audit line.
type Author struct {
	User   string
	Source string // where from, e.g. "ssh 192.168.77.2"
	Line   string // the command as typed, or what stands for it
}

// Result is what a successful change has to say.
type Result struct {
	Version  uint64   // of the configuration
	Warnings []string // sentences without the word "Warning"
}

// Engine owns configuration and state.
type Engine struct {
	opt Options
}

// New returns an engine with an empty configuration. Run must be called for it to talk to the dataplane.
func New(opt Options) *Engine { return &Engine{opt: opt} }

// Run keeps the connection to the dataplane until ctx ends.
func (e *Engine) Run(ctx context.Context) error { return nil }

// Commit changes the configuration: all or nothing. change works on a copy; if it or any later step fails nothing has
// changed and the error says which object is at fault.
func (e *Engine) Commit(who Author, change func(*schema.Config) error) (Result, error) {
	return Result{}, nil
}

// Observe changes the observed state. It returns once the change is recorded and never waits for the dataplane, which
// hears of it at once (health) or within 10 ms (neighbors). If change fails nothing has changed.
func (e *Engine) Observe(change func(*compile.State) error) error { return nil }

// Config is the running configuration.
func (e *Engine) Config() *schema.Config { return nil }

// State is what has been observed.
func (e *Engine) State() *compile.State { return nil }

// Stats reads the dataplane's counters.
func (e *Engine) Stats(ctx context.Context) (*api.Stats, error) { return nil, nil }
