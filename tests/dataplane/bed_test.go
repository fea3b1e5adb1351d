package dataplane

import (
	"fmt"
	"net/netip"
	"sort"
	"strings"
	"testing"

	"sluice/dataplane/api"
	"sluice/dataplane/packet"
	"sluice/dataplane/port"
	"sluice/dataplane/table"
	"sluice/dataplane/worker"
)

// The lanes of the test bed: two ports, each with a NIC and its twin.
const (
	nic1 = iota
	twin1
	nic2
	twin2
	lanes
)

type (
	mac = [6]byte
	ip4 = [4]byte
)

// Who is where: clients and a gateway on port 1, servers on port 2.
var (
	mac1 = mac{2, 0, 0, 0, 1, 1} // of our ports
	mac2 = mac{2, 0, 0, 0, 2, 1}

	clientMAC  = mac{2, 0xc1, 0, 0, 0, 100}
	gatewayMAC = mac{2, 0xc1, 0, 0, 0, 1}
	otherMAC   = mac{2, 0xee, 0, 0, 0, 1}
	broadcast  = mac{0xff, 0xff, 0xff, 0xff, 0xff, 0xff}

	client  = ip4{10, 1, 0, 100}
	remote  = ip4{192, 0, 2, 7} // behind the gateway
	snip1   = ip4{10, 1, 0, 5}
	snip2   = ip4{10, 2, 0, 5}
	vip     = ip4{10, 1, 0, 50}
	vipAny  = ip4{10, 1, 0, 51}
	vipMute = ip4{10, 1, 0, 55} // answers neither ARP nor ping, and nobody listens there
	server1 = ip4{10, 2, 0, 11}
	server2 = ip4{10, 2, 0, 12}
	server3 = ip4{10, 2, 0, 13}
	lost    = ip4{10, 2, 0, 99}  // a server that does not answer ARP
	beyond  = ip4{172, 16, 0, 1} // a server without a route
)

func serverMAC(ip ip4) mac { return mac{2, 0x53, ip[0], ip[1], ip[2], ip[3]} }

// Ports of the vservers on vip.
const (
	webPort   = 80
	dnsPort   = 53
	keepPort  = 81 // usip, the client's port
	proxyPort = 82 // usip, a port of ours
	downPort  = 83 // no service is up
	lostPort  = 84 // the server does not answer ARP
	awayPort  = 85 // the server has no route
	fewPort   = 86 // two source ports only
	leastPort = 87 // least connections over web1 and web2
	noSNIP    = 88 // no source address
	hashPort  = 90 // by the source address over web1, web2 and web3
)

// wire is ports whose far ends the test holds.
type wire interface {
	Queue(worker int) port.Queue
	InjectTo(worker, lane int, parts ...[]byte) error
	Sent(lane int) [][]byte
	PoolFree() int
}

// bedSessions is how many clients the workers of a bed remember.
const bedSessions = 400

// crew is how many workers a bed has, and who of them receives the frames of a step: always the same one, or each in turn.
type crew struct {
	workers, to int
	turns       bool
}

var alone = crew{workers: 1}

// crews are those that rows are played with: all frames come to the first, to the last, or to another one with each step, so that
// packets of every flow come to its owner and to others.
var crews = []crew{alone, {2, 0, false}, {2, 1, false}, {2, 0, true}, {4, 0, false}, {4, 3, false}, {4, 0, true}}

func (c crew) String() string {
	if c.turns {
		return fmt.Sprintf("%d workers in turn", c.workers)
	}
	return fmt.Sprintf("%d of %d workers", c.to, c.workers)
}

// ends are the test's ends of a wire, whose frames come to the worker whom the crew says.
type ends struct {
	wire
	crew
}

// Inject queues a frame to be received on a lane.
func (e *ends) Inject(lane int, frame []byte) error { return e.InjectTo(e.to, lane, frame) }

// bed is workers between test ends, with a clock that stands until it is moved.
type bed struct {
	t     testing.TB
	w     *worker.Worker // the first
	ws    []*worker.Worker
	mesh  *worker.Mesh
	q     *ends
	clock uint64 // ticks of 1/10 s
	pool  int    // free buffers at the start
	ports map[uint16]uint16
	sport uint16 // source ports that goesToWWW has used
}

func addr(a ip4) netip.Addr { return netip.AddrFrom4(a) }

// config is the configuration of every row.
func config() *api.Config {
	c := &api.Config{
		Version: 1,
		Addresses: []api.Address{
			{IP: addr(vip), Kind: api.OwnVIP, ARP: true, ICMP: true}, {IP: addr(vipAny), Kind: api.OwnVIP, ARP: true, ICMP: true},
			{IP: addr(vipMute), Kind: api.OwnVIP}, {IP: addr(snip1), Kind: api.OwnSNIP}, {IP: addr(snip2), Kind: api.OwnSNIP},
		},
		SNIPs: []api.SNIP{{ID: 1, IP: addr(snip2), PortLo: 1024, PortHi: 59999}, {ID: 2, IP: addr(snip2), PortLo: 40000, PortHi: 40001}},
	}
	service := func(id uint32, name string, proto uint8, ip ip4, port uint16, snips ...uint32) {
		c.Services = append(c.Services, api.Service{ID: id, Name: name, Proto: proto, IP: addr(ip), Port: port, SNIPs: snips, ServerTimeout: 360})
	}
	vserver := func(id uint32, name string, proto uint8, ip ip4, port uint16, services ...uint32) {
		v := api.Vserver{ID: id, Name: name, Proto: proto, IP: addr(ip), Port: port, Method: api.RoundRobin, ClientTimeout: 180}
		for _, s := range services {
			v.Bindings = append(v.Bindings, api.Binding{Service: s, Weight: 1})
		}
		c.Vservers = append(c.Vservers, v)
	}
	service(1, "web1", api.ProtoTCP, server1, 8001, 1)
	service(2, "web2", api.ProtoTCP, server2, 8002, 1)
	service(3, "web3", api.ProtoTCP, server3, 8003, 1)
	service(4, "dns1", api.ProtoUDP, server1, 53, 1)
	service(5, "any1", api.ProtoAny, server1, 0, 1)
	service(6, "keep", api.ProtoTCP, server1, 80)
	service(7, "proxy", api.ProtoTCP, server1, 80)
	service(8, "down", api.ProtoTCP, server1, 80, 1)
	service(9, "lost", api.ProtoTCP, lost, 80, 1)
	service(10, "away", api.ProtoTCP, beyond, 80, 1)
	service(11, "few", api.ProtoTCP, server1, 80, 2)
	service(12, "bare", api.ProtoTCP, server1, 80)
	c.Services[5].UseSourceIP = true
	c.Services[6].UseSourceIP, c.Services[6].UseProxyPort = true, true
	vserver(1, "www", api.ProtoTCP, vip, webPort, 1, 2, 3)
	vserver(2, "dns", api.ProtoUDP, vip, dnsPort, 4)
	vserver(3, "any", api.ProtoAny, vipAny, 0, 5)
	vserver(4, "keep", api.ProtoTCP, vip, keepPort, 6)
	vserver(5, "proxy", api.ProtoTCP, vip, proxyPort, 7)
	vserver(6, "down", api.ProtoTCP, vip, downPort, 8)
	vserver(7, "lost", api.ProtoTCP, vip, lostPort, 9)
	vserver(8, "away", api.ProtoTCP, vip, awayPort, 10)
	vserver(9, "few", api.ProtoTCP, vip, fewPort, 11)
	vserver(10, "least", api.ProtoTCP, vip, leastPort, 1, 2)
	vserver(11, "bare", api.ProtoTCP, vip, noSNIP, 12)
	vserver(12, "hash", api.ProtoTCP, vip, hashPort, 1, 2, 3)
	c.Vservers[9].Method, c.Vservers[11].Method = api.LeastConnection, api.SourceIPHash
	return c
}

var allUp = []uint32{1, 2, 3, 4, 5, 6, 7, 9, 10, 11, 12}

func neighborList() []api.Neighbor {
	list := []api.Neighbor{{Port: 0, IP: addr(client), MAC: clientMAC}, {Port: 0, IP: netip.MustParseAddr("10.1.0.1"), MAC: gatewayMAC}}
	for _, s := range []ip4{server1, server2, server3} {
		list = append(list, api.Neighbor{Port: 1, IP: addr(s), MAC: serverMAC(s)})
	}
	return list
}

// tables are everything a dataplane of the test bed is told.
func tables() *api.Tables {
	return &api.Tables{
		Config: config(),
		Health: &api.Health{Version: 1, Up: allUp},
		FIB: &api.FIB{Version: 1, Routes: []api.Route{
			{Prefix: netip.MustParsePrefix("10.1.0.0/24"), Port: 0}, {Prefix: netip.MustParsePrefix("10.2.0.0/24"), Port: 1},
			{Prefix: netip.MustParsePrefix("192.0.2.0/24"), Port: 0, Gateway: netip.MustParseAddr("10.1.0.1")},
		}},
		Neighbors: &api.Neighbors{Version: 1, Entries: neighborList()},
	}
}

// newBed starts a worker on q with a table of the given number of flow entries.
func newBed(t testing.TB, q wire, entries int) *bed { return newCrew(t, q, alone, entries) }

// newCrew starts workers on q that share a number of flow entries.
func newCrew(t testing.TB, q wire, c crew, entries int) *bed {
	t.Helper()
	b := &bed{t: t, q: &ends{q, c}, pool: q.PoolFree(), ports: map[uint16]uint16{}}
	if c.workers > 1 {
		mesh, err := worker.NewMesh(c.workers)
		if err != nil {
			t.Fatal(err)
		}
		b.mesh = mesh
	}
	for i := range c.workers {
		w, err := worker.New(worker.Options{
			ID: i, Mesh: b.mesh, Queue: q.Queue(i), Flows: entries / c.workers, Sessions: bedSessions, FlowName: fmt.Sprint("sluice-flows-test", i),
			Ports:  []table.Port{{Name: "1/1", MAC: mac1, MTU: 1500}, {Name: "1/2", MAC: mac2, MTU: 1500}},
			Cycles: func() uint64 { return b.clock }, Hz: table.TicksPerSecond,
			Seed: uint64(i) + 1, // with random ports one checksum of 65,536 would be by chance what an unfinished one is
		})
		if err != nil {
			t.Fatal(err)
		}
		b.ws = append(b.ws, w)
	}
	b.w = b.ws[0]
	first := tables()
	first.Config.SNIPs[1].PortHi = first.Config.SNIPs[1].PortLo + uint16(2*c.workers) - 1 // two ports for each worker
	b.apply(first)
	return b
}

// apply builds new tables on the old ones, publishes them and frees what was replaced, as the control goroutine does.
func (b *bed) apply(tab *api.Tables) {
	b.t.Helper()
	old := b.w.Tables()
	s, err := table.Build(tab, old)
	if err != nil {
		b.t.Fatal(err)
	}
	own := make([]*table.Set, len(b.ws)) // before the first tables each has its own empty set
	tickets := make([]uint64, len(b.ws))
	for i, w := range b.ws {
		own[i] = w.Tables()
		tickets[i] = w.Publish(s)
	}
	b.turns()
	for i, w := range b.ws {
		if !w.Passed(tickets[i]) {
			b.t.Fatal("a worker did not pass a burst boundary")
		}
		if i == 0 || own[i] != old {
			own[i].Free(s)
		}
	}
}

// turns lets the workers work off what is waiting and send it.
func (b *bed) turns() {
	for idle := 0; idle < 4; idle++ {
		for _, w := range b.ws {
			if w.Poll() != 0 {
				idle = -1
			}
		}
	}
	if b.q.turns {
		b.q.to = (b.q.to + 1) % b.q.workers
	}
}

// pass moves the clock by seconds, a tick at a time.
func (b *bed) pass(seconds float64) {
	for range int(seconds * table.TicksPerSecond) {
		b.clock++
		b.turns()
	}
}

// close ends the workers: every packet buffer must be back.
func (b *bed) close() {
	b.t.Helper()
	last := b.w.Tables()
	for l := range lanes {
		b.q.Sent(l)
	}
	for _, w := range b.ws {
		if err := w.Close(); err != nil {
			b.t.Error(err)
		}
	}
	if b.mesh != nil {
		if err := b.mesh.Close(); err != nil {
			b.t.Error(err)
		}
	}
	last.Free(nil)
	for l := range lanes {
		b.q.Sent(l)
	}
	if got := b.q.PoolFree(); got != b.pool {
		b.t.Errorf("%d packet buffers of %d are lost", b.pool-got, b.pool)
	}
	if m, ok := b.q.wire.(*port.Memory); ok && m.Err() != nil {
		b.t.Error(m.Err())
	}
}

// counters are all counters that are not 0, by name.
func (b *bed) counters() map[string]uint64 {
	got := map[string]uint64{}
	for _, c := range b.stats().Counters {
		if c.Value != 0 {
			got[c.Name] = c.Value
		}
	}
	return got
}

func (b *bed) stats() api.Stats {
	var s api.Stats
	for _, w := range b.ws {
		w.Stats(&s)
	}
	return s
}

// sum adds up a figure of all workers.
func sum(s api.Stats, of func(*api.WorkerStats) uint64) (n uint64) {
	for i := range s.Workers {
		n += of(&s.Workers[i])
	}
	return n
}

func flowsOf(w *api.WorkerStats) uint64   { return w.Flows }
func packetsOf(w *api.WorkerStats) uint64 { return w.Packets }
func handedOf(w *api.WorkerStats) uint64  { return w.HandedOver }

func takenOf(w *api.WorkerStats) uint64 { return w.TakenOver }

// event is the oldest event that no worker's reader has seen.
func (b *bed) event() (api.Event, bool) {
	for _, w := range b.ws {
		if e, ok := w.NextEvent(); ok {
			return e, true
		}
	}
	return api.Event{}, false
}

// Symbols stand for source ports that the worker chose: what a frame shows first is what it means from then on.
const (
	q1 = uint16(iota + 1)
	q2
	q3
	q4
	lastSymbol
)

// mean replaces symbols by what they stand for.
func (b *bed) mean(p uint16) uint16 {
	if v, ok := b.ports[p]; ok {
		return v
	}
	return p
}

func (b *bed) resolve(f packet.Frame) packet.Frame {
	f.SrcPort, f.DstPort = b.mean(f.SrcPort), b.mean(f.DstPort)
	return f
}

// bind learns the symbols of f that are new from a frame on the wire.
func (b *bed) bind(f packet.Frame, got []byte) {
	ether, l3 := packet.Ether(got).Split()
	if ether != packet.EtherIPv4 || len(l3) < 24 || f.SrcPort == 0 || f.SrcPort >= lastSymbol {
		return
	}
	if _, known := b.ports[f.SrcPort]; !known {
		b.ports[f.SrcPort] = uint16(l3[20])<<8 | uint16(l3[21])
	}
}

// diff describes two frames that should be equal.
func diff(got, want []byte) string {
	var s strings.Builder
	fmt.Fprintf(&s, "got  %s\nwant %s", describe(got), describe(want))
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) || got[i] != want[i] {
			fmt.Fprintf(&s, "\nthey differ from byte %d on (%d and %d bytes)", i, len(got), len(want))
			break
		}
	}
	return s.String()
}

// describe says what a frame is, for people.
func describe(f []byte) string {
	if len(f) < packet.EtherLen {
		return fmt.Sprintf("%x", f)
	}
	e := packet.Ether(f)
	s := fmt.Sprintf("%x > %x", e.Src(), e.Dst())
	if tci, ok := e.Tag(); ok {
		s += fmt.Sprintf(" vlan %d", tci)
	}
	ether, l3 := e.Split()
	if ether != packet.EtherIPv4 || len(l3) < 20 {
		return fmt.Sprintf("%s type %04x %x", s, ether, l3)
	}
	h := packet.IPv4(l3)
	s += fmt.Sprintf(" %v > %v ttl %d proto %d sum %04x", addr(h.Src()), addr(h.Dst()), h.TTL(), h.Proto(), h.Sum())
	if h.HeaderLen() < 20 || h.HeaderLen() > len(l3) {
		return s
	}
	return fmt.Sprintf("%s %x", s, l3[h.HeaderLen():])
}

// sameCounters compares counters exactly, whatever is not named must be 0.
func sameCounters(got, want map[string]uint64) string {
	var names []string
	for n := range got {
		names = append(names, n)
	}
	for n := range want {
		if _, ok := got[n]; !ok {
			names = append(names, n)
		}
	}
	sort.Strings(names)
	var s []string
	for _, n := range names {
		if got[n] != want[n] {
			s = append(s, fmt.Sprintf("%s is %d, not %d", n, got[n], want[n]))
		}
	}
	return strings.Join(s, "; ")
}

// limit makes a lane take at most n packets a turn.
func limit(b *bed, lane, n int) {
	b.q.wire.(*port.Memory).LimitTx(lane, n)
}
