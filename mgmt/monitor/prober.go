// Package monitor watches services: it sends probes of many protocols from a SNIP, keeps the rules of interval,
// timeout, retries and down time, and reports what each monitor says of its service. It does not decide whether a
// service is up (several monitors may watch it: that is compile's) and knows neither configuration nor dataplane: its
// probes are ordinary kernel sockets.
package monitor

import (
	"cmp"
	"container/heap"
	"context"
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"sluice/mgmt/compile"
)

const (
	// inFlightMax bounds probes under way, and with them sockets and goroutines. 10,000 silent servers at the default
	// interval of 5 s and timeout of 2 s need 4,000 at once.
	inFlightMax = 4096
	// startRate is how many new probes are begun in a second, so that a configuration of 10,000 services does not send
	// them all at once. Their spacing stays, since the interval counts from start to start.
	startRate = 2000
	// startSpread is the least spread of the first probes of a change.
	startSpread = 100 * time.Millisecond
	// refresh is how often results that change no verdict are reported.
	refresh = time.Second
	// gather is the least time between two reports.
	gather = 10 * time.Millisecond
)

// Outcome is the end of one probe.
type Outcome struct {
	OK       bool
	Response string // sentence for the operator, e.g. "Success - TCP syn+ack received."
	Unsent   bool   // the probe did not leave this appliance: a failure whichever way round the monitor counts

	Load      uint32 // of monitors of type LOAD: how busy the service is
	LoadKnown bool
}

// Check sends one probe and judges the answer. It must end soon after ctx does; ctx ends at the response timeout.
type Check func(ctx context.Context, p *compile.Probe) Outcome

// Report is what one monitor says of one service.
type Report struct {
	Service, Monitor string
	Result           compile.MonitorResult
	Changed          bool // the verdict is new; otherwise only counters and the response are
}

// Options are what a prober needs. The zero value is the product's.
type Options struct {
	Checks   map[string]Check // by monitor type; those of this package when nil
	InFlight int              // probes under way at once; 4,096 when 0
	Log      *slog.Logger     // for alerts; none when nil
	Scripts  string           // the folder of the scripts of monitors of type USER
	Detour   Detour           // by which probes go that do not go straight to their targets; nil for none
}

// Prober runs probes.
type Prober struct {
	report   func([]Report)
	checks   map[string]Check
	limit    int
	log      *slog.Logger
	ctx      context.Context
	cancel   context.CancelFunc
	wake     chan struct{} // the schedule has changed
	news     chan struct{} // a verdict has changed
	running  sync.WaitGroup
	closeRaw func()
	detours  *detours

	mu       sync.Mutex
	watches  map[key]*watch
	queue    queue
	inFlight int
	pending  map[key]Report
	urgent   bool // pending holds a changed verdict
	closed   bool
}

type key struct{ service, monitor string }

// New starts a prober without probes. report is called from one goroutine, never twice at once: at once when a verdict
// has changed (but 10 ms after the report before), otherwise once a second with all results since. While it runs,
// results gather and probes go on.
func New(report func([]Report), o Options) *Prober {
	p := &Prober{
		report: report, checks: o.Checks, limit: o.InFlight, log: o.Log,
		wake: make(chan struct{}, 1), news: make(chan struct{}, 1),
		watches: map[key]*watch{}, pending: map[key]Report{},
		closeRaw: func() {},
	}
	if p.checks == nil {
		ping := &Pinger{}
		p.closeRaw = ping.Close
		p.checks = checks(ping, NewScripts(o.Scripts))
	}
	if p.limit <= 0 {
		p.limit = inFlightMax
	}
	p.detours = &detours{by: o.Detour}
	p.ctx, p.cancel = context.WithCancel(withDetours(context.Background(), p.detours))
	p.running.Add(2)
	go p.schedule()
	go p.reports()
	return p
}

// Close stops every probe and waits until its sockets are closed. No report is made afterwards.
func (p *Prober) Close() {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	p.cancel()
	p.running.Wait()
	p.closeRaw()
	p.detours.Close()
}

// Set replaces the probes that run. A probe that stays the same goes on undisturbed. One whose timing, source or
// expectation changes keeps its verdict and is sent anew at once; one that watches another target or in another way
// starts without a verdict. A probe that is gone stops at once and is reported no more.
func (p *Prober) Set(probes []compile.Probe) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return
	}
	now := time.Now()
	keep := make(map[key]bool, len(probes))
	var fresh []*watch
	for _, pr := range probes {
		k := key{pr.Service, pr.Monitor}
		if keep[k] {
			continue // the first of two entries of one name counts
		}
		keep[k] = true
		old := p.watches[k]
		if old != nil && same(&old.probe, &pr) {
			continue
		}
		w := newWatch(pr)
		if old != nil {
			p.drop(old)
			if !w.inherit(old) {
				p.note(w, true) // whoever holds the old verdict must hear that there is none
			}
		}
		p.watches[k] = w
		fresh = append(fresh, w)
	}
	for k, w := range p.watches {
		if !keep[k] {
			p.drop(w)
			delete(p.watches, k)
			delete(p.pending, k)
		}
	}
	spread := max(startSpread, time.Duration(len(fresh))*time.Second/startRate)
	for _, w := range fresh {
		w.due = now.Add(time.Duration(rand.Int64N(int64(min(spread, w.interval())))))
		heap.Push(&p.queue, w)
	}
	poke(p.wake)
}

// drop takes a watch out of the schedule and ends its probe. The caller holds mu.
func (p *Prober) drop(w *watch) {
	w.gone = true
	if w.index >= 0 {
		heap.Remove(&p.queue, w.index)
	}
	if w.cancel != nil {
		w.cancel()
	}
}

// Results are the latest results of every monitor, ordered by service and monitor.
func (p *Prober) Results() []Report {
	p.mu.Lock()
	all := make([]Report, 0, len(p.watches))
	for k, w := range p.watches {
		all = append(all, Report{Service: k.service, Monitor: k.monitor, Result: w.result})
	}
	p.mu.Unlock()
	slices.SortFunc(all, byName)
	return all
}

func byName(a, b Report) int {
	return cmp.Or(cmp.Compare(a.Service, b.Service), cmp.Compare(a.Monitor, b.Monitor))
}

// poke wakes the goroutine behind c, which looks at everything that has changed since it last looked.
func poke(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
