package show

import (
	"fmt"
	"strconv"

	"sluice/dataplane/api"
	"sluice/vendor-config/schema"
)

// statWorker writes what each worker does, or everything about one.
func statWorker(p *page) error {
	if err := p.counted(); err != nil {
		return err
	}
	if id := p.arg("id"); id != "" {
		n, err := strconv.Atoi(id)
		if err != nil || n >= len(p.Stats.Workers) {
			return schema.Refuse(schema.NoSuchRow, "worker", id).Because(fmt.Sprintf("the last one is %d", len(p.Stats.Workers)-1))
		}
		p.worker(n)
		return nil
	}
	const form = "%-8s %6s %10s %8s %16s %12s %12s %12s %22s %8s %12s %10s\n"
	p.f("Worker(s) Summary\n"+form, "", "lcore", "PktCPU(%)", "Ever(%)", "Packets", "Packets/s", "Handed over", "Taken over", "Flow entries", "Used(%)", "Drops", "Drops/s")
	for i, w := range p.Stats.Workers {
		busy, total := p.cycles(i)
		b := p.workerBefore(i)
		lost, lostBefore := p.dropped(w), p.dropped(b)
		p.f(form, strconv.Itoa(i), fmt.Sprint(w.Lcore), percent(busy, total), percent(w.BusyCycles, w.TotalCycles), fmt.Sprint(w.Packets),
			p.rate(w.Packets, b.Packets), fmt.Sprint(w.HandedOver), fmt.Sprint(w.TakenOver), fmt.Sprintf("%d of %d", w.Flows, w.FlowCapacity), percent(w.Flows, w.FlowCapacity),
			fmt.Sprint(lost), p.rate(lost, lostBefore))
	}
	return nil
}

// worker writes everything about worker i.
func (p *page) worker(i int) {
	w, b := p.Stats.Workers[i], p.workerBefore(i)
	p.f("Worker %d\n", i)
	busy, total := p.cycles(i)
	p.line("Lcore", fmt.Sprint(w.Lcore))
	p.line("Packet CPU usage (%)", percent(busy, total))
	p.line("Packet CPU usage since start (%)", percent(w.BusyCycles, w.TotalCycles))
	p.line("Flow entries in use", outOf(w.Flows, w.FlowCapacity))
	version := func(name string, its, newest uint64) {
		if its == newest {
			p.line(name, fmt.Sprint(its))
			return
		}
		p.line(name, fmt.Sprintf("%d, the newest is %d", its, newest))
	}
	version("Version of its configuration", w.ConfigVersion, p.Stats.ConfigVersion)
	version("Version of its services' health", w.HealthVersion, p.Stats.HealthVersion)
	version("Version of its forwarding table", w.FIBVersion, p.Stats.FIBVersion)
	version("Version of its neighbors", w.NeighborsVersion, p.Stats.NeighborsVersion)

	p.head("\nWork")
	p.row("Polls", w.Polls, b.Polls)
	p.row("Packets received", w.Packets, b.Packets)
	p.row("Packets handed over to other workers", w.HandedOver, b.HandedOver)
	p.row("Packets taken over from other workers", w.TakenOver, b.TakenOver)
	p.row("Sleeps", w.Sleeps, b.Sleeps)
	p.counters(p.countersOf(w), p.countersOf(b))
}

// extremes writes which of several workers comes to its end first: what is left on average helps nobody whose flows it owns.
func (p *page) extremes() {
	if len(p.Stats.Workers) < 2 {
		return
	}
	most := func(of func(i int) (part, whole uint64)) (worker int, share string) {
		top := -1.0
		for i := range p.Stats.Workers {
			part, whole := of(i)
			if s := float64(part) / float64(max(whole, 1)); s > top {
				top, worker, share = s, i, percent(part, whole)
			}
		}
		return worker, share
	}
	i, share := most(p.cycles)
	p.line("Busiest worker", fmt.Sprintf("%d (%s %%)", i, share))
	i, share = most(func(i int) (uint64, uint64) { return p.Stats.Workers[i].Flows, p.Stats.Workers[i].FlowCapacity })
	p.line("Fullest flow table", fmt.Sprintf("of worker %d (%s %%)", i, share))
}

// line writes a figure that has neither rate nor total.
func (p *page) line(name, value string) { p.f("%-40s %39s\n", name, value) }

func outOf(part, whole uint64) string {
	return fmt.Sprintf("%d of %d (%s %%)", part, whole, percent(part, whole))
}

// countersOf are a worker's own counters under the names of all.
func (p *page) countersOf(w api.WorkerStats) []api.Counter {
	var own []api.Counter
	for i, n := range w.Counters[:min(len(w.Counters), len(p.Stats.Counters))] {
		c := p.Stats.Counters[i]
		c.Value = n
		own = append(own, c)
	}
	return own
}

// dropped is how many packets a worker has dropped.
func (p *page) dropped(w api.WorkerStats) (n uint64) {
	for _, c := range p.countersOf(w) {
		if isDrop(c) {
			n += c.Value
		}
	}
	return n
}

// workerBefore is worker i in the earlier reading, all 0 if there is none.
func (p *page) workerBefore(i int) api.WorkerStats {
	if p.Before == nil || i >= len(p.Before.Workers) {
		return api.WorkerStats{}
	}
	return p.Before.Workers[i]
}

// cycles are those of worker i between both readings, since the start when there is but one.
func (p *page) cycles(i int) (busy, total uint64) {
	w, b := p.Stats.Workers[i], p.workerBefore(i)
	return w.BusyCycles - min(w.BusyCycles, b.BusyCycles), w.TotalCycles - min(w.TotalCycles, b.TotalCycles)
}
