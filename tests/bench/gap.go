package main

import (
	"context"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"time"
	"unsafe"

	"github.com/yerden/go-dpdk/eal"
	"golang.org/x/sys/unix"

	"sluice/dataplane/api"
	"sluice/dataplane/port"
	"sluice/dataplane/port/asm"
	"sluice/dataplane/table"
	"sluice/dataplane/worker"
)

// How much worse a worker's gaps may be with a commit each second than without.
const (
	gapBarCPU  = 1.0 // ms that the longest one in CPU time of its thread grows by
	gapBarWall = 1.5 // times the 99th percentile by the clock
)

const (
	gapWindow = time.Second // one commit falls into each
	gapFlows  = 10_000
)

// gapTables are those of the scene with a thousand vservers more, of ten services each and half of them on hashes; n makes one differ
// from the next.
func gapTables(n int) *api.Tables {
	const first = 1000 // of the IDs
	t := tables()
	for i := range uint32(1000 * bound) {
		t.Config.Services = append(t.Config.Services, api.Service{ID: first + i, Name: fmt.Sprint("more", i), Proto: protoTCP, Port: 80,
			IP: netip.AddrFrom4([4]byte{172, 17, byte(i >> 8), byte(i)}), SNIPs: []uint32{1}, ServerTimeout: staySeconds})
		t.Health.Up = append(t.Health.Up, first+i)
		if i%bound == 0 {
			v := i / bound
			method := api.LeastConnection
			if v%2 == 1 {
				method = api.SourceIPHash
			}
			t.Config.Vservers = append(t.Config.Vservers, api.Vserver{ID: first + v, Name: fmt.Sprint("more", v), Proto: protoTCP, Port: 80,
				IP: netip.AddrFrom4([4]byte{172, 18, byte(v >> 8), byte(v)}), Method: method, ClientTimeout: 180})
		}
		v := &t.Config.Vservers[len(t.Config.Vservers)-1]
		v.Bindings = append(v.Bindings, api.Binding{Service: first + i, Weight: 1})
	}
	t.Config.Version, t.Config.Vservers[200+n%500].ClientTimeout = uint64(n+1), uint32(200+n)
	return t
}

// forwarder is a worker as a dataplane drives it: what the program's control does at an Apply, in the same steps.
type forwarder struct {
	api.Dataplane // nothing else is asked of it
	w             *worker.Worker
	garbage       chan struct{}
}

func (f *forwarder) Apply(_ context.Context, t *api.Tables) error {
	before := f.w.Tables()
	next, err := table.Build(t, before)
	if err != nil {
		return err
	}
	for ticket := f.w.Publish(next); !f.w.Passed(ticket); {
		time.Sleep(50 * time.Microsecond)
	}
	before.Free(next)
	f.garbage <- struct{}{}
	return nil
}

func (f *forwarder) collect() {
	for range f.garbage {
		runtime.GC()
	}
}

// gaps are the times between the steps of a worker's thread: turns of the worker, and what the bench does in between, burst by burst,
// so that whatever holds the thread up is in one of them.
type gaps struct {
	hz     uint64
	wall   uint64        // of the last step, in cycles
	cpu    time.Duration // of the thread at the last step
	most   time.Duration // longest in CPU time
	longer uint64        // longest by the clock, in cycles
	counts [1 << 14]uint32
	n      int
}

const gapBucket = 64 // cycles

// threadCPU is the CPU time of the calling thread. It is a raw call: the scheduler is not told, as it is not by a worker's loads.
func threadCPU() time.Duration {
	var t unix.Timespec
	unix.RawSyscall(unix.SYS_CLOCK_GETTIME, unix.CLOCK_THREAD_CPUTIME_ID, uintptr(unsafe.Pointer(&t)), 0)
	return time.Duration(t.Nano())
}

func (g *gaps) begin() {
	g.most, g.longer, g.n = 0, 0, 0
	clear(g.counts[:])
	g.cpu, g.wall = threadCPU(), asm.RdtscFast()
}

func (g *gaps) step() {
	now, cpu := asm.RdtscFast(), threadCPU()
	g.most = max(g.most, cpu-g.cpu)
	g.longer = max(g.longer, now-g.wall)
	g.counts[min((now-g.wall)/gapBucket, uint64(len(g.counts)-1))]++
	g.n++
	g.cpu, g.wall = cpu, asm.RdtscFast()
}

// p99 is the 99th percentile by the clock in microseconds.
func (g *gaps) p99() float64 {
	left := g.n / 100
	for i := len(g.counts) - 1; i >= 0; i-- {
		if left -= int(g.counts[i]); left < 0 {
			return float64(i+1) * gapBucket * 1e6 / float64(g.hz)
		}
	}
	return 0
}

// window forwards packets of known flows for a while, and until over says so.
func (s *subject) window(g *gaps, span time.Duration, over func() bool) error {
	s.clock.start(asm.Rdtsc())
	defer func() { s.clock.stop(asm.Rdtsc()) }()
	g.begin()
	for end := asm.Rdtsc() + uint64(span.Seconds()*float64(s.hz)); asm.Rdtsc() < end || !over(); {
		s.pick()
		g.step()
		for i := 0; i < passLen; i += burst {
			for k := i; k < i+burst; k++ {
				port.SetLen(s.ms[k], frameLen)
				p := fromClient(s.ids[k], flagACK, false)
				p.write(frame(s.ms[k]))
			}
			g.step()
		}
		if fed := s.rings.Feed(laneClient, s.ms); fed != passLen {
			return fmt.Errorf("a ring took %d of %d packets", fed, passLen)
		}
		g.step()
		for got, empty := 0, 0; got < passLen && empty < lanes; {
			k := s.w.Poll()
			g.step()
			if got += k; k == 0 {
				empty++
			}
		}
		s.w.Poll()
		g.step()
		if back := s.rings.Drain(laneServer, s.ms); back != passLen {
			return fmt.Errorf("%d packets went in and %d came out: %s", passLen, back, s.counters())
		}
		g.step()
	}
	return s.checkHits()
}

// gapRun compares windows with a commit to windows without.
type gapRun struct {
	rounds  int
	forward *forwarder
	commit  func() error // asks for one
	cpu     [2][]float64 // longest gap in CPU time, ms: without, with commits
	wall    [2][]float64 // 99th percentile by the clock, us
	longest [2][]float64 // by the clock, ms
}

// measureGaps runs a worker in this process as the dataplane does, and has another process send it a new configuration in every
// second window.
func measureGaps(rounds int) (*gapRun, error) {
	cpu, _, err := cpus()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "sluice-bench-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	if err := os.Setenv("RUNTIME_DIRECTORY", dir); err != nil {
		return nil, err
	}
	// The rules of the dataplane's process: two more than workers may run, and garbage is collected by control alone.
	runtime.GOMAXPROCS(3)
	debug.SetGCPercent(-1)
	settings := port.EALSettings{Lcores: []int{cpu}, MemoryMB: 64, FilePrefix: fmt.Sprintf("sluice-bench-%d", os.Getpid())}
	if err := port.StartEAL(&settings); err != nil {
		return nil, err
	}
	r := &gapRun{rounds: rounds}
	var result error
	if err := eal.ExecOnMain(func(*eal.LcoreCtx) { result = r.run(filepath.Join(dir, "dataplane.sock")) }); err != nil {
		return nil, err
	}
	return r, result
}

// run is the worker's thread.
func (r *gapRun) run(socket string) error {
	hz := asm.CyclesPerSecond(200 * time.Millisecond)
	rings, err := port.NewRings("gap", lanes, ringSize, 1<<13-1)
	if err != nil {
		return err
	}
	s, err := newSubject(gapFlows, rings, hz, false)
	if err != nil {
		return err
	}
	defer s.close()
	r.forward = &forwarder{w: s.w, garbage: make(chan struct{}, 64)}
	go r.forward.collect()
	stop, err := r.committer(socket)
	if err != nil {
		return err
	}
	defer stop()
	g := &gaps{hz: hz}
	if err := r.turn(s, g, true); err != nil { // the whole configuration, and what only the first time costs
		return err
	}
	r.cpu, r.wall, r.longest = [2][]float64{}, [2][]float64{}, [2][]float64{}
	for i := range r.rounds {
		for k := range 2 {
			if err := r.turn(s, g, (i+k)%2 == 1); err != nil {
				return err
			}
		}
	}
	return nil
}

// turn is one window.
func (r *gapRun) turn(s *subject, g *gaps, commit bool) error {
	k, done := 0, make(chan error, 1)
	if commit {
		k = 1
		go func() {
			time.Sleep(gapWindow / 4)
			done <- r.commit()
		}()
	}
	// On a busy machine a commit can take longer than a window, which then lasts until the worker has passed it.
	if err := s.window(g, gapWindow, func() bool { return !commit || len(done) > 0 }); err != nil {
		return err
	}
	if commit {
		if err := <-done; err != nil {
			return err
		}
	}
	r.cpu[k] = append(r.cpu[k], float64(g.most)/1e6)
	r.wall[k] = append(r.wall[k], g.p99())
	r.longest[k] = append(r.longest[k], float64(g.longer)*1e3/float64(g.hz))
	return nil
}

// committer starts the process that sends configurations.
func (r *gapRun) committer(socket string) (stop func(), err error) {
	l, err := api.Listen(socket)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- api.Serve(ctx, l, r.forward) }()
	cmd := exec.Command("/proc/self/exe", "mgmt", "-commit-to", socket)
	cmd.Env = os.Environ()
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		cancel()
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		cancel()
		return nil, err
	}
	r.commit = func() error {
		if _, err := in.Write([]byte{'\n'}); err != nil {
			return err
		}
		_, err := out.Read(make([]byte, 1))
		return err
	}
	return func() {
		in.Close()
		cmd.Wait()
		cancel()
		<-served
	}, nil
}

// commitTo is the process that sends configurations: one for each byte on standard input, answered by one.
func commitTo(socket string) error {
	client, err := api.Dial(context.Background(), socket)
	if err != nil {
		return err
	}
	for n, b := 0, make([]byte, 1); ; n++ {
		if _, err := os.Stdin.Read(b); err != nil {
			return nil
		}
		if err := client.Apply(context.Background(), gapTables(n)); err != nil {
			return err
		}
		if _, err := os.Stdout.Write(b); err != nil {
			return err
		}
	}
}

// report prints the gaps and returns their rows and what is not as promised.
func (r *gapRun) report() (rows []row, missed []string) {
	fmt.Printf("%-40s %9s %9s %9s\n", "gaps of a worker's thread, by window", "best", "median", "worst")
	for _, l := range []struct {
		name string
		v    [2][]float64
	}{{"longest in CPU time, ms", r.cpu}, {"99th percentile by the clock, us", r.wall}, {"longest by the clock, ms", r.longest}} {
		for k, with := range []string{"without commits", "with a commit"} {
			fmt.Printf("%-40s %9.3f %9.3f %9.3f\n", l.name+" "+with, slices.Min(l.v[k]), median(l.v[k]), slices.Max(l.v[k]))
		}
	}
	fmt.Println()
	grown, times := median(r.cpu[1])-median(r.cpu[0]), median(r.wall[1])/median(r.wall[0])
	ratio := median(r.cpu[1]) / median(r.cpu[0])
	if grown > gapBarCPU {
		missed = append(missed, fmt.Sprintf("a commit makes the worker's longest gap in CPU time %.2f ms longer, %v are promised", grown, gapBarCPU))
	}
	if times > gapBarWall {
		missed = append(missed, fmt.Sprintf("commits make the 99th percentile of the worker's gaps %.2fx, %vx is promised", times, gapBarWall))
	}
	return []row{
		{"commit-gap-cpu", gapFlows, round(median(r.cpu[1])), "ms", "no-commits", roundPtr(&ratio)},
		{"commit-gap-wall-p99", gapFlows, round(median(r.wall[1])), "us", "no-commits", roundPtr(&times)},
	}, missed
}
