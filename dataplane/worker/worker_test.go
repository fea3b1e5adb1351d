package worker

import (
	"math/rand/v2"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"sluice/dataplane/api"
	"sluice/dataplane/packet"
	"sluice/dataplane/port"
	"sluice/dataplane/table"
)

var (
	testMAC   = [6]byte{2, 0, 0, 0, 1, 1}
	testPorts = []table.Port{{Name: "1/1", MAC: testMAC, MTU: 1500}, {Name: "1/2", MAC: [6]byte{2, 0, 0, 0, 2, 1}, MTU: 9000}}
)

// memoryWorker is a worker on memory ports whose clock stands at *clock.
func memoryWorker(t testing.TB, pool int, clock *uint64) (*Worker, *port.Memory) {
	t.Helper()
	q, err := port.NewMemory(4, pool)
	if err != nil {
		t.Fatal(err)
	}
	w, err := New(Options{Queue: q, Ports: testPorts, Flows: 1 << 14, FlowName: "sluice-flows-test", Cycles: func() uint64 { return *clock }, Hz: 10})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
		q.Close()
	})
	return w, q
}

// oneVserver publishes a UDP vserver on 10.1.0.50 port 53 over one service.
func oneVserver(t testing.TB, w *Worker) {
	t.Helper()
	ip := netip.MustParseAddr
	s, err := table.Build(&api.Tables{
		Config: &api.Config{Version: 1, Addresses: []api.Address{{IP: ip("10.1.0.50"), Kind: api.OwnVIP, ARP: true, ICMP: true}},
			SNIPs:    []api.SNIP{{ID: 1, IP: ip("10.2.0.5"), PortLo: 1024, PortHi: 59999}},
			Services: []api.Service{{ID: 1, Name: "s", Proto: api.ProtoUDP, IP: ip("10.2.0.11"), Port: 53, SNIPs: []uint32{1}}},
			Vservers: []api.Vserver{{ID: 1, Name: "v", Proto: api.ProtoUDP, IP: ip("10.1.0.50"), Port: 53, Method: api.RoundRobin, Bindings: []api.Binding{{Service: 1, Weight: 1}}}}},
		Health:    &api.Health{Up: []uint32{1}},
		FIB:       &api.FIB{Routes: []api.Route{{Prefix: netip.MustParsePrefix("10.2.0.0/16"), Port: 1}}},
		Neighbors: &api.Neighbors{Entries: []api.Neighbor{{Port: 1, IP: ip("10.2.0.11"), MAC: [6]byte{2, 5}}}},
	}, w.Tables())
	if err != nil {
		t.Fatal(err)
	}
	w.Publish(s)
}

func query(sport uint16) packet.Frame {
	return packet.Frame{Dst: testMAC, Src: [6]byte{2, 9}, SrcIP: [4]byte{10, 1, 0, 9}, DstIP: [4]byte{10, 1, 0, 50}, Proto: packet.ProtoUDP,
		SrcPort: sport, DstPort: 53, Payload: []byte("a question")}
}

// TestBurstAllocatesNothing runs bursts of everything: known and new flows, what is answered, punted and dropped.
func TestBurstAllocatesNothing(t *testing.T) {
	var clock uint64
	w, q := memoryWorker(t, 8192, &clock)
	oneVserver(t, w)
	other := query(1)
	other.DstIP = [4]byte{10, 2, 0, 99}
	const runs = 100
	for i := range runs + 1 {
		for k := range packet.Burst {
			f := query(uint16(1000 + k%8)).Bytes()
			switch k {
			case 1:
				f = query(uint16(3000 + i)).Bytes()
			case 2:
				f = packet.Frame{Dst: [6]byte{255, 255, 255, 255, 255, 255}}.ARP(packet.ARPRequestOp, [6]byte{2, 9}, [4]byte{10, 1, 0, 9}, [6]byte{}, [4]byte{10, 1, 0, 50})
			case 3:
				f = f[:20]
			case 4:
				f = other.Bytes()
			case 5:
				f[12] = 0x86
			}
			if err := q.Inject(0, f); err != nil {
				t.Fatal(err)
			}
		}
	}
	if n := testing.AllocsPerRun(runs, func() { clock++; w.Poll() }); n != 0 {
		t.Errorf("%v allocations a burst", n)
	}
	var s api.Stats
	w.Stats(&s)
	if s.Workers[0].Packets != (runs+1)*packet.Burst || s.Vservers[0].Flows < runs {
		t.Errorf("the bursts were not what they should be: %+v %+v", s.Workers[0], s.Vservers[0])
	}
}

// randomFrame is a valid frame, most often with some bytes changed and sometimes cut.
func randomFrame(r *rand.Rand) []byte {
	f := packet.Frame{Dst: testMAC, Src: [6]byte{2, 9}, SrcIP: [4]byte{10, 0, 0, byte(r.IntN(4))}, DstIP: [4]byte{10, 1, 0, 50},
		SrcPort: uint16(r.IntN(65536)), DstPort: 80, TTL: uint8(r.IntN(4)), Payload: make([]byte, r.IntN(40)), Short: r.IntN(2) == 0}
	switch r.IntN(6) {
	case 0, 1:
		f.Proto = packet.ProtoUDP
	case 2:
		f.Proto = 47
	case 3:
		f.Tags = []uint16{3}
	case 4:
		f.Payload = make([]byte, 1440+r.IntN(40))
	}
	b := f.Bytes()
	for range r.IntN(3) {
		b[r.IntN(min(len(b), 60))] = byte(r.IntN(256))
	}
	if r.IntN(8) == 0 {
		b = b[:r.IntN(len(b))+1]
	}
	return b
}

// TestKeysAgreeWithParse compares the loop over bare packets with packet.Parse: it must take all that it may and nothing else,
// and find the same key and slot.
func TestKeysAgreeWithParse(t *testing.T) {
	var clock uint64
	w, q := memoryWorker(t, 64, &clock)
	r := rand.New(rand.NewPCG(1, 2))
	w.mac = packet.MAC(testMAC)
	bare := 0
	for range 4000 {
		for range packet.Burst {
			if f := randomFrame(r); r.IntN(20) == 0 && len(f) > 1 {
				q.InjectSegments(0, f[:len(f)/2], f[len(f)/2:])
			} else {
				q.Inject(0, f)
			}
		}
		q.Turn(w.x)
		n := int(w.x.RxN)
		parse(w, w.set, w.pk[:n])
		for i := range n {
			got := w.pk[i]
			w.inspect(i)
			want := &w.pk[i]
			is := w.bare>>i&1 != 0
			plain := want.Class == packet.ClassPlain && want.Flags&^packet.FlagSegmented == 0 && want.DstMAC() == w.mac && want.Len >= 54 && want.Len <= 1514
			switch {
			case plain && !is && want.L4Len() <= want.Len-uint16(want.L4):
				t.Fatalf("a plain packet is not bare: % x", want.Bytes())
			case is && want.DstMAC() != w.mac:
				t.Fatalf("a packet that is not for us is bare: % x", want.Bytes())
			case is && want.Class != packet.ClassPlain && want.Class != packet.ClassOtherIP && want.Class != packet.ClassICMP &&
				want.Reason != packet.DropBadL4Header:
				t.Fatalf("a packet of class %d (%v) is bare: % x", want.Class, want.Reason, want.Bytes())
			case plain && (got.A != want.A || got.B != want.B || got.Bucket != want.Bucket || got.Data != want.Data || got.Mbuf != want.Mbuf):
				t.Fatalf("keys say %+v, Parse says %+v", got, *want)
			case plain:
				bare++
			}
			w.x.Free[w.x.FreeN] = w.x.Rx[i]
			w.x.FreeN++
		}
	}
	if bare < 20000 {
		t.Errorf("only %d of 128000 packets were bare", bare)
	}
}

func TestPatchIsPacketsPatch(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for k := range 100 {
		delta := uint16(r.IntN(65536))
		if k < 4 {
			delta = [4]uint16{0, 1, 0xfffe, 0xffff}[k]
		}
		for sum := range 1 << 16 {
			if got, want := patch(uint16(sum), delta), packet.Patch(uint16(sum), delta); got != want {
				t.Fatalf("patch(%#x, %#x) is %#x, not %#x", sum, delta, got, want)
			}
		}
	}
}

func TestEventsAreBoundedAndInOrder(t *testing.T) {
	var clock uint64
	w, _ := memoryWorker(t, 8, &clock)
	if _, ok := w.NextEvent(); ok {
		t.Fatal("an event out of nothing")
	}
	for round := range uint32(3) {
		n := uint32(0)
		for w.wanted(1, round<<16|n) {
			n++
		}
		if n != eventRoom {
			t.Fatalf("%d events fit", n)
		}
		for i := range n {
			e, ok := w.NextEvent()
			if !ok || e.Kind != api.NeighborWanted || e.Port != 1 || e.IP != table.Addr(round<<16|i) {
				t.Fatalf("event %d of round %d is %+v", i, round, e)
			}
		}
	}
}

func TestClockCatchesUp(t *testing.T) {
	var c clock
	c.start(1000, 100) // 10 cycles a tick
	for _, tc := range []struct {
		at   uint64
		want uint32
	}{{1010, 1}, {1019, 0}, {1020, 1}, {1059, 3}, {1_001_060, 100001}} {
		got := uint32(0)
		if tc.at >= c.next {
			got = c.advance(tc.at)
		}
		if got != tc.want {
			t.Errorf("at %d: %d ticks, not %d", tc.at, got, tc.want)
		}
	}
}

// TestBusyLaneLeavesTurnsToOthers: a lane that always has a full burst is left after a streak.
func TestBusyLaneLeavesTurnsToOthers(t *testing.T) {
	var clock uint64
	w, q := memoryWorker(t, 2048, &clock)
	for range 4 * streak * packet.Burst {
		q.Inject(0, []byte("not a frame of ours at all"))
	}
	q.Inject(3, []byte("from the kernel"))
	turns := 0
	for len(q.Sent(2)) == 0 {
		if turns++; turns > streak+3 {
			t.Fatalf("lane 3 had no turn in %d", turns)
		}
		w.Poll()
	}
	if turns <= streak {
		t.Errorf("lane 0 was left after %d turns already", turns)
	}
}

func TestNewRefusesInWords(t *testing.T) {
	q, err := port.NewMemory(2, 8)
	if err != nil {
		t.Fatal(err)
	}
	defer q.Close()
	for _, tc := range []struct {
		name string
		o    Options
		says string
	}{
		{"no queue", Options{}, "needs a queue"},
		{"too few lanes", Options{Queue: q, Ports: testPorts}, "2 ports do not fit a queue of 2 lanes"},
		{"no port", Options{Queue: q}, "0 ports"},
		{"MTU", Options{Queue: q, Ports: []table.Port{{Name: "1/1", MTU: 60}}, Hz: 1}, "port 1/1 has an MTU of 60"},
	} {
		w, err := New(tc.o)
		if err == nil || w != nil || !strings.Contains(err.Error(), tc.says) {
			t.Errorf("%s: %v", tc.name, err)
		}
	}
}

// sleepy counts how often the worker sleeps.
type sleepy struct {
	*port.Memory
	waits atomic.Int64
}

func (s *sleepy) Wait(int) { s.waits.Add(1); time.Sleep(time.Millisecond) }

// TestRunSleepsUnlessBusy also reads every figure while the worker runs and has it change tables.
func TestRunSleepsUnlessBusy(t *testing.T) {
	for _, busy := range []bool{false, true} {
		m, err := port.NewMemory(4, 64)
		if err != nil {
			t.Fatal(err)
		}
		q := &sleepy{Memory: m}
		w, err := New(Options{Queue: q, Ports: testPorts, Flows: 64, FlowName: "sluice-flows-test", Busy: busy})
		if err != nil {
			t.Fatal(err)
		}
		var stop atomic.Bool
		done := make(chan struct{})
		go func() { w.Run(&stop); close(done) }()
		oneVserver(t, w)
		ticket := w.Publish(w.Tables())
		m.Discard(2)
		for range 200 {
			m.Inject(0, query(7).Bytes())
			var s api.Stats
			w.Stats(&s)
			w.NextEvent()
			time.Sleep(100 * time.Microsecond)
		}
		if !w.Passed(ticket) || w.Passed(ticket+1) {
			t.Error("the worker did not tell which tables it uses")
		}
		stop.Store(true)
		w.Wake()
		<-done
		var s api.Stats
		w.Stats(&s)
		if slept := q.waits.Load(); (slept == 0) != busy || s.Workers[0].Sleeps != uint64(slept) {
			t.Errorf("busy %v: slept %d times, counted %d", busy, slept, s.Workers[0].Sleeps)
		}
		if s.Vservers[0].PacketsIn == 0 || s.Workers[0].Polls == 0 {
			t.Errorf("nothing was forwarded: %+v", s.Vservers[0])
		}
		if err := w.Close(); err != nil {
			t.Error(err)
		}
		m.Close()
	}
}
