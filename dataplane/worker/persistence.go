package worker

import (
	"math/bits"

	"sluice/dataplane/lb"
	"sluice/dataplane/packet"
	"sluice/dataplane/table"
)

// Persistence: new flows of a client go where its last one went. Packets of known flows never look here.

// DefaultSessions is how many persistence sessions there may be if nobody says.
const DefaultSessions = 1 << 18

// openSessions takes the table of sessions that the mesh has, or makes it; a worker alone has its own.
func (w *Worker) openSessions() (err error) {
	n := w.opt.Sessions
	if n == 0 {
		n = DefaultSessions
	}
	if w.mesh != nil && w.mesh.sessions != nil {
		w.sessions = w.mesh.sessions
		return nil
	}
	if w.sessions, err = lb.NewSessions(n, w.opt.Cycles(), w.opt.Hz, w.opt.Huge); err == nil && w.mesh != nil {
		w.mesh.sessions = w.sessions
	}
	return err
}

// closeSessions gives back what the worker alone has.
func (w *Worker) closeSessions() error {
	if w.sessions == nil || w.mesh != nil {
		return nil
	}
	return w.sessions.Close()
}

// Sessions are the persistence sessions of all workers.
func (w *Worker) Sessions() *lb.Sessions { return w.sessions }

// sessionTick is now by the clock that all workers share.
func (w *Worker) sessionTick() uint32 { return w.now + w.sessionShift }

// primary and backup are a packet's client at a vserver that has persistence; a is A of its key.
func (w *Worker) primary(v *table.Vserver, p *table.Persistence, a uint64) lb.Client {
	c := w.sessions.Client(v.ID, p.Kind, a&p.Bits, p.Limit)
	c.Leaving = p.Leaving != 0
	return c
}

func (w *Worker) backup(v *table.Vserver, p *table.Persistence, a uint64) lb.Client {
	c := w.sessions.Client(v.ID, p.Backup, a&p.Bits2, p.Limit2)
	c.Leaving = p.Leaving != 0
	return c
}

// fetchSessions has the sessions that balance will look for fetched into the cache, for all packets of the burst at once: each
// by itself would be waited for.
func (w *Worker) fetchSessions(t *table.Set, b []packet.Packet) {
	for m := w.open; m != 0; m &= m - 1 {
		p := &b[bits.TrailingZeros64(m)&(packet.Burst-1)]
		if v := t.Vserver(p.Dst(), uint16(p.B>>16), p.Proto()); v != nil && v.Persists {
			w.primary(v, t.Persistence(v), p.A).Fetch()
		}
	}
}

// spilled is the client of a key at a vserver from which clients are spilled over to stay.
func (w *Worker) spilled(v *table.Vserver, a uint64) lb.Client {
	return w.sessions.Client(v.ID, 0, a&(1<<32-1), v.SpillLimit)
}

// spilledTo is the backup of v with which a client stays, if it can take another flow; its time begins anew then. A question changes
// nothing.
func (w *Worker) spilledTo(t *table.Set, v *table.Vserver, a uint64, ask *Where) *table.Vserver {
	c, now := w.spilled(v, a), w.sessionTick()
	b := t.VserverOf(c.Find(now, t))
	if b == nil || down(t, b) != packet.NoReason || w.lb.WouldSpill(b.ID, t.Pool(b)) {
		return nil
	}
	if ask == nil {
		if w.spills(t, b, ask) {
			return nil
		}
		c.Use(now, t)
	}
	return b
}

// spilledOver has a client whose flow went past v to a backup stay there.
func (w *Worker) spilledOver(t *table.Set, v *table.Vserver, a uint64, backup *table.Vserver) {
	c := w.spilled(v, a)
	w.keep(t, &c, backup.ID)
}

// remembered returns the service of a client's session, whose idle time begins anew; 0 if there is none that may be used.
func (w *Worker) remembered(t *table.Set, v *table.Vserver, a uint64) uint32 {
	p, now := t.Persistence(v), w.sessionTick()
	c := w.primary(v, p, a)
	id := c.Use(now, t)
	if p.Backup == 0 {
		return id
	}
	b := w.backup(v, p, a)
	other := b.Use(now, t)
	switch {
	case id == 0 && other != 0:
		return w.keep(t, &c, other)
	case id != 0 && other == 0:
		w.keep(t, &b, id)
	}
	return id
}

// foretold is remembered without consequences.
func (w *Worker) foretold(t *table.Set, v *table.Vserver, a uint64) uint32 {
	p, now := t.Persistence(v), w.sessionTick()
	c := w.primary(v, p, a)
	id := c.Find(now, t)
	if id == 0 && p.Backup != 0 {
		b := w.backup(v, p, a)
		id = b.Find(now, t)
	}
	return id
}

// remember notes the service that was chosen for a client without a session. It returns the one that the flow goes to: another
// worker may have chosen for the client in the same moment.
func (w *Worker) remember(t *table.Set, v *table.Vserver, a uint64, service uint32) uint32 {
	p := t.Persistence(v)
	c := w.primary(v, p, a)
	service = w.keep(t, &c, service)
	if p.Backup != 0 {
		b := w.backup(v, p, a)
		w.keep(t, &b, service)
	}
	return service
}

// keep makes service a client's, or returns the one that it has meanwhile.
func (w *Worker) keep(t *table.Set, c *lb.Client, service uint32) uint32 {
	service, kept := w.sessions.Keep(c, w.sessionTick(), t, service)
	if !kept {
		w.counts[sessionTableFull]++
	}
	return service
}

// sessionsDue gives the sweep of sessions something to do: each worker goes over its share of the slots in the time of a sweep of
// its flows.
func (w *Worker) sessionsDue(ticks uint32) {
	if w.sessions.Len() == 0 {
		w.age.sessions = 0
		return
	}
	share := w.sessions.Slots() / uint64(max(w.workers, 1))
	w.age.sessions = min(w.age.sessions+max(share/sweepTicks, 64)*uint64(ticks), share)
}

// sweepSessions looks at so many slots of this worker's share.
func (w *Worker) sweepSessions(n uint64) {
	share := w.sessions.Slots() / uint64(max(w.workers, 1))
	from := share * uint64(w.self)
	for n > 0 {
		if w.age.session < from || w.age.session >= from+share {
			w.age.session = from
		}
		k := min(n, from+share-w.age.session)
		w.sessions.Sweep(w.age.session, int(k), w.sessionTick(), w.set)
		w.age.session += k
		n -= k
	}
}
