package flow

// Ages are counted in ticks of 1/10 s, in 32 bits.
const (
	Second uint32 = 10
	// EndingLimit is how long the ends of a flow that is being ended have to answer, each time: see Table.End.
	EndingLimit = 1 * Second
)

// Limits are the ticks of silence after which a TCP flow ends that is not established any more or not yet.
type Limits struct {
	Opening    uint32 // the handshake is not finished
	HalfClosed uint32 // one side has sent FIN
	Closed     uint32 // both sides have
	Reset      uint32 // it was reset. Not 0: a forged RST does not cut a flow whose packets go on coming
}

// Usual are the limits of a new table.
var Usual = Limits{Opening: 30 * Second, HalfClosed: 1<<32 - 1, Closed: 60 * Second, Reset: 5 * Second}

// busy is the silence below which a sweep passes an entry without asking for its limit; limits are whole seconds.
const busy = Second

// Idle is the ticks from last to now, 0 if last lies ahead. It is right across the counter's wrap (every 13.6 years).
func Idle(now, last uint32) uint32 { return uint32(max(int32(now-last), 0)) }

// Keeper is told what becomes of flows; the worker implements it.
type Keeper interface {
	// IdleLimit is the ticks of silence, in both directions, after which an established TCP flow, or any flow of another
	// protocol, of e's vserver and service ends. 0 ends it however busy it is (see Recheck).
	IdleLimit(e *Entry) uint32
	// Ends says that e's flow, whose time is over, may leave the table. The keeper may have it stay once more: see Table.End.
	Ends(e *Entry) bool
	// Gone reports that a flow has left the table, once a flow. fwd and rev are copies that hold during the call; one of them may be
	// nil. The keeper gives the port of a KindPool flow back and corrects its counts. It must not change the table.
	Gone(fwd, rev *Entry)
}

// Recheck makes the sweep look at every entry once more, busy or not: the caller's answers to IdleLimit have changed.
func (t *Table) Recheck() { t.recheck = t.Slots() }

// Rechecking is how many entries the sweep has still to look at since Recheck.
func (t *Table) Rechecking() uint64 { return t.recheck }

// End begins another round of ending e's connection: the flow stays for EndingLimit, so that what its ends say meanwhile can
// be answered, and no packet of it passes without being looked at. The entries' Packets count the rounds.
func (t *Table) End(e *Entry, now uint32) {
	round := uint32(1)
	if e.State&Ending != 0 {
		round = e.Packets + 1
	}
	for _, d := range [2]*Entry{e, t.Peer(e)} {
		if d != nil {
			d.State, d.Last, d.Packets = d.State|Ending, now, round
			if d.Gen != GenLink {
				d.Gen = 0
			}
		}
	}
}

// Sweep looks at the next slots entries, each once at most, for flows that were silent too long at tick now, removes them and returns
// how many it removed.
func (t *Table) Sweep(now uint32, slots int, k Keeper) (ended int) {
	for slots = min(slots, int(t.Slots())); slots > 0; slots-- {
		if t.cursor++; t.cursor >= t.fresh {
			t.cursor = firstNumber
		}
		e := t.entry(t.cursor)
		if e.B != 0 && (Idle(now, e.Last) >= busy || t.recheck != 0) && t.expired(e, now, k) && k.Ends(e) {
			t.Remove(e, k)
			ended++
		}
		if t.recheck != 0 {
			t.recheck--
		}
	}
	return ended
}

// Of is the ticks of silence after which e's flow ends, if idle is its limit while it is established. Of a flow whose answers do not
// come by here it is not known that the server alone has closed: see Presumed.
func (l *Limits) Of(e *Entry, idle uint32) uint32 {
	switch s := e.State; {
	case s&Ending != 0:
		return EndingLimit
	case s&Reset != 0:
		return min(idle, l.Reset)
	case s.Closed():
		return min(idle, l.Closed)
	case s.HalfOpen():
		return min(idle, l.Opening)
	case s&(SawFIN|PeerFIN) != 0 && e.Kind&KindRedirect == 0:
		return min(idle, l.HalfClosed)
	}
	return idle
}

// expired tells whether e's flow has been silent too long in both directions.
func (t *Table) expired(e *Entry, now uint32, k Keeper) bool {
	limit := t.Limits.Of(e, k.IdleLimit(e))
	if Idle(now, e.Last) < limit {
		return false
	}
	peer := t.Peer(e)
	if peer == nil || Idle(now, peer.Last) >= limit {
		return true
	}
	// The other direction is alive. Remembering that saves looking it up in each round; Last serves ageing alone.
	e.Last = peer.Last
	return false
}
