package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync/atomic"

	"github.com/yerden/go-dpdk/eal"

	"sluice/dataplane/api"
	"sluice/dataplane/flow"
	"sluice/dataplane/packet"
	"sluice/dataplane/port"
	"sluice/dataplane/port/asm"
	"sluice/dataplane/table"
	"sluice/dataplane/worker"
)

// The workload workers-2: two workers on two CPUs, each with rings of its own. What costs time between passes, making frames and
// checking them, is not in the figure: the generator costs nothing. A pass begins at both at once, and what they carry is the sum
// of what each does in its own time; the like of it goes through one worker on one CPU, with the other CPU left alone, for the
// ratio.
const (
	pairFlows   = 1_000_000
	pairTable   = 1_250_000 // entries of each worker's table: half of what a worker alone has
	pairPass    = 1024      // packets a worker and pass: no more than a ring between workers holds
	pairRun     = 7         // passes one after the other, of which the first does not count
	pairRatio   = 1.7       // that two workers must reach over one
	pairBuffers = 2*pairPass - 1
)

// half is one of the two workers and the packets that come to it.
type half struct {
	w     *worker.Worker
	clock *clock
	own   []uint32  // flows that it owns
	ms    []uintptr // packets that go round
	ids   []uint32  // their flows
	err   error

	begin, end uint64          // of the last pass, as the CPU's counter said
	took       [pairRun]uint64 // cycles
	rng        *rand.Rand
}

// pair is both.
type pair struct {
	rings  [2]*port.Rings // of each worker: a port that both have would have them count in one cache line
	mesh   *worker.Mesh
	halves [2]*half
	chosen []chosen     // by flow
	ready  atomic.Int64 // times that either has come to meet

	one          *series // one worker: cycles a packet
	two, crossed *series // what two carry over what one does; crossed: each packet comes to the wrong one
}

func newPair(hz uint64, huge bool) (*pair, error) {
	p := &pair{chosen: make([]chosen, pairFlows), one: &series{workload: "workers-1", flows: pairFlows},
		two: &series{workload: "workers-2", flows: pairFlows}, crossed: &series{workload: "workers-2-crossed", flows: pairFlows}}
	var err error
	if p.mesh, err = worker.NewMesh(2); err != nil {
		return nil, err
	}
	var set *table.Set
	for i := range p.halves {
		if p.rings[i], err = port.NewRings(fmt.Sprint("pair", i), lanes, ringSize, pairBuffers); err != nil {
			return nil, err
		}
		h := &half{clock: &clock{}, ms: make([]uintptr, pairPass), ids: make([]uint32, pairPass), rng: rand.New(rand.NewPCG(3, uint64(i)))}
		if h.w, err = worker.New(worker.Options{ID: i, Mesh: p.mesh, Queue: p.rings[i], Ports: ports, Flows: pairTable, Huge: huge, Populate: true,
			FlowName: fmt.Sprintf("bench-pair-%d", i), Cycles: h.clock.read, Hz: hz}); err != nil {
			return nil, err
		}
		h.clock.stop(asm.Rdtsc())
		if set == nil {
			if set, err = table.Build(tables(), h.w.Tables()); err != nil {
				return nil, err
			}
		}
		h.w.Publish(set)
		if err := p.rings[i].Alloc(h.ms); err != nil {
			return nil, err
		}
		p.halves[i] = h
	}
	for id := range uint32(pairFlows) {
		in := fromClient(id, flagSYN, false)
		h := p.halves[flow.OwnerByClient(packet.Swap32(in.src), packet.Swap16(in.srcPort), 2)]
		h.own = append(h.own, id)
	}
	return p, p.fill()
}

// fill opens the flows as subject.fill does, each at its owner.
func (p *pair) fill() error {
	for i, h := range p.halves {
		for first := 0; first < len(h.own); first += pairPass {
			n := copy(h.ids, h.own[first:])
			h.load(n, flagSYN)
			if err := p.pass(i, i, n, laneClient, laneServer); err != nil {
				return fmt.Errorf("opening flows: %w", err)
			}
			for k, m := range h.ms[:n] {
				in, out := fromClient(h.ids[k], flagSYN, false), read(frame(m))
				c, err := choice(in, out)
				if err != nil {
					return err
				}
				p.chosen[h.ids[k]] = c
				a := packet4{dstMAC: out.srcMAC, srcMAC: out.dstMAC, src: out.dst, dst: out.src, srcPort: out.dstPort, dstPort: out.srcPort,
					proto: out.proto, ttl: ttlAtStart}
				if in.proto == protoTCP {
					a.flags = flagSYN | flagACK
				}
				a.write(frame(m))
			}
			if err := p.pass(i, i, n, laneServer, laneClient); err != nil {
				return fmt.Errorf("answering: %w", err)
			}
			h.load(n, flagACK)
			if err := p.pass(i, i, n, laneClient, laneServer); err != nil {
				return fmt.Errorf("finishing handshakes: %w", err)
			}
		}
	}
	if s := p.stats(); s.Workers[0].HandedOver != 0 || s.Workers[0].Flows+s.Workers[1].Flows != 2*pairFlows {
		return fmt.Errorf("%d flows at two workers: %+v", pairFlows, s.Workers)
	}
	return nil
}

// load makes the first n packets those of h.ids.
func (h *half) load(n int, flags uint8) {
	for i, m := range h.ms[:n] {
		port.SetLen(m, frameLen)
		p := fromClient(h.ids[i], flags, false)
		p.write(frame(m))
	}
}

// pass feeds the first n packets of a half to the i-th worker's rings and runs them through that worker alone.
func (p *pair) pass(i, of, n, from, to int) error {
	h := p.halves[of]
	if fed := p.rings[i].Feed(from, h.ms[:n]); fed != n {
		return fmt.Errorf("a ring took %d of %d packets", fed, n)
	}
	err := h.run(n)
	if back := p.rings[of].Drain(to, h.ms); back != n {
		return fmt.Errorf("%d packets went in and %d came out (%v)", n, back, err)
	}
	return err
}

// run has the worker poll until it has found n packets, and sends what they became.
func (h *half) run(n int) error {
	h.begin = asm.Rdtsc()
	h.clock.start(h.begin)
	got, empty := 0, 0
	for got < n && empty < 1<<22 { // the other worker may be late with what it hands over
		k := h.w.Poll()
		if got += k; k == 0 {
			empty++
		}
	}
	h.w.Poll()
	h.end = asm.Rdtsc()
	h.clock.stop(h.end)
	if got != n {
		return fmt.Errorf("it found %d of %d packets", got, n)
	}
	return nil
}

// both runs some passes of the two workers at once, each on its CPU, and returns for each what they carried together, in packets a
// cycle. Crossed, each packet comes to the worker that does not own its flow. The first pass, which finds the caches full of
// what others have done meanwhile, does not count.
func (p *pair) both(crossed, fifo bool) (carried []float64, err error) {
	other := eal.ExecOnLcoreAsync(1, make(chan error, 1), func(*eal.LcoreCtx) { p.halves[1].err = p.side(1, crossed, fifo) })
	p.halves[0].err = p.side(0, crossed, fifo)
	if err := <-other; err != nil {
		return nil, err
	}
	a, b := p.halves[0], p.halves[1]
	if err := errors.Join(a.err, b.err); err != nil {
		return nil, fmt.Errorf("%w: %s", err, p.counters())
	}
	for k := 1; k < pairRun; k++ {
		carried = append(carried, pairPass/float64(a.took[k])+pairPass/float64(b.took[k]))
	}
	return carried, nil
}

// side is one worker's part of the passes. Nobody interrupts it meanwhile, which must be over before Go wants to: after 10 ms.
func (p *pair) side(i int, crossed, fifo bool) error {
	p.meet(runtime.Gosched) // before either keeps others from its CPU: they have to start it
	runtime.Gosched()
	if fifo {
		if err := realtime(true); err != nil {
			return err
		}
		defer realtime(false)
	}
	h, in, finds := p.halves[i], p.halves[i], pairPass
	if crossed {
		in = p.halves[1-i]
		finds *= 2 // it hands over one half and takes over as many
	}
	var failed error
	for k := range pairRun {
		if err := p.turn(h, in, i, finds); err != nil && failed == nil {
			failed = fmt.Errorf("worker %d: %w", i, err)
		}
		h.took[k] = h.end - h.begin
	}
	return failed
}

// turn is one worker's part of one pass: packets of in's flows come to h. Its own CPU makes and checks its packets, so that they are in
// its cache, where a network card puts them, and not in the other's.
func (p *pair) turn(h, in *half, i, finds int) error {
	for k := range h.ids {
		h.ids[k] = in.own[h.rng.IntN(len(in.own))]
	}
	h.load(pairPass, flagACK)
	fed := p.rings[i].Feed(laneClient, h.ms)
	p.meet(func() {})
	err := h.run(finds)
	p.meet(func() {})
	defer p.meet(func() {}) // until then the other looks at these ids
	if back := p.rings[i].Drain(laneServer, h.ms); err != nil || fed != pairPass || back != pairPass {
		return fmt.Errorf("it was fed %d packets and sent %d of %d (%v)", fed, back, pairPass, err)
	}
	return checkHits(h.ms, in.ids, p.chosen)
}

// meet returns to both workers' threads when both have called it.
func (p *pair) meet(idle func()) {
	for n := p.ready.Add(1); p.ready.Load() < (n+1)&^1; {
		idle()
	}
}

// round takes one sample: of one worker, of which a pass is given, of both, and of both with everything handed over. CPUs are not
// equally fast where one has the machine's interrupts: the one worker is measured on either, the other CPU left alone.
func (p *pair) round(one func() (uint64, error), fifo bool) error {
	var alone [2]float64
	var errs [2]error
	alone[0], errs[0] = p.alone(one, fifo)
	err := <-eal.ExecOnLcoreAsync(1, make(chan error, 1), func(*eal.LcoreCtx) { alone[1], errs[1] = p.alone(one, fifo) })
	if err := errors.Join(err, errs[0], errs[1]); err != nil {
		return fmt.Errorf("%s: %w", p.one.workload, err)
	}
	carries := (alone[0] + alone[1]) / 2
	p.one.samples = append(p.one.samples, 1/carries)
	for crossed, s := range map[bool]*series{false: p.two, true: p.crossed} {
		var v []float64
		for len(v) < passesHit {
			more, err := p.both(crossed, fifo)
			if err != nil {
				return fmt.Errorf("%s: %w", s.workload, err)
			}
			v = append(v, more...)
		}
		s.samples = append(s.samples, median(v)/carries)
	}
	return nil
}

// alone samples one worker on the CPU that it is called on, in packets a cycle.
func (p *pair) alone(pass func() (uint64, error), fifo bool) (float64, error) {
	runtime.Gosched()
	if fifo {
		if err := realtime(true); err != nil {
			return 0, err
		}
		defer realtime(false)
	}
	v := make([]float64, pairRun)
	for i := range v {
		cycles, err := pass()
		if err != nil {
			return 0, err
		}
		v[i] = passLen / float64(cycles)
	}
	return median(v[1:]), nil
}

func (p *pair) stats() (s api.Stats) {
	for _, h := range p.halves {
		h.w.Stats(&s)
	}
	return s
}

func (p *pair) counters() string {
	text := "counters:"
	for _, c := range p.stats().Counters {
		if c.Value != 0 {
			text += fmt.Sprintf(" %s %d", c.Name, c.Value)
		}
	}
	return text
}

// report prints what two workers carry and returns the rows, and why they are fewer packets than promised, or nothing.
func (p *pair) report() (list []row, missed string) {
	two, worst := median(p.two.samples), median(p.crossed.samples)
	fmt.Printf("\nworkers-2, %d flows, generator costs nothing: two workers on two CPUs carry %.2fx of one on one CPU (which takes %.1f cycles a packet, the mean of either CPU);\n"+
		"    %.2fx if every single packet comes to the wrong worker and is handed over (where a port spreads at random it is half of them)\n",
		pairFlows, two, median(p.one.samples), worst)
	list = []row{{"workers-2", pairFlows, round(two), "x", "workers-1", roundPtr(&two)}, {"workers-2-crossed", pairFlows, round(worst), "x", "workers-1", roundPtr(&worst)}}
	if two < pairRatio {
		missed = fmt.Sprintf("two workers carry %.2fx of one, %.1fx is promised", two, pairRatio)
	}
	return list, missed
}

func (p *pair) close() error {
	for i, h := range p.halves {
		p.rings[i].Release(h.ms)
		if err := h.w.Close(); err != nil {
			return err
		}
	}
	if n := p.rings[0].PoolFree() + p.rings[1].PoolFree(); n != 2*pairBuffers {
		return fmt.Errorf("%d packet buffers of two workers were not given back", 2*pairBuffers-n)
	}
	return p.mesh.Close()
}
