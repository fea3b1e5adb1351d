package dataplane

import (
	"bytes"
	"fmt"
	"testing"

	"sluice/dataplane/packet"
)

// row is one expectation of the dataplane: what goes in, what comes out, what is counted.
type row struct {
	name     string
	entries  int  // of the flow table; 0: enough
	memory   bool // needs what only memory ports can do
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
	case []byte:
		return f
	}
	b.t.Fatalf("a row has a frame of type %T", f)
	return nil
}

// run plays a row on a fresh bed.
func (r *row) run(t *testing.T, q wire) {
	entries := r.entries
	if entries == 0 {
		entries = 1024
	}
	b := newBed(t, q, entries)
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

// expect compares what has been sent on every lane with out.
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
		got := sent[o.lane][0]
		sent[o.lane] = sent[o.lane][1:]
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
