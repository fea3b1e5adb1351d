package worker

import (
	"sluice/dataplane/packet"
	"sluice/dataplane/port"
	"sluice/dataplane/table"
)

const (
	surgeRoom  = 256 // connections that wait at one worker
	surgeTicks = 350 // that a client was silent: 35 s, more than lies between two SYNs of a client that has not given up
	surgeBurst = 32  // connections that go on in one turn
)

// surge keeps the SYNs of new connections for which no service of their vserver has room (-maxClient with -sp ON), in the order
// in which they came. They go on one by one as connections end, through all stages once more. What waits costs a packet buffer each.
type surge struct {
	n       int
	pending bool // a connection has ended, time has passed or tables are new: there may be room
	serving bool // the packet that is being walked comes from here,
	from    int  // from this place
	list    [surgeRoom]surging
}

// surging is a connection that waits.
type surging struct {
	key     packet.Key
	mbuf    uintptr
	vserver uint32
	heard   uint32 // tick of the client's last SYN
	lane    uint32
}

// queued says whether a new connection of v has to wait behind others.
func (w *Worker) queued(v *table.Vserver) bool {
	return w.surge.n != 0 && !w.surge.serving && w.lb.Waits(v.ID) != 0
}

// queues says whether a new connection of v for which there is no room may wait.
func queues(t *table.Set, v *table.Vserver, p *packet.Packet) bool {
	return t.Pool(v).Flags&table.PoolQueues != 0 && p.Proto() == packet.ProtoTCP
}

// seek says what becomes of a connection that is to wait; same is the one that waits already if it is that one again.
func (q *surge) seek(k packet.Key) (same *surging, why packet.Reason) {
	for i := range q.list[:q.n] {
		if s := &q.list[i]; s.key == k {
			return s, packet.DropSurgeRepeated
		}
	}
	if q.n == surgeRoom {
		return nil, packet.DropSurgeFull
	}
	return nil, packet.HeldSurge
}

// wait keeps p, a SYN to v, and returns the reason that it is counted under.
func (w *Worker) wait(v *table.Vserver, p *packet.Packet) packet.Reason {
	q := &w.surge
	k := packet.Key{A: p.A, B: p.B}
	same, why := q.seek(k)
	if same != nil {
		same.heard = w.now
	}
	if why != packet.HeldSurge {
		return why
	}
	at := q.n
	if q.serving { // it keeps its place
		at = q.from
		copy(q.list[at+1:q.n+1], q.list[at:q.n])
	}
	q.list[at] = surging{key: k, mbuf: p.Mbuf, vserver: v.ID, heard: w.now, lane: uint32(p.In)}
	q.n++
	w.lb.Queued(v.ID, 1)
	return packet.HeldSurge
}

// serve lets connections go on for which there is room now, the oldest first, and drops those whose clients have given up. It
// returns how many packets it has walked.
func (w *Worker) serve() (served int) {
	q := &w.surge
	q.pending = false
	for i := 0; i < q.n && served < surgeBurst; {
		s := q.list[i]
		v := w.set.VserverOf(s.vserver)
		switch {
		case w.now-s.heard >= surgeTicks:
			if !w.discard(s.mbuf, packet.DropSurgeExpired) {
				q.pending = true
				return served
			}
			q.take(w, i)
		case v == nil || down(w.set, v) != packet.NoReason || w.lb.Free(w.set, v):
			q.take(w, i)
			q.from = i
			w.again(s)
			served++
		default:
			i++
		}
	}
	return served
}

// take takes the i-th connection out.
func (q *surge) take(w *Worker, i int) {
	w.lb.Queued(q.list[i].vserver, -1)
	copy(q.list[i:], q.list[i+1:q.n])
	q.n--
}

// again walks a packet that has waited.
func (w *Worker) again(s surging) {
	x := w.x
	x.Rx[0], x.RxN, x.From = s.mbuf, 1, s.lane
	w.surge.serving = true
	w.walk(1)
	w.surge.serving = false
}

// clear gives the packets back, when the worker ends.
func (q *surge) clear(w *Worker) {
	for ; q.n > 0; q.n-- {
		if w.x.FreeN == port.FreeRoom {
			w.queue.Turn(w.x)
			w.ignore()
		}
		w.x.Free[w.x.FreeN] = q.list[q.n-1].mbuf
		w.x.FreeN++
	}
}

// wouldWait is what becomes of a new connection of v for which there is no room, for a question.
func (w *Worker) wouldWait(t *table.Set, v *table.Vserver, p *packet.Packet) packet.Reason {
	if !queues(t, v, p) {
		return packet.DropServicesFull
	}
	_, why := w.surge.seek(packet.Key{A: p.A, B: p.B})
	return why
}
