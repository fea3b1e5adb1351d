package dataplane

import "sluice/dataplane/packet"

// martians are frames from each source that no host has: an answer would go to nobody, to many, or back to us.
func martians(frames ...packet.Frame) (all []on) {
	for _, f := range frames {
		for _, src := range []ip4{{0, 0, 0, 0}, {0, 1, 2, 3}, {127, 0, 0, 1}, {224, 0, 0, 5}, {255, 255, 255, 255}, f.DstIP} {
			all = append(all, on{nic1, with(f, func(f *packet.Frame) { f.SrcIP = src })})
		}
	}
	return all
}

// dropRows: what ends here, and under which name.
var dropRows = []row{
	{
		name: "not for us",
		steps: []step{drops(on{nic1, with(ask(5001, webPort, syn), func(f *packet.Frame) { f.Dst = otherMAC })}, on{nic1, to(ask(5001, webPort, syn), ip4{10, 1, 0, 99})},
			on{nic2, with(ask(5001, webPort, syn), func(f *packet.Frame) { f.Dst = mac1 })})},
		counters: map[string]uint64{"drop-not-our-mac": 2, "drop-not-for-us": 1},
	},
	{
		name: "flooded frames of a known flow are not ours either",
		steps: []step{
			open(5001, webPort, server1, q1, 8001),
			drops(on{nic1, with(ask(5001, webPort, ack), func(f *packet.Frame) { f.Dst = otherMAC })}),
		},
		counters: map[string]uint64{"forward-new-flow": 1, "drop-not-our-mac": 1},
	},
	{
		name: "nor are those of an established one",
		steps: steps(handshake(5001, webPort, q1),
			drops(on{nic1, with(ask(5001, webPort, psh), func(f *packet.Frame) { f.Dst = otherMAC })},
				on{nic2, with(answer(server1, 8001, q1, psh), func(f *packet.Frame) { f.Dst = mac1 })})),
		counters: map[string]uint64{"forward-new-flow": 1, "forward-flow": 2, "drop-not-our-mac": 2},
	},
	{
		name: "sources that no host has",
		steps: []step{drops(martians(ask(5001, webPort, syn), udp(ask(5001, dnsPort, 0)), ping(vip))...),
			drops(martians(ask(5001, webPort, ack), ask(5001, 9999, syn))...)},
		counters: map[string]uint64{"drop-martian-source": 5 * 6},
	},
	{
		name:     "nobody listens",
		steps:    []step{drops(on{nic1, ask(5001, 9999, syn)}, on{nic1, udp(ask(5001, webPort, 0))}, on{nic1, to(ask(5001, webPort, syn), vipMute)})},
		counters: map[string]uint64{"drop-no-vserver": 3},
	},
	{
		name:     "no service is up",
		steps:    []step{drops(on{nic1, ask(5001, downPort, syn)})},
		counters: map[string]uint64{"drop-no-service-up": 1},
	},
	{
		name: "TCP without a flow that is no SYN",
		steps: []step{drops(on{nic1, ask(5001, webPort, ack)}, on{nic1, ask(5001, webPort, synack)}, on{nic1, ask(5001, webPort, rst)},
			on{nic1, ask(5001, webPort, fin)}, on{nic1, ask(5001, webPort, syn|packet.FIN)})},
		counters: map[string]uint64{"drop-no-flow": 5},
	},
	{
		name: "fragments and options to virtual addresses",
		steps: []step{drops(on{nic1, with(ask(5001, webPort, syn), func(f *packet.Frame) { f.Frag = 0x2000 })},
			on{nic1, with(ask(5001, webPort, syn), func(f *packet.Frame) { f.Frag = 185 })},
			on{nic1, with(ask(5001, webPort, syn), func(f *packet.Frame) { f.IPOptions = []byte{7, 3, 4, 0} })})},
		counters: map[string]uint64{"drop-fragment": 2, "drop-ip-options": 1},
	},
	{
		name: "TTL: 2 goes on as 1, 1 and 0 do not, in new and known flows",
		steps: []step{
			{in: []on{{nic1, ttl(ask(5001, webPort, syn), 2)}}, out: []on{{nic2, ttl(asked(server1, q1, 8001, syn), 1)}}},
			drops(on{nic1, ttl(ask(5001, webPort, ack), 1)}, on{nic1, spoilTTL(ask(5001, webPort, ack))}, on{nic1, ttl(ask(5002, webPort, syn), 1)},
				on{nic2, ttl(answer(server1, 8001, q1, synack), 1)}),
		},
		counters: map[string]uint64{"forward-new-flow": 1, "drop-ttl-expired": 4},
	},
	{
		name: "lies about lengths",
		steps: []step{drops(on{nic1, ask(5001, webPort, syn).Bytes()[:13]}, on{nic1, ask(5001, webPort, syn).Bytes()[:33]},
			on{nic1, set(ask(5001, webPort, syn), l2, 0x44)}, on{nic1, set(ask(5001, webPort, syn), l2, 0x65)},
			on{nic1, set(ask(5001, webPort, syn), l2+2, 0xff)}, on{nic1, set(ask(5001, webPort, syn), l4+12, 0x40)},
			on{nic1, set(udp(ask(5001, dnsPort, 0)), l4+5, 200)})},
		counters: map[string]uint64{"drop-truncated": 3, "drop-bad-ip-header": 2, "drop-bad-l4-header": 2},
	},
	{
		name:     "a wrong header checksum opens no flow",
		steps:    []step{drops(on{nic1, spoil(ask(5001, webPort, syn), l2+10)})},
		counters: map[string]uint64{"drop-bad-ip-checksum": 1},
	},
	{
		name:     "the server has no route",
		steps:    []step{drops(on{nic1, ask(5001, awayPort, syn)})},
		counters: map[string]uint64{"drop-no-route": 1},
	},
	{
		name: "a packet longer than the outgoing port's MTU",
		steps: []step{
			drops(on{nic1, with(ask(5001, webPort, syn), func(f *packet.Frame) { f.Payload = make([]byte, 1461) })}),
			open(c2, webPort, server2, q1, 8002),
			drops(on{nic1, with(ask(c2, webPort, psh), func(f *packet.Frame) { f.Payload = make([]byte, 1461) })},
				on{nic1, with(ask(5003, lostPort, syn), func(f *packet.Frame) { f.Payload = make([]byte, 1461) })}),
			{
				in:  []on{{nic1, with(ask(c2, webPort, psh), func(f *packet.Frame) { f.Payload = make([]byte, 1460) })}},
				out: []on{{nic2, with(asked(server2, q1, 8002, psh), func(f *packet.Frame) { f.Payload = make([]byte, 1460) })}},
			},
		},
		counters: map[string]uint64{"forward-new-flow": 1, "forward-flow": 1, "drop-frame-too-long": 3},
	},
	{
		name:     "no source address toward the server",
		steps:    []step{drops(on{nic1, ask(5001, noSNIP, syn)})},
		counters: map[string]uint64{"drop-port-pool-exhausted": 1},
	},
}

func ttl(f packet.Frame, n uint8) packet.Frame { f.TTL = n; return f }

// set puts a byte into a built frame.
func set(f packet.Frame, at int, v byte) []byte {
	b := f.Bytes()
	b[at] = v
	return b
}

// spoilTTL makes a frame whose TTL is 0, which a Frame cannot say.
func spoilTTL(f packet.Frame) []byte { return set(f, l2+8, 0) }
