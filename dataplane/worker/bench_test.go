package worker

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"os"
	"runtime"
	"slices"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"sluice/dataplane/api"
	"sluice/dataplane/packet"
	"sluice/dataplane/port"
	"sluice/dataplane/port/asm"
	"sluice/dataplane/table"
)

// The benchmarks run on ports made of rings, as make bench does, in batches of 2048 packets: cycles a packet include
// everything from one Turn to the next.

const batch = 2048

// huge asks for hugepages, of which a test machine may have none: SLUICE_HUGE=1.
var huge = os.Getenv("SLUICE_HUGE") == "1"

// TestMain starts DPDK once.
func TestMain(m *testing.M) {
	var set unix.CPUSet
	cpu := 0
	if err := unix.SchedGetaffinity(0, &set); err == nil {
		for cpu < 1024 && !set.IsSet(cpu) {
			cpu++
		}
	}
	if err := port.StartEAL(&port.EALSettings{Lcores: []int{cpu}, MemoryMB: 64, Huge: huge}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// yard is a worker on rings with one vserver over three services.
type yard struct {
	q     *port.Rings
	w     *Worker
	mbufs []uintptr
}

func newYard(b *testing.B, entries int) *yard {
	b.Helper()
	yards++
	q, err := port.NewRings(fmt.Sprint("yard", yards), 4, 2*batch, 4*batch)
	if err != nil {
		b.Fatal(err)
	}
	ports := []table.Port{{Name: "1/1", MAC: [6]byte{2, 0, 0, 0, 1, 1}, MTU: 1500}, {Name: "1/2", MAC: [6]byte{2, 0, 0, 0, 2, 1}, MTU: 1500}}
	w, err := New(Options{Queue: q, Ports: ports, Flows: entries, FlowName: "sluice-flows-bench", Populate: true, Huge: huge})
	if err != nil {
		b.Fatal(err)
	}
	c := &api.Config{
		Addresses: []api.Address{{IP: netip.MustParseAddr("10.1.0.50"), Kind: api.OwnVIP}},
		Vservers:  []api.Vserver{{ID: 1, Name: "v", Proto: api.ProtoTCP, IP: netip.MustParseAddr("10.1.0.50"), Port: 80, Method: api.RoundRobin, ClientTimeout: 9000}},
	}
	h := &api.Health{}
	n := &api.Neighbors{Entries: []api.Neighbor{{Port: 0, IP: netip.MustParseAddr("10.1.0.1"), MAC: [6]byte{2, 9}}}}
	for i := range 64 {
		c.SNIPs = append(c.SNIPs, api.SNIP{ID: uint32(i + 1), IP: netip.AddrFrom4([4]byte{10, 2, 1, byte(i + 1)}), PortLo: 1024, PortHi: 59999})
	}
	for i := range 16 {
		id := uint32(i + 1)
		s := api.Service{ID: id, Name: fmt.Sprint("s", id), Proto: api.ProtoTCP, IP: netip.AddrFrom4([4]byte{10, 2, 0, byte(10 + i)}), Port: 80, ServerTimeout: 9000}
		for k := range c.SNIPs {
			s.SNIPs = append(s.SNIPs, uint32(k+1))
		}
		c.Services = append(c.Services, s)
		c.Vservers[0].Bindings = append(c.Vservers[0].Bindings, api.Binding{Service: id, Weight: 1})
		h.Up = append(h.Up, id)
		n.Entries = append(n.Entries, api.Neighbor{Port: 1, IP: s.IP, MAC: [6]byte{2, 8, 0, 0, 0, byte(i)}})
	}
	set, err := table.Build(&api.Tables{Config: c, Health: h, Neighbors: n, FIB: &api.FIB{Routes: []api.Route{
		{Prefix: netip.MustParsePrefix("10.2.0.0/16"), Port: 1}, {Prefix: netip.MustParsePrefix("0.0.0.0/0"), Gateway: netip.MustParseAddr("10.1.0.1")}}}}, w.Tables())
	if err != nil {
		b.Fatal(err)
	}
	w.Publish(set)
	y := &yard{q: q, w: w, mbufs: make([]uintptr, batch)}
	b.Cleanup(func() {
		w.Close()
		q.Close()
	})
	return y
}

// yards counts them: DPDK wants a new name each time.
var yards int

var base = packet.Frame{Dst: [6]byte{2, 0, 0, 0, 1, 1}, Src: [6]byte{2, 9}, DstIP: [4]byte{10, 1, 0, 50}, DstPort: 80}

// feed queues a batch of frames of the flows that next names.
func (y *yard) feed(b *testing.B, flags uint8, next func() uint32) {
	if err := y.q.Alloc(y.mbufs); err != nil {
		b.Fatal(err)
	}
	f := base
	f.Flags, f.SrcIP, f.SrcPort = flags, [4]byte{20, 0, 0, 0}, 1024
	proto := f.Bytes()
	for _, m := range y.mbufs {
		n := next()
		d := unsafe.Slice((*byte)(port.Ptr(port.Data(m))), 64)
		copy(d, proto)
		// 256 ports a client; both checksums are patched as a rewrite would.
		ip, sport := n>>8, 1024+n&0xff
		binary.BigEndian.PutUint32(d[26:], 20<<24|ip)
		binary.BigEndian.PutUint16(d[34:], uint16(sport))
		delta := packet.Delta32(packet.Addr4([4]byte{20}), packet.Swap32(20<<24|ip))
		binary.LittleEndian.PutUint16(d[24:], packet.Patch(binary.LittleEndian.Uint16(d[24:]), packet.Fold(delta)))
		delta += packet.Delta32(uint32(packet.Swap16(1024)), uint32(packet.Swap16(uint16(sport))))
		binary.LittleEndian.PutUint16(d[50:], packet.Patch(binary.LittleEndian.Uint16(d[50:]), packet.Fold(delta)))
		port.SetLen(m, 60)
	}
	if n := y.q.Feed(0, y.mbufs); n != batch {
		b.Fatalf("only %d packets fit", n)
	}
}

// run polls the batch through and returns the cycles a packet.
func (y *yard) run() float64 {
	done := 0
	t0 := asm.Rdtsc()
	for done < batch {
		done += y.w.Poll()
	}
	c := asm.Rdtsc() - t0
	y.w.Poll()
	return float64(c) / batch
}

// handshake opens flows [from, from+batch) modulo flows to the end: SYN, the servers' SYN-ACK, ACK.
func (y *yard) handshake(b *testing.B, from, flows uint32) {
	i := from
	next := func() uint32 { i++; return (i - 1) % flows }
	y.feed(b, packet.SYN, next)
	y.run()
	n := y.q.Drain(2, y.mbufs)
	for _, m := range y.mbufs[:n] {
		d := unsafe.Slice((*byte)(port.Ptr(port.Data(m))), 64)
		var t [12]byte
		copy(t[:], d[26:38])
		copy(d[26:], t[4:8])
		copy(d[30:], t[0:4])
		copy(d[34:], t[10:12])
		copy(d[36:], t[8:10])
		copy(d, y.w.opt.Ports[1].MAC[:])
		d[47] = packet.SYN | packet.ACK
		delta := packet.Delta32(uint32(packet.SYN)<<8, uint32(packet.SYN|packet.ACK)<<8)
		binary.LittleEndian.PutUint16(d[50:], packet.Patch(binary.LittleEndian.Uint16(d[50:]), packet.Fold(delta)))
	}
	if y.q.Feed(2, y.mbufs[:n]) != batch {
		b.Fatalf("%d SYNs were forwarded", n)
	}
	y.run()
	if n := y.q.Drain(0, y.mbufs); n != batch {
		b.Fatalf("%d answers were forwarded", n)
	}
	y.q.Release(y.mbufs)
	i = from
	y.feed(b, packet.ACK, next)
	y.run()
	y.drain()
}

// drain empties the far ends and returns how many packets left by the servers' port.
func (y *yard) drain() int {
	n := y.q.Drain(2, y.mbufs)
	y.q.Release(y.mbufs[:n])
	return n
}

func BenchmarkEstablished(b *testing.B) {
	for _, flows := range []uint32{1, 10000, 1000000} {
		b.Run(fmt.Sprint(flows), func(b *testing.B) {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			y := newYard(b, 4<<20)
			n := uint32(0)
			for ; n < flows; n += batch {
				y.handshake(b, n, flows)
			}
			x := uint32(1)
			pick := func() uint32 { x = x*1664525 + 1013904223; return uint32(uint64(x) * uint64(flows) >> 32) }
			var cycles []float64
			b.ResetTimer()
			for range b.N {
				y.feed(b, packet.ACK, pick)
				cycles = append(cycles, y.run())
				if got := y.drain(); got != batch {
					b.Fatalf("%d of %d packets were forwarded", got, batch)
				}
			}
			slices.Sort(cycles)
			b.ReportMetric(cycles[len(cycles)/2], "cycles/packet")
			b.ReportMetric(cycles[0], "best")
		})
	}
}

func BenchmarkNewFlow(b *testing.B) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	y := newYard(b, 8<<20)
	n := uint32(0)
	next := func() uint32 { n++; return n - 1 }
	for n < 1000000 {
		y.feed(b, packet.SYN, next)
		y.run()
		y.drain()
	}
	var cycles []float64
	b.ResetTimer()
	for range b.N {
		y.feed(b, packet.SYN, next)
		cycles = append(cycles, y.run())
		if got := y.drain(); got != batch {
			b.Fatalf("%d of %d packets were forwarded", got, batch)
		}
	}
	slices.Sort(cycles)
	b.ReportMetric(cycles[len(cycles)/2], "cycles/packet")
	b.ReportMetric(cycles[0], "best")
}
