package worker

import (
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"sluice/dataplane/port"
)

// newRing is the ring from worker 0 to worker 1 of a mesh of two.
func newRing(t *testing.T) *ring {
	t.Helper()
	m, err := NewMesh(2)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	return m.ring(0, 1)
}

type handed struct {
	m    uintptr
	lane uint64
}

// TestRingAgainstAList compares random puts and takes with a list: what goes in comes out once and in order, a take is of one lane,
// what is not published is not seen, and a full ring refuses.
func TestRingAgainstAList(t *testing.T) {
	r, rng := newRing(t), rand.New(rand.NewPCG(5, 6))
	r.head, r.next, r.tail, r.seen, r.free = 1<<64-500, 1<<64-500, 1<<64-500, 1<<64-500, 1<<64-500 // the indexes wrap
	var list, hidden []handed
	var full, cut int
	for i := range uintptr(20000) {
		switch rng.IntN(3) {
		case 0:
			for range rng.IntN(60) {
				h := handed{0x7f00_0000_0000 + i, uint64(rng.IntN(2)) * (port.MaxLanes - 1)}
				if ok := r.put(h.m, h.lane); ok != (len(list)+len(hidden) < ringSize) {
					t.Fatalf("put says %v with %d packets in the ring", ok, len(list)+len(hidden))
				} else if ok {
					hidden = append(hidden, h)
				} else {
					full++
				}
			}
		case 1:
			r.publish()
			list, hidden = append(list, hidden...), nil
		default:
			var ms [port.Burst]uintptr
			if r.waits() != (len(list) > 0) {
				t.Fatalf("%d packets wait, the ring says %v", len(list), r.waits())
			}
			n, lane := r.take(ms[:1+rng.IntN(port.Burst)])
			if n == 0 != (len(list) == 0) {
				t.Fatalf("%d of %d packets were taken", n, len(list))
			}
			for k := range n {
				if want := list[k]; ms[k] != want.m || uint64(lane) != want.lane {
					t.Fatalf("took %#x of lane %d, want %+v", ms[k], lane, want)
				}
			}
			if list = list[n:]; n > 0 && len(list) > 0 && list[0].lane != uint64(lane) {
				cut++
			}
		}
	}
	if full == 0 || cut == 0 {
		t.Errorf("the ring was full %d times and %d takes ended at another lane", full, cut)
	}
}

// TestRingBetweenTwo has one goroutine write and one read at once: nothing is lost, doubled or out of order.
func TestRingBetweenTwo(t *testing.T) {
	const all = 300_000
	r := newRing(t)
	go func() {
		for n := uintptr(1); n <= all; {
			for range 1 + n%port.Burst {
				if n <= all && r.put(n, uint64(n>>6&1)) {
					n++
				}
			}
			r.publish()
			runtime.Gosched()
		}
	}()
	for want := uintptr(1); want <= all; {
		var ms [port.Burst]uintptr
		n, lane := r.take(ms[:])
		for _, m := range ms[:n] {
			if m != want || lane != uint32(m>>6&1) {
				t.Fatalf("took %d of lane %d, want %d of lane %d", m, lane, want, want>>6&1)
			}
			want++
		}
		if n == 0 {
			runtime.Gosched()
		}
	}
}

func TestMeshRefusesInWords(t *testing.T) {
	for _, n := range []int{0, 3, 6, 32} {
		if m, err := NewMesh(n); err == nil || m != nil {
			t.Errorf("a mesh of %d workers was made", n)
		}
	}
	m, err := NewMesh(2)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	q, err := port.NewMemory(4, 8)
	if err != nil {
		t.Fatal(err)
	}
	defer q.Close()
	var made []*Worker
	for _, id := range []int{0, 2, -1, 0} {
		w, err := New(Options{ID: id, Mesh: m, Queue: q, Ports: testPorts, Flows: 64, FlowName: "sluice-flows-test"})
		if err == nil {
			made = append(made, w)
		}
	}
	if len(made) != 1 || !slices.Equal(made[0].out[:2], []*ring{m.ring(0, 0), m.ring(0, 1)}) || made[0].in[1] != m.ring(1, 0) {
		t.Errorf("%d of 4 workers joined a mesh in which one place was free for them", len(made))
	}
	for _, w := range made {
		w.Close()
	}
}
