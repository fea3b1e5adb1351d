package monitor

import (
	"context"
	"fmt"
	"net/netip"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"sluice/mgmt/compile"
)

// server is a fake server: it answers probes and notes when they were sent.
type server struct {
	mu      sync.Mutex
	up      bool
	silent  bool          // probes run into their timeout
	slow    time.Duration // before an answer
	sent    map[string][]time.Time
	now     int
	most    int // probes under way at once
	targets []netip.AddrPort
}

func (f *server) check(ctx context.Context, p *compile.Probe) Outcome {
	f.mu.Lock()
	if f.sent == nil {
		f.sent = map[string][]time.Time{}
	}
	f.sent[p.Service] = append(f.sent[p.Service], time.Now())
	f.targets = append(f.targets, p.Target)
	f.now++
	f.most = max(f.most, f.now)
	up, silent, slow := f.up, f.silent, f.slow
	f.mu.Unlock()
	defer func() { f.mu.Lock(); f.now--; f.mu.Unlock() }()
	if silent {
		<-ctx.Done()
		return Outcome{Response: "Failure - silent."}
	}
	if slow > 0 {
		select {
		case <-time.After(slow):
		case <-ctx.Done():
			return Outcome{Response: "Failure - cut off."}
		}
	}
	return Outcome{OK: up, Response: "said so"}
}

func (f *server) set(change func(*server)) { f.mu.Lock(); defer f.mu.Unlock(); change(f) }

func (f *server) times(service string) []time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]time.Time(nil), f.sent[service]...)
}

// heard collects what a prober reports.
type heard struct {
	mu      sync.Mutex
	last    map[key]compile.MonitorResult
	changes []string // "web up 12s"
	calls   int
	start   time.Time
}

func newHeard() *heard { return &heard{last: map[key]compile.MonitorResult{}, start: time.Now()} }

func (h *heard) report(rs []Report) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.calls++
	for _, r := range rs {
		h.last[key{r.Service, r.Monitor}] = r.Result
		if r.Changed {
			word := map[bool]string{true: "up", false: "down"}[r.Result.Up]
			if !r.Result.Known {
				word = "unknown"
			}
			h.changes = append(h.changes, fmt.Sprintf("%s %s", r.Service, word))
		}
	}
}

func (h *heard) takeChanges() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	c := h.changes
	h.changes = nil
	return c
}

func want(t *testing.T, h *heard, changes ...string) {
	t.Helper()
	if got := h.takeChanges(); fmt.Sprint(got) != fmt.Sprint(changes) {
		t.Fatalf("verdicts %v, want %v", got, changes)
	}
}

// run starts a prober against f inside a bubble of fake time.
func run(t *testing.T, limit int, body func(t *testing.T, p *Prober, f *server, h *heard)) {
	synctest.Test(t, func(t *testing.T) {
		f, h := &server{up: true}, newHeard()
		p := New(h.report, Options{Checks: map[string]Check{"TCP": f.check, "HTTP": f.check}, InFlight: limit})
		defer p.Close()
		body(t, p, f, h)
	})
}

// after lets d go by, and the pause that a report before may have begun: a verdict that falls into it is told at its end.
func after(d time.Duration) { time.Sleep(d + gather); synctest.Wait() }

func TestDownAndBack(t *testing.T) {
	run(t, 0, func(t *testing.T, p *Prober, f *server, h *heard) {
		p.Set([]compile.Probe{base()})
		after(startSpread)
		want(t, h, "web up")
		after(5 * s)
		f.set(func(f *server) { f.silent = true })
		died := time.Now()
		after(5*3*s + 2*s)
		want(t, h, "web down")
		sent := f.times("web")
		lastFailed := sent[len(sent)-1]
		if lastFailed.After(died.Add(15 * s)) {
			t.Errorf("third failed probe began %v after the death", lastFailed.Sub(died))
		}
		f.set(func(f *server) { f.silent = false })
		time.Sleep(time.Until(lastFailed.Add(30*s - 1)))
		synctest.Wait()
		want(t, h)
		after(1)
		want(t, h, "web up")
	})
}

func TestVerdictsAtOnceOthersOnceASecond(t *testing.T) {
	run(t, 0, func(t *testing.T, p *Prober, f *server, h *heard) {
		var probes []compile.Probe
		for i := range 1000 {
			pr := base()
			pr.Service = fmt.Sprint("s", i)
			probes = append(probes, pr)
		}
		p.Set(probes)
		after(10 * s)
		if n := len(h.takeChanges()); n != 1000 {
			t.Fatalf("%d verdicts of 1000", n)
		}
		before := h.calls
		after(10 * s)
		if n := h.calls - before; n > 10 {
			t.Errorf("%d reports in 10 s in which no verdict changed", n)
		}
		if r := h.last[key{"s7", "m"}]; r.Probes < 3 || !r.Up {
			t.Errorf("counters were not reported: %+v", r)
		}
		if all := p.Results(); len(all) != 1000 || all[0].Service != "s0" || all[999].Service != "s999" {
			t.Errorf("Results: %d", len(all))
		}
	})
}

// TestSpread: the probes of a large configuration do not fire at once, neither at first nor later, and each keeps its
// interval to the tick.
func TestSpread(t *testing.T) {
	run(t, 0, func(t *testing.T, p *Prober, f *server, h *heard) {
		var probes []compile.Probe
		for i := range 10000 {
			pr := base()
			pr.Service = fmt.Sprint("s", i)
			probes = append(probes, pr)
		}
		p.Set(probes)
		after(21 * s)
		perTick := map[int64]int{}
		for name, times := range f.sent {
			for i, at := range times {
				perTick[at.UnixMilli()/100]++
				if i > 0 && at.Sub(times[i-1]) != 5*s {
					t.Fatalf("%s: probes %v apart", name, at.Sub(times[i-1]))
				}
			}
			if len(times) < 4 {
				t.Fatalf("%s was probed %d times in 21 s", name, len(times))
			}
		}
		for tick, n := range perTick { // 200 on average
			if n > 400 {
				t.Errorf("%d probes began in the 100 ms of tick %d", n, tick)
			}
		}
	})
}

func TestLimit(t *testing.T) {
	run(t, 10, func(t *testing.T, p *Prober, f *server, h *heard) {
		f.slow = 100 * time.Millisecond
		var probes []compile.Probe
		for i := range 100 {
			pr := base()
			pr.Service = fmt.Sprint("s", i)
			probes = append(probes, pr)
		}
		p.Set(probes)
		after(30 * s)
		if f.most != 10 {
			t.Errorf("%d probes were under way at once, want 10", f.most)
		}
		for name, times := range f.sent {
			if len(times) < 5 {
				t.Errorf("%s was probed %d times in 30 s", name, len(times))
			}
		}
	})
}

func TestSet(t *testing.T) {
	run(t, 0, func(t *testing.T, p *Prober, f *server, h *heard) {
		a, b := base(), base()
		b.Service = "app"
		p.Set([]compile.Probe{a, b})
		after(12*s + s/2)                          // half-way between two regular reports
		if got := h.takeChanges(); len(got) != 2 { // in either order
			t.Fatalf("verdicts %v, want both up", got)
		}
		rhythm := f.times("web")

		// The same again, in another order and with a new one: web keeps its rhythm.
		c := base()
		c.Service = "new"
		p.Set([]compile.Probe{c, b, a, a})
		after(10 * s)
		want(t, h, "new up")
		for i, at := range f.times("web") {
			if at.Sub(rhythm[0]) != time.Duration(i)*5*s {
				t.Fatalf("probe %d at %v: the rhythm was disturbed", i, at.Sub(rhythm[0]))
			}
		}

		// Another expectation: probed at once, verdict and counters kept.
		b.Type, b.Ask = "HTTP", &compile.Ask{HTTPRequest: "GET /"}
		p.Set([]compile.Probe{a, b, c})
		synctest.Wait()           // half-way between two reports, so that none holds it up
		want(t, h, "app unknown") // another type is another monitor
		after(startSpread)
		want(t, h, "app up")
		n := len(f.times("app"))
		b.Ask, b.Interval = &compile.Ask{HTTPRequest: "GET /other"}, s
		probesBefore := result(t, p, "app").Probes
		p.Set([]compile.Probe{a, b, c})
		after(startSpread)
		want(t, h)
		if got := len(f.times("app")); got != n+1 {
			t.Errorf("%d probes after the change, want 1", got-n)
		}
		if r := result(t, p, "app"); r.Probes != probesBefore+1 || !r.Up {
			t.Errorf("after the change: %+v", r)
		}

		// Removed: no probe, no report.
		p.Set([]compile.Probe{b})
		gone := len(f.times("web"))
		h.mu.Lock()
		clear(h.last)
		h.mu.Unlock()
		after(60 * s)
		if len(f.times("web")) != gone {
			t.Error("a removed probe was sent")
		}
		if _, ok := h.last[key{"web", "m"}]; ok {
			t.Error("a removed probe was reported")
		}
		p.Set(nil)
		if len(p.Results()) != 0 {
			t.Error("results of nothing")
		}
	})
}

// TestAnotherTarget starts without a verdict, and says so.
func TestAnotherTarget(t *testing.T) {
	run(t, 0, func(t *testing.T, p *Prober, f *server, h *heard) {
		a := base()
		p.Set([]compile.Probe{a})
		after(6*s + s/2)
		want(t, h, "web up")
		a.Target = netip.MustParseAddrPort("10.2.0.99:80")
		p.Set([]compile.Probe{a})
		synctest.Wait() // half-way between two reports, so that none holds it up
		want(t, h, "web unknown")
		after(startSpread)
		want(t, h, "web up")
		if got := f.targets[len(f.targets)-1]; got != a.Target {
			t.Errorf("probed %s", got)
		}
	})
}

func result(t *testing.T, p *Prober, service string) compile.MonitorResult {
	t.Helper()
	for _, r := range p.Results() {
		if r.Service == service {
			return r.Result
		}
	}
	t.Fatalf("no result of %s", service)
	return compile.MonitorResult{}
}

// TestRemovedWhileUnderWay: the answer of a probe that was under way when its monitor was removed or changed counts no
// more, and its wait ends at once.
func TestRemovedWhileUnderWay(t *testing.T) {
	run(t, 0, func(t *testing.T, p *Prober, f *server, h *heard) {
		f.slow = s
		a := base()
		p.Set([]compile.Probe{a})
		after(startSpread)
		a.Target = netip.MustParseAddrPort("10.2.0.99:80")
		p.Set([]compile.Probe{a})
		after(startSpread)
		if f.now != 1 || f.targets[len(f.targets)-1] != a.Target {
			t.Fatalf("%d under way, targets %v", f.now, f.targets)
		}
		p.Set(nil)
		synctest.Wait()
		if f.now != 0 {
			t.Error("a removed probe is still under way")
		}
		after(10 * s)
		want(t, h, "web unknown")
	})
}

// TestReverse: the verdict is the other way round, but for a probe that did not leave the appliance.
func TestReverse(t *testing.T) {
	run(t, 0, func(t *testing.T, p *Prober, f *server, h *heard) {
		a := base()
		a.Reverse, a.Retries = true, 1
		p.Set([]compile.Probe{a})
		after(startSpread)
		want(t, h, "web down")
		f.set(func(f *server) { f.up = false })
		after(30 * s)
		want(t, h, "web up")
	})
	p := &compile.Probe{Reverse: true}
	for _, row := range []struct{ from, to Outcome }{
		{success("It is there"), Outcome{Response: "Failure - the monitor is reversed and the probe succeeded: It is there."}},
		{failuref("It is gone"), Outcome{OK: true, Response: "Success - the monitor is reversed and the probe failed: It is gone."}},
		{unsent("no source"), unsent("no source")},
	} {
		if got := turn(p, row.from); got != row.to {
			t.Errorf("%+v", got)
		}
	}
}

func TestTypeWithoutCheck(t *testing.T) {
	run(t, 0, func(t *testing.T, p *Prober, f *server, h *heard) {
		a := base()
		a.Type, a.Retries = "FTP", 1
		p.Set([]compile.Probe{a})
		after(s)
		want(t, h, "web down")
		if r := result(t, p, "web").Response; r != "Failure - monitors of type FTP are not built yet." {
			t.Error(r)
		}
	})
}

// TestSlowListener: while a report is being taken the probes go on, and nothing is lost but what is overtaken.
func TestSlowListener(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, h := &server{up: true}, newHeard()
		p := New(func(rs []Report) { time.Sleep(7 * s); h.report(rs) }, Options{Checks: map[string]Check{"TCP": f.check}})
		a := base()
		a.Retries = 1
		p.Set([]compile.Probe{a})
		after(6 * s) // the report "up" is being taken
		f.set(func(f *server) { f.up = false })
		after(30 * s)
		want(t, h, "web up", "web down")
		p.Close()
		p.Set([]compile.Probe{a}) // no panic, no effect
		after(10 * s)
		if n := len(f.times("web")); n > 4 {
			t.Errorf("%d probes, some after Close", n)
		}
	})
}
