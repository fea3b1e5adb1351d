package dataplane

import (
	"sluice/dataplane/packet"
)

const (
	syn    = packet.SYN
	ack    = packet.ACK
	synack = packet.SYN | packet.ACK
	fin    = packet.FIN | packet.ACK
	rst    = packet.RST
	psh    = packet.PSH | packet.ACK
)

var payload = []byte("GET / HTTP/1.1\r\nHost: example\r\n\r\n")

func data(f packet.Frame) packet.Frame {
	f.Payload = payload
	return f
}

// tagged puts a frame into VLAN 7, priority 3.
func tagged(f packet.Frame) packet.Frame {
	f.Tags = []uint16{3<<13 | 7}
	return f
}

// natRows: translation in both directions.
var natRows = []row{
	{
		name: "TCP: a connection from SYN to FIN, both directions",
		steps: []step{
			open(5001, webPort, server1, q1, 8001),
			{in: []on{{nic2, answer(server1, 8001, q1, synack)}}, out: []on{{nic1, answered(webPort, 5001, synack)}}},
			{in: []on{{nic1, ask(5001, webPort, ack)}}, out: []on{{nic2, asked(server1, q1, 8001, ack)}}},
			{in: []on{{nic1, data(ask(5001, webPort, psh))}}, out: []on{{nic2, data(asked(server1, q1, 8001, psh))}}},
			{in: []on{{nic2, data(answer(server1, 8001, q1, psh))}}, out: []on{{nic1, data(answered(webPort, 5001, psh))}}},
			{in: []on{{nic1, ask(5001, webPort, fin)}}, out: []on{{nic2, asked(server1, q1, 8001, fin)}}},
			{in: []on{{nic2, answer(server1, 8001, q1, fin)}}, out: []on{{nic1, answered(webPort, 5001, fin)}}},
			{in: []on{{nic1, ask(5001, webPort, ack)}}, out: []on{{nic2, asked(server1, q1, 8001, ack)}}},
		},
		counters: map[string]uint64{"forward-new-flow": 1, "forward-flow": 7},
	},
	{
		name: "TCP: a burst with the SYN and what follows it",
		steps: []step{{
			in: []on{{nic1, ask(5001, webPort, syn)}, {nic1, ask(5001, webPort, ack)}, {nic1, data(ask(5001, webPort, psh))}},
			out: []on{{nic2, asked(server1, q1, 8001, syn)}, {nic2, asked(server1, q1, 8001, ack)},
				{nic2, data(asked(server1, q1, 8001, psh))}},
		}},
		counters: map[string]uint64{"forward-new-flow": 1, "forward-flow": 2},
	},
	{
		name: "UDP, with and without checksum",
		steps: []step{
			{in: []on{{nic1, data(udp(ask(5353, dnsPort, 0)))}}, out: []on{{nic2, data(udp(asked(server1, q1, 53, 0)))}}},
			{in: []on{{nic2, data(udp(answer(server1, 53, q1, 0)))}}, out: []on{{nic1, data(udp(answered(dnsPort, 5353, 0)))}}},
			{
				in:  []on{{nic1, with(udp(ask(5353, dnsPort, 0)), func(f *packet.Frame) { f.NoSum = true })}},
				out: []on{{nic2, with(udp(asked(server1, q1, 53, 0)), func(f *packet.Frame) { f.NoSum = true })}},
			},
		},
		counters: map[string]uint64{"forward-new-flow": 1, "forward-flow": 2},
	},
	{
		name: "ANY: TCP and UDP on any port, the server's port is the client's choice",
		steps: []step{
			{in: []on{{nic1, toAny(ask(5001, 8443, syn))}}, out: []on{{nic2, asked(server1, q1, 8443, syn)}}},
			{in: []on{{nic2, answer(server1, 8443, q1, synack)}}, out: []on{{nic1, fromAny(answered(8443, 5001, synack))}}},
			{in: []on{{nic1, toAny(udp(ask(5002, 514, 0)))}}, out: []on{{nic2, udp(asked(server1, q2, 514, 0))}}},
			{in: []on{{nic2, udp(answer(server1, 514, q2, 0))}}, out: []on{{nic1, fromAny(udp(answered(514, 5002, 0)))}}},
		},
		counters: map[string]uint64{"forward-new-flow": 2, "forward-flow": 2},
	},
	{
		name: "ANY: a protocol without ports, one client at a time",
		steps: []step{
			{in: []on{{nic1, gre(toAny(ask(0, 0, 0)))}}, out: []on{{nic2, gre(asked(server1, 0, 0, 0))}}},
			{in: []on{{nic2, gre(answer(server1, 0, 0, 0))}}, out: []on{{nic1, gre(fromAny(answered(0, 0, 0)))}}},
			drops(on{nic1, gre(fromRemote(toAny(ask(0, 0, 0))))}),
			drops(on{nic1, with(gre(toAny(ask(0, 0, 0))), func(f *packet.Frame) { f.TTL = 1 })}),
		},
		counters: map[string]uint64{"forward-new-flow": 1, "forward-flow": 1, "drop-tuple-in-use": 1, "drop-ttl-expired": 1},
	},
	{
		name: "usip, useproxyport NO: the server sees the client's address and port",
		steps: []step{
			{in: []on{{nic1, ask(5001, keepPort, syn)}}, out: []on{{nic2, asClient(asked(server1, 5001, 80, syn))}}},
			{in: []on{{nic2, toClient(answer(server1, 80, 5001, synack))}}, out: []on{{nic1, answered(keepPort, 5001, synack)}}},
		},
		counters: map[string]uint64{"forward-new-flow": 1, "forward-flow": 1},
	},
	{
		name: "usip, useproxyport YES: the client's address, a port of ours",
		steps: []step{
			{in: []on{{nic1, ask(5001, proxyPort, syn)}}, out: []on{{nic2, asClient(asked(server1, q1, 80, syn))}}},
			{in: []on{{nic2, toClient(answer(server1, 80, q1, synack))}}, out: []on{{nic1, answered(proxyPort, 5001, synack)}}},
			{in: []on{{nic1, ask(5002, proxyPort, syn)}}, out: []on{{nic2, asClient(asked(server1, q2, 80, syn))}}},
		},
		counters: map[string]uint64{"forward-new-flow": 2, "forward-flow": 1},
	},
	{
		name: "usip: a tuple toward the server can be one flow's only",
		steps: []step{
			{in: []on{{nic1, ask(5001, keepPort, syn)}}, out: []on{{nic2, asClient(asked(server1, 5001, 80, syn))}}},
			// The same client address and port through a second vserver to the same server.
			{do: func(b *bed) {
				t := tables()
				t.Config.Vservers[4].Bindings[0].Service = 6 // proxy is bound to keep
				b.apply(t)
			}},
			drops(on{nic1, ask(5001, proxyPort, syn)}),
			{in: []on{{nic2, toClient(answer(server1, 80, 5001, synack))}}, out: []on{{nic1, answered(keepPort, 5001, synack)}}},
		},
		counters: map[string]uint64{"forward-new-flow": 1, "forward-flow": 1, "drop-tuple-in-use": 1},
	},
	{
		name: "VLAN: the tag is kept, both ways",
		steps: []step{
			{in: []on{{nic1, tagged(data(ask(5001, webPort, syn)))}}, out: []on{{nic2, tagged(data(asked(server1, q1, 8001, syn)))}}},
			{in: []on{{nic2, tagged(answer(server1, 8001, q1, synack))}}, out: []on{{nic1, tagged(answered(webPort, 5001, synack))}}},
			{in: []on{{nic1, tagged(ask(5001, webPort, ack))}}, out: []on{{nic2, tagged(asked(server1, q1, 8001, ack))}}},
		},
		counters: map[string]uint64{"forward-new-flow": 1, "forward-flow": 2},
	},
	{
		name: "clients behind a gateway",
		steps: []step{
			{in: []on{{nic1, fromRemote(ask(5001, webPort, syn))}}, out: []on{{nic2, asked(server1, q1, 8001, syn)}}},
			{in: []on{{nic2, answer(server1, 8001, q1, synack)}}, out: []on{{nic1, toRemote(answered(webPort, 5001, synack))}}},
		},
		counters: map[string]uint64{"forward-new-flow": 1, "forward-flow": 1},
	},
	{
		name: "partial checksums are completed, in new and known flows",
		steps: []step{
			{in: []on{{nic1, partial(ask(5001, webPort, syn))}}, out: []on{{nic2, asked(server1, q1, 8001, syn)}}},
			{in: []on{{nic1, partial(data(ask(5001, webPort, psh)))}}, out: []on{{nic2, data(asked(server1, q1, 8001, psh))}}},
			{in: []on{{nic2, partial(data(answer(server1, 8001, q1, psh)))}}, out: []on{{nic1, data(answered(webPort, 5001, psh))}}},
			{in: []on{{nic1, partial(data(udp(ask(5353, dnsPort, 0))))}}, out: []on{{nic2, data(udp(asked(server1, q2, 53, 0)))}}},
		},
		counters: map[string]uint64{"forward-new-flow": 2, "forward-flow": 2, "checksum-completed": 4, "stale-connections": 1},
	},
	{
		name:   "a packet in two segments is translated, but its unfinished checksum cannot be completed",
		memory: true,
		steps: []step{
			open(5001, webPort, server1, q1, 8001),
			{
				do:  func(b *bed) { segments(b, data(ask(5001, webPort, psh))) },
				out: []on{{nic2, data(asked(server1, q1, 8001, psh))}},
			},
			{do: func(b *bed) { segments(b, partial(data(ask(5001, webPort, psh)))) }},
			{do: func(b *bed) { segments(b, partial(data(ask(5002, webPort, syn)))) }},
			flowsAre(2),
		},
		counters: map[string]uint64{"forward-new-flow": 1, "forward-flow": 1, "drop-partial-checksum": 2},
	},
	{
		name: "Ethernet padding and trailers stay, the checksum covers the packet alone",
		steps: []step{
			{
				in:  []on{{nic1, trailer(ask(5001, keepPort, syn))}},
				out: []on{{nic2, trailer(asClient(asked(server1, 5001, 80, syn)))}},
			},
			{
				in:  []on{{nic1, trailer(partial(ask(5001, keepPort, ack)))}},
				out: []on{{nic2, trailer(asClient(asked(server1, 5001, 80, ack)))}},
			},
		},
		counters: map[string]uint64{"forward-new-flow": 1, "forward-flow": 1, "checksum-completed": 1},
	},
}

// segments lets a frame in, in two pieces.
func segments(b *bed, f packet.Frame) {
	frame := b.bytes(f)
	if err := b.q.InjectTo(b.q.to, nic1, frame[:60], frame[60:]); err != nil {
		b.t.Fatal(err)
	}
}

// trailer puts bytes behind the packet that are no part of it.
func trailer(f packet.Frame) []byte { return append(f.Bytes(), 1, 2, 3) }

func partial(f packet.Frame) packet.Frame { f.Partial = true; return f }
func toAny(f packet.Frame) packet.Frame   { f.DstIP = vipAny; return f }
func fromAny(f packet.Frame) packet.Frame { f.SrcIP = vipAny; return f }

// asClient and toClient put the client's address in the SNIP's place.
func asClient(f packet.Frame) packet.Frame { f.SrcIP = client; return f }
func toClient(f packet.Frame) packet.Frame { f.DstIP = client; return f }

// fromRemote and toRemote put a client behind the gateway in the client's place.
func fromRemote(f packet.Frame) packet.Frame { f.Src, f.SrcIP = gatewayMAC, remote; return f }
func toRemote(f packet.Frame) packet.Frame   { f.Dst, f.DstIP = gatewayMAC, remote; return f }

// gre makes it a packet of a protocol without ports.
func gre(f packet.Frame) packet.Frame {
	f.Proto, f.Payload = 47, append([]byte{0, 0, 8, 0}, payload...)
	return f
}
