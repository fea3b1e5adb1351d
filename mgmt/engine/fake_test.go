package engine

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"sync"
	"testing"
	"time"

	"sluice/dataplane/api"
	"sluice/mgmt/compile"
	"sluice/vendor-config/schema"
)

// plane is a dataplane in memory: what survives its connections.
type plane struct {
	mu      sync.Mutex
	tables  api.Tables
	applied []api.Tables // every part that was taken, in order
	links   []*conn
	away    bool          // refuses connections
	hang    chan struct{} // not nil: Apply waits for it or for the end of its context
	refuse  func(*api.Tables) error
	started int64
	dials   int
	open    map[string]uint64 // flows by service
}

type conn struct {
	p      *plane
	closed chan struct{}
	once   sync.Once
	events chan api.Event
}

var errGone = errors.New("connection lost")

func (p *plane) dial(ctx context.Context) (Dataplane, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.dials++
	if p.away {
		return nil, errors.New("no dataplane serves here")
	}
	c := &conn{p: p, closed: make(chan struct{}), events: make(chan api.Event, 16)}
	p.links = append(p.links, c)
	return c, nil
}

// die ends every connection; the next process starts without tables.
func (p *plane) die() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.links {
		c.Close()
	}
	p.links, p.tables = nil, api.Tables{}
	p.started++
}

func (p *plane) set(change func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change()
}

func (p *plane) now() api.Tables {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.tables
}

func (c *conn) Close() error {
	c.once.Do(func() { close(c.closed) })
	return nil
}

func (c *conn) Apply(ctx context.Context, t *api.Tables) error {
	c.p.mu.Lock()
	hang, refuse := c.p.hang, c.p.refuse
	c.p.mu.Unlock()
	if hang != nil {
		select {
		case <-hang:
		case <-ctx.Done():
			return ctx.Err()
		case <-c.closed:
			return errGone
		}
	}
	if refuse != nil {
		if err := refuse(t); err != nil {
			return err
		}
	}
	c.p.mu.Lock()
	defer c.p.mu.Unlock()
	select {
	case <-c.closed: // by die, which holds mu: what arrives now must not reach the next process
		return errGone
	default:
	}
	if c.p.tables.Config == nil && (t.Config == nil || t.Health == nil || t.FIB == nil || t.Neighbors == nil) {
		panic("the first tables that a dataplane takes are not whole")
	}
	c.p.applied = append(c.p.applied, *t)
	if t.Config != nil {
		c.p.tables.Config = t.Config
	}
	if t.Health != nil {
		c.p.tables.Health = t.Health
	}
	if t.FIB != nil {
		c.p.tables.FIB = t.FIB
	}
	if t.Neighbors != nil {
		c.p.tables.Neighbors = t.Neighbors
	}
	if t.Roles != nil {
		c.p.tables.Roles = t.Roles
	}
	return nil
}

func (c *conn) Stats(ctx context.Context) (*api.Stats, error) {
	select {
	case <-c.closed:
		return nil, errGone
	default:
	}
	c.p.mu.Lock()
	defer c.p.mu.Unlock()
	st := &api.Stats{StartedUnixMilli: c.p.started}
	if t := c.p.tables; t.Config != nil {
		st.ConfigVersion, st.FIBVersion = t.Config.Version, t.FIB.Version
		st.HealthVersion, st.NeighborsVersion = t.Health.Version, t.Neighbors.Version
		if t.Roles != nil {
			st.RolesVersion = t.Roles.Version
		}
		for _, s := range t.Config.Services {
			st.Services = append(st.Services, api.FlowStats{ID: s.ID, Name: s.Name, Up: slices.Contains(t.Health.Up, s.ID), OpenFlows: c.p.open[s.Name]})
		}
		for _, v := range t.Config.Vservers {
			st.Vservers = append(st.Vservers, api.FlowStats{ID: v.ID, Name: v.Name})
		}
		for _, s := range t.Config.SNIPs {
			st.SNIPs = append(st.SNIPs, api.SNIPStats{ID: s.ID, IP: s.IP})
		}
	}
	return st, nil
}

func (c *conn) Where(_ context.Context, flow *api.Tuple) (*api.Where, error) {
	return &api.Where{Flow: *flow}, nil
}

func (c *conn) Capture(context.Context, *api.CaptureOrder) (*api.Capture, error) {
	return &api.Capture{}, nil
}

func (c *conn) Trace(_ context.Context, o *api.TraceOrder) (*api.Trace, error) {
	return &api.Trace{Filter: o.Start}, nil
}

func (c *conn) Lease(context.Context, *api.Lease) error { return nil }

func (c *conn) Sessions(context.Context, *api.SessionOrder) (*api.Sessions, error) {
	return &api.Sessions{}, nil
}

func (c *conn) Events(ctx context.Context) (<-chan api.Event, error) {
	out := make(chan api.Event)
	go func() {
		defer close(out)
		for {
			select {
			case <-c.closed:
				return
			case <-ctx.Done():
				return
			case e := <-c.events:
				select {
				case out <- e:
				case <-c.closed:
					return
				case <-ctx.Done():
					return
				}
			}
		}
	}()
	return out, nil
}

// kernel is a Host in memory.
type kernel struct {
	mu      sync.Mutex
	plan    compile.HostPlan
	applies int
	fail    error
	asked   []netip.Addr
}

func (k *kernel) Apply(ctx context.Context, p compile.HostPlan) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.applies++
	if k.fail != nil {
		return k.fail
	}
	k.plan = p
	return nil
}

func (k *kernel) Resolve(ctx context.Context, twin string, ip netip.Addr) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.asked = append(k.asked, ip)
	return nil
}

func (k *kernel) now() (compile.HostPlan, int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.plan, k.applies
}

// prober is a Prober that runs nothing.
type prober struct {
	mu     sync.Mutex
	probes []compile.Probe
}

func (p *prober) Set(probes []compile.Probe) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.probes = probes
}

// bench is an engine between fakes.
type bench struct {
	t *testing.T
	*Engine
	plane  *plane
	kernel *kernel
	prober *prober
	stop   func()
}

func newBench(t *testing.T, p *plane) *bench {
	b := &bench{t: t, plane: p, kernel: &kernel{}, prober: &prober{}}
	b.Engine = New(Options{
		Ports:    []compile.Port{{Name: "1/1", Device: "da", Twin: "tw0"}, {Name: "1/2", Device: "db", Twin: "tw1"}},
		Host:     b.kernel,
		Prober:   b.prober,
		Dial:     p.dial,
		Patience: 300 * time.Millisecond,
		Retry:    5 * time.Millisecond,
	})
	return b
}

// run starts the engine; it ends with the test or by stop.
func (b *bench) run() *bench {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); b.Run(ctx) }()
	b.stop = sync.OnceFunc(func() {
		cancel()
		select {
		case <-done:
		case <-time.After(30 * time.Second):
			b.t.Error("Run does not end with its context")
		}
	})
	b.t.Cleanup(b.stop)
	return b
}

// commit makes a change that must succeed.
func (b *bench) commit(change func(*schema.Config)) Result {
	b.t.Helper()
	r, err := b.Commit(Author{User: "nsroot", Line: "test"}, func(c *schema.Config) error { change(c); return nil })
	if err != nil {
		b.t.Fatalf("commit: %v", err)
	}
	return r
}

// says lets a monitor speak of a service.
func (b *bench) says(service string, up bool) {
	b.t.Helper()
	if err := b.Observe(func(s *compile.State) error {
		s.Record(service, "tcp-default", compile.MonitorResult{Up: up, Known: true})
		return nil
	}); err != nil {
		b.t.Fatal(err)
	}
}

// until waits for a condition.
func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if ok() {
			return
		}
	}
	t.Fatalf("after 10 s still not: %s", what)
}

func fresh[T any](change func(*T)) *T {
	row := schema.Of[T]().Fresh().(*T)
	change(row)
	return row
}

func addr(s string) netip.Addr { return netip.MustParseAddr(s) }

// site is a small whole configuration: two SNIPs, a VIP, a vserver v with services s1 and s2.
func site(c *schema.Config) {
	for _, a := range [][3]string{{"10.1.0.5", "255.255.255.0", "SNIP"}, {"10.2.0.5", "255.255.255.0", "SNIP"}, {"10.1.0.50", "255.255.255.255", "VIP"}} {
		schema.Put(c, fresh(func(r *schema.NSIP) { r.IPAddress, r.Netmask, r.Type = addr(a[0]), addr(a[1]), a[2] }))
	}
	schema.Put(c, fresh(func(r *schema.VLAN) { r.ID = 2 }))
	schema.Put(c, fresh(func(r *schema.VLANInterface) { r.ID, r.Ifnum = 2, "1/2" }))
	schema.Put(c, fresh(func(r *schema.VLANIP) { r.ID, r.IPAddress = 2, addr("10.2.0.5") }))
	schema.Put(c, fresh(func(r *schema.LBVserver) {
		r.Name, r.ServiceType, r.IPAddress, r.Port = "v", "HTTP", addr("10.1.0.50"), 80
	}))
	for i, n := range []string{"s1", "s2"} {
		addService(c, n, netip.AddrFrom4([4]byte{10, 2, 0, byte(11 + i)}))
	}
}

func addService(c *schema.Config, name string, ip netip.Addr) {
	schema.Put(c, fresh(func(r *schema.Server) { r.Name, r.IPAddress = name, ip }))
	schema.Put(c, fresh(func(r *schema.Service) { r.Name, r.Server, r.ServiceType, r.Port = name, name, "HTTP", 80 }))
	schema.Put(c, fresh(func(r *schema.LBVserverService) { r.Vserver, r.Service = "v", name }))
}
