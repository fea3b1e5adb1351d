package dataplane

import (
	"net/netip"

	"sluice/dataplane/api"
	"sluice/dataplane/packet"
)

// anyPort gives the service of the vserver without ports a port.
func anyPort(b *bed) {
	c := config()
	c.Version, c.Services[4].Port = 2, 8080
	b.apply(&api.Tables{Config: c})
}

func tunnelled(f packet.Frame) packet.Frame {
	f.Proto, f.SrcPort, f.DstPort, f.Payload = 47, 0, 0, []byte{0, 0, 8, 0, 1, 2, 3, 4}
	return f
}

// moved is the client's question for vip from a new network card.
func moved(asker mac, ip ip4) []byte {
	return packet.Frame{Dst: broadcast, Src: asker}.ARP(packet.ARPRequestOp, asker, ip, mac{}, vip)
}

// cut is a frame of n bytes whose IP packet said to be longer: what af_packet leaves of a merged one.
func cut(n int) []byte {
	f := ask(5001, webPort, psh)
	f.Payload = make([]byte, 4000)
	return f.Bytes()[:n]
}

// big has more bytes than the MTU of any port, and may not be fragmented.
func big(f packet.Frame) packet.Frame {
	f.Frag, f.ID, f.Payload = 0x4000, 77, make([]byte, 1461)
	return f
}

// fragNeeded is the answer that 1500 bytes are the most; about is the frame as its sender sent it.
func fragNeeded(about packet.Frame) packet.Frame {
	_, l3 := packet.Ether(about.Bytes()).Split()
	return packet.Frame{Dst: about.Src, Src: about.Dst, Tags: about.Tags, SrcIP: about.DstIP, DstIP: about.SrcIP, Proto: packet.ProtoICMP,
		ICMPType: packet.ICMPUnreachable, ICMPCode: 4, Payload: append([]byte{0, 0, 1500 >> 8, 1500 & 0xff}, l3[:28]...)}
}

// hostileRows: what came up when the dataplane was attacked on real wires.
var hostileRows = []row{
	{
		name: "GRE to a service with a port: the answer, which has none, finds its flow",
		steps: []step{
			{do: anyPort, in: []on{{nic1, tunnelled(toAny(ask(0, 0, 0)))}}, out: []on{{nic2, tunnelled(asked(server1, 0, 0, 0))}}},
			{in: []on{{nic2, tunnelled(answer(server1, 0, 0, 0))}}, out: []on{{nic1, tunnelled(fromAny(answered(0, 0, 0)))}}},
		},
		counters: map[string]uint64{"forward-new-flow": 1, "forward-flow": 1},
	},
	{
		name: "a neighbor with a new MAC address: the kernel hears it first",
		steps: []step{
			sameOn(nic1, twin1, moved(otherMAC, client)),
			{
				do: func(b *bed) {
					list := neighborList()
					list[0] = api.Neighbor{Port: 0, IP: netip.AddrFrom4(client), MAC: otherMAC}
					b.apply(&api.Tables{Neighbors: &api.Neighbors{Version: 2, Entries: list}})
				},
				in:  []on{{nic1, moved(otherMAC, client)}},
				out: []on{{nic1, packet.Frame{Dst: otherMAC, Src: mac1}.ARP(packet.ARPReplyOp, mac1, vip, otherMAC, client)}},
			},
		},
		counters: map[string]uint64{"punt-arp": 1, "reply-arp": 1},
	},
	{
		name: "path MTU: the sender of what is too long is told the size that fits, as if nobody had translated",
		steps: []step{
			open(5001, webPort, server1, q1, 8001),
			{in: []on{{nic1, big(ask(5001, webPort, ack))}}, out: []on{{nic1, fragNeeded(big(ask(5001, webPort, ack)))}}},
			{in: []on{{nic2, big(answer(server1, 8001, q1, ack))}}, out: []on{{nic2, lazy(func(b *bed) packet.Frame {
				return fragNeeded(b.resolve(big(answer(server1, 8001, q1, ack))))
			})}}},
			{in: []on{{nic1, tagged(big(ask(5001, webPort, ack)))}}, out: []on{{nic1, fragNeeded(tagged(big(ask(5001, webPort, ack))))}}},
			drops(on{nic1, with(big(ask(5001, webPort, ack)), func(f *packet.Frame) { f.Frag = 0 })}),
		},
		counters: map[string]uint64{"forward-new-flow": 1, "reply-frag-needed": 3, "drop-frame-too-long": 1, "stale-connections": 1},
	},
	{
		name:     "merged frames, which the port has cut, have a name of their own",
		steps:    []step{drops(on{nic1, cut(1982)}, on{nic1, cut(1500)})},
		counters: map[string]uint64{"drop-oversized": 1, "drop-truncated": 1},
	},
}
