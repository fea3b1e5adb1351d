package flow

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"unsafe"

	"sluice/dataplane/packet"
	"sluice/dataplane/port/asm"
)

// fill opens a table for so many flows and some more, and makes the first of them.
func fill(b *testing.B, flows, more int) *Table {
	tab, note, err := Open(Settings{Name: "sluice-flows-bench", Entries: 2 * (flows + more), Huge: true, Populate: true})
	if err != nil {
		b.Fatal(err)
	}
	if note != "" {
		b.Log(note)
	}
	b.Cleanup(func() { tab.Close() })
	for n := range flows {
		fwd, rev := benchPair(n)
		if _, got := tab.Create(&fwd, &rev); got != Created {
			b.Fatal(got)
		}
	}
	return tab
}

func benchPair(n int) (fwd, rev Entry) {
	in := packet.MakeKey(uint32(n), 50, uint16(n), 80, packet.ProtoTCP)
	out := packet.MakeKey(5+uint32(n>>15), 11, uint16(n), 8080, packet.ProtoTCP)
	fwd.Fill(in, out)
	rev.Fill(out.Reverse(), in.Reverse())
	rev.Kind = KindReverse
	return fwd, rev
}

// search is what a packet knows of its key's place, as asm.Locate reads it.
type search struct {
	hash   uint64
	bucket uintptr
}

func (s *search) of(t *Table, k packet.Key) {
	s.hash = t.Hash(k.A, k.B)
	s.bucket = t.BucketOf(s.hash)
}

// BenchmarkHit is the flow's part of forwarding a known packet: hash, prefetch over the burst, find, count, track.
func BenchmarkHit(b *testing.B) {
	for _, flows := range []int{1, 10_000, 1_000_000} {
		b.Run(fmt.Sprint(flows), func(b *testing.B) {
			tab := fill(b, flows, 0)
			r := rand.New(rand.NewPCG(1, 2))
			keys := make([]packet.Key, 1<<20)
			for i := range keys {
				fwd, _ := benchPair(r.IntN(flows))
				keys[i] = fwd.Key()
			}
			var search [packet.Burst]search
			var lines [packet.Burst]uintptr
			at := 0
			b.ResetTimer()
			for range b.N {
				burst := keys[at:][:packet.Burst]
				at = (at + packet.Burst) & (len(keys) - 1)
				for i, k := range burst {
					search[i].of(tab, k)
				}
				asm.PrefetchStride(unsafe.Pointer(&search[0].bucket), packet.Burst, int(unsafe.Sizeof(search[0])))
				asm.Locate(unsafe.Pointer(&search), packet.Burst, int(unsafe.Sizeof(search[0])), tab.Lines(), unsafe.Pointer(&lines))
				for i, k := range burst {
					e := At(lines[i])
					if e.B != k.B || e.A != k.A {
						e = tab.Find(search[i].bucket, k.A, k.B)
					}
					e.Packets++
					e.Bytes += 60
					e.Last = 1
					tab.Track(e, packet.ACK)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/packet.Burst, "ns/packet")
		})
	}
}

// BenchmarkNewFlow takes a port and writes both entries, in a table that holds so many flows. The forward bucket is prefetched, as the
// worker's parse does.
func BenchmarkNewFlow(b *testing.B) {
	for _, flows := range []int{1000, 100_000, 1_000_000} {
		b.Run(fmt.Sprint(flows), func(b *testing.B) { newFlows(b, flows) })
	}
}

func newFlows(b *testing.B, flows int) {
	room := min(100_000, flows)
	var buckets [packet.Burst]uintptr
	tab := fill(b, flows, room)
	p := openPools(b, PoolSettings{Pools: 64, Workers: 1})
	k := &quiet{pools: p}

	oldest := 0
	b.ResetTimer()
	for n := range b.N {
		if n-oldest == room {
			b.StopTimer()
			for ; oldest < n; oldest++ {
				tab.Remove(tab.Lookup(packet.MakeKey(uint32(flows+oldest), 50, 1, 80, packet.ProtoTCP)), k)
			}
			b.StartTimer()
		}
		if n%packet.Burst == 0 {
			for i := range buckets {
				k := packet.MakeKey(uint32(flows+n+i), 50, 1, 80, packet.ProtoTCP)
				buckets[i] = tab.BucketOf(tab.Hash(k.A, k.B))
			}
			asm.PrefetchN(unsafe.Pointer(&buckets), packet.Burst)
		}
		service := uint32(n % 16)
		q, ok := p.TakeUnused(tab, 3, service, 1024, 59999, 12+service, 8080, packet.ProtoTCP)
		if !ok {
			b.Fatal("no port")
		}
		in, out := packet.MakeKey(uint32(flows+n), 50, 1, 80, packet.ProtoTCP), packet.MakeKey(3, 12+service, q, 8080, packet.ProtoTCP)
		var fwd, rev Entry
		fwd.Fill(in, out)
		rev.Fill(out.Reverse(), in.Reverse())
		fwd.Kind, fwd.Service, rev.Kind, rev.Service = KindPool, service, KindReverse, service
		if _, got := tab.Create(&fwd, &rev); got != Created {
			b.Fatal(got)
		}
	}
}

func BenchmarkSweep(b *testing.B) {
	tab := fill(b, 1_000_000, 0)
	k := &keeper{limit: 1 << 30}
	b.ResetTimer()
	for range b.N {
		tab.Sweep(5, 1024, k)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1024, "ns/slot")
}
