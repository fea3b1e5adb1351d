package dataplane

import (
	"bufio"
	"fmt"
	"net/netip"
	"os"
	"runtime/debug"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"sluice/dataplane/api"
	"sluice/dataplane/packet"
	"sluice/dataplane/port"
	"sluice/dataplane/table"
)

// span is a range of addresses.
type span struct{ from, to uintptr }

// mapped lists what is mapped into this process.
func mapped(t testing.TB) []span {
	t.Helper()
	f, err := os.Open("/proc/self/maps")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var list []span
	for s := bufio.NewScanner(f); s.Scan(); {
		var m span
		if _, err := fmt.Sscanf(s.Text(), "%x-%x", &m.from, &m.to); err != nil {
			t.Fatal(err)
		}
		list = append(list, m)
	}
	return list
}

// gone is what was mapped before and is not now; both lists are in order.
func gone(before, now []span) []span {
	var list []span
	for _, b := range before {
		for _, n := range now {
			if n.to <= b.from || n.from >= b.to {
				continue
			}
			if n.from > b.from {
				list = append(list, span{b.from, n.from})
			}
			b.from = min(n.to, b.to)
		}
		if b.from < b.to {
			list = append(list, b)
		}
	}
	return list
}

// freeAndFence frees a set and keeps its addresses from whoever maps memory next, so that whoever still reads the set
// faults, instead of finding the next one there. It returns how many bytes there were.
func freeAndFence(t testing.TB, old, next *table.Set) (fenced uintptr) {
	t.Helper()
	before := mapped(t)
	old.Free(next)
	for _, s := range gone(before, mapped(t)) {
		n := s.to - s.from
		_, err := unix.MmapPtr(-1, 0, unsafe.Add(nil, s.from), n, unix.PROT_NONE, unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_NORESERVE|unix.MAP_FIXED_NOREPLACE)
		if err != nil {
			continue // another thread has mapped something there
		}
		fenced += n
		t.Cleanup(func() { unix.MunmapPtr(unsafe.Add(nil, s.from), n) })
	}
	return fenced
}

// faults runs f and says how it faulted, if it did.
func faults(f func()) (fault any) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() { fault = recover() }()
	f()
	return nil
}

// TestFenceIsNoticed: what the next test relies on.
func TestFenceIsNoticed(t *testing.T) {
	empty, err := table.Empty([]table.Port{{Name: "1/1", MAC: mac1}, {Name: "1/2", MAC: mac2}})
	if err != nil {
		t.Fatal(err)
	}
	s, err := table.Build(tables(), empty)
	if err != nil {
		t.Fatal(err)
	}
	look := func() { s.Own(packet.Addr4(vip)) }
	if f := faults(look); f != nil {
		t.Fatal(f)
	}
	if n := freeAndFence(t, s, empty); n == 0 {
		t.Fatal("nothing was freed")
	}
	if faults(look) == nil {
		t.Error("reading a set that was freed goes unnoticed")
	}
	empty.Free(nil)
}

// TestWorkerLeavesOldTables publishes parts in turn to a worker under traffic of every kind, frees what is replaced as soon as
// the worker has passed, and fences it: the worker must never read it again.
func TestWorkerLeavesOldTables(t *testing.T) {
	q, err := port.NewMemory(lanes, 4096)
	if err != nil {
		t.Fatal(err)
	}
	defer q.Close()
	b := newBed(t, q, 1<<13)
	b.pool = q.PoolFree()
	var stop atomic.Bool
	ended := make(chan any, 1)
	go func() { ended <- faults(func() { b.w.Run(&stop) }) }()
	fenced := uintptr(0)
	for i := range 200 {
		for _, f := range mixed(i) {
			if err := q.Inject(f.lane, b.bytes(f.frame)); err != nil {
				t.Fatal(err)
			}
		}
		fenced += republish(t, b, i, ended)
		for l := range lanes {
			q.Sent(l)
		}
	}
	stop.Store(true)
	b.w.Wake()
	if f := <-ended; f != nil {
		t.Fatalf("the worker has read tables that were freed: %v", f)
	}
	if fenced == 0 {
		t.Error("nothing was freed")
	}
	c := b.counters()
	for _, r := range []packet.Reason{packet.ForwardFlow, packet.ForwardNewFlow, packet.HeldNeighbor, packet.ReplyARP, packet.PuntLocal} {
		if c[r.Name()] == 0 {
			t.Errorf("no packet ended as %s: the traffic says little", r)
		}
	}
	b.close()
}

// republish has the worker use new tables, one part more at a time, and frees the old ones.
func republish(t *testing.T, b *bed, i int, ended chan any) uintptr {
	t.Helper()
	all := tables()
	part := []*api.Tables{{Config: all.Config}, {Health: all.Health}, {FIB: all.FIB}, {Neighbors: all.Neighbors}, all}[i%5]
	if i%2 == 0 { // other next hops
		all.FIB.Routes = append(all.FIB.Routes, api.Route{Prefix: netip.MustParsePrefix("10.9.0.0/16")})
		all.Neighbors.Entries[2].MAC = otherMAC
	}
	if i%3 == 0 {
		all.Neighbors.Entries = append(all.Neighbors.Entries, api.Neighbor{Port: 1, IP: addr(lost), MAC: serverMAC(lost)})
	}
	old := b.w.Tables()
	s, err := table.Build(part, old)
	if err != nil {
		t.Fatal(err)
	}
	ticket := b.w.Publish(s)
	for deadline := time.Now().Add(30 * time.Second); !b.w.Passed(ticket); time.Sleep(20 * time.Microsecond) {
		select {
		case f := <-ended:
			t.Fatalf("the worker has read tables that were freed: %v", f)
		default:
		}
		if time.Now().After(deadline) {
			t.Fatal("the worker makes no turn")
		}
	}
	return freeAndFence(t, old, s)
}

// mixed is traffic that reads every part of the tables.
func mixed(i int) []on {
	n := uint16(i)
	return []on{
		{nic1, ask(5001, keepPort, syn)}, {nic2, toClient(answer(server1, 80, 5001, synack))}, {nic1, data(ask(5001, keepPort, psh))},
		{nic1, ask(6000+n, webPort, syn)}, {nic1, udp(ask(7000+n, dnsPort, 0))}, {nic1, ask(8000+n, leastPort, syn)},
		{nic1, ask(10000+n, hashPort, syn)},
		{nic1, ask(9000+n, lostPort, syn)}, {nic1, whoHas(vip)}, {nic1, ping(vip)}, {nic1, to(ask(n, 22, syn), snip1)}, {nic1, ask(n, 9999, syn)},
	}
}
