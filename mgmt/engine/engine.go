// Package engine is the one owner of configuration and observed state. Commands enter by Commit, news by Observe;
// both are compiled and what has changed is handed to the kernel's side (Host), the monitors (Prober) and the
// dataplane. It holds no rule of its own about what tables look like: that is compile's.
//
// Three locks, always taken in this order:
//
//	commits  one change of the configuration at a time, from the copy to the last step
//	wire     one Apply at a time; guards the connection and what the dataplane was last told
//	mu       the present configuration and state; held for moments, never across a call that can wait
//
// Observe takes mu only, so that no monitor ever waits for a dataplane that hangs.
package engine

import (
	"context"
	"io"
	"log/slog"
	"maps"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"sluice/dataplane/api"
	"sluice/mgmt/compile"
	"sluice/mgmt/vrrp"
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

// Resolver finds the addresses of domain names. Answers come back by Observe (State.Resolved).
type Resolver interface {
	// Set replaces the names that are asked for. Those that stay the same go on undisturbed.
	Set(queries []compile.Query)
}

// Speaker takes part in VRRP. News come back by Observe (State.Stands).
type Speaker interface {
	// Update replaces the virtual routers. Those that stay the same go on undisturbed.
	Update(intents []vrrp.Intent)
}

// Dataplane is a connection to the packet plane.
type Dataplane interface {
	api.Dataplane
	io.Closer
}

// Options are what an engine needs.
type Options struct {
	Ports      []compile.Port                               // by index, as in the dataplane's settings
	Host       Host                                         // kernel's side
	Prober     Prober                                       // monitors
	Management compile.Port                                 // which the NSIP lives on and the dataplane does not drive; without a Device there is none
	Dial       func(ctx context.Context) (Dataplane, error) // one attempt to reach the dataplane
	Log        *slog.Logger                                 // audit and faults

	Linked   func(twin string, up bool) // told of the links of ports that are no kernel devices; must not wait; nil: nobody is
	Speaker  Speaker                    // of VRRP; nil: there is none
	Resolver Resolver                   // of domain names; nil: they have no addresses
	Check    func(*schema.Config) error // of a whole configuration that no operations have made; nil accepts all
	InForce  func(*schema.Config)       // told of every configuration that is put in force; must not wait
	Note     func(Noted)                // told of every configuration that a command has put in force; must not wait
	Version  uint64                     // of the last configuration of an earlier run, so that numbers go on
	Now      func() time.Time           // time.Now when nil
	Patience time.Duration              // with the dataplane and the kernel, per call; 5 s when 0
	Retry    time.Duration              // between two attempts to reach the dataplane; 100 ms when 0
}

// Author is who asks for a change, for the audit line.
type Author struct {
	User   string
	Source string // where from, e.g. "192.168.77.2:40022"
	Line   string // the command as typed, or what stands for it

	Comment string // of whom it may concern, for the history
}

// Noted is a configuration that commands have put in force.
type Noted struct {
	Config  *schema.Config
	Version uint64
	At      time.Time
	By      []Author // of each change in it, in their order
}

// Result is what a successful change has to say.
type Result struct {
	Version  uint64   // of the configuration
	Warnings []string // sentences without the word "Warning"
}

// Engine owns configuration and state.
type Engine struct {
	opt Options

	commits sync.Mutex
	plan    compile.HostPlan // last applied, or last tried when untidy
	untidy  bool             // the kernel's side is not as planned

	link atomic.Pointer[link] // nil: not connected; written under wire
	wire struct {
		sync.Mutex
		sent     api.Tables       // what the dataplane has; a nil part is not known
		everSent bool             // some dataplane has tables of this engine
		settled  *compile.Settled // the health that was last worked out; nil: none was
	}

	mu      sync.Mutex
	cur     *version
	state   *compile.State
	trouble struct{ kernel, refused error } // see Trouble

	health, neighbors chan struct{} // there is news to send
	moved             chan struct{} // an address of ours has come up or gone on a device that is no port, or that of a server has changed

	routers chan struct{}             // what virtual routers are to do may have changed
	roles   atomic.Pointer[api.Roles] // that the dataplane has taken; nil: none

	samples samples
}

// version is one published configuration.
type version struct {
	number   uint64
	config   *schema.Config
	compiled *compile.Compiled
	index    *compile.Index // of compiled
	at       time.Time
	by       string
}

// New returns an engine with an empty configuration. Run must be called for it to talk to the dataplane.
func New(opt Options) *Engine {
	if opt.Now == nil {
		opt.Now = time.Now
	}
	if opt.Patience == 0 {
		opt.Patience = 5 * time.Second
	}
	if opt.Retry == 0 {
		opt.Retry = 100 * time.Millisecond
	}
	if opt.Log == nil {
		opt.Log = slog.New(slog.DiscardHandler)
	}
	e := &Engine{opt: opt, health: make(chan struct{}, 1), neighbors: make(chan struct{}, 1), moved: make(chan struct{}, 1), routers: make(chan struct{}, 1)}
	c := schema.New()
	e.cur = &version{number: opt.Version, config: c, index: compile.NewIndex(c, nil), at: opt.Now()} // no earlier version to compile from
	e.state = &compile.State{Ports: opt.Ports, Management: opt.Management, Services: map[string]compile.ServiceHealth{}, Vservers: map[string]compile.Since{}}
	return e
}

// now is the present configuration and state, which belong together.
func (e *Engine) now() (*version, *compile.State) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.cur, e.state
}

// Config is the running configuration.
func (e *Engine) Config() *schema.Config {
	v, _ := e.now()
	return v.config
}

// State is what has been observed. It must not be written to.
func (e *Engine) State() *compile.State {
	_, s := e.now()
	return s
}

// Snapshot is configuration and state of one moment and the number of the configuration with who made it and when.
func (e *Engine) Snapshot() (c *schema.Config, s *compile.State, number uint64, by string, at time.Time) {
	v, st := e.now()
	return v.config, st, v.number, v.by, v.at
}

// Observe changes the observed state. It returns once the change is recorded and never waits for the dataplane, which
// hears of it at once (health) or within 10 ms (neighbors). If change fails nothing has changed. change must not call
// the engine.
func (e *Engine) Observe(change func(*compile.State) error) error {
	turns, err := e.observe(change)
	e.tell(turns)
	return err
}

func (e *Engine) observe(change func(*compile.State) error) ([]turn, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	next := e.state.Clone()
	if err := change(next); err != nil {
		return nil, err
	}
	next.IDs, next.Ports, next.Management = e.state.IDs, e.state.Ports, e.state.Management
	if !slices.Equal(e.state.Elsewhere, next.Elsewhere) || !slices.Equal(e.state.OnManagement, next.OnManagement) || !compile.SameAddresses(e.state.Resolutions, next.Resolutions) {
		poke(e.moved)
	}
	turns := settleTouched(e.cur, next, e.opt.Now())
	if len(turns) > 0 || loadsDiffer(e.cur, e.state, next) {
		poke(e.health)
	}
	if !slices.Equal(e.state.Neighbors, next.Neighbors) {
		poke(e.neighbors)
	}
	if len(turns) > 0 || !maps.Equal(e.state.Down, next.Down) || !maps.Equal(e.state.Held, next.Held) {
		poke(e.routers)
	}
	e.state = next
	return turns, nil
}

// Trouble are sentences about what is not as configured, for the operator; none when all is well.
func (e *Engine) Trouble() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	var out []string
	if e.trouble.kernel != nil {
		out = append(out, "the addresses and routes of the kernel are not set up: "+e.trouble.kernel.Error())
	}
	if e.trouble.refused != nil {
		out = append(out, "the dataplane refuses the configuration: "+e.trouble.refused.Error())
	}
	return out
}

// note changes what Trouble tells.
func (e *Engine) note(where *error, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	*where = err
}

// poke raises a flag that is lowered by reading the channel.
func poke(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
