package monitor

import (
	"container/heap"
	"context"
	"slices"
	"time"
)

// idle is how long the schedule sleeps when nothing is due. Whatever comes earlier wakes it.
const idle = time.Hour

// schedule starts each probe when it is due. A goroutine and a socket exist only while a probe is under way.
func (p *Prober) schedule() {
	defer p.running.Done()
	timer := time.NewTimer(idle)
	defer timer.Stop()
	for {
		timer.Reset(p.startDue())
		select {
		case <-p.ctx.Done():
			return
		case <-p.wake:
		case <-timer.C:
		}
	}
}

// startDue starts what is due, oldest first, as far as the limit of probes under way allows, and returns the time until
// the next one. At the limit the end of a probe wakes the schedule.
func (p *Prober) startDue() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(p.queue) > 0 && p.inFlight < p.limit && !p.closed {
		w := p.queue[0]
		if wait := time.Until(w.due); wait > 0 {
			return wait
		}
		heap.Pop(&p.queue)
		ctx, cancel := context.WithTimeout(p.ctx, w.timeout())
		w.cancel = cancel
		p.inFlight++
		p.running.Add(1)
		go p.probe(ctx, w)
	}
	return idle
}

// probe sends one probe of w and records its end.
func (p *Prober) probe(ctx context.Context, w *watch) {
	defer p.running.Done()
	start := time.Now()
	o := Outcome{Response: "Failure - monitors of type " + w.probe.Type + " are not built yet."}
	if check := p.checks[w.probe.Type]; check != nil {
		if o = check(ctx, &w.probe); !o.OK {
			p.detours.failed(&w.probe)
		}
		o = turn(&w.probe, o)
	}
	end := time.Now()

	p.mu.Lock()
	defer p.mu.Unlock()
	w.cancel()
	w.cancel = nil
	p.inFlight--
	if !w.gone && p.ctx.Err() == nil {
		changed := w.record(o, start, end)
		w.tell(p.log)
		heap.Push(&p.queue, w)
		p.note(w, changed)
	}
	poke(p.wake)
}

// note keeps the result of w for the next report. The caller holds mu.
func (p *Prober) note(w *watch, changed bool) {
	k := key{w.probe.Service, w.probe.Monitor}
	changed = changed || p.pending[k].Changed
	p.pending[k] = Report{k.service, k.monitor, w.result, changed}
	if changed && !p.urgent {
		p.urgent = true
		poke(p.news)
	}
}

// reports hands results on: verdicts at once, the rest once a second.
func (p *Prober) reports() {
	defer p.running.Done()
	tick := time.NewTicker(refresh)
	defer tick.Stop()
	for {
		select {
		case <-p.ctx.Done():
			return
		case <-p.news:
		case <-tick.C:
		}
		if batch := p.takePending(); len(batch) > 0 && p.report != nil {
			p.report(batch)
		}
		select { // one change is told at once; of many, e.g. at the start, a few at a time
		case <-p.ctx.Done():
			return
		case <-time.After(gather):
		}
	}
}

func (p *Prober) takePending() []Report {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil
	}
	batch := make([]Report, 0, len(p.pending))
	for _, r := range p.pending {
		batch = append(batch, r)
	}
	clear(p.pending)
	p.urgent = false
	slices.SortFunc(batch, byName)
	return batch
}

// queue is a heap of watches by the time of their next probe.
type queue []*watch

func (q queue) Len() int           { return len(q) }
func (q queue) Less(i, j int) bool { return q[i].due.Before(q[j].due) }
func (q queue) Swap(i, j int) {
	q[i], q[j] = q[j], q[i]
	q[i].index, q[j].index = i, j
}

// Push is for container/heap.
func (q *queue) Push(x any) {
	w := x.(*watch)
	w.index = len(*q)
	*q = append(*q, w)
}

// Pop is for container/heap.
func (q *queue) Pop() any {
	old := *q
	w := old[len(old)-1]
	old[len(old)-1] = nil
	*q = old[:len(old)-1]
	w.index = -1
	return w
}
