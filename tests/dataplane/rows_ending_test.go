package dataplane

import (
	"bytes"
	"encoding/binary"

	"sluice/dataplane/api"
	"sluice/dataplane/packet"
)

// ending is the health in which some services are down and their flows, and those of some vservers, end.
func ending(services, vservers []uint32) *api.Tables {
	return &api.Tables{Health: &api.Health{Version: 2, Up: upBut(services...), Flush: services, FlushVservers: vservers}}
}

// ours is a TCP frame of the appliance's own: hops left as at its start, not to be fragmented, no window, with sequence numbers.
func ours(f packet.Frame, seq, ack uint32) lazyBytes {
	return func(b *bed) []byte {
		f := b.resolve(f)
		f.TTL, f.Frag = 64, 0x4000
		frame := f.Bytes()
		t := frame[packet.EtherLen+packet.IPv4Len:]
		t = t[:packet.TCPLen]
		binary.BigEndian.PutUint32(t[4:], seq)
		binary.BigEndian.PutUint32(t[8:], ack)
		return summed(frame, t, 0)
	}
}

// said is a TCP frame with sequence numbers.
func said(f packet.Frame, seq, ack uint32) lazyBytes {
	return func(b *bed) []byte {
		frame := b.resolve(f).Bytes()
		t := frame[packet.EtherLen+packet.IPv4Len:]
		t = t[:packet.TCPLen+len(f.Payload)]
		binary.BigEndian.PutUint32(t[4:], seq)
		binary.BigEndian.PutUint32(t[8:], ack)
		return summed(frame, t, 0xff)
	}
}

// summed sets the window of the segment t of a frame and completes its checksum.
func summed(frame, t []byte, window byte) []byte {
	t[14], t[16], t[17] = window, 0, 0
	h := packet.IPv4(frame[packet.EtherLen:])
	pseudo := packet.PseudoSum(packet.MakeKey(packet.Addr4(h.Src()), packet.Addr4(h.Dst()), 0, 0, 0).A, packet.ProtoTCP)
	sum := ^packet.Sum(t, packet.Fold(uint32(pseudo)+uint32(packet.Swap16(uint16(len(t))))))
	binary.LittleEndian.PutUint16(t[16:], sum)
	return frame
}

// asksEnds publishes tables and checks that one question leaves by each of some lanes, as an acknowledgment of its frame with
// any sequence numbers.
func asksEnds(t *api.Tables, want ...on) step {
	return step{do: func(b *bed) {
		b.t.Helper()
		b.apply(t)
		b.pass(0.3)
		for _, o := range want {
			sent := b.q.Sent(o.lane)
			if len(sent) != 1 || len(sent[0]) != 60 {
				b.t.Fatalf("lane %d sent %d frames, not one question", o.lane, len(sent))
			}
			t := sent[0][packet.EtherLen+packet.IPv4Len:]
			seq, ack := binary.BigEndian.Uint32(t[4:]), binary.BigEndian.Uint32(t[8:])
			if f := ours(o.frame.(packet.Frame), seq, ack)(b); !bytes.Equal(sent[0], f) {
				b.t.Fatal(diff(sent[0], f))
			}
		}
	}}
}

// asksBoth are the questions to both ends of the flow of a handshake.
func asksBoth(t *api.Tables) step {
	return asksEnds(t, on{nic1, answered(webPort, 5001, ack)}, on{nic2, asked(server1, q1, 8001, ack)})
}

// forgotten lets the rounds of asking pass.
var forgotten = step{do: func(b *bed) {
	b.pass(6)
	if n := sum(b.stats(), flowsOf); n != 0 {
		b.t.Errorf("%d flow entries, not 0", n)
	}
	for l := range lanes {
		b.q.Sent(l)
	}
}}

// portsAre checks how many ports of the first SNIP are out.
func portsAre(n uint64) step {
	return step{do: func(b *bed) {
		b.t.Helper()
		if got := b.stats().SNIPs[0].PortsInUse; got != n {
			b.t.Errorf("%d ports are in use, not %d", got, n)
		}
	}}
}

// endingRows: flows that the appliance ends by itself.
var endingRows = []row{
	{
		name: "a service goes down: both ends are asked where they stand, what they say is answered with a reset",
		steps: steps(handshake(5001, webPort, q1),
			asksBoth(ending([]uint32{1}, nil)), noneOpen,
			step{in: []on{{nic1, said(ask(5001, webPort, ack), 1000, 77)}}, out: []on{{nic1, ours(answered(webPort, 5001, rst), 77, 0)}}},
			step{in: []on{{nic2, said(data(answer(server1, 8001, q1, psh)), 77, 1000)}}, out: []on{{nic2, ours(asked(server1, q1, 8001, rst), 1000, 0)}}},
			// Without an acknowledgment a reset acknowledges, here a FIN behind data.
			step{in: []on{{nic1, said(data(ask(5001, webPort, packet.FIN)), 1000, 0)}},
				out: []on{{nic1, ours(answered(webPort, 5001, rst|ack), 0, 1001+uint32(len(payload)))}}},
			drops(on{nic1, ask(5001, webPort, rst)}),
			portsAre(1), forgotten, noneOpen, portsAre(0)),
		counters: map[string]uint64{"forward-new-flow": 1, "forward-flow": 2, "connections-ended": 1, "end-questions": 6, "reply-reset": 3, "drop-flow-ending": 1},
	},
	{
		name: "a service goes down: its client comes back at once and gets another one",
		steps: steps(handshake(5001, webPort, q1),
			asksBoth(ending([]uint32{1}, nil)),
			open(5001, webPort, server3, q2, 8003),
			flowsAre(2), noneOpenAt(1), portsAre(1)),
		counters: map[string]uint64{"forward-new-flow": 2, "forward-flow": 2, "connections-ended": 1, "end-questions": 2},
	},
	{
		name: "a service goes down: an unfinished handshake is forgotten, so that its client's next SYN goes elsewhere",
		steps: []step{open(5001, webPort, server1, q1, 8001),
			applies(ending([]uint32{1}, nil)), passes(0.3), flowsAre(0), portsAre(0),
			open(5001, webPort, server3, q2, 8003)},
		counters: map[string]uint64{"forward-new-flow": 2},
	},
	{
		name: "a service goes down: datagram flows are forgotten, those of other services are not",
		steps: steps(handshake(5001, webPort, q1),
			step{in: []on{{nic1, udp(ask(5353, dnsPort, 0))}}, out: []on{{nic2, udp(asked(server1, q2, 53, 0))}}},
			flowsAre(4), applies(ending([]uint32{4}, nil)), passes(0.3), flowsAre(2),
			step{in: []on{{nic1, ask(5001, webPort, ack)}}, out: []on{{nic2, asked(server1, q1, 8001, ack)}}}),
		counters: map[string]uint64{"forward-new-flow": 2, "forward-flow": 3},
	},
	{
		name: "a vserver goes down whose services are up for others: its connections alone are reset",
		steps: steps(handshake(5001, webPort, q1),
			step{in: []on{{nic1, ask(5002, leastPort, syn)}}, out: []on{{nic2, asked(server2, q2, 8002, syn)}}},
			step{in: []on{{nic2, answer(server2, 8002, q2, synack)}}, out: []on{{nic1, answered(leastPort, 5002, synack)}}},
			step{in: []on{{nic1, ask(5002, leastPort, ack)}}, out: []on{{nic2, asked(server2, q2, 8002, ack)}}},
			asksBoth(ending(nil, []uint32{1})),
			step{in: []on{{nic1, ask(5002, leastPort, ack)}}, out: []on{{nic2, asked(server2, q2, 8002, ack)}}}),
		counters: map[string]uint64{"forward-new-flow": 2, "forward-flow": 5, "connections-ended": 1, "end-questions": 2},
	},
	{
		name:    "a service goes down that has more connections than there are empty packets",
		entries: 2048,
		steps: []step{{do: func(b *bed) {
			for i := range 200 {
				for _, s := range handshake(c1+uint16(i), keepPort, c1+uint16(i)) {
					for _, f := range s.in {
						frame := f.frame.(packet.Frame)
						if f.lane == nic2 {
							frame.DstIP, frame.SrcPort = client, 80
						}
						b.enters(f.lane, frame)
					}
				}
				for l := range lanes {
					b.q.Sent(l)
				}
			}
			b.apply(ending([]uint32{6}, nil))
			b.pass(0.3)
			if at1, at2 := len(b.q.Sent(nic1)), len(b.q.Sent(nic2)); at1 != 200 || at2 != 200 {
				b.t.Errorf("%d clients and %d connections of the server were asked, not 200 each", at1, at2)
			}
		}}},
		counters: map[string]uint64{"forward-new-flow": 200, "forward-flow": 400, "connections-ended": 200, "end-questions": 400},
	},
}

// noneOpenAt checks that a service of a number has no open flows.
func noneOpenAt(id uint32) step {
	return step{do: func(b *bed) {
		for _, s := range b.stats().Services {
			if s.ID == id && s.OpenFlows != 0 {
				b.t.Errorf("%d flows of service %s are open", s.OpenFlows, s.Name)
			}
		}
	}}
}
