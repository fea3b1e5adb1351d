package dataplane

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"sluice/dataplane/flow"
	"sluice/dataplane/packet"
)

// model is a naive NAT: maps and whole frames built anew. It knows what the dataplane may choose (services, source ports) only
// from what comes out, and checks that the choice was allowed and that nothing is chosen twice.
type model struct {
	t     *testing.T
	r     *rand.Rand
	b     *bed
	w     *world
	now   int                   // seconds
	flows map[client5]*nat      // by what the client sends
	live  []*nat                // the same, in a fixed order
	taken map[string]*nat       // by what the server answers
	sent  map[uint64]expected   // by number: frames on their way
	held  map[neighbor][]uint64 // frames that wait
	n     uint64
	want  map[string]uint64    // counters
	wait  map[client5]bool     // clients that have opened or ended a connection in this step: they send no more in it
	turns map[chooser][]uint32 // services that were chosen since the last change
	open  map[uint32]int       // connections of a service
	homes map[string]uint32    // services that clients went to by a hash of their address, by client and who could be chosen
	frames
}

// neighbor is what a worker waits for, chooser is a worker and a vserver's port: each worker waits and takes turns for itself.
type (
	neighbor struct {
		ip     ip4
		worker uint32
	}
	chooser struct {
		port   uint16
		worker uint32
	}
)

// worker is whose flow it is: by its client's address and port, as no flow of the model is without a port.
func (m *model) worker(c client5) uint32 {
	return flow.OwnerByClient(packet.Addr4(c.ip), packet.Swap16(c.port), uint32(len(m.b.ws)))
}

// frames are how many went in and came out: transmitted, given to the kernel.
type frames struct{ in, out, punted uint64 }

type client5 struct {
	ip    ip4
	port  uint16
	proto uint8
	dport uint16
}

type nat struct {
	client  client5
	v       *modelVserver
	s       *modelService // nil: not known yet
	q       uint16        // 0: not known yet
	fin     [2]bool       // closed by the client, by the server
	rst     bool
	synack  bool // the server has sent a SYN
	done    bool // the handshake is over
	counted bool // among the open ones
	last    int  // when a packet came
	order   [2]uint64
}

// expected is a frame on its way.
type expected struct {
	flow  *nat
	side  int // who sent it: 0 the client, 1 the server
	in    packet.Frame
	hop   ip4  // where it goes
	stray bool // the route has changed while it waited: later frames may overtake it
}

func newModel(t *testing.T, b *bed, seed uint64) *model {
	return &model{t: t, r: rand.New(rand.NewPCG(seed, 2)), b: b, w: newWorld(), flows: map[client5]*nat{}, taken: map[string]*nat{}, sent: map[uint64]expected{},
		held: map[neighbor][]uint64{}, want: map[string]uint64{}, turns: map[chooser][]uint32{}, open: map[uint32]int{}, homes: map[string]uint32{}}
}

// number puts the frame's number into its payload, so that it is found again wherever it comes out.
func (m *model) number(f *packet.Frame) uint64 {
	m.n++
	f.Payload = binary.BigEndian.AppendUint64([]byte("no. "), m.n)
	return m.n
}

// fromClient makes a packet of a client, if it may send one, and says what must come of it. kinds are the flags to choose from.
func (m *model) fromClient(kinds []uint8) (packet.Frame, bool) {
	v := &m.w.vservers[m.r.IntN(len(m.w.vservers))]
	c := client5{ip: client, port: uint16(2000 + m.r.IntN(30)*37), proto: v.proto, dport: v.port}
	if m.r.IntN(2) == 0 {
		c.ip = ip4{192, 0, 2, byte(m.r.IntN(10))}
	}
	f := packet.Frame{Dst: mac1, Src: otherMAC, SrcIP: c.ip, DstIP: vip, SrcPort: c.port, DstPort: c.dport, Proto: c.proto, TTL: uint8(2 + m.r.IntN(250))}
	if c.proto == packet.ProtoTCP {
		f.Flags = kinds[m.r.IntN(len(kinds))]
	}
	if m.wait[c] || f.Flags == syn && v.port == keepPort && m.wait[client5{}] {
		return packet.Frame{}, false
	}
	m.wait[c] = f.Flags&(packet.SYN|packet.FIN|packet.RST) != 0
	m.wait[client5{}] = m.wait[client5{}] || f.Flags == syn && v.port == proxyPort // a port of its choice may be a client's of keep
	f.Partial = m.r.IntN(10) == 0
	if m.r.IntN(10) == 0 {
		f.Tags = []uint16{uint16(m.r.IntN(4095))}
	}
	id := m.number(&f)
	n := m.flows[c]
	if n != nil && f.Flags == syn && (n.over() || !n.done && n.s != nil && !(n.s.here && n.s.up)) {
		m.forget(n)
		n = nil
	}
	why := "forward-flow"
	if n == nil {
		if n, why = m.start(v, c, f); n == nil {
			m.want[why]++
			return f, true
		}
	}
	m.complete(f)
	m.see(n, 0, f.Flags)
	m.forward(id, expected{flow: n, side: 0, in: f}, why)
	return f, true
}

// start opens a flow, or says why not.
func (m *model) start(v *modelVserver, c client5, f packet.Frame) (*nat, string) {
	may := m.w.candidates(v)
	switch {
	case !v.here:
		return nil, "drop-no-vserver"
	case c.proto == packet.ProtoTCP && f.Flags != syn:
		return nil, "drop-no-flow"
	case len(may) == 0:
		m.complete(f) // which comes first
		return nil, "drop-no-service-up"
	}
	n := &nat{client: c, v: v, done: c.proto != packet.ProtoTCP}
	if len(v.services) == 1 {
		n.s = may[0]
		if n.s.usip && !n.s.proxy {
			n.q = c.port
			if m.taken[n.answer()] != nil { // the proxy vserver has chosen this very port for this client
				m.complete(f)
				return nil, "drop-tuple-in-use"
			}
			m.taken[n.answer()] = n
		}
		m.count(n)
	}
	m.flows[c] = n
	m.live = append(m.live, n)
	return n, "forward-new-flow"
}

func (m *model) count(n *nat) { n.counted = true; m.open[n.s.id]++ }

func (m *model) uncount(n *nat) {
	if n.counted {
		n.counted = false
		m.open[n.s.id]--
	}
}

// forget ends a flow.
func (m *model) forget(n *nat) {
	m.uncount(n)
	delete(m.flows, n.client)
	if n.q != 0 {
		delete(m.taken, n.answer())
	}
	m.live = slices.DeleteFunc(m.live, func(o *nat) bool { return o == n })
}

// over says whether the next SYN opens another connection.
func (n *nat) over() bool { return n.rst || n.fin[0] && n.fin[1] }

// see notes a packet of one side.
func (m *model) see(n *nat, side int, flags uint8) {
	n.last = m.now
	n.fin[side] = n.fin[side] || flags&packet.FIN != 0
	n.rst = n.rst || flags&packet.RST != 0
	if side == 1 && !n.synack && !n.done && flags&(packet.SYN|packet.ACK|packet.RST) == packet.ACK {
		m.want["stale-connections"]++
	}
	n.done = n.done || side == 0 && n.synack && flags&(packet.SYN|packet.ACK) == packet.ACK
	n.synack = n.synack || side == 1 && flags&packet.SYN != 0
	if n.over() {
		m.uncount(n)
	}
}

// source is the address that the server sees.
func (n *nat) source() ip4 {
	if n.s.usip {
		return n.client.ip
	}
	return snip2
}

func (n *nat) answer() string { return fmt.Sprint(n.s.ip, n.s.port, n.source(), n.q, n.client.proto) }

// fromServer answers a random flow.
func (m *model) fromServer(kinds []uint8) (packet.Frame, bool) {
	if len(m.live) == 0 {
		return packet.Frame{}, false
	}
	n := m.live[m.r.IntN(len(m.live))]
	if n.q == 0 {
		return packet.Frame{}, false
	}
	f := packet.Frame{Dst: mac2, Src: serverMAC(n.s.ip), SrcIP: n.s.ip, SrcPort: n.s.port, DstIP: n.source(), DstPort: n.q, Proto: n.client.proto, TTL: 64}
	if f.Proto == packet.ProtoTCP {
		f.Flags = kinds[m.r.IntN(len(kinds))]
	}
	f.Partial = m.r.IntN(10) == 0
	id := m.number(&f)
	m.complete(f)
	m.see(n, 1, f.Flags)
	m.forward(id, expected{flow: n, side: 1, in: f}, "forward-flow")
	return f, true
}

// forward says what comes of a translated frame: it leaves, waits for its neighbor, or there is no way.
func (m *model) forward(id uint64, e expected, why string) {
	to := e.flow.client.ip
	if e.side == 0 {
		to = server1 // as good as any server that does not come and go
		if e.flow.s != nil {
			to = e.flow.s.ip
		}
	}
	hop, ok := m.w.hop(to)
	e.hop = hop
	if _, known := m.w.macs[hop]; !ok {
		why = "drop-no-route"
	} else if known {
		m.sent[id] = e
	} else if at := (neighbor{hop, m.worker(e.flow.client)}); len(m.held[at]) == 3 {
		why = "drop-hold-full"
	} else {
		m.held[at] = append(m.held[at], id)
		m.sent[id] = e
		why = "held-neighbor"
	}
	m.want[why]++
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
	if !ok || lane != [2]int{nic2, nic1}[e.side] {
		m.t.Fatalf("frame %d came out on lane %d (%v): %s", id, lane, ok, describe(got))
	}
	delete(m.sent, id)
	n := e.flow
	if n.order[e.side] > id && !e.stray {
		m.t.Fatalf("frame %d has overtaken frame %d of its flow", n.order[e.side], id)
	}
	n.order[e.side] = max(n.order[e.side], id)
	if e.side == 0 && n.q == 0 {
		m.learn(n, got)
	}
	if want := m.translated(&e).Bytes(); !bytes.Equal(got, want) {
		m.t.Fatalf("frame %d on lane %d\n%s", id, lane, diff(got, want))
	}
}

// translated is the frame that must come of e now.
func (m *model) translated(e *expected) packet.Frame {
	out, n := e.in, e.flow
	out.Partial = false
	out.TTL--
	if e.side == 0 {
		out.Dst, out.Src, out.SrcIP, out.SrcPort, out.DstIP, out.DstPort = m.w.macs[n.s.ip], mac2, n.source(), n.q, n.s.ip, n.s.port
		return out
	}
	out.Dst, out.Src, out.SrcIP, out.SrcPort, out.DstIP, out.DstPort = m.w.macs[e.hop], mac1, vip, n.client.dport, n.client.ip, n.client.port
	return out
}

// learn notes the service and the port that the dataplane chose: the service must have been the one to choose, and nobody else
// may have the port.
func (m *model) learn(n *nat, got []byte) {
	_, l3 := packet.Ether(got).Split()
	if n.s == nil {
		m.chosen(n, packet.IPv4(l3).Dst())
	}
	n.q = binary.BigEndian.Uint16(l3[packet.IPv4Len:])
	if n.q < 1024 || !n.s.usip && n.q > 59999 || n.q == 3784 || n.q == 4784 || n.q == 4789 {
		m.t.Fatalf("port %d was chosen", n.q)
	}
	if o := m.taken[n.answer()]; o != nil {
		m.t.Fatalf("%v has the same way back as %v: port %d", n.client, o.client, n.q)
	}
	m.taken[n.answer()] = n
}
