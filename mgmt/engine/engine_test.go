package engine

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"sluice/dataplane/api"
	"sluice/mgmt/compile"
	"sluice/vendor-config/schema"
)

func connected(b *bench) {
	b.t.Helper()
	until(b.t, "connected", func() bool { return b.link.Load() != nil && b.plane.now().Config != nil })
}

func up(p *plane) []uint32 {
	if h := p.now().Health; h != nil {
		return h.Up
	}
	return nil
}

func TestCommitReachesKernelProberAndDataplane(t *testing.T) {
	b := newBench(t, &plane{}).run()
	connected(b)
	r := b.commit(site)
	if r.Version != 1 || len(r.Warnings) != 0 {
		t.Errorf("result %+v", r)
	}
	tb := b.plane.now()
	if len(tb.Config.Services) != 2 || len(tb.Config.Vservers) != 1 || len(tb.FIB.Routes) != 2 || len(tb.Health.Up) != 0 {
		t.Errorf("tables: %+v %+v %+v", tb.Config, tb.FIB, tb.Health)
	}
	plan, _ := b.kernel.now()
	if got := fmt.Sprint(plan.Twins[0].Addresses, plan.Twins[1].Addresses); got != "[10.1.0.5/24] [10.2.0.5/24]" {
		t.Errorf("addresses on the twins: %s", got)
	}
	if len(b.prober.probes) != 2 || b.prober.probes[0].Source != addr("10.2.0.5") {
		t.Errorf("probes: %+v", b.prober.probes)
	}
	b.says("s1", true)
	until(t, "s1 up", func() bool { return slices.Equal(up(b.plane), []uint32{1}) })
	b.says("s2", true)
	until(t, "both up", func() bool { return slices.Equal(up(b.plane), []uint32{1, 2}) })
	if !b.State().Vservers["v"].Up || b.State().Vservers["v"].At.IsZero() {
		t.Error("vserver v is not UP")
	}
	b.says("s1", false)
	until(t, "s1 down", func() bool { return slices.Equal(up(b.plane), []uint32{2}) })
}

func TestOnlyWhatChangedIsSent(t *testing.T) {
	b := newBench(t, &plane{}).run()
	connected(b)
	b.commit(site)
	until(t, "quiet", func() bool { b.wire.Lock(); defer b.wire.Unlock(); return len(b.health) == 0 })
	before := len(b.plane.applied)
	b.commit(func(c *schema.Config) {
		schema.Put(c, fresh(func(r *schema.LBVserver) {
			r.Name, r.ServiceType, r.IPAddress, r.Port, r.LBMethod = "v", "HTTP", addr("10.1.0.50"), 80, "ROUNDROBIN"
		}))
	})
	b.says("s1", true)
	until(t, "health", func() bool { return len(up(b.plane)) == 1 })
	if err := b.Observe(func(s *compile.State) error {
		s.Neighbors = []api.Neighbor{{Port: 1, IP: addr("10.2.0.11"), MAC: [6]byte{2}}}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	until(t, "neighbors", func() bool { return len(b.plane.now().Neighbors.Entries) == 1 })
	b.commit(func(c *schema.Config) {}) // changes nothing
	b.plane.mu.Lock()
	defer b.plane.mu.Unlock()
	var got []string
	for _, a := range b.plane.applied[before:] {
		got = append(got, fmt.Sprintf("%t %t %t %t", a.Config != nil, a.Health != nil, a.FIB != nil, a.Neighbors != nil))
	}
	want := []string{"true false false false", "false true false false", "false false false true"}
	if !slices.Equal(got, want) {
		t.Errorf("parts sent (config health fib neighbors): %q, want %q", got, want)
	}
}

func TestFailedStepsChangeNothing(t *testing.T) {
	b := newBench(t, &plane{}).run()
	connected(b)
	b.commit(site)
	b.says("s1", true)
	until(t, "s1 up", func() bool { return len(up(b.plane)) == 1 })
	config, plan, tables := b.Config(), b.kernel.plan, b.plane.now()
	grow := func(c *schema.Config) error {
		schema.Put(c, fresh(func(r *schema.NSIP) { r.IPAddress, r.Netmask = addr("10.9.0.5"), addr("255.255.255.0") }))
		addService(c, "s3", addr("10.2.0.13"))
		return nil
	}
	rows := []struct {
		name    string
		prepare func()
		change  func(*schema.Config) error
		want    string
	}{
		{"the change itself", func() {}, func(c *schema.Config) error { grow(c); return errors.New("No such resource [x]") }, "No such resource [x]"},
		{"compile", func() {}, func(c *schema.Config) error {
			grow(c)
			schema.Put(c, fresh(func(r *schema.Route) {
				r.Network, r.Netmask, r.Gateway = addr("0.0.0.0"), addr("0.0.0.0"), addr("192.0.2.1")
			}))
			return nil
		}, "192.0.2.1"},
		{"the kernel", func() { b.kernel.fail = errors.New("ns ip 10.9.0.5: no room") }, grow, "ns ip 10.9.0.5: no room"},
		{"the dataplane", func() {
			b.plane.set(func() {
				b.plane.refuse = func(*api.Tables) error { return &api.RefusedError{Reason: "service s3: no room"} }
			})
		}, grow, "service s3: no room"},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			b.commits.Lock() // the kernel is called under it
			row.prepare()
			b.commits.Unlock()
			_, err := b.Commit(Author{}, row.change)
			if err == nil || !strings.Contains(err.Error(), row.want) {
				t.Errorf("error %v, want %q in it", err, row.want)
			}
			b.commits.Lock()
			b.kernel.fail = nil
			b.commits.Unlock()
			b.plane.set(func() { b.plane.refuse = nil })
			if b.Config() != config || b.State().IDs.Services["s3"] != 0 {
				t.Error("the configuration has changed")
			}
			if !reflect.DeepEqual(b.plane.now(), tables) {
				t.Error("the tables have changed")
			}
			until(t, "the kernel is as before", func() bool { p, _ := b.kernel.now(); return reflect.DeepEqual(p, plan) })
		})
	}
	if r := b.commit(func(c *schema.Config) { grow(c) }); r.Version != 2 {
		t.Errorf("the next change is version %d, want 2: refused ones do not count", r.Version)
	}
	if got := up(b.plane); !slices.Equal(got, []uint32{1}) {
		t.Errorf("services up after the next change: %v, want [1]", got)
	}
}

// TestSeveralChangesAreAsOneByOne: whatever fails, be it in the change, in compilation or in the dataplane, several changes together
// leave the same configuration and the same errors as each by itself.
func TestSeveralChangesAreAsOneByOne(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 2))
	refuse := func(t *api.Tables) error {
		if t.Config != nil && slices.ContainsFunc(t.Config.Services, func(s api.Service) bool { return s.Name == "x7" }) {
			return &api.RefusedError{Reason: "service x7: no room"}
		}
		return nil
	}
	one, all := newBench(t, &plane{refuse: refuse}).run(), newBench(t, &plane{refuse: refuse}).run()
	for _, b := range []*bench{one, all} {
		connected(b)
		b.commit(site)
	}
	anyChange := func() func(*schema.Config) error {
		name := fmt.Sprint("x", r.IntN(9))
		switch r.IntN(5) {
		case 0:
			return func(c *schema.Config) error {
				addService(c, "half", addr("10.2.0.9"))
				return errors.New("no " + name)
			}
		case 1: // refused by compilation
			return func(c *schema.Config) error {
				schema.Put(c, fresh(func(s *schema.Service) { s.Name, s.Server, s.ServiceType, s.Port = name, "nowhere", "HTTP", 80 }))
				return nil
			}
		case 2:
			return func(c *schema.Config) error {
				c.Delete(schema.Of[schema.LBVserverService](), "v", name)
				c.Delete(schema.Of[schema.Service](), name)
				return nil
			}
		}
		return func(c *schema.Config) error {
			addService(c, name, netip.AddrFrom4([4]byte{10, 2, 0, 100 + name[1]}))
			return nil
		}
	}
	together := 0
	for range 60 {
		changes := make([]func(*schema.Config) error, 1+r.IntN(6))
		for i := range changes {
			changes[i] = anyChange()
		}
		_, _, before, _, _ := all.Snapshot()
		got := all.CommitAll(make([]Author, len(changes)), changes)
		_, _, after, _, _ := all.Snapshot()
		good := uint64(0)
		for i, change := range changes {
			_, err := one.Commit(Author{}, change)
			if fmt.Sprint(err) != fmt.Sprint(got[i].Err) {
				t.Fatalf("change %d of %d: %v, want %v", i, len(changes), got[i].Err, err)
			}
			if err == nil {
				good++
			}
		}
		if after-before < good {
			together++
		}
		if !one.Config().Equal(all.Config()) {
			t.Fatal("the configurations differ")
		}
	}
	if together < 10 {
		t.Errorf("only %d of 60 lists had changes that were put in force together", together)
	}
	if got, want := all.plane.now().Config, one.plane.now().Config; len(got.Services) != len(want.Services) || len(got.Vservers) != len(want.Vservers) {
		t.Errorf("the dataplanes differ: %+v, want %+v", got, want)
	}
}

func TestCommitWithoutDataplaneIsAppliedOnConnect(t *testing.T) {
	p := &plane{away: true}
	b := newBench(t, p).run()
	r := b.commit(site)
	if len(r.Warnings) != 1 || r.Warnings[0] != warnNotConnected {
		t.Errorf("warnings %q", r.Warnings)
	}
	if _, err := b.Stats(context.Background()); !errors.Is(err, ErrNotConnected) {
		t.Errorf("Stats: %v", err)
	}
	p.set(func() { p.away = false })
	until(t, "applied", func() bool { c := p.now().Config; return c != nil && len(c.Services) == 2 })
}

func TestDataplaneThatDiesIsSetUpAgain(t *testing.T) {
	b := newBench(t, &plane{}).run()
	connected(b)
	b.commit(site)
	b.says("s2", true)
	until(t, "s2 up", func() bool { return len(up(b.plane)) == 1 })
	_, applies := b.kernel.now()
	b.plane.die()
	until(t, "everything again", func() bool {
		tb := b.plane.now()
		return tb.Config != nil && len(tb.Config.Vservers) == 1 && tb.FIB != nil && tb.Neighbors != nil && slices.Equal(tb.Health.Up, []uint32{2})
	})
	if _, now := b.kernel.now(); now != applies+1 {
		t.Errorf("the kernel's side was set up %d times, want once", now-applies)
	}
}

func TestDataplaneThatHangsDelaysNoMonitorAndLosesNoChange(t *testing.T) {
	b := newBench(t, &plane{}).run()
	connected(b)
	b.commit(site)
	hang := make(chan struct{})
	b.plane.set(func() { b.plane.hang = hang })
	start := time.Now()
	done := make(chan Result)
	go func() {
		r, err := b.Commit(Author{}, func(c *schema.Config) error { addService(c, "s3", addr("10.2.0.13")); return nil })
		if err != nil {
			t.Errorf("commit to a dataplane that hangs: %v", err)
		}
		done <- r
	}()
	time.Sleep(20 * time.Millisecond)
	asked := time.Now()
	b.says("s1", true)
	if took := time.Since(asked); took > 2*time.Second {
		t.Errorf("Observe waited %v for the dataplane", took)
	}
	r := <-done
	if took := time.Since(start); took > 20*time.Second {
		t.Errorf("the commit took %v", took)
	}
	if len(r.Warnings) != 1 || r.Warnings[0] != warnLost {
		t.Errorf("warnings %q", r.Warnings)
	}
	b.plane.set(func() { b.plane.hang = nil })
	close(hang)
	until(t, "both are in force", func() bool {
		tb := b.plane.now()
		return len(tb.Config.Services) == 3 && slices.Equal(tb.Health.Up, []uint32{1})
	})
}

func TestRestartedManagementGoesOnFromTheDataplane(t *testing.T) {
	p := &plane{}
	b := newBench(t, p).run()
	connected(b)
	b.commit(func(c *schema.Config) { addService(c, "gone", addr("10.2.0.99")); site(c) })
	b.commit(func(c *schema.Config) {
		c.Delete(schema.Of[schema.LBVserverService](), "v", "gone")
		c.Delete(schema.Of[schema.Service](), "gone")
	})
	b.says("s2", true)
	until(t, "s2 up", func() bool { return len(up(p)) == 1 })
	old := p.now()
	b.stop()

	n := newBench(t, p) // the next process, with the same startup configuration in another order
	p.set(func() { p.applied = nil })
	if _, err := n.Boot(b.Config()); err != nil {
		t.Fatal(err)
	}
	n.run()
	until(t, "connected", func() bool { return n.link.Load() != nil })
	tb := p.now()
	names := func(t api.Tables) map[string]uint32 {
		m := map[string]uint32{}
		for _, s := range t.Config.Services {
			m[s.Name] = s.ID
		}
		for _, s := range t.Config.SNIPs {
			m[s.IP.String()] = s.ID
		}
		return m
	}
	if !reflect.DeepEqual(names(tb), names(old)) {
		t.Errorf("numbers %v, want %v", names(tb), names(old))
	}
	for _, a := range p.applied {
		if a.Health != nil && !slices.Equal(a.Health.Up, old.Health.Up) {
			t.Errorf("health %v before any monitor has spoken, want %v", a.Health.Up, old.Health.Up)
		}
	}
	if tb.Config.Version <= old.Config.Version {
		t.Errorf("config version %d after %d", tb.Config.Version, old.Config.Version)
	}
	n.says("s2", false)
	until(t, "the monitor's word counts", func() bool { return len(up(p)) == 0 })
}

func TestNeighborWantedIsAskedOfTheKernel(t *testing.T) {
	b := newBench(t, &plane{}).run()
	connected(b)
	b.plane.mu.Lock()
	for _, port := range []uint16{1, 99} { // 99: a port that we do not have
		b.plane.links[0].events <- api.Event{Kind: api.NeighborWanted, Port: port, IP: addr("10.2.0.11")}
	}
	b.plane.mu.Unlock()
	until(t, "asked", func() bool { b.kernel.mu.Lock(); defer b.kernel.mu.Unlock(); return len(b.kernel.asked) > 0 })
	if !slices.Equal(b.kernel.asked, []netip.Addr{addr("10.2.0.11")}) {
		t.Errorf("asked for %v", b.kernel.asked)
	}
}

func TestServiceStateAcrossChanges(t *testing.T) {
	p := &plane{}
	b := newBench(t, p).run()
	connected(b)
	b.commit(site)
	b.says("s1", true)
	set := func(change func(*schema.Service)) func(*schema.Config) {
		return func(c *schema.Config) {
			r := *schema.Get[schema.Service](c, "s1")
			change(&r)
			schema.Put(c, &r)
		}
	}
	is := func(want bool, why string) {
		t.Helper()
		until(t, why, func() bool { return b.State().Services["s1"].Up == want && slices.Contains(up(p), 1) == want })
	}
	is(true, "up by its default monitor")
	b.commit(func(c *schema.Config) {
		schema.Put(c, fresh(func(r *schema.LBMonitor) { r.Name, r.Type = "m", "HTTP" }))
		schema.Put(c, fresh(func(r *schema.ServiceMonitor) { r.Service, r.Monitor = "s1", "m" }))
	})
	is(true, "up until the new monitor speaks")
	record := func(monitor string, up bool) {
		b.Observe(func(s *compile.State) error {
			s.Record("s1", monitor, compile.MonitorResult{Known: true, Up: up})
			return nil
		})
	}
	record("m", false)
	is(false, "the new monitor says down")
	record("tcp-default", true)
	is(false, "a monitor that does not run any more does not count")
	record("m", true)
	is(true, "up again")
	b.commit(set(func(r *schema.Service) { r.State = "DISABLED" }))
	is(false, "disabled")
	b.commit(set(func(r *schema.Service) { r.State = "ENABLED" }))
	is(false, "enabled again: not before a monitor has spoken")
	record("m", true)
	is(true, "up after being enabled")
	b.commit(func(c *schema.Config) {
		schema.Put(c, fresh(func(r *schema.Server) { r.Name, r.IPAddress = "s1", addr("10.2.0.77") }))
	})
	is(false, "another address: what monitors said is void")
	b.commit(set(func(r *schema.Service) { r.HealthMonitor = "NO" }))
	is(true, "without monitors it is taken for up")
}

func TestNSIPStaysWhereTheKernelHasIt(t *testing.T) {
	b := newBench(t, &plane{}).run()
	r := b.commit(func(c *schema.Config) {
		site(c)
		schema.Put(c, fresh(func(r *schema.NSIP) {
			r.IPAddress, r.Netmask, r.Type = addr("192.168.77.1"), addr("255.255.255.0"), "NSIP"
		}))
	})
	onTwin := func() bool {
		p, _ := b.kernel.now()
		return slices.Contains(p.Twins[0].Addresses, netip.MustParsePrefix("192.168.77.1/24"))
	}
	if !onTwin() {
		t.Error("without another place the NSIP is not on the first port's twin")
	}
	for _, elsewhere := range []bool{true, false} {
		b.Observe(func(s *compile.State) error {
			s.Elsewhere = nil
			if elsewhere {
				s.Elsewhere = []netip.Prefix{netip.MustParsePrefix("192.168.77.1/24")}
			}
			return nil
		})
		until(t, "the NSIP is where it belongs", func() bool { return onTwin() != elsewhere })
	}
	if _, _, n, by, _ := b.Snapshot(); n != r.Version || by != "nsroot" {
		t.Errorf("version %d by %s, want %d by nsroot: nobody has changed the configuration", n, by, r.Version)
	}
}

func TestObserveThatFailsChangesNothing(t *testing.T) {
	b := newBench(t, &plane{away: true})
	b.commit(site)
	before := b.State()
	err := b.Observe(func(s *compile.State) error {
		s.Record("s1", "tcp-default", compile.MonitorResult{Known: true, Up: true})
		return errors.New("no")
	})
	if err == nil || b.State() != before || before.Services["s1"].Up {
		t.Errorf("error %v, state changed %v", err, b.State() != before)
	}
}

func TestKernelThatFailsAtBootIsTriedAgain(t *testing.T) {
	b := newBench(t, &plane{})
	b.kernel.fail = errors.New("twin tw0: not permitted")
	c := schema.New()
	site(c)
	r, err := b.Boot(c)
	if err != nil || len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0], "tw0") {
		t.Fatalf("boot: %+v, %v", r, err)
	}
	if !b.Config().Equal(c) {
		t.Error("the startup configuration is not in force")
	}
	b.run()
	b.kernel.mu.Lock()
	b.kernel.fail = nil
	b.kernel.mu.Unlock()
	until(t, "set up", func() bool { p, _ := b.kernel.now(); return len(p.Twins) == 2 && len(p.Twins[0].Addresses) == 1 })
}

func TestTrouble(t *testing.T) {
	p := &plane{}
	p.refuse = func(*api.Tables) error { return &api.RefusedError{Reason: "vserver v: no room"} }
	b := newBench(t, p)
	b.kernel.fail = errors.New("twin tw0: not permitted")
	c := schema.New()
	site(c)
	if _, err := b.Boot(c); err != nil {
		t.Fatal(err)
	}
	b.run()
	has := func(words ...string) bool {
		all := strings.Join(b.Trouble(), "|")
		return !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(all, w) })
	}
	until(t, "both told", func() bool { return has("vserver v: no room", "twin tw0: not permitted") })
	if _, err := b.Stats(context.Background()); err != nil {
		t.Errorf("a dataplane that refuses can still be read: %v", err)
	}
	p.set(func() { p.refuse = nil })
	b.kernel.mu.Lock()
	b.kernel.fail = nil
	b.kernel.mu.Unlock()
	b.commit(func(*schema.Config) {})
	until(t, "all is well", func() bool { return len(b.Trouble()) == 0 })
	if tb := p.now(); tb.Config == nil || len(tb.Config.Vservers) != 1 || tb.Neighbors == nil {
		t.Error("the change after the refusal did not bring everything")
	}
}

// TestStorm lets commits, observations, readings and failures of every kind run against each other, then asks whether
// the dataplane has exactly what configuration and state say.
func TestStorm(t *testing.T) {
	p := &plane{}
	b := newBench(t, p).run()
	connected(b)
	b.commit(site)
	ctx, cancel := context.WithTimeout(context.Background(), 1500*time.Millisecond)
	defer cancel()
	var wg sync.WaitGroup
	worker := func(seed uint64, do func(r *rand.Rand)) {
		wg.Add(1)
		go func() {
			defer wg.Done()
			r := rand.New(rand.NewPCG(seed, 1))
			for ctx.Err() == nil {
				do(r)
			}
		}()
	}
	for w := range uint64(3) {
		worker(w, func(r *rand.Rand) {
			name := fmt.Sprintf("x%d", r.IntN(8))
			b.Commit(Author{}, func(c *schema.Config) error {
				if c.Delete(schema.Of[schema.LBVserverService](), "v", name) {
					c.Delete(schema.Of[schema.Service](), name)
				} else {
					addService(c, name, addr("10.2.0.200"))
				}
				return nil
			})
		})
		worker(w+10, func(r *rand.Rand) {
			b.says(fmt.Sprintf("x%d", r.IntN(8)), r.IntN(2) == 0)
			time.Sleep(time.Duration(r.IntN(1000)) * time.Microsecond)
		})
	}
	worker(20, func(r *rand.Rand) {
		b.Observe(func(s *compile.State) error {
			s.Neighbors = []api.Neighbor{{Port: 1, IP: addr("10.2.0.200"), MAC: [6]byte{2, byte(r.IntN(250))}}}
			return nil
		})
		b.Readings(ctx)
		time.Sleep(time.Millisecond)
	})
	worker(25, func(r *rand.Rand) { // a version that is read must not change, whatever is made of it meanwhile
		c := b.Config()
		was := c.Rows(schema.Of[schema.Service]())
		d := c.Clone()
		d.Delete(schema.Of[schema.Service](), "s1")
		for i, row := range c.Rows(schema.Of[schema.Service]()) {
			if row != was[i] || *row.(*schema.Service) != *was[i].(*schema.Service) {
				t.Error("a version that is in others' hands has changed")
			}
		}
		time.Sleep(time.Millisecond)
	})
	worker(30, func(r *rand.Rand) {
		time.Sleep(time.Duration(r.IntN(60)) * time.Millisecond)
		switch r.IntN(3) {
		case 0:
			p.die()
		case 1:
			h := make(chan struct{})
			p.set(func() { p.hang = h })
			time.Sleep(time.Duration(r.IntN(100)) * time.Millisecond)
			p.set(func() { p.hang = nil })
			close(h)
		case 2:
			p.set(func() { p.refuse = func(*api.Tables) error { return &api.RefusedError{Reason: "not now"} } })
			time.Sleep(time.Duration(r.IntN(30)) * time.Millisecond)
			p.set(func() { p.refuse = nil })
		}
	})
	wg.Wait()
	b.commit(func(*schema.Config) {}) // after a refusal the next change brings everything
	v, s := b.now()
	for _, svc := range schema.All[schema.Service](v.config) {
		if s.Services[svc.Name].Up != v.index.ServiceUp(s, svc.Name) || s.Services[svc.Name].Since.IsZero() {
			t.Errorf("service %s is settled as %+v", svc.Name, s.Services[svc.Name])
		}
	}
	if s.Vservers["v"].Up != v.index.VserverUp(s, "v") || len(s.Services) != v.config.Len(schema.Of[schema.Service]()) {
		t.Errorf("settled: vserver %+v, services %v", s.Vservers["v"], s.Services)
	}
	until(t, "the dataplane has what the engine has", func() bool {
		v, s := b.now()
		want, err := compile.Tables(v.config, s)
		if err != nil {
			t.Fatal(err)
		}
		got := p.now()
		return got.Config != nil && got.Health != nil && got.Neighbors != nil &&
			reflect.DeepEqual(got.Config.Services, want.Config.Services) && reflect.DeepEqual(got.Config.Vservers, want.Config.Vservers) &&
			slices.Equal(got.Health.Up, want.Health.Up) && slices.Equal(got.Neighbors.Entries, want.Neighbors.Entries)
	})
}
