package lb

import (
	"fmt"
	"math"
	"slices"
	"syscall"
	"testing"
	"unsafe"

	"sluice/dataplane/api"
)

// bed is a state with accounts as a worker has them, off the Go heap.
type bed struct {
	*State
	accounts map[[2]uint32]*Account
	mem      []byte
}

func newBed(t testing.TB) *bed {
	t.Helper()
	return &bed{State: state(t), accounts: map[[2]uint32]*Account{}, mem: accountMemory(t)}
}

// accountMemory has room for 10,000 accounts and their running words.
func accountMemory(t testing.TB) []byte {
	t.Helper()
	mem, err := syscall.Mmap(-1, 0, 2*RunningOut+1<<20, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANON|syscall.MAP_NORESERVE)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Munmap(mem) })
	return mem
}

// accountOf is the n-th account in memory, which nothing was counted in.
func accountOf(mem []byte, n int, vserver, service uint32) *Account {
	a := (*Account)(unsafe.Pointer(&mem[2*RunningOut+64*n]))
	a.Vserver, a.Service, a.Running = vserver, service, uintptr(unsafe.Pointer(&mem[8*n]))
	return a
}

// account is the account of a vserver and a service; a new one begins near where counters wrap.
func (b *bed) account(vserver, service uint32) *Account {
	k := [2]uint32{vserver, service}
	if b.accounts[k] == nil {
		a := accountOf(b.mem, len(b.accounts), vserver, service)
		b.Link(a)
		b.accounts[k] = a
	}
	return b.accounts[k]
}

// second goes on to a second and notes everything.
func (b *bed) second(n uint32) {
	b.Begin(n)
	b.Note(entries)
}

// TestLeastPacketsTables are the tables of the requirement: N = 3, 5, 2 at the start, each request one packet. With the weights 2,
// 3, 4 the requirement prints S3 five times in a row before S1, which leaves its first request out of the count.
func TestLeastPacketsTables(t *testing.T) {
	for _, row := range []struct {
		name    string
		weights []uint16
		want    []uint32
		n       []uint64 // after
	}{
		{"unweighted", []uint16{1, 1, 1}, []uint32{3, 1, 3, 1, 3, 1, 2, 3, 1, 2, 3, 1}, []uint64{8, 7, 7}},
		{"weights 2, 3, 4", []uint16{2, 3, 4}, []uint32{3, 3, 3, 3, 1, 3, 2, 3, 1, 2, 3, 3, 2, 3}, []uint64{5, 8, 11}},
	} {
		for _, method := range []api.Method{api.LeastPackets, api.LeastBandwidth} {
			t.Run(fmt.Sprint(row.name, " method ", method), func(t *testing.T) {
				tab, v := set(t, nil, method, row.weights, []uint32{1, 2, 3})
				defer tab.Free(nil)
				b := newBed(t)
				// What the services carry for other vservers counts, in both directions.
				for i, n := range []uint64{3, 5, 2} {
					a := b.account(uint32(10+i), uint32(i+1))
					a.In = Traffic{n - 1, (n - 1) * 28}
					a.Out = Traffic{1, 28}
				}
				var got []uint32
				for range row.want {
					id := b.Pick(tab, v, 0, 0)
					got = append(got, id)
					b.count(1, id, 28)
				}
				if !slices.Equal(got, row.want) {
					t.Errorf("chose %v, want %v", got, row.want)
				}
				for i, want := range row.n {
					if n := b.carried(uint32(i + 1)); n.Packets != want || n.Bytes != 28*want {
						t.Errorf("service %d has %d packets, want %d, and %d bytes", i+1, n.Packets, want, n.Bytes)
					}
				}
			})
		}
	}
}

// TestWindow: what was counted in a second is seen in that one and in 13 more, not longer.
func TestWindow(t *testing.T) {
	for _, counted := range []uint32{0, 1, 5, 13, 14, 100} {
		b := newBed(t)
		a := b.account(1, 7)
		for n := range counted + 1 {
			b.second(n)
		}
		a.In.Packets += 3
		a.Out.Packets += 4
		for n := counted + 1; n <= counted+13; n++ {
			b.second(n)
			if got := b.carried(7).Packets; got != 7 {
				t.Fatalf("counted in second %d, in second %d: %d packets, want 7", counted, n, got)
			}
		}
		b.second(counted + 14)
		if got := b.carried(7).Packets; got != 0 {
			t.Fatalf("counted in second %d, in second %d: %d packets, want none", counted, counted+14, got)
		}
	}
}

// TestSecondsMissed: a worker that slept or stood still notes what it has missed.
func TestSecondsMissed(t *testing.T) {
	for _, jump := range []uint32{2, 13, 14, 15, 27, 28, 1000} {
		b := newBed(t)
		a := b.account(1, 7)
		b.second(20)
		a.In.Packets = 9
		b.second(20 + jump)
		want := uint64(0)
		if jump < Window {
			want = 9
		}
		if got := b.carried(7).Packets; got != want {
			t.Errorf("%d seconds later: %d packets, want %d", jump, got, want)
		}
		a.In.Packets++
		b.second(21 + jump)
		if got := b.carried(7).Packets; got < 1 || got > want+1 {
			t.Errorf("%d seconds and one later: %d packets", jump, got)
		}
	}
}

// TestNoteInPieces: a second's sums are noted a few services at a time, and by the next second at the latest; choices in between
// are right.
func TestNoteInPieces(t *testing.T) {
	b := newBed(t)
	for id := uint32(1); id <= 100; id++ {
		b.account(1, id)
	}
	b.second(1)
	for id := uint32(1); id <= 100; id++ {
		b.account(1, id).In.Packets += uint64(id)
	}
	b.Begin(2)
	for due := uint32(90); due > 0; due -= 10 {
		if got := b.Note(10); got != due {
			t.Fatalf("%d services are due, want %d", got, due)
		}
		for id := uint32(1); id <= 100; id++ {
			if got := b.carried(id).Packets; got != uint64(id) {
				t.Fatalf("with %d due, service %d has %d packets", due, id, got)
			}
		}
	}
	for n := uint32(3); n <= 15; n++ {
		b.Begin(n) // and no turn to note anything
	}
	b.Begin(16)
	for id := uint32(1); id <= 100; id++ {
		if got := b.carried(id).Packets; got != 0 {
			t.Fatalf("after the window service %d has %d packets", id, got)
		}
	}
}

// TestNoteStopsAfterAccounts: a service of many vservers takes its time.
func TestNoteStopsAfterAccounts(t *testing.T) {
	b := newBed(t)
	for v := range uint32(30) {
		b.account(v, 2)
	}
	b.account(1, 4)
	b.Begin(1)
	for _, step := range []struct {
		accounts int
		due      uint32
	}{{1, 3}, {10, 2}, {1, 1}, {1, 0}} { // service 1 has none, 2 has 30, 3 has none, 4 has one
		if got := b.Note(step.accounts); got != step.due {
			t.Errorf("after %d accounts %d services are due, want %d", step.accounts, got, step.due)
		}
	}
}

// TestLighter compares without rounding and without overflow.
func TestLighter(t *testing.T) {
	for _, row := range []struct {
		a    uint64
		v    uint32
		b    uint64
		w    uint32
		want bool
	}{
		{0, 1, 0, 1, false}, {0, 1, 1, 100, true}, {5, 3, 3, 2, false}, {6, 4, 3, 2, false}, {3, 2, 5, 3, true},
		{math.MaxUint64, 100, math.MaxUint64, 99, true}, {math.MaxUint64, 99, math.MaxUint64, 100, false},
		{math.MaxUint64, 1, math.MaxUint64 - 1, 1, false}, {math.MaxUint64 - 1, 1, math.MaxUint64, 1, true},
		{1, 100, math.MaxUint64, 1, true},
	} {
		if got := lighter(row.a, row.v, row.b, row.w); got != row.want {
			t.Errorf("%d/%d < %d/%d: %t", row.a, row.v, row.b, row.w, got)
		}
	}
}

// TestNumberAnew: a service that gets the number of one that is gone is right again once the window has passed.
func TestNumberAnew(t *testing.T) {
	b := newBed(t)
	tab, v := set(t, nil, api.LeastPackets, []uint16{1, 1}, []uint32{1, 2})
	defer func() { tab.Free(nil) }()
	b.second(1)
	b.account(1, 1).In.Packets = 1000
	less, lv := set(t, tab, api.LeastPackets, []uint16{1, 1}, []uint32{2})
	if b.Pick(less, lv, 0, 0) != 2 {
		t.Error("a service that is gone was chosen")
	}
	b.account(1, 1).Out.Packets += 5 // of flows that still live
	for n := uint32(2); n <= 20; n++ {
		b.second(n)
	}
	less.Free(tab)
	if n := b.carried(1).Packets; n != 0 {
		t.Errorf("the new owner of the number has %d packets", n)
	}
	b.account(1, 2).In.Packets++
	if id := b.Pick(tab, v, 0, 0); id != 1 {
		t.Errorf("chose %d, not the service without packets", id)
	}
}

// TestResponseTime: open flows times the mean time to the first answer; who never answers counts as the slowest.
func TestResponseTime(t *testing.T) {
	tab, v := set(t, nil, api.LeastResponseTime, []uint16{1, 1, 2}, []uint32{1, 2, 3})
	defer tab.Free(nil)
	const ms = 2_000_000 // cycles
	b := newBed(t)
	for id := uint32(1); id <= 3; id++ {
		b.account(1, id)
	}
	b.second(1)
	open := func(id uint32, n int) {
		for range n {
			b.Opened(0, id)
		}
	}
	pick := func(want uint32, why string) {
		t.Helper()
		if got := b.Pick(tab, v, 0, 0); got != want {
			t.Errorf("%s: chose %d, want %d", why, got, want)
		}
	}
	open(1, 4)
	open(2, 2)
	open(3, 6)
	pick(2, "nobody has answered: as least connections by weight, 4, 2, 3")
	b.Answered(1, 1*ms)
	b.Answered(1, 3*ms)
	b.Answered(2, 5*ms)
	pick(1, "4 x 2 ms, 2 x 5 ms, 3 x as slow as the slowest")
	b.Answered(3, 1*ms)
	pick(3, "4 x 2 ms, 2 x 5 ms, 3 x 1 ms")
	open(3, 10)
	pick(1, "8 x 1 ms are not less than 4 x 2 ms, after the last choice")
	pick(3, "equal: takes turns")
	for n := uint32(2); n <= 15; n++ {
		b.second(n)
	}
	pick(2, "the answers are forgotten: 4, 2, 8 flows")
	b.Answered(2, math.MaxUint64)
	if got := b.figure(tab, api.LeastResponseTime, 2, 1); got != 2*maxResponse {
		t.Errorf("an endless answer counts %d", got)
	}
}

func TestPickByLoadAllocatesNothing(t *testing.T) {
	b := newBed(t)
	n := uint32(0)
	for _, m := range []api.Method{api.LeastPackets, api.LeastBandwidth, api.LeastResponseTime} {
		tab, v := factored(t, nil, 20, m, []uint16{1, 2, 3}, []uint32{1, 2, 3})
		if got := testing.AllocsPerRun(100, func() {
			id := b.Pick(tab, v, 0, 0)
			b.Answered(id, 5)
			n++
			b.Begin(n)
			b.Note(10)
		}); got != 0 {
			t.Errorf("method %d: %v allocations a choice", m, got)
		}
		tab.Free(nil)
	}
}

// BenchmarkNote is the second of a worker with 10,000 services.
func BenchmarkNote(b *testing.B) {
	mem, s := accountMemory(b), state(b)
	for i := range 10000 {
		s.Link(accountOf(mem, i, 1, uint32(i+1)))
	}
	n := uint32(0)
	for b.Loop() {
		n++
		s.Begin(n)
		s.Note(entries)
	}
}
