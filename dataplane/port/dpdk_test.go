package port

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestMain(m *testing.M) {
	if err := StartEAL(&EALSettings{Lcores: []int{firstCPU()}, MemoryMB: 64}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// firstCPU returns a CPU that this process may use.
func firstCPU() int {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		return 0
	}
	cpu := 0
	for !set.IsSet(cpu) && cpu < 1024 {
		cpu++
	}
	return cpu
}

func newRings(t *testing.T, lanes, size, pool int) (*Rings, *Exchange) {
	t.Helper()
	r, err := NewRings(strings.ReplaceAll(t.Name(), "/", "-")[4:min(20, len(t.Name()))], lanes, size, pool)
	if err != nil {
		t.Fatal(err)
	}
	x, err := NewExchange()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		r.Close()
		if err := ReleaseExchange(x); err != nil {
			t.Error(err)
		}
	})
	return r, x
}

func TestRingsForwardFrames(t *testing.T) {
	r, x := newRings(t, 4, 64, 511)
	for i := range 40 {
		if err := r.Inject(2, fmt.Appendf(nil, "frame %02d", i)); err != nil {
			t.Fatal(err)
		}
	}
	got := 0
	for turn := 0; turn < 4; turn++ {
		r.Turn(x)
		if x.RxN > 0 && x.From != 2 || x.Lanes != 4 {
			t.Fatalf("received %d packets from lane %d of %d, want lane 2 of 4", x.RxN, x.From, x.Lanes)
		}
		for i := range x.RxN {
			*(*byte)(Ptr(Data(x.Rx[i]))) = 'F'
			send(x, 1, x.Rx[i])
		}
		got += int(x.RxN)
	}
	r.Turn(x)
	frames := r.Sent(1)
	if got != 40 || len(frames) != 40 {
		t.Fatalf("%d frames received and %d sent, want 40 and 40", got, len(frames))
	}
	for i, f := range frames {
		if want := fmt.Appendf(nil, "Frame %02d", i); !bytes.Equal(f, want) {
			t.Fatalf("frame %d is %q, want %q", i, f, want)
		}
	}
	if r.PoolFree() != 511 {
		t.Fatalf("%d of 511 buffers in the pool", r.PoolFree())
	}
}

func TestRingsPollRoundRobin(t *testing.T) {
	r, x := newRings(t, 3, 128, 511)
	for lane := range 3 {
		for range 100 {
			if err := r.Inject(lane, []byte("a frame")); err != nil {
				t.Fatal(err)
			}
		}
	}
	var order, sizes string
	for turn := 0; turn < 7; turn++ {
		r.Turn(x)
		if x.RxN > 0 {
			order += fmt.Sprint(x.From)
		}
		sizes += fmt.Sprint(x.RxN, " ")
		copy(x.Free[:], x.Rx[:x.RxN])
		x.FreeN = x.RxN
	}
	if order != "012012" || sizes != "64 64 64 36 36 36 0 " {
		t.Fatalf("lanes were polled in order %s with bursts %s", order, sizes)
	}
	if r.PoolFree() != 511 {
		t.Fatalf("%d of 511 buffers in the pool", r.PoolFree())
	}
}

func TestRingsFreeAndCountWhatALaneDoesNotTake(t *testing.T) {
	r, x := newRings(t, 2, 16, 511) // a ring of 16 takes 15
	ms := make([]uintptr, 40)
	if err := r.Alloc(ms); err != nil {
		t.Fatal(err)
	}
	for _, m := range ms {
		SetLen(m, 60)
		send(x, 1, m)
	}
	r.Turn(x)
	if x.TxFull[1] != 25 || x.TxN[1] != 0 {
		t.Fatalf("lane 1 did not take %d of 40, want 25; TxN is %d, want 0", x.TxFull[1], x.TxN[1])
	}
	if n := len(r.Sent(1)); n != 15 || r.PoolFree() != 511 {
		t.Fatalf("%d frames left by lane 1, want 15; %d of 511 buffers in the pool", n, r.PoolFree())
	}
}

func TestRingsSayWhenTheyAreFull(t *testing.T) {
	r, _ := newRings(t, 1, 16, 511)
	for i := range 15 {
		if err := r.Inject(0, []byte("frame")); err != nil {
			t.Fatalf("frame %d: %v", i, err)
		}
	}
	if err := r.Inject(0, []byte("frame")); err == nil || !strings.Contains(err.Error(), "no room") {
		t.Fatalf("a full lane says: %v", err)
	}
	if err := r.Inject(0, make([]byte, 4096)); err == nil || !strings.Contains(err.Error(), "does not fit") {
		t.Fatalf("a large frame says: %v", err)
	}
	if err := r.Alloc(make([]uintptr, 512)); err == nil {
		t.Fatal("a pool of 511 gave 512 buffers")
	}
	if r.PoolFree() != 511-15 {
		t.Fatalf("%d buffers in the pool, want %d", r.PoolFree(), 511-15)
	}
	var ms [15]uintptr
	// What nobody received must go back before the pool is freed.
	x, err := NewExchange()
	if err != nil {
		t.Fatal(err)
	}
	r.Turn(x)
	r.Release(append(ms[:0], x.Rx[:x.RxN]...))
}

func TestTurnAllocatesNothing(t *testing.T) {
	r, x := newRings(t, 2, 64, 511)
	ms := make([]uintptr, Burst)
	if err := r.Alloc(ms); err != nil {
		t.Fatal(err)
	}
	allocs := testing.AllocsPerRun(100, func() {
		r.Feed(0, ms)
		r.Turn(x)
		copy(x.Tx[1][:], x.Rx[:x.RxN])
		x.TxN[1] = x.RxN
		r.Turn(x)
		r.Drain(1, ms)
	})
	if allocs != 0 {
		t.Fatalf("%v allocations a burst, want 0", allocs)
	}
	r.Release(ms)
}

// within fails the test if fn takes less than min or more than max.
func within(t *testing.T, what string, min, max time.Duration, fn func()) {
	t.Helper()
	start := time.Now()
	fn()
	if took := time.Since(start); took < min || took > max {
		t.Errorf("%s took %v, want %v to %v", what, took, min, max)
	}
}

func TestWaitEndsByWakeTimeAndPackets(t *testing.T) {
	r, _ := newRings(t, 1, 16, 511)
	within(t, "an undisturbed wait of 30 ms", 25*time.Millisecond, 10*time.Second, func() { r.Wait(30) })
	r.Wake()
	r.Wake()
	within(t, "a wait after Wake", 0, 5*time.Second, func() { r.Wait(20_000) })
	within(t, "the wait after that", 25*time.Millisecond, 10*time.Second, func() { r.Wait(30) })
	within(t, "a wait with Wake in the middle", 15*time.Millisecond, 5*time.Second, func() {
		time.AfterFunc(20*time.Millisecond, r.Wake) // within the time that is measured: it may pass before Wait begins
		r.Wait(20_000)
	})
}

// newPipeQueue returns a queue whose one lane has the read end of a pipe as its descriptor.
func newPipeQueue(t *testing.T, fd int) *dpdkQueue {
	t.Helper()
	r, _ := newRings(t, 1, 16, 511)
	q, err := newQueue([]lane{{port: r.ports[0], fd: fd}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(q.close)
	return q
}

func TestWaitEndsByADescriptor(t *testing.T) {
	var p [2]int
	if err := unix.Pipe(p[:]); err != nil {
		t.Fatal(err)
	}
	defer unix.Close(p[0])
	defer unix.Close(p[1])
	q := newPipeQueue(t, p[0])
	time.AfterFunc(20*time.Millisecond, func() { unix.Write(p[1], []byte{1}) })
	within(t, "a wait for a descriptor", 10*time.Millisecond, 5*time.Second, func() { q.Wait(20_000) })
}

func TestWaitNeitherSpinsNorHangsOnAFailedDescriptor(t *testing.T) {
	var p [2]int
	if err := unix.Pipe(p[:]); err != nil {
		t.Fatal(err)
	}
	defer unix.Close(p[0])
	q := newPipeQueue(t, p[0])
	unix.Close(p[1]) // from now on poll reports POLLHUP at once, as for a device that is gone
	start, waits := time.Now(), 0
	for ; time.Since(start) < 300*time.Millisecond; waits++ {
		q.Wait(50)
	}
	if waits > 20 {
		t.Errorf("%d waits of 50 ms in 300 ms: it spins", waits)
	}
	q.Wake()
	within(t, "a wait after Wake", 0, 5*time.Second, func() { q.Wait(20_000) })
}

func TestWaitWithoutDescriptorLooksAgainSoon(t *testing.T) {
	q := newPipeQueue(t, -1)
	within(t, "a wait of a port without a descriptor", 0, 5*time.Second, func() { q.Wait(20_000) })
}

func TestOpenSaysWhatIsMissing(t *testing.T) {
	for want, ds := range map[string][]Device{
		"needs 1 to 16 ports":                 nil,
		"port 1/1: device no-such0 does not ": {{Name: "1/1", Device: "no-such0", Twin: "tw0"}},
	} {
		if _, err := Open(ds, &EALSettings{Lcores: []int{0}, MemoryMB: 16}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Open(%v) says %v, want %q", ds, err, want)
		}
	}
	if _, err := Open([]Device{{Name: "1/1", Device: "lo", Twin: "tw0"}}, &EALSettings{Lcores: []int{0}, MemoryMB: 1}); err == nil || !strings.Contains(err.Error(), "`memory`") {
		t.Errorf("Open with 1 MiB says %v", err)
	}
}

func TestEALSaysWhatIsWrong(t *testing.T) {
	for want, s := range map[string]EALSettings{
		"needs a CPU":         {MemoryMB: 64},
		"may not use CPU 999": {Lcores: []int{999}, MemoryMB: 64},
		"too little memory":   {Lcores: []int{firstCPU()}, MemoryMB: 2},
		"than this machine":   {Lcores: []int{firstCPU()}, MemoryMB: 1 << 40},
	} {
		if err := StartEAL(&s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("StartEAL(%+v) says %v, want %q", s, err, want)
		}
	}
	args := (&EALSettings{Lcores: []int{1, 2}, MemoryMB: 64, FilePrefix: "a"}).args()
	if got, want := strings.Join(args[1:], " "), "--lcores 0@1,1@2 --main-lcore 0 --no-pci --no-telemetry -m 64 --log-level *:error --no-huge --no-shconf --file-prefix a"; got != want {
		t.Errorf("EAL arguments are %q, want %q", got, want)
	}
	huge := strings.Join((&EALSettings{Lcores: []int{0}, Huge: true}).args(), " ")
	if strings.Contains(huge, "--no-huge") || !strings.Contains(huge, "--in-memory") {
		t.Errorf("EAL arguments with hugepages are %q: --no-huge and --in-memory exclude each other", huge)
	}
	s := EALSettings{FilePrefix: "x", Extra: []string{"--bad"}}
	if got := s.hint(errors.New("invalid argument")); !strings.Contains(got, "eal-args") && !strings.Contains(got, "root") {
		t.Errorf("the hint is %q", got)
	}
}

func TestPoolSize(t *testing.T) {
	for _, c := range []struct {
		mb   int
		huge bool
		want uint32 // 0: too little
	}{{64, false, 8191}, {32, false, 4095}, {16, false, 2047}, {8, false, 0}, {64, true, 16383}, {8, true, 2047}, {4, true, 0}} {
		if got, err := poolSize(c.mb, c.huge); got != c.want || (err != nil) != (c.want == 0) {
			t.Errorf("%d MiB (hugepages %v) hold %d buffers (%v), want %d", c.mb, c.huge, got, err, c.want)
		}
	}
}

func TestPoolFitsTheMemoryItIsSizedFor(t *testing.T) {
	n, err := poolSize(64, false) // what TestMain has started DPDK with
	if err != nil {
		t.Fatal(err)
	}
	mp, err := newPool("whole", n)
	if err != nil {
		t.Fatal(err)
	}
	defer mp.Free()
	if mp.AvailCount() != int(n) {
		t.Errorf("%d of %d buffers in a new pool", mp.AvailCount(), n)
	}
}

func TestOwnDescriptorsAreFound(t *testing.T) {
	var p [2]int
	if err := unix.Pipe(p[:]); err != nil {
		t.Fatal(err)
	}
	defer unix.Close(p[0])
	defer unix.Close(p[1])
	fds := ownDescriptors(func(fd int, target string) bool {
		return strings.HasPrefix(target, "pipe:") && (fd == p[0] || fd == p[1])
	})
	if len(fds) != 2 || fds[0] != min(p[0], p[1]) {
		t.Errorf("found %v of %v", fds, p)
	}
}
