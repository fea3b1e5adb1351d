package dataplane

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"

	"sluice/dataplane/packet"
)

// model is a naive NAT: maps and whole frames built anew. It knows what the dataplane may choose (source ports) only from what
// comes out, and checks that nothing is chosen twice.
type model struct {
	t     *testing.T
	turn  map[uint16]int      // next service of a round robin vserver, by port
	flows map[client5]*nat    // by what the client sends
	taken map[string]*nat     // by what the server answers
	sent  map[uint64]expected // by number: frames on their way
	n     uint64
	want  map[string]uint64 // counters
	wait  map[client5]bool  // clients that have opened or ended a connection in this step: they send no more in it
}

type client5 struct {
	ip    ip4
	port  uint16
	proto uint8
	vip   ip4
	dport uint16
}

type nat struct {
	client  client5
	server  ip4
	sport   uint16 // of the server
	source  ip4    // what the server sees
	q       uint16 // 0: not known yet
	pool    bool
	fin     [2]bool // closed by the client, by the server
	rst     bool
	clients mac
}

type expected struct {
	lane  int
	flow  *nat
	frame packet.Frame // q still 0 if it is not known
}

// vservers of the model: services in turn, how the source is made.
var modelled = []struct {
	vip      ip4
	port     uint16
	proto    uint8
	services []struct {
		ip   ip4
		port uint16
	}
	keep, usip bool
}{
	{vip: vip, port: webPort, proto: packet.ProtoTCP, services: []struct {
		ip   ip4
		port uint16
	}{{server1, 8001}, {server2, 8002}, {server3, 8003}}},
	{vip: vip, port: dnsPort, proto: packet.ProtoUDP, services: []struct {
		ip   ip4
		port uint16
	}{{server1, 53}}},
	{vip: vip, port: keepPort, proto: packet.ProtoTCP, keep: true, usip: true, services: []struct {
		ip   ip4
		port uint16
	}{{server1, 80}}},
	{vip: vip, port: proxyPort, proto: packet.ProtoTCP, usip: true, services: []struct {
		ip   ip4
		port uint16
	}{{server1, 80}}},
}

// number puts the frame's number into its payload, so that it is found again wherever it comes out.
func (m *model) number(f *packet.Frame) uint64 {
	m.n++
	f.Payload = binary.BigEndian.AppendUint64([]byte("no. "), m.n)
	return m.n
}

// fromClient makes a packet of a client, if it may send one, and says what must come of it.
func (m *model) fromClient(r *rand.Rand) (packet.Frame, bool) {
	v := r.IntN(len(modelled))
	c := client5{ip: ip4{10, 1, 0, 100}, port: uint16(2000 + r.IntN(300)*37), proto: modelled[v].proto, vip: modelled[v].vip, dport: modelled[v].port}
	from := clientMAC
	if r.IntN(2) == 0 {
		c.ip, from = ip4{192, 0, 2, byte(r.IntN(40))}, gatewayMAC
	}
	if m.wait[c] {
		return packet.Frame{}, false
	}
	f := packet.Frame{Dst: mac1, Src: from, SrcIP: c.ip, DstIP: c.vip, SrcPort: c.port, DstPort: c.dport, Proto: c.proto, TTL: uint8(2 + r.IntN(250))}
	if c.proto == packet.ProtoTCP {
		f.Flags = []uint8{syn, ack, psh, psh, ack, fin, rst}[r.IntN(7)]
		m.wait[c] = f.Flags != ack && f.Flags != psh
	}
	f.Partial = r.IntN(10) == 0
	if r.IntN(10) == 0 {
		f.Tags = []uint16{uint16(r.IntN(4095))}
	}
	id := m.number(&f)
	n := m.flows[c]
	why := "forward-flow"
	if c.proto == packet.ProtoTCP && f.Flags == syn && (n == nil || n.over()) || c.proto == packet.ProtoUDP && n == nil {
		if n != nil {
			delete(m.taken, n.answer())
		}
		if n, why = m.open(v, c, from), "forward-new-flow"; n == nil {
			m.complete(f) // which comes first
			m.want["drop-tuple-in-use"]++
			return f, true
		}
	}
	if n == nil {
		m.want["drop-no-flow"]++
		return f, true
	}
	m.want[why]++
	n.see(0, f.Flags)
	out := f
	out.Dst, out.Src, out.SrcIP, out.SrcPort, out.DstIP, out.DstPort = serverMAC(n.server), mac2, n.source, n.q, n.server, n.sport
	m.sent[id] = expected{nic2, n, m.forwarded(f, out)}
	return f, true
}

// open chooses the service whose turn it is; nil if the way back is taken.
func (m *model) open(v int, c client5, from mac) *nat {
	s := modelled[v].services[m.turn[c.dport]%len(modelled[v].services)]
	m.turn[c.dport]++
	n := &nat{client: c, server: s.ip, sport: s.port, source: snip2, pool: !modelled[v].usip, clients: from}
	if modelled[v].usip {
		n.source = c.ip
	}
	if modelled[v].keep {
		n.q = c.port
		if m.taken[n.answer()] != nil { // the proxy vserver has chosen this very port for this client
			delete(m.flows, c)
			return nil
		}
		m.taken[n.answer()] = n
	}
	m.flows[c] = n
	return n
}

// over says whether the next SYN opens another connection.
func (n *nat) over() bool { return n.rst || n.fin[0] && n.fin[1] }

// see notes the flags of one side.
func (n *nat) see(side int, flags uint8) {
	n.fin[side] = n.fin[side] || flags&packet.FIN != 0
	n.rst = n.rst || flags&packet.RST != 0
}

func (n *nat) answer() string { return fmt.Sprint(n.server, n.sport, n.source, n.q, n.client.proto) }

// fromServer answers a random flow.
func (m *model) fromServer(r *rand.Rand) (packet.Frame, bool) {
	for _, n := range m.flows { // any will do
		if n.q == 0 || r.IntN(4) != 0 {
			continue
		}
		c := n.client
		f := packet.Frame{Dst: mac2, Src: serverMAC(n.server), SrcIP: n.server, SrcPort: n.sport, DstIP: n.source, DstPort: n.q, Proto: c.proto, TTL: 64}
		if c.proto == packet.ProtoTCP {
			f.Flags = []uint8{synack, ack, psh, fin}[r.IntN(4)]
		}
		n.see(1, f.Flags)
		f.Partial = r.IntN(10) == 0
		id := m.number(&f)
		out := f
		out.Dst, out.Src, out.SrcIP, out.SrcPort, out.DstIP, out.DstPort = n.clients, mac1, c.vip, c.dport, c.ip, c.port
		m.want["forward-flow"]++
		m.sent[id] = expected{nic1, n, m.forwarded(f, out)}
		return f, true
	}
	return packet.Frame{}, false
}

// forwarded is what frame in, translated to out, is one hop further.
func (m *model) forwarded(in, out packet.Frame) packet.Frame {
	m.complete(in)
	out.Partial = false
	out.TTL--
	return out
}

// complete counts a checksum that the dataplane has to finish. One whole checksum in 65536 looks like an unfinished one.
func (m *model) complete(in packet.Frame) {
	if bytes.Equal(in.Bytes(), partial(in).Bytes()) {
		m.want["checksum-completed"]++
	}
}

// check takes a frame that came out.
func (m *model) check(lane int, got []byte) {
	i := bytes.Index(got, []byte("no. "))
	if i < 0 {
		m.t.Fatalf("lane %d: a frame that nobody sent: %s", lane, describe(got))
	}
	id := binary.BigEndian.Uint64(got[i+4:])
	e, ok := m.sent[id]
	if !ok || e.lane != lane {
		m.t.Fatalf("frame %d came out on lane %d (%v): %s", id, lane, ok, describe(got))
	}
	delete(m.sent, id)
	if lane == nic2 && e.frame.SrcPort == 0 {
		if e.flow.q == 0 {
			m.learn(e.flow, got)
		}
		e.frame.SrcPort = e.flow.q
	}
	if want := e.frame.Bytes(); !bytes.Equal(got, want) {
		m.t.Fatalf("frame %d on lane %d\n%s", id, lane, diff(got, want))
	}
}

// learn notes the port that the dataplane chose: nobody else may have it.
func (m *model) learn(n *nat, got []byte) {
	_, l3 := packet.Ether(got).Split()
	n.q = binary.BigEndian.Uint16(l3[packet.IPv4Len:])
	if n.q < 1024 || n.pool && n.q > 59999 || n.q == 3784 || n.q == 4784 || n.q == 4789 {
		m.t.Fatalf("port %d was chosen", n.q)
	}
	if o := m.taken[n.answer()]; o != nil {
		m.t.Fatalf("%v has the same way back as %v: port %d", n.client, o.client, n.q)
	}
	m.taken[n.answer()] = n
}

// TestTrafficAgainstNaiveNAT sends random traffic of many clients and servers, in bursts, and compares every frame and every
// counter with the model.
func TestTrafficAgainstNaiveNAT(t *testing.T) {
	q := newMemory(t)
	b := newBed(t, q, 1<<15)
	m := &model{t: t, turn: map[uint16]int{}, flows: map[client5]*nat{}, taken: map[string]*nat{}, sent: map[uint64]expected{}, want: map[string]uint64{}}
	r := rand.New(rand.NewPCG(11, 2))
	for range 3000 {
		// One side at a time: which lane is served first is not the model's business.
		client := r.IntN(2) == 0
		m.wait = map[client5]bool{}
		for range 1 + r.IntN(60) {
			lane, f, ok := nic1, packet.Frame{}, true
			if client {
				f, ok = m.fromClient(r)
			} else if f, ok = m.fromServer(r); ok {
				lane = nic2
			}
			if ok {
				if err := q.Inject(lane, f.Bytes()); err != nil {
					t.Fatal(err)
				}
			}
		}
		b.turns()
		for _, l := range []int{nic2, nic1} {
			for _, f := range q.Sent(l) {
				m.check(l, f)
			}
		}
		for id, e := range m.sent {
			t.Fatalf("frame %d never came out on lane %d: %s (counters: %s)", id, e.lane, describe(e.frame.Bytes()), sameCounters(b.counters(), m.want))
		}
	}
	if d := sameCounters(b.counters(), m.want); d != "" {
		t.Error(d)
	}
	if m.want["forward-new-flow"] < 1000 || m.want["forward-flow"] < 20000 || m.want["drop-no-flow"] < 100 {
		t.Errorf("the traffic says little: %v", m.want)
	}
	b.close()
}
