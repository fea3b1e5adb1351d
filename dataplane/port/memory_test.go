package port

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"unsafe"
)

func newMemory(t *testing.T, lanes, pool int) (*Memory, *Exchange) {
	t.Helper()
	q, err := NewMemory(lanes, pool)
	if err != nil {
		t.Fatal(err)
	}
	x, err := NewExchange()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := q.Close(); err != nil {
			t.Error(err)
		}
		if err := ReleaseExchange(x); err != nil {
			t.Error(err)
		}
	})
	return q, x
}

func send(x *Exchange, lane int, m uintptr) {
	x.Tx[lane][x.TxN[lane]] = m
	x.TxN[lane]++
}

func TestExchangeLayout(t *testing.T) {
	var x Exchange
	for _, f := range []struct {
		name      string
		got, want uintptr
	}{
		{"TxN", unsafe.Offsetof(x.TxN), 64}, {"TxFull", unsafe.Offsetof(x.TxFull), 192}, {"Rx", unsafe.Offsetof(x.Rx), 448},
		{"Free", unsafe.Offsetof(x.Free), 960}, {"Tx", unsafe.Offsetof(x.Tx), 3008}, {"Spare", unsafe.Offsetof(x.Spare), 68544}, {"end", unsafe.Sizeof(x), 69056},
	} {
		if f.got != f.want {
			t.Errorf("Exchange.%s lies at %d, C expects %d", f.name, f.got, f.want)
		}
	}
}

func TestMemoryForwardsFrames(t *testing.T) {
	q, x := newMemory(t, 4, 64)
	frame := []byte("a frame of some bytes")
	if err := q.Inject(2, frame); err != nil {
		t.Fatal(err)
	}
	q.Turn(x)
	if x.RxN != 1 || x.From != 2 || x.Lanes != 4 {
		t.Fatalf("received %d packets from lane %d of %d, want 1 from 2 of 4", x.RxN, x.From, x.Lanes)
	}
	m := x.Rx[0]
	if got := unsafe.Slice((*byte)(Ptr(Data(m))), DataLen(m)); !bytes.Equal(got, frame) {
		t.Fatalf("received %q, want %q", got, frame)
	}
	*(*byte)(Ptr(Data(m))) = 'A'
	SetLen(m, 7)
	send(x, 1, m)
	q.Turn(x)
	if x.RxN != 0 || x.TxN[1] != 0 {
		t.Fatalf("after sending, RxN is %d and TxN %d, want 0 and 0", x.RxN, x.TxN[1])
	}
	if got := q.Sent(1); len(got) != 1 || string(got[0]) != "A frame" {
		t.Fatalf("sent %q, want one frame \"A frame\"", got)
	}
	if q.PoolFree() != 64 || q.Err() != nil {
		t.Fatalf("%d of 64 buffers in the pool, faults: %v", q.PoolFree(), q.Err())
	}
}

func TestMemoryPollsRoundRobin(t *testing.T) {
	q, x := newMemory(t, 3, 512)
	for i := 0; i < 100; i++ {
		for lane := range 3 {
			if err := q.Inject(lane, fmt.Appendf(nil, "%d/%02d", lane, i)); err != nil {
				t.Fatal(err)
			}
		}
	}
	var order, sizes string
	for turn := 0; turn < 7; turn++ {
		q.Turn(x)
		if x.RxN > 0 {
			order += fmt.Sprint(x.From)
		}
		sizes += fmt.Sprint(x.RxN, " ")
		for i := range x.RxN {
			x.Free[i] = x.Rx[i]
		}
		x.FreeN = x.RxN
	}
	if order != "012012" || sizes != "64 64 64 36 36 36 0 " {
		t.Fatalf("lanes were polled in order %s with bursts %s", order, sizes)
	}
	q.Turn(x)
	if q.PoolFree() != 512 || q.Err() != nil {
		t.Fatalf("%d of 512 buffers in the pool, faults: %v", q.PoolFree(), q.Err())
	}
}

func TestMemoryFreesAndCountsWhatALaneDoesNotTake(t *testing.T) {
	q, x := newMemory(t, 2, 64)
	q.LimitTx(1, 3)
	q.Discard(0)
	for range 10 {
		if err := q.Inject(0, []byte("frame")); err != nil {
			t.Fatal(err)
		}
	}
	q.Turn(x)
	for i := range x.RxN {
		lane := 1
		if i >= 8 {
			lane = 0
		}
		send(x, lane, x.Rx[i])
	}
	q.Turn(x)
	if x.TxFull[1] != 5 || x.TxFull[0] != 0 {
		t.Fatalf("lane 1 did not take %d of 8, want 5; lane 0 %d of 2, want 0", x.TxFull[1], x.TxFull[0])
	}
	if n := len(q.Sent(1)); n != 3 || q.PoolFree() != 64 {
		t.Fatalf("%d frames left by lane 1, want 3; %d of 64 buffers in the pool", n, q.PoolFree())
	}
}

func TestMemoryPacketsOfSegments(t *testing.T) {
	q, x := newMemory(t, 2, 8)
	if err := q.InjectSegments(0, []byte("first "), []byte("second "), []byte("third")); err != nil {
		t.Fatal(err)
	}
	if q.PoolFree() != 5 {
		t.Fatalf("%d buffers in the pool, want 5", q.PoolFree())
	}
	q.Turn(x)
	m := x.Rx[0]
	if segs, total := *(*uint16)(Ptr(m + OffNbSegs)), *(*uint32)(Ptr(m + OffPktLen)); x.RxN != 1 || segs != 3 || total != 18 {
		t.Fatalf("%d packets, the first with %d segments and %d bytes; want 1, 3, 18", x.RxN, segs, total)
	}
	send(x, 1, m)
	q.Turn(x)
	if got := q.Sent(1); len(got) != 1 || string(got[0]) != "first second third" || q.PoolFree() != 8 {
		t.Fatalf("sent %q, %d of 8 buffers in the pool", got, q.PoolFree())
	}
}

func TestMemoryFindsMisuse(t *testing.T) {
	q, x := newMemory(t, 1, 4)
	if err := q.Inject(0, []byte("frame")); err != nil {
		t.Fatal(err)
	}
	q.Turn(x)
	m := x.Rx[0]
	x.Free[0], x.Free[1], x.Free[2], x.FreeN = m, m, 0x1000, 3
	q.Turn(x)
	if q.PoolFree() != 4 {
		t.Fatalf("%d of 4 buffers in the pool", q.PoolFree())
	}
	for _, want := range []string{"after it had been freed", "0x1000 is not a packet"} {
		if q.Err() == nil || !strings.Contains(q.Err().Error(), want) {
			t.Errorf("faults %v do not contain %q", q.Err(), want)
		}
	}
	x.FreeN = FreeRoom + 1
	q.Turn(x)
	if !strings.Contains(q.Err().Error(), "257 packets to free") {
		t.Errorf("faults %v do not name the overflow", q.Err())
	}
	if err := q.Inject(0, make([]byte, 4096)); err == nil {
		t.Error("a frame larger than a buffer was taken")
	}
	if _, err := NewMemory(MaxLanes+1, 1); err == nil {
		t.Error("a queue of too many lanes was made")
	}
}

func TestMemoryTurnAllocatesNothing(t *testing.T) {
	q, x := newMemory(t, 2, 64)
	q.Discard(1)
	frame := make([]byte, 60)
	allocs := testing.AllocsPerRun(100, func() {
		for range Burst {
			if q.Inject(0, frame) != nil {
				t.Fatal("the pool ran dry")
			}
		}
		q.Turn(x)
		for i := range x.RxN {
			send(x, 1, x.Rx[i])
		}
		q.Turn(x)
	})
	if allocs != 0 {
		t.Fatalf("%v allocations a burst, want 0", allocs)
	}
}
