package flow

import (
	"testing"

	"sluice/dataplane/packet"
)

// Everything that a packet may bring about, without one allocation.
func TestNothingAllocates(t *testing.T) {
	tab := open(t, 1000, [2]uint64{})
	p := openPools(t, PoolSettings{Pools: 100, Workers: 1})
	k := &quiet{pools: p}
	n := 0
	allocs := testing.AllocsPerRun(300, func() {
		n++
		q, ok := p.TakeUnused(tab, 5, uint32(n%500), 1024, 59999, 11, 8080, packet.ProtoTCP)
		if !ok {
			t.Fatal("no port")
		}
		p.Probe(tab, uint32(n), 1024, 59999, 11, 8080, packet.ProtoTCP)
		in, out := packet.MakeKey(uint32(n), 50, 1, 80, packet.ProtoTCP), packet.MakeKey(5, 11, q, 8080, packet.ProtoTCP)
		var fwd, rev Entry
		fwd.Fill(in, out)
		rev.Fill(out.Reverse(), in.Reverse())
		fwd.State, rev.State, rev.Kind = Opening, Opening, KindReverse
		fwd.Kind, fwd.Service, rev.Service = KindPool, uint32(n%500), uint32(n%500)
		fwd.Last, rev.Last = uint32(n), uint32(n)
		e, got := tab.Create(&fwd, &rev)
		if got != Created {
			t.Fatal(got)
		}
		tab.Track(e, packet.SYN)
		tab.Track(tab.Peer(e), packet.SYN|packet.ACK)
		tab.Track(e, packet.RST)
		if n%3 == 0 {
			tab.Remove(tab.Lookup(out.Reverse()), k)
		}
		tab.Sweep(uint32(n), 64, k)
	})
	if allocs != 0 {
		t.Errorf("%v allocations a flow", allocs)
	}
	if k.gone == 0 {
		t.Error("the sweep found nothing to do")
	}
}

// quiet is a keeper that gives ports back.
type quiet struct {
	pools *Pools
	gone  int
}

func (k *quiet) IdleLimit(*Entry) uint32 { return 10 }
func (k *quiet) Ends(*Entry) bool        { return true }

func (k *quiet) Gone(fwd, _ *Entry) {
	k.gone++
	k.pools.Release(uint32(fwd.Addrs), fwd.Service, packet.Swap16(uint16(fwd.Ports)))
}
