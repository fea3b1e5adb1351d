package lb

import (
	"math/rand/v2"
	"sync"
	"testing"
)

// count counts packets of a vserver and a service as a worker does.
func (b *bed) count(vserver, service uint32, bytes uint64) {
	*b.account(vserver, service).running(0) += RunningPacket + bytes
}

// TestRunningWords: what is counted is the same before and after it is settled, however much a word has held.
func TestRunningWords(t *testing.T) {
	b := newBed(t)
	var in, out Traffic
	a := b.account(1, 7)
	check := func(when string) {
		t.Helper()
		if gotIn, gotOut := b.Counted(a); gotIn != in || gotOut != out {
			t.Fatalf("%s: %+v and %+v are counted, want %+v and %+v", when, gotIn, gotOut, in, out)
		}
	}
	r := rand.New(rand.NewPCG(4, 1))
	for n := uint32(1); n < 40; n++ {
		for k := range []*Traffic{&in, &out} {
			to := []*Traffic{&in, &out}[k]
			for _, bytes := range []uint64{0, 1, 20, 1500, 65535, r.Uint64N(RunningPacket / 8)} {
				*a.running(uintptr(k) * RunningOut) += RunningPacket + bytes
				to.add(Traffic{1, bytes})
			}
		}
		check("running")
		b.second(n)
		check("settled")
		if *a.running(0)|*a.running(RunningOut) != 0 {
			t.Fatal("a second has not emptied the running words")
		}
	}
	const most = RunningPacket - 1
	*a.running(0) = RunningPacket*(1<<(64-runningShift)-1) + most
	in.add(Traffic{1<<(64-runningShift) - 1, most})
	check("full")
	b.second(100)
	check("full and settled")
}

// TestCountedWhileSettling: a reader never sees what was counted twice, nor too little of it.
func TestCountedWhileSettling(t *testing.T) {
	b := newBed(t)
	a := b.account(1, 7)
	var done sync.WaitGroup
	stop := make(chan struct{})
	done.Go(func() {
		var last Traffic
		for {
			in, _ := b.Counted(a)
			if in.Packets < last.Packets || in.Bytes != 100*in.Packets {
				t.Errorf("after %+v came %+v", last, in)
				return
			}
			last = in
			packets, bytes := b.Recent(7)
			if bytes != 100*packets {
				t.Errorf("%d bytes in %d recent packets", bytes, packets)
				return
			}
			select {
			case <-stop:
				return
			default:
			}
		}
	})
	for n := range uint32(200_000) {
		b.count(1, 7, 100)
		b.settling.Add(1)
		a.settle()
		b.settling.Add(1)
		if n%1000 == 0 {
			b.count(1, 7, 100)
		}
	}
	close(stop)
	done.Wait()
}
