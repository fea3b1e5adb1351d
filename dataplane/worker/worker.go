// Package worker walks packets through the pipeline: one worker polls its queue, decides about each packet of a burst once and
// hands it on. It owns its flows, port pools, choices and counters; other goroutines publish tables to it and read its figures,
// nothing else.
//
// The per-packet code calls no interface, takes no lock, reads no clock and allocates nothing. The package decides nothing that
// tables do not say: what is configured and who is up comes from management (dataplane/table).
package worker

import (
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"sluice/dataplane/flow"
	"sluice/dataplane/lb"
	"sluice/dataplane/packet"
	"sluice/dataplane/port"
	"sluice/dataplane/port/asm"
	"sluice/dataplane/table"
)

// Options say what a worker works on.
type Options struct {
	ID    int          // the worker's number, from 0
	Mesh  *Mesh        // what connects it with the other workers; nil: there is none
	Lcore uint32       // for the figures only
	Queue port.Queue   // its ports; the worker alone uses it from now on
	Ports []table.Port // the ports of the queue, in order

	Flows    int    // flow entries to hold; a flow has two
	Sessions int    // persistence sessions of all workers together; 0: DefaultSessions
	FlowName string // of the flow memory's mapping
	Huge     bool   // ask for huge pages
	Populate bool   // touch the flow memory now instead of when it is first used

	Busy bool // never sleep

	// Cycles reads the clock and Hz is its rate; nil and 0 mean the CPU's cycle counter. Tests set them.
	Cycles func() uint64
	Hz     uint64
	Seed   uint64 // where the cursors of port pools start, for tests; 0 draws a random one
}

// Worker forwards the packets of one queue. Poll or Run are called by one goroutine; Publish, NextEvent and the figures are for
// any one other.
type Worker struct {
	// What the burst loops read: scalars and addresses off the Go heap.
	x        *port.Exchange
	pk       *[packet.Burst]packet.Packet
	open     uint64 // packets of this burst that no stage has decided about: a bit each
	outgoing uint64 // packets that are translated and want a next hop
	bare     uint64 // packets of which only the key is known: see parse
	rest     uint64 // packets that end will hand on: all but those that established has queued
	now      uint32 // coarse clock: ticks of 1/10 s since start
	mac      uint64 // of the port that this burst came from, in memory order
	mtu      uint32 // the least of all ports
	accounts accounts
	counts   *[counters]uint64

	hot   hot
	lines [packet.Burst]uintptr // where the index of flows says that each packet's entry is

	pipeline []Stage // by which bursts are walked: the Pipeline unless a trace is armed
	trace    *Trace
	capture  capturing // the queue while frames are captured

	set   *table.Set // of this burst
	flows *flow.Table
	pools *flow.Pools
	links *flow.Links
	back  table.Adjacency // of the link that was asked for last: see adjacent
	lb    *lb.State

	sessions     *lb.Sessions
	sessionShift uint32 // ticks of the sessions' clock when this worker's began

	macs [port.MaxLanes / 2]uint64

	police  policer
	held    held
	ending  ending
	surge   surge
	events  events
	clock   clock
	age     age
	figures *figures
	mem     []byte
	note    string

	// The other workers: see steer.
	mesh    *Mesh // nil: there is none
	steers  bool  // packets of this burst may be another worker's
	self    uint32
	workers uint32 // 0 without a mesh
	from    uint32 // ring to read next
	out, in [MaxWorkers]*ring

	queue  port.Queue
	opt    Options
	idle   int           // turns without a packet, in a row
	full   int           // full bursts of one lane, in a row
	lease  atomic.Uint64 // cycles until which roles of a master are played: see Renew
	tables atomic.Pointer[published]
	seen   atomic.Pointer[published] // what the worker works with
}

// published is a set on its way to the worker.
type published struct {
	set     *table.Set
	ticket  uint64
	ask     *Where   // a question that came with it, nil if there is none
	trace   *Trace   // that is armed, nil if there is none
	capture *Capture // the same
}

// leastMTU is what every IPv4 link carries (RFC 791).
const leastMTU = 68

// New returns a worker that forwards nothing until tables are published.
func New(o Options) (*Worker, error) {
	if o.Queue == nil {
		return nil, errors.New("a worker needs a queue of ports")
	}
	if n := o.Queue.Lanes(); len(o.Ports) == 0 || n < 2*len(o.Ports) || n > port.MaxLanes {
		return nil, fmt.Errorf("%d ports do not fit a queue of %d lanes: each has a NIC and a twin", len(o.Ports), n)
	}
	if o.Cycles == nil {
		o.Cycles = asm.RdtscFast
	}
	if o.Hz == 0 {
		o.Hz = asm.CyclesPerSecond(20 * time.Millisecond)
	}
	w := &Worker{opt: o, queue: o.Queue, mtu: 1<<16 - 1, pipeline: Pipeline}
	for i := range o.Ports {
		w.macs[i] = packet.MAC(o.Ports[i].MAC)
		if n := o.Ports[i].MTU; n != 0 && n < leastMTU {
			return nil, fmt.Errorf("port %s has an MTU of %d bytes: IPv4 needs %d at least", o.Ports[i].Name, n, leastMTU)
		} else if n != 0 {
			w.mtu = min(w.mtu, uint32(n))
		}
	}
	if o.Mesh != nil {
		if err := w.join(o.Mesh); err != nil {
			return nil, err
		}
	}
	if err := w.acquire(); err != nil {
		w.Close()
		return nil, err
	}
	w.clock.start(o.Cycles(), o.Hz)
	w.sessionShift = w.sessions.Tick(w.clock.zero)
	w.police.share = max(w.workers, 1)
	w.police.refill(1 << 16)
	return w, nil
}

func (w *Worker) acquire() (err error) {
	if w.x, err = port.NewExchange(); err != nil {
		return err
	}
	if err = w.mapMemory(); err != nil {
		return err
	}
	if w.lb, err = lb.New(); err != nil {
		return err
	}
	if w.mesh != nil {
		w.mesh.states = append(w.mesh.states, w.lb)
		if err = lb.Join(w.mesh.states); err != nil {
			return err
		}
	}
	if err = w.accounts.open(w.lb, w.opt.Huge); err != nil {
		return err
	}
	if err = w.openSessions(); err != nil {
		return err
	}
	if w.flows, w.note, err = flow.Open(flow.Settings{Name: w.opt.FlowName, Entries: w.opt.Flows, Huge: w.opt.Huge, Populate: w.opt.Populate}); err != nil {
		return fmt.Errorf("flow table of worker %d: %w", w.opt.ID, err)
	}
	if w.pools, err = flow.OpenPools(w.poolSettings()); err != nil {
		return fmt.Errorf("port pools of worker %d: %w", w.opt.ID, err)
	}
	if w.links, err = flow.OpenLinks(); err != nil {
		return err
	}
	set, err := table.Empty(w.opt.Ports)
	if err != nil {
		return err
	}
	first := &published{set: set}
	w.set = set
	w.timeouts(set.Timeouts())
	w.seen.Store(first)
	w.tables.Store(first)
	return nil
}

// Note is a sentence about a wish of the options that could not be met, e.g. huge pages; empty if there is none.
func (w *Worker) Note() string { return w.note }

// Close frees what the worker holds. Neither Poll nor any other method may be called any more.
func (w *Worker) Close() error {
	var errs []error
	if w.x != nil && w.set != nil {
		w.leave()
		w.held.drop(w)
		w.hush()
		w.surge.clear(w)
		w.queue.Turn(w.x)
		w.ignore()
	}
	if w.flows != nil {
		errs = append(errs, w.flows.Close())
	}
	if w.pools != nil {
		errs = append(errs, w.pools.Close())
	}
	if w.links != nil {
		errs = append(errs, w.links.Close())
	}
	if w.lb != nil {
		errs = append(errs, w.lb.Close())
	}
	if w.mem != nil {
		errs = append(errs, w.unmapMemory())
	}
	errs = append(errs, w.accounts.close(), w.closeSessions())
	if w.x != nil {
		errs = append(errs, port.ReleaseExchange(w.x))
	}
	return errors.Join(errs...)
}

// Publish makes the worker use t from its next turn on and wakes it. The ticket tells, by Passed, when the worker has left
// the set before: then its parts may be freed (table.Set.Free).
func (w *Worker) Publish(t *table.Set) (ticket uint64) {
	return w.publish(func(p *published) { p.set = t })
}

// publish gives the worker what it has but for a change.
func (w *Worker) publish(change func(*published)) (ticket uint64) {
	old := w.tables.Load()
	p := &published{set: old.set, trace: old.trace, capture: old.capture, ticket: old.ticket + 1}
	change(p)
	w.tables.Store(p)
	w.Wake()
	return p.ticket
}

// Passed says whether the worker has come to a burst boundary since Publish gave the ticket: it holds nothing of earlier sets.
func (w *Worker) Passed(ticket uint64) bool { return w.seen.Load().ticket >= ticket }

// Tables is the set that was published last: what the next one is built from.
func (w *Worker) Tables() *table.Set { return w.tables.Load().set }

// Poll makes one turn: what the last turn decided is sent and freed, at most one burst is received and decided about, and as many
// packets that other workers handed over. It returns how many packets there were and never waits.
func (w *Worker) Poll() int {
	x := w.x
	w.queue.Turn(x)
	w.beat()
	if p := w.tables.Load(); p != w.seen.Load() {
		w.adopt(p)
	}
	n := int(x.RxN)
	w.stay(n)
	if n != 0 {
		w.figures.packets += uint64(n)
		w.steers = w.mesh != nil
		w.walk(n)
	}
	if w.mesh != nil {
		w.steers = false
		n += w.takeOver()
	}
	if w.surge.pending {
		n += w.serve()
	}
	if n == 0 {
		w.sweep(sweepIdle)
	} else {
		w.sweep(sweepBusy)
	}
	if w.x.SpareWant|w.x.SpareN != 0 {
		w.question()
	}
	return n
}

// walk decides about the n packets of a burst.
func (w *Worker) walk(n int) {
	x := w.x
	if x.From&1 != 0 {
		w.fromKernel(x)
		return
	}
	b := w.pk[:n]
	w.mac = w.macs[x.From>>1&(port.MaxLanes/2-1)]
	t := w.set
	for _, stage := range w.pipeline {
		if stage(w, t, b); w.rest == 0 {
			break // each packet is on its way
		}
	}
	if w.rest != 0 {
		w.end(b)
	}
}

// streak is how many full bursts a lane may give in a row before the others are asked again.
const streak = 4

// stay has a lane that gives full bursts asked again first, since asking empty lanes in between costs more than a packet each.
func (w *Worker) stay(n int) {
	if n == port.Burst && w.full < streak {
		w.full++
		w.x.Next = w.x.From
		return
	}
	w.full = 0
}

// adopt goes on with other tables. The last turn is over, nothing of its tables is held; whoever frees them waits for Passed.
// Packets that waited for what the tables say now go first, lest those of this burst overtake them.
func (w *Worker) adopt(p *published) {
	changed := w.set != p.set
	if changed {
		w.lb.Settle(p.set)
		w.surge.pending = w.surge.n != 0
		w.timeouts(p.set.Timeouts())
	}
	if p.set.Flushes != w.set.Flushes {
		w.flows.Recheck()
		w.age.debt = w.flows.Slots()
	}
	w.set = p.set
	if changed && w.held.used > 0 {
		w.held.release(w)
	}
	if p.ask != nil {
		p.ask.answer(w, p.set)
	}
	if p.trace != w.trace {
		w.arm(p.trace)
	}
	if p.capture != w.capture.c {
		w.keepFrames(p.capture)
	}
	w.seen.Store(p)
}

// clockTurns is how many busy turns in a row may pass without a look at the clock, which costs as much as a packet.
const clockTurns = 8

// beat advances the clock; once a tick it does what time brings. While turn after turn finds packets only every so many look at
// the clock.
func (w *Worker) beat() {
	f, c := w.figures, &w.clock
	f.polls++
	busy := w.x.RxN != 0
	if c.skip++; !busy || !c.busy || c.skip >= clockTurns {
		now := w.opt.Cycles()
		if c.busy {
			f.busy += now - c.last
		}
		c.busy, c.last, c.skip = busy, now, 0
		if now >= c.next {
			w.tick(now)
		}
	}
	if w.held.pending {
		w.held.release(w)
	}
}

// tick does what is due ten times a second.
func (w *Worker) tick(c uint64) {
	n := w.clock.advance(c)
	w.now += n
	w.police.refill(n)
	w.age.due(n, w.flows.Slots())
	w.sessionsDue(n)
	w.lb.Settle(w.set)
	w.surge.pending = w.surge.n != 0
	if w.clock.seconds(n) {
		w.lb.Begin(w.clock.second)
		w.age.notes = w.lb.Note(sweepBusy / entriesANote)
	}
	if w.held.used > 0 {
		w.held.pending = true
	}
	w.figures.total = c - w.clock.zero
}

// Idle behaviour: after this many turns without a packet the worker blocks until a port has one, at most so many milliseconds,
// since ageing goes on. A sleep that ended without a packet needs no such patience, only the turns that ageing is due.
const (
	idleTurns = 64
	wokeTurns = 2
	waitMs    = 100
)

// Run polls until stop is true; whoever sets it calls Wake. Without Options.Busy it sleeps when there is nothing to do.
func (w *Worker) Run(stop *atomic.Bool) {
	for !stop.Load() {
		if w.Poll() > 0 || w.pressing() {
			w.idle = 0
			continue
		}
		if w.idle++; w.idle >= idleTurns && !w.opt.Busy && (w.age.debt == 0 || w.idle >= 2*idleTurns) {
			w.idle = idleTurns - wokeTurns
			w.sleep()
		}
	}
}

// Wake ends the worker's sleep.
func (w *Worker) Wake() { w.opt.Queue.Wake() } // queue is the worker's own
