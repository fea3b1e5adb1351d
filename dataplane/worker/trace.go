package worker

import (
	"math/bits"
	"sync/atomic"
	"unsafe"

	"sluice/dataplane/packet"
	"sluice/dataplane/table"
)

// MaxWalks is how many packets one trace can follow.
const MaxWalks = 64

// Trace follows real packets through the stages and records what each stage makes of them, until it has as many as it wants or
// its time is over. All workers share one. Workers without a trace pay nothing for it: one that has it walks bursts by the
// stage traced instead of the Pipeline, which calls the same stages one by one.
type Trace struct {
	Ends // of the flows whose packets are followed, in both directions

	Count uint32 // packets to follow, MaxWalks at most
	Until uint64 // cycles after which it ends

	claimed atomic.Uint32 // places given out
	walks   [MaxWalks]Walk
}

// Walk is what became of one packet.
type Walk struct {
	Cycles           uint64 // when
	Worker           uint32
	In, Out          uint8  // lanes; Out is that of a packet that is transmitted
	Frame            uint16 // bytes of the whole frame
	Before, After    Snap   // After is empty if the frame was dropped or handed over
	Reason           packet.Reason
	Handed           bool // to the worker Owner, where it is walked anew
	Owner            uint32
	Vserver, Service uint32 // IDs of the vserver that takes the packet and of the service of its flow; 0: none
	Steps            [maxSteps]Step
	N                int // Steps there are

	open, outgoing bool // before a stage
	done           atomic.Bool
}

// Snap is the beginning of a frame.
type Snap struct {
	N    uint16
	Data [96]byte
}

// Bytes is what was kept.
func (s *Snap) Bytes() []byte { return s.Data[:s.N] }

// Step is what one stage made of a packet.
type Step struct {
	Stage uint8 // its place in the Pipeline
	How   How
}

// How a packet leaves a stage.
type How uint8

const (
	// Passed: the stage has nothing to say about it.
	Passed How = iota
	// Translated: it goes on with other addresses and wants a next hop.
	Translated
	// Sent: it was translated and is on its way.
	Sent
	// Decided: it has its verdict.
	Decided
	// HandedOver: it belongs to another worker.
	HandedOver
)

// maxSteps is how many stages a walk can have; there are fewer.
const maxSteps = 12

// Trace makes the worker follow packets for tr from its next turn on; nil ends that.
func (w *Worker) Trace(tr *Trace) (ticket uint64) {
	return w.publish(func(p *published) { p.trace = tr })
}

// Clock is the worker's cycle counter and its rate. Any goroutine may ask.
func (w *Worker) Clock() (cycles, hz uint64) { return w.opt.Cycles(), w.opt.Hz }

// Full says whether the trace has all the packets that it wants, finished or not.
func (tr *Trace) Full() bool { return tr.claimed.Load() >= tr.Count }

// Walks returns the walks that are finished. Any goroutine may ask; they do not change any more.
func (tr *Trace) Walks() []*Walk {
	var list []*Walk
	for i := range tr.Count {
		if tr.walks[i].done.Load() {
			list = append(list, &tr.walks[i])
		}
	}
	return list
}

// tracing is what a worker with a trace walks bursts by.
var tracing = []Stage{traced}

// arm changes the trace between two bursts.
func (w *Worker) arm(tr *Trace) {
	if w.trace = tr; tr == nil {
		w.pipeline = Pipeline
		return
	}
	w.pipeline = tracing
}

// traced walks a burst through all stages and looks at the packets that are followed after each.
func traced(w *Worker, t *table.Set, b []packet.Packet) {
	tr, now := w.trace, w.opt.Cycles()
	over := tr.Full() || now >= tr.Until
	var watched uint64
	var walks [packet.Burst]*Walk
	for n, stage := range Pipeline {
		for m := watched; m != 0; m &= m - 1 {
			i := bits.TrailingZeros64(m) & (packet.Burst - 1)
			walks[i].open, walks[i].outgoing = w.open>>uint(i)&1 != 0, w.outgoing>>uint(i)&1 != 0
		}
		stage(w, t, b)
		if n == 0 && !over {
			watched = w.watch(tr, now, b, &walks)
		}
		for m := watched; m != 0; m &= m - 1 {
			i := bits.TrailingZeros64(m) & (packet.Burst - 1)
			w.step(walks[i], uint8(n), i)
		}
		if w.rest == 0 {
			break
		}
	}
	for m := watched; m != 0; m &= m - 1 {
		i := bits.TrailingZeros64(m) & (packet.Burst - 1)
		w.finish(t, walks[i], i)
	}
	if over {
		w.pipeline = Pipeline
	}
}

// watch finds the packets of a parsed burst that are to be followed, and begins their walks.
func (w *Worker) watch(tr *Trace, now uint64, b []packet.Packet, walks *[packet.Burst]*Walk) (watched uint64) {
	for i := range b {
		p, bit := &b[i], uint64(1)<<uint(i)
		if !w.follows(tr, p) {
			continue
		}
		if w.bare&bit != 0 {
			w.bare &^= bit
			w.inspect(i)
			if !w.follows(tr, p) { // its protocol has no ports: see keys
				continue
			}
		}
		n := tr.claimed.Add(1) - 1
		if n >= tr.Count {
			break
		}
		k := &tr.walks[n]
		k.Cycles, k.Worker, k.In, k.Frame = now, uint32(w.opt.ID), p.In, p.Frame
		k.Before.take(p)
		k.open, k.Owner = true, w.ownerOf(p, i)
		walks[i] = k
		watched |= bit
	}
	return watched
}

// follows says whether a packet, or what the other side of its flow sends, is asked for.
func (w *Worker) follows(tr *Trace, p *packet.Packet) bool {
	if p.B == 0 {
		return tr.all()
	}
	if tr.match(packet.Key{A: p.A, B: p.B}) {
		return true
	}
	e := w.flows.Lookup(packet.Key{A: p.A, B: p.B})
	return e != nil && tr.match(e.Client())
}

// take keeps the beginning of a packet's frame.
func (s *Snap) take(p *packet.Packet) {
	s.N = min(p.Len, uint16(len(s.Data)))
	copy(s.Data[:s.N], unsafe.Slice((*byte)(at(p.Data)), int(s.N)))
}

// step notes what a stage made of the i-th packet, unless the stage does not look at packets like it.
func (w *Worker) step(k *Walk, stage uint8, i int) {
	p, bit := &w.pk[i], uint64(1)<<uint(i)
	how := Passed
	switch {
	case k.N > 0 && !k.open && !k.outgoing, k.N == maxSteps:
		return
	case w.rest&bit == 0 && k.Owner != w.self:
		how, k.Handed = HandedOver, true
	case w.rest&bit == 0:
		how = Sent
	case p.Verdict != packet.Undecided:
		how = Decided
	case w.outgoing&bit != 0 && !k.outgoing:
		how = Translated
	case !k.open:
		return
	}
	k.Steps[k.N] = Step{stage, how}
	k.N++
}

// ownerOf is the worker to which steer will hand the i-th packet, which has been inspected. It is asked before, since then the
// frame is another one's.
func (w *Worker) ownerOf(p *packet.Packet, i int) uint32 {
	k, of := w.flowOf(p, i, 0)
	if !w.steers || !of {
		return w.self
	}
	return owner(w.set, w.set.Own(uint32(k.A>>32)), k, vlanOf(w.set, p), w.workers, w.self)
}

// finish notes how the i-th packet has ended. Whoever was handed it has it already: then its frame is not looked at any more.
func (w *Worker) finish(t *table.Set, k *Walk, i int) {
	p := &w.pk[i]
	if k.Reason = p.Reason; w.rest>>uint(i)&1 == 0 {
		k.Reason = packet.ForwardFlow
	}
	k.Out = p.Out
	e := w.flows.Lookup(packet.Key{A: p.A, B: p.B})
	switch {
	case k.Handed:
		k.Reason = packet.NoReason
		e = nil
	case e != nil:
		k.Vserver, k.Service = w.accounts.at(e.Account).Vserver, e.Service
		if w.rest>>uint(i)&1 == 0 {
			k.Out = uint8(t.Adjacency(e.Adj).Lane)
		}
	case p.Class == packet.ClassPlain || p.Class == packet.ClassExpiring || p.Class == packet.ClassOtherIP:
		if v, _ := w.vserver(t, p); v != nil {
			k.Vserver = v.ID
		}
	}
	if !k.Handed && k.Reason.Verdict() != packet.Drop {
		k.After.take(p)
	}
	k.done.Store(true)
}
