package dataplane

import "sluice/dataplane/packet"

// brief is a frame with so little payload that it takes the longer way through the worker.
func brief(f packet.Frame) packet.Frame {
	f.Payload = []byte{1}
	return f
}

// orderRows: packets of a flow leave in the order in which they came, whatever way through the worker each takes.
var orderRows = []row{
	{
		name: "UDP: short and long datagrams of a flow in one burst",
		steps: []step{
			{in: []on{{nic1, data(udp(ask(5353, dnsPort, 0)))}}, out: []on{{nic2, data(udp(asked(server1, q1, 53, 0)))}}},
			{
				in: []on{{nic1, brief(udp(ask(5353, dnsPort, 0)))}, {nic1, data(udp(ask(5353, dnsPort, 0)))},
					{nic1, brief(udp(ask(5353, dnsPort, 0)))}, {nic1, data(udp(ask(5353, dnsPort, 0)))}},
				out: []on{{nic2, brief(udp(asked(server1, q1, 53, 0)))}, {nic2, data(udp(asked(server1, q1, 53, 0)))},
					{nic2, brief(udp(asked(server1, q1, 53, 0)))}, {nic2, data(udp(asked(server1, q1, 53, 0)))}},
			},
		},
		counters: map[string]uint64{"forward-new-flow": 1, "forward-flow": 4},
	},
	{
		name: "TCP: an event among data in one burst, tagged and untagged",
		steps: []step{
			open(5001, webPort, server1, q1, 8001),
			{in: []on{{nic2, answer(server1, 8001, q1, synack)}}, out: []on{{nic1, answered(webPort, 5001, synack)}}},
			{in: []on{{nic1, ask(5001, webPort, ack)}}, out: []on{{nic2, asked(server1, q1, 8001, ack)}}},
			{in: []on{{nic1, data(ask(5001, webPort, psh))}}, out: []on{{nic2, data(asked(server1, q1, 8001, psh))}}},
			{
				in: []on{{nic1, data(ask(5001, webPort, psh))}, {nic1, tagged(data(ask(5001, webPort, psh)))}, {nic1, ask(5001, webPort, fin)},
					{nic1, ask(5001, webPort, ack)}},
				out: []on{{nic2, data(asked(server1, q1, 8001, psh))}, {nic2, tagged(data(asked(server1, q1, 8001, psh)))},
					{nic2, asked(server1, q1, 8001, fin)}, {nic2, asked(server1, q1, 8001, ack)}},
			},
		},
		counters: map[string]uint64{"forward-new-flow": 1, "forward-flow": 7},
	},
	{
		name: "MAC, TOS, IPTUNNEL: an event, an unfinished checksum and a tag among data in one burst",
		steps: steps(steps(steps([]step{withModes}, eventful(macPort, viaMAC)...), eventful(tosPort, viaTOS)...),
			eventful(tunnelPort, viaTunnel)...),
		counters: map[string]uint64{"forward-new-flow": 3, "forward-flow": 24, "checksum-completed": 3},
	},
	{
		name: "packets that waited for a neighbor leave before those that come as it is found",
		steps: []step{
			drops(on{nic1, ask(5001, lostPort, syn)}, on{nic1, data(ask(5001, lostPort, psh))}),
			{
				do: func(b *bed) {
					if err := b.q.Inject(nic1, ask(5001, lostPort, fin).Bytes()); err != nil {
						b.t.Fatal(err)
					}
					found(b)
				},
				out: []on{{nic2, asked(lost, q1, 80, syn)}, {nic2, data(asked(lost, q1, 80, psh))}, {nic2, asked(lost, q1, 80, fin)}},
			},
		},
		counters: map[string]uint64{"held-neighbor": 2, "forward-flow": 1},
	},
}

// eventful is a connection to vipMode whose last burst has packets that take the longer way among others, each as it comes out.
func eventful(dport uint16, out func(packet.Frame) any) []step {
	segment := data(askOf(vipMode, c1, dport, psh))
	burst := step{in: []on{{nic1, segment}, {nic1, partial(segment)}}, out: []on{{nic2, out(segment)}, {nic2, out(segment)}}}
	for _, f := range []packet.Frame{tagged(segment), segment, askOf(vipMode, c1, dport, fin), askOf(vipMode, c1, dport, ack)} {
		burst.in, burst.out = append(burst.in, on{nic1, f}), append(burst.out, on{nic2, out(f)})
	}
	return steps(connection(vipMode, dport, out)[:3], burst)
}
