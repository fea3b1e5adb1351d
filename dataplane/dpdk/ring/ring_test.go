package ring_test

import (
	"errors"
	"os"
	"slices"
	"syscall"
	"testing"
	"unsafe"

	"github.com/yerden/go-dpdk/internal/testeal"
	"github.com/yerden/go-dpdk/ring"
)

func TestMain(m *testing.M) { os.Exit(testeal.Main(m.Run)) }

// objects are n pointers that Go's garbage collector has nothing to do with.
func objects(n int) []unsafe.Pointer {
	out := make([]unsafe.Pointer, n)
	for i := range out {
		out[i] = unsafe.Add(unsafe.Pointer(nil), 8*(i+1))
	}
	return out
}

func TestBursts(t *testing.T) {
	type burst func(r *ring.Ring, obj []unsafe.Pointer) (uint32, uint32)
	for _, row := range []struct {
		name    string
		opts    []ring.Option
		in, out burst
	}{
		{"many", nil, (*ring.Ring).EnqueueBurst, (*ring.Ring).DequeueBurst},
		{"single", []ring.Option{ring.OptSP, ring.OptSC}, (*ring.Ring).EnqueueBurst, (*ring.Ring).DequeueBurst},
		{"single-calls", []ring.Option{ring.OptFlag(ring.SingleProducer | ring.SingleConsumer)}, (*ring.Ring).SpEnqueueBurst, (*ring.Ring).ScDequeueBurst},
	} {
		t.Run(row.name, func(t *testing.T) {
			r, err := ring.Create(row.name, 8, row.opts...)
			if err != nil {
				t.Fatal(err)
			}
			defer r.Free()
			if r.Cap() != 7 || r.Count() != 0 {
				t.Fatalf("new ring: capacity %d, count %d", r.Cap(), r.Count())
			}
			obj := objects(9)
			if n, free := row.in(r, obj[:5]); n != 5 || free != 2 {
				t.Errorf("5 in: %d, %d free", n, free)
			}
			if n, free := row.in(r, obj[5:]); n != 2 || free != 0 || r.Count() != 7 {
				t.Errorf("4 more in: %d, %d free, count %d", n, free, r.Count())
			}
			if n, free := row.in(r, nil); n != 0 || free != 0 {
				t.Errorf("nothing in: %d, %d free", n, free)
			}
			got := make([]unsafe.Pointer, 16)
			if n, avail := row.out(r, got[:3]); n != 3 || avail != 4 {
				t.Errorf("3 out: %d, %d left", n, avail)
			}
			if n, avail := row.out(r, nil); n != 0 || avail != 4 {
				t.Errorf("none out: %d, %d left", n, avail)
			}
			if n, avail := row.out(r, got[3:]); n != 4 || avail != 0 {
				t.Errorf("the rest out: %d, %d left", n, avail)
			}
			if !slices.Equal(got[:7], obj[:7]) {
				t.Errorf("out came %v, in went %v", got[:7], obj[:7])
			}
		})
	}
}

func TestExactSizeAndLookup(t *testing.T) {
	r, err := ring.Create("exact", 8, ring.OptES)
	if err != nil {
		t.Fatal(err)
	}
	if r.Cap() != 8 {
		t.Errorf("capacity %d", r.Cap())
	}
	if got, err := ring.Lookup("exact"); got != r || err != nil {
		t.Errorf("Lookup: %p, %v; created %p", got, err, r)
	}
	if _, err := ring.Create("exact", 8); !errors.Is(err, syscall.EEXIST) {
		t.Errorf("the same name twice: %v", err)
	}
	r.Free()
	if got, err := ring.Lookup("exact"); got != nil || !errors.Is(err, syscall.ENOENT) {
		t.Errorf("after Free: %p, %v", got, err)
	}
	if _, err := ring.Create("odd", 7); !errors.Is(err, syscall.EINVAL) {
		t.Errorf("7 is no power of two: %v", err)
	}
}
