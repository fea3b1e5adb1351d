package dataplane

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"sluice/dataplane/flow"
	"sluice/dataplane/packet"
)

// row is one expectation of the dataplane: what goes in, what comes out, what is counted.
type row struct {
	name     string
	entries  int  // of the flow table; 0: enough
	memory   bool // needs what only memory ports can do
	several  bool // needs more than one worker
	steps    []step
	counters map[string]uint64 // all that are not 0
}

// step lets frames in and expects frames out, lane by lane in order, and nothing else. do comes first.
type step struct {
	do  func(*bed)
	in  []on
	out []on
}

// on is a frame on a lane: a packet.Frame, whose checksums come out right, or bytes.
type on struct {
	lane  int
	frame any
}

func (b *bed) bytes(f any) []byte {
	switch f := f.(type) {
	case packet.Frame:
		return b.resolve(f).Bytes()
	case lazy:
		return f(b).Bytes()
	case lazyBytes:
		return f(b)
	case []byte:
		return f
	}
	b.t.Fatalf("a row has a frame of type %T", f)
	return nil
}

// enters lets a frame in on a lane and the workers work it off.
func (b *bed) enters(lane int, frame any) {
	b.t.Helper()
	if err := b.q.Inject(lane, b.bytes(frame)); err != nil {
		b.t.Fatal(err)
	}
	b.turns()
}

// run plays a row on a fresh bed.
func (r *row) run(t *testing.T, q wire, c crew) {
	entries := r.entries
	if entries == 0 {
		entries = 1024
	}
	b := newCrew(t, q, c, entries*c.workers)
	for i, s := range r.steps {
		if s.do != nil {
			s.do(b)
		}
		for _, f := range s.in {
			if err := b.q.Inject(f.lane, b.bytes(f.frame)); err != nil {
				t.Fatal(err)
			}
		}
		b.turns()
		b.expect(fmt.Sprintf("step %d", i+1), s.out)
	}
	if d := sameCounters(b.counters(), r.counters); d != "" {
		t.Errorf("counters: %s", d)
	}
	b.close()
}

// expect compares what has been sent on every lane with out: in order, or flow by flow where several workers send.
func (b *bed) expect(where string, out []on) {
	b.t.Helper()
	var sent [lanes][][]byte
	for l := range sent {
		sent[l] = b.q.Sent(l)
	}
	for _, o := range out {
		if len(sent[o.lane]) == 0 {
			b.t.Fatalf("%s: lane %d sent nothing, want %s", where, o.lane, describe(b.bytes(o.frame)))
		}
		i := b.mine(o.frame, sent[o.lane])
		got := sent[o.lane][i]
		sent[o.lane] = slices.Delete(sent[o.lane], i, i+1)
		if f, ok := o.frame.(packet.Frame); ok {
			b.bind(f, got)
		}
		if want := b.bytes(o.frame); !bytes.Equal(got, want) {
			b.t.Fatalf("%s: lane %d\n%s", where, o.lane, diff(got, want))
		}
	}
	for l := range sent {
		for _, f := range sent[l] {
			b.t.Errorf("%s: lane %d sent what nobody expected: %s", where, l, describe(f))
		}
	}
}

// mine is the place of the first frame that is of the same flow as f.
func (b *bed) mine(f any, sent [][]byte) int {
	if len(b.ws) == 1 {
		return 0
	}
	want := b.bytes(f)
	for i, got := range sent {
		if bytes.Equal(tuple(got), tuple(want)) {
			return i
		}
		if f, ok := f.(packet.Frame); ok && f.SrcPort > 0 && f.SrcPort < lastSymbol && b.mean(f.SrcPort) == f.SrcPort {
			// Nobody knows the port yet.
			if a, w := tuple(got), tuple(want); len(a) == 12 && bytes.Equal(a[:8], w[:8]) && bytes.Equal(a[10:], w[10:]) {
				return i
			}
		}
	}
	return 0
}

// tuple is the addresses and the first four bytes behind the IPv4 header, which are ports where there are any.
func tuple(f []byte) []byte {
	if len(f) < packet.EtherLen {
		return nil
	}
	ether, l3 := packet.Ether(f).Split()
	if ether != packet.EtherIPv4 || len(l3) < 24 {
		return nil
	}
	return l3[12:24]
}

// The four frames of a flow. Ports below lastSymbol stand for what the worker chose.

// ask is the client's frame to a port of vip.
func ask(sport, dport uint16, flags uint8) packet.Frame {
	return packet.Frame{Dst: mac1, Src: clientMAC, SrcIP: client, DstIP: vip, SrcPort: sport, DstPort: dport, Flags: flags}
}

// asked is that frame as a server sees it.
func asked(server ip4, q, dport uint16, flags uint8) packet.Frame {
	return packet.Frame{Dst: serverMAC(server), Src: mac2, SrcIP: snip2, DstIP: server, SrcPort: q, DstPort: dport, Flags: flags, TTL: 63}
}

// answer is the server's frame back.
func answer(server ip4, sport, q uint16, flags uint8) packet.Frame {
	return packet.Frame{Dst: mac2, Src: serverMAC(server), SrcIP: server, DstIP: snip2, SrcPort: sport, DstPort: q, Flags: flags}
}

// answered is that frame as the client sees it.
func answered(sport, dport uint16, flags uint8) packet.Frame {
	return packet.Frame{Dst: clientMAC, Src: mac1, SrcIP: vip, DstIP: client, SrcPort: sport, DstPort: dport, Flags: flags, TTL: 63}
}

// with changes a frame.
func with(f packet.Frame, change func(*packet.Frame)) packet.Frame {
	change(&f)
	return f
}

// udp makes it a datagram.
func udp(f packet.Frame) packet.Frame {
	f.Proto, f.Flags = packet.ProtoUDP, 0
	return f
}

// open is the step in which a client's first packet becomes a flow to server.
func open(sport, dport uint16, server ip4, q, sdport uint16) step {
	return step{in: []on{{nic1, ask(sport, dport, packet.SYN)}}, out: []on{{nic2, asked(server, q, sdport, packet.SYN)}}}
}

// drops is the step in which frames come in and nothing goes out.
func drops(frames ...on) step { return step{in: frames} }

// kin are n ports of the client, from first on, whose flows one and the same worker owns, be there 1, 2 or 4: what a worker
// chooses and how much it holds is then the same as if it were alone.
func kin(first, n int) []uint16 {
	var list []uint16
	for p := first; len(list) < n; p++ {
		if flow.OwnerByClient(packet.Addr4(client), packet.Swap16(uint16(p)), 4) == flow.OwnerByClient(packet.Addr4(client), packet.Swap16(5001), 4) {
			list = append(list, uint16(p))
		}
	}
	return list
}

// The first of them.
var (
	c1 = kin(5001, 5)[0]
	c2 = kin(5001, 5)[1]
	c3 = kin(5001, 5)[2]
	c4 = kin(5001, 5)[3]
	c5 = kin(5001, 5)[4]
)
