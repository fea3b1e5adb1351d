package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"slices"
	"strings"
	"time"

	"github.com/yerden/go-dpdk/eal"

	"sluice/dataplane/packet"
	"sluice/dataplane/port"
	"sluice/dataplane/port/asm"
)

type l4Options struct {
	smoke  bool
	noHuge bool
	rounds int
	out    string // folder

	profile      string // file
	profileOf    string // workload
	profileFlows int
}

// Samples: so many passes each, of which the median counts.
const (
	passesHit  = 24
	passesOpen = 4
	peerSpan   = 200 * time.Millisecond
)

// buffers are those of DPDK's pool: passLen for each workload and flow count, and what a cache of the pool may hold.
const buffers = 1<<14 - 1

var flowCounts = []int{1, 10_000, 1_000_000}

// notBuilt are workloads of the bench's contract that later steps bring.
var notBuilt = []string{"nat6-hit", "pbr-1000", "syn-flood",
	"nat4-vs-nft"}

// run4 is one run of the bench.
type run4 struct {
	o        l4Options
	hz       uint64
	huge     bool
	fifo     bool
	twoCPUs  bool
	peer     *testpmd
	rings    *port.Rings
	bares    []*bare
	subjects []*subject
	ref      *series // testpmd 5tswap
	mac      *series // testpmd macswap
	bare     []*series
	hit      []*series
	open     []*series
	persist  []*persistence
	knownHit []*series // of vservers with persistence
	knownNew []*series
	pair     *pair // nil on a machine of one CPU
	twins    []*twin
	hitC     []*series
	modes    []*modeRow
	floor    *floor
	memory   *series  // what floor takes
	allocs   []string // complaints
}

// l4 measures what the worker takes for a packet, beside testpmd.
func l4(o l4Options) error {
	if o.rounds <= 0 {
		o.rounds = 21
		if o.smoke {
			o.rounds = 2
		}
	}
	cpu, other, err := cpus()
	if err != nil {
		return err
	}
	alone, err := waitForOthers()
	if err != nil {
		return err
	}
	defer alone.Close()
	// Three flow tables, two for half the flows, and DPDK's memory here and in testpmd.
	dpdkMB := 64
	need := len(flowCounts)*tableMB + 2*(tableMB/2+2) + 2*dpdkMB
	huge := !o.noHuge && freeHuge() >= need
	if !huge {
		dpdkMB = 160 // a buffer of 2.3 KiB takes a page of its own and a bit
	}
	// DPDK makes a folder for each of its processes; these are to go with the bench.
	dir, err := os.MkdirTemp("", "sluice-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := os.Setenv("RUNTIME_DIRECTORY", dir); err != nil {
		return err
	}
	s := port.EALSettings{Lcores: []int{cpu, other}, MemoryMB: dpdkMB, Huge: huge, FilePrefix: fmt.Sprintf("sluice-bench-%d", os.Getpid())}
	if err := port.StartEAL(&s); err != nil {
		return err
	}
	r := &run4{o: o, huge: huge, hz: asm.CyclesPerSecond(200 * time.Millisecond), ref: &series{workload: reference}, mac: &series{workload: "testpmd-macswap"}}
	r.twoCPUs = cpu != other
	r.fifo = fifoAllowed(r.twoCPUs)
	r.banner(cpu, need)
	if r.peer, err = startTestpmd(cpu, other, huge, r.fifo); err != nil {
		fmt.Println(err)
	} else {
		defer r.peer.close()
	}
	var result error
	if err := eal.ExecOnMain(func(*eal.LcoreCtx) { result = r.all() }); err != nil {
		return err
	}
	return result
}

// fifoAllowed tries it on a thread that ends with the try. On a single CPU everything else would starve.
func fifoAllowed(twoCPUs bool) bool {
	if !twoCPUs {
		return false
	}
	ok := make(chan bool)
	go func() {
		runtime.LockOSThread()
		ok <- realtime(true) == nil
	}()
	return <-ok
}

func (r *run4) banner(cpu, need int) {
	pages := "2 MiB pages"
	if !r.huge {
		pages = "4 KiB pages"
		if !r.o.noHuge {
			pages += fmt.Sprintf(" (fewer than %d MiB of free hugepages: sysctl vm.nr_hugepages=%d)", need, need/2)
		}
	}
	sched := "real-time (chrt -f 10) while measuring"
	if !r.fifo {
		sched = "ordinary scheduling: samples may hold other programs' time"
	}
	fmt.Printf("l4: %d rounds on CPU %d, %s, %s\n", r.o.rounds, cpu, pages, sched)
	fmt.Printf("    TSC %.3f GHz, %s, GOAMD64=%s, frames of %d bytes, 7 of 8 TCP, bursts of %d of which drivers give %d at once, flow table of %d entries\n",
		float64(r.hz)/1e9, runtime.Version(), goamd64(), frameLen, burst, port.RxBurst, tableEntries)
}

func goamd64() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "GOAMD64" {
				return s.Value
			}
		}
	}
	return "unknown"
}

// all runs on the lcore.
func (r *run4) all() error {
	// As the dataplane does: no collection while packets are under way.
	debug.SetGCPercent(-1)
	if err := r.prepare(); err != nil {
		return err
	}
	start := time.Now()
	for range r.o.rounds {
		if err := r.round(); err != nil {
			return err
		}
	}
	if err := r.countAllocs(); err != nil {
		return err
	}
	fmt.Printf("    measured in %.0f s\n\n", time.Since(start).Seconds())
	if r.o.profile != "" {
		if err := r.writeProfile(); err != nil {
			return err
		}
	}
	if err := r.cleanup(); err != nil {
		return err
	}
	return r.report()
}

func (r *run4) prepare() (err error) {
	if r.rings, err = port.NewRings("bench", lanes, ringSize, buffers); err != nil {
		return err
	}
	for _, n := range flowCounts {
		b, err := newBare(n, r.rings)
		if err != nil {
			return err
		}
		start := time.Now()
		s, err := newSubject(n, r.rings, r.hz, r.huge)
		if err != nil {
			return fmt.Errorf("%d flows: %w", n, err)
		}
		fmt.Printf("    %d flows opened in %.1f s\n", n, time.Since(start).Seconds())
		r.bares, r.subjects = append(r.bares, b), append(r.subjects, s)
		r.bare = append(r.bare, &series{workload: "bare", flows: n})
		r.hit = append(r.hit, &series{workload: "nat4-hit", flows: n})
		r.open = append(r.open, &series{workload: "new-flow", flows: n})
		k, err := newPersistence(s)
		if err != nil {
			return fmt.Errorf("persistence of %d flows: %w", n, err)
		}
		r.persist = append(r.persist, k)
		last := len(r.persist) - 1
		r.knownHit = append(r.knownHit, &series{workload: "persistence-hit", flows: n, to: r.hit[last]})
		r.knownNew = append(r.knownNew, &series{workload: "persistence-new-flow", flows: n, to: r.open[last]})
		t, err := newTwin(s)
		if err != nil {
			return err
		}
		r.twins, r.hitC = append(r.twins, t), append(r.hitC, &series{workload: "nat4-hit-c", flows: n})
	}
	if r.twoCPUs {
		if r.pair, err = newPair(r.hz, r.huge); err != nil {
			return fmt.Errorf("two workers: %w", err)
		}
	}
	r.modes = modeRows()
	for _, m := range r.modes {
		if err := m.open(r.rings, r.subjects[0].ms, r.hz); err != nil {
			return err
		}
	}
	last := len(flowCounts) - 1
	r.floor = newFloor(r.twins[last].Lines(), r.subjects[last].entries())
	r.memory = &series{workload: "memory-floor", flows: flowCounts[last]}
	runtime.GC()
	return nil
}

// round takes one sample of everything.
func (r *run4) round() error {
	if err := r.samplePeer(r.ref, "5tswap"); err != nil {
		return err
	}
	for i, b := range r.bares {
		if err := r.sample(r.bare[i], passesHit, b.pass, b.check); err != nil {
			return err
		}
	}
	for i, s := range r.subjects {
		if err := r.counted(s, packet.ForwardFlow, passesHit, func() error {
			return r.sample(r.hit[i], passesHit, s.hit, s.checkHits)
		}); err != nil {
			return err
		}
		if err := r.sample(r.hitC[i], passesHit, r.twins[i].hit, s.checkHits); err != nil {
			return err
		}
		if err := r.twins[i].agrees(); err != nil {
			return err
		}
	}
	for _, m := range r.modes {
		if err := r.counted(m.s, m.why(), passesHit, func() error { return r.sample(m.series, passesHit, m.hit, m.check) }); err != nil {
			return err
		}
		m.restore()
	}
	if err := r.sample(r.memory, passesHit, r.floor.pass, r.floor.check); err != nil {
		return err
	}
	for i, s := range r.subjects {
		if err := r.counted(s, packet.ForwardNewFlow, passesOpen, func() error {
			return r.sample(r.open[i], passesOpen, s.open, s.checkOpened)
		}); err != nil {
			return err
		}
		if err := s.forget(); err != nil {
			return err
		}
		if err := r.persist[i].under(func() error { return r.known(i) }); err != nil {
			return err
		}
	}
	if r.pair != nil {
		if err := r.pair.round(r.subjects[len(r.subjects)-1].hit, r.fifo); err != nil {
			return err
		}
	}
	return r.samplePeer(r.mac, "macswap")
}

// known samples a subject's vservers with persistence.
func (r *run4) known(i int) error {
	s, k := r.subjects[i], r.persist[i]
	if err := r.counted(s, packet.ForwardFlow, passesHit, func() error {
		return r.sample(r.knownHit[i], passesHit, s.hit, s.checkHits)
	}); err != nil {
		return err
	}
	if err := r.counted(s, packet.ForwardNewFlow, passesOpen, func() error {
		return r.sample(r.knownNew[i], passesOpen, k.open, k.check)
	}); err != nil {
		return err
	}
	return s.forget()
}

func (r *run4) samplePeer(s *series, mode string) error {
	if r.peer == nil {
		return nil
	}
	v, err := r.peer.sample(mode, peerSpan)
	if err != nil {
		return err
	}
	s.samples = append(s.samples, v)
	return nil
}

// sample takes the median of some passes, checks what the last one sent and adds it to s.
func (r *run4) sample(s *series, passes int, pass func() (uint64, error), check func() error) error {
	v := make([]float64, passes)
	if r.fifo {
		if err := realtime(true); err != nil {
			return err
		}
		defer realtime(false)
	}
	for i := range v {
		cycles, err := pass()
		if err != nil {
			return fmt.Errorf("%s at %d flows: %w", s.workload, s.flows, err)
		}
		v[i] = float64(cycles) / passLen
	}
	if err := check(); err != nil {
		return fmt.Errorf("%s at %d flows forwards wrongly: %w", s.workload, s.flows, err)
	}
	s.samples = append(s.samples, median(v))
	return nil
}

// counted makes sure that every packet of f was counted for one reason: a hit that is no hit would measure something else.
func (r *run4) counted(s *subject, why packet.Reason, passes int, f func() error) error {
	before := s.counted(why)
	if err := f(); err != nil {
		return err
	}
	if n := s.counted(why) - before; n != uint64(passes)*passLen {
		return fmt.Errorf("%d of %d packets were counted as %s: %s", n, passes*passLen, why.Name(), s.counters())
	}
	return nil
}

// countAllocs looks for allocations in passes of every kind. The runtime may allocate for itself now and then, so the best of
// some tries counts.
func (r *run4) countAllocs() error {
	for i, s := range r.subjects {
		for _, c := range []struct {
			name string
			pass func() (uint64, error)
		}{{"bare", r.bares[i].pass}, {"nat4-hit", s.hit}, {"new-flow", s.open}} {
			least := ^uint64(0)
			for range 5 {
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				if _, err := c.pass(); err != nil {
					return err
				}
				runtime.ReadMemStats(&after)
				least = min(least, after.Mallocs-before.Mallocs)
			}
			if least != 0 {
				r.allocs = append(r.allocs, fmt.Sprintf("%s at %d flows allocates %d times in %d bursts, 0 are promised", c.name, s.flows, least, passLen/burst))
			}
		}
		if err := s.forget(); err != nil {
			return err
		}
	}
	return nil
}

// writeProfile samples the CPU while packets of one workload go round. What the bench itself does in between is in it too.
func (r *run4) writeProfile() error {
	f, err := os.Create(r.o.profile)
	if err != nil {
		return err
	}
	defer f.Close()
	i := slices.Index(flowCounts, r.o.profileFlows)
	if i < 0 || !slices.Contains([]string{"nat4-hit", "new-flow", "persistence-new-flow"}, r.o.profileOf) {
		return fmt.Errorf("there is no workload %s at %d flows to profile", r.o.profileOf, r.o.profileFlows)
	}
	s := r.subjects[i]
	if err := pprof.StartCPUProfile(f); err != nil {
		return err
	}
	defer pprof.StopCPUProfile()
	for start := time.Now(); time.Since(start) < 5*time.Second; {
		switch r.o.profileOf {
		case "nat4-hit":
			_, err = s.hit()
		case "new-flow":
			if _, err = s.open(); err == nil {
				err = s.forget()
			}
		default:
			err = r.persist[i].under(func() error {
				for range 8 {
					if _, err := r.persist[i].open(); err != nil {
						return err
					}
				}
				return s.forget()
			})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// cleanup gives everything back: a packet that is missing then has been leaked.
func (r *run4) cleanup() error {
	var errs []error
	for i, s := range r.subjects {
		errs = append(errs, r.twins[i].close(), s.close(), r.bares[i].close())
	}
	for _, m := range r.modes {
		errs = append(errs, m.close())
	}
	if r.pair != nil {
		errs = append(errs, r.pair.close())
	}
	if free := r.rings.PoolFree(); free != buffers {
		errs = append(errs, fmt.Errorf("%d packet buffers were not given back", buffers-free))
	}
	return errors.Join(errs...)
}

// report prints and saves the results and returns what is not as promised.
func (r *run4) report() error {
	all := []*series{r.ref, r.mac}
	for _, s := range [][]*series{r.bare, r.hit, r.hitC, r.open, r.knownHit, r.knownNew, {r.memory}} {
		all = append(all, s...)
	}
	for i, s := range r.hit {
		all = append(all, &series{workload: "nat4-hit-vs-c", flows: s.flows, samples: s.samples, to: r.hitC[i]})
	}
	for _, m := range r.modes {
		all = append(all, m.series)
	}
	one, many := r.modes[len(r.modes)-2].series, r.modes[len(r.modes)-1].series
	all = append(all, &series{workload: "nat4-hit-10k-vs-1-vserver", flows: modeFlows, samples: many.samples, to: one})
	most := r.hit[len(r.hit)-1]
	all = append(all, &series{workload: "nat4-hit-vs-floor", flows: most.flows, samples: most.samples, to: r.memory})
	print(os.Stdout, all, r.ref.samples, r.hz)
	results, missed := rows(all[2:], r.ref.samples), r.allocs
	if r.pair != nil {
		list, why := r.pair.report()
		if results = append(results, list...); why != "" && !r.o.smoke {
			missed = append(missed, why)
		}
	} else {
		fmt.Println("\nworkers-2 needs two CPUs and is left out")
	}
	fmt.Printf("\nnot built yet, left out: %s\n", strings.Join(notBuilt, " "))
	name := "l4.json"
	if r.o.smoke {
		name = "l4-smoke.json"
	}
	file := filepath.Join(r.o.out, name)
	if err := save(file, results); err != nil {
		return err
	}
	fmt.Println("written:", file)
	if !r.o.smoke {
		for _, b := range bars {
			if why := b.check(all, r.ref.samples); why != "" {
				missed = append(missed, why)
			}
		}
	}
	if len(missed) > 0 {
		return errors.New("not as promised: " + strings.Join(missed, "; "))
	}
	if r.o.smoke {
		fmt.Println("every packet was right and nothing was allocated; times are not judged in a smoke run")
		return nil
	}
	fmt.Println("every bar is met; 0 allocations in every kind of burst")
	return nil
}
