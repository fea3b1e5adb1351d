package worker

import (
	"sluice/dataplane/api"
	"sluice/dataplane/flow"
)

// age paces the sweep that finds flows which were silent too long: the whole table in 10 s, a small one in a tick, and a
// bounded piece a turn. It reads every entry, so a faster round costs memory bandwidth that packets want.
type age struct {
	debt  uint64 // entries that are due to be looked at
	round uint32 // ticks in which the whole table is looked at
	notes uint32 // services whose sums are due to be noted before that (lb.State.Note); debt is not 0 meanwhile, since every tick gives some

	sessions, session uint64 // slots of persistence sessions that are due to be looked at as well, and the next one
}

const (
	sweepTicks   = 100  // for the whole table, if nobody asks for less
	sweepLeast   = 4096 // entries a tick
	sweepBusy    = 256  // entries a turn with packets
	sweepIdle    = 4096 // entries a turn without
	entriesANote = 4    // entries that take the time of an account whose figures are noted
)

func (a *age) due(ticks uint32, entries uint64) {
	a.debt = min(a.debt+max(entries/uint64(a.round), sweepLeast)*uint64(ticks), max(entries, sweepLeast))
}

// timeouts takes over what is said about the ages of flows.
func (w *Worker) timeouts(t *api.Timeouts) {
	l := flow.Usual
	for _, x := range [...]struct {
		limit   *uint32
		seconds uint32
	}{{&l.Opening, t.Opening}, {&l.HalfClosed, t.HalfClosed}, {&l.Closed, t.Closed}, {&l.Reset, t.Reset}} {
		if x.seconds != 0 {
			*x.limit = uint32(min(uint64(x.seconds)*uint64(flow.Second), 1<<31-1))
		}
	}
	w.flows.Limits = l
	if w.age.round = sweepTicks; t.Sweep != 0 && t.Sweep < sweepTicks/flow.Second {
		w.age.round = t.Sweep * flow.Second
	}
}

// sweep pays some of the debt. It is inlined, since most turns owe nothing.
func (w *Worker) sweep(most uint64) {
	if w.age.debt != 0 {
		w.pay(most)
	}
	w.figures.flows = w.flows.Len()
}

func (w *Worker) pay(most uint64) {
	if w.age.notes != 0 {
		w.age.notes = w.lb.Note(int(most / entriesANote))
		return
	}
	if n := min(w.age.sessions, most); n != 0 { // beside flows, since four of their slots are one line
		w.age.sessions -= n
		w.sweepSessions(n)
	}
	for most = min(most, w.age.debt); most > 0; {
		n := most
		if w.flows.Rechecking() != 0 {
			n = min(n, uint64(endingRoom-w.ending.n)) // each may be a flow whose ends are to be asked
		}
		if n == 0 {
			return
		}
		most -= n
		w.age.debt -= n
		w.flows.Sweep(w.now, int(n), w)
	}
}

// IdleLimit implements flow.Keeper.
func (w *Worker) IdleLimit(e *flow.Entry) uint32 {
	if w.flushed(e) {
		return 0
	}
	return w.set.IdleLimit(w.accounts.at(e.Account).Vserver, e.Service)
}

// Gone implements flow.Keeper: a flow has ended, its port is free again.
func (w *Worker) Gone(fwd, rev *flow.Entry) {
	e := fwd
	if e == nil {
		if e = rev; e == nil {
			return
		}
	}
	w.unlink(fwd, rev)
	if e.Kind&flow.KindPool != 0 {
		w.pools.ReleaseOf(e.Server())
	}
	if !e.State.Closed() {
		w.closed(e)
	}
}

// opened counts a new flow.
func (w *Worker) opened(e *flow.Entry) {
	c := w.accounts.at(e.Account)
	w.lb.Opened(c.Vserver, e.Service)
	c.Flows++
	c.Open++
}

// closed counts the end of a flow: when its connection is over or when it is forgotten, whichever comes first.
func (w *Worker) closed(e *flow.Entry) {
	c := w.accounts.at(e.Account)
	w.lb.Closed(c.Vserver, e.Service)
	c.Open--
	w.surge.pending = w.surge.n != 0
}
