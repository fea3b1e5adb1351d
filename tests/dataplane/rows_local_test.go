package dataplane

import (
	"sluice/dataplane/packet"
)

// whoHas is an ARP request of the client.
func whoHas(target ip4) []byte {
	return packet.Frame{Dst: broadcast, Src: clientMAC}.ARP(packet.ARPRequestOp, clientMAC, client, mac{}, target)
}

// stranger is on the servers' network, but no neighbor yet.
var stranger = ip4{10, 2, 0, 77}

func ping(dst ip4) packet.Frame {
	return packet.Frame{Dst: mac1, Src: clientMAC, SrcIP: client, DstIP: dst, Proto: packet.ProtoICMP, ICMPType: packet.ICMPEcho,
		Payload: []byte("\x12\x34\x00\x01 a ping of some odd bytes")}
}

func pong(src ip4) packet.Frame {
	return packet.Frame{Dst: clientMAC, Src: mac1, SrcIP: src, DstIP: client, Proto: packet.ProtoICMP, ICMPType: packet.ICMPEchoReply,
		Payload: []byte("\x12\x34\x00\x01 a ping of some odd bytes")}
}

// other is any frame of an EtherType.
func other(dst mac, ether uint16, payload ...byte) []byte {
	b := append(append([]byte{}, dst[:]...), clientMAC[:]...)
	b = append(append(b, byte(ether>>8), byte(ether)), payload...)
	return append(b, make([]byte, 60-len(b))...)
}

func to(f packet.Frame, dst ip4) packet.Frame { f.DstIP = dst; return f }

// spoil inverts a byte of a built frame.
func spoil(f packet.Frame, at int) []byte {
	b := f.Bytes()
	b[at] ^= 0xff
	return b
}

// sameOn lets frames in on one lane and expects them unchanged on another.
func sameOn(from, to int, frames ...any) step {
	var s step
	for _, f := range frames {
		s.in, s.out = append(s.in, on{from, f}), append(s.out, on{to, f})
	}
	return s
}

const (
	l2 = packet.EtherLen // offset of the IP header in an untagged frame
	l4 = l2 + packet.IPv4Len
)

// localRows: what virtual addresses answer and what the kernel gets.
var localRows = []row{
	{
		name: "ARP for a virtual address is answered, with the port's MAC",
		steps: []step{{
			in:  []on{{nic1, whoHas(vip)}},
			out: []on{{nic1, packet.Frame{Dst: clientMAC, Src: mac1}.ARP(packet.ARPReplyOp, mac1, vip, clientMAC, client)}},
		}, {
			// On a tagged network, on the other port.
			in:  []on{{nic2, packet.Frame{Dst: broadcast, Src: otherMAC, Tags: []uint16{9}}.ARP(packet.ARPRequestOp, otherMAC, stranger, mac{}, vip)}},
			out: []on{{nic2, packet.Frame{Dst: otherMAC, Src: mac2, Tags: []uint16{9}}.ARP(packet.ARPReplyOp, mac2, vip, otherMAC, stranger)}},
		}},
		counters: map[string]uint64{"reply-arp": 2},
	},
	{
		name: "other ARP is the kernel's",
		steps: []step{sameOn(nic1, twin1, whoHas(snip1), whoHas(ip4{10, 1, 0, 77}),
			packet.Frame{Dst: mac1, Src: clientMAC}.ARP(packet.ARPReplyOp, clientMAC, client, mac1, snip1),
			// Somebody announces our address: nothing to answer.
			packet.Frame{Dst: broadcast, Src: otherMAC}.ARP(packet.ARPRequestOp, otherMAC, vip, mac{}, vip)),
			sameOn(nic2, twin2, whoHas(snip2))},
		counters: map[string]uint64{"punt-arp": 5},
	},
	{
		name:     "ARP disabled",
		steps:    []step{drops(on{nic1, whoHas(vipMute)})},
		counters: map[string]uint64{"drop-arp-disabled": 1},
	},
	{
		name: "bad ARP",
		steps: []step{drops(on{nic1, whoHas(vip)[:30]}, on{nic1, func() []byte { b := whoHas(vip); b[17] = 7; return b }()},
			on{nic1, packet.Frame{Dst: otherMAC, Src: clientMAC}.ARP(packet.ARPRequestOp, clientMAC, client, mac{}, vip)})},
		counters: map[string]uint64{"drop-bad-arp": 2, "drop-not-our-mac": 1},
	},
	{
		name: "ping to a virtual address is answered",
		steps: []step{
			{in: []on{{nic1, ping(vip)}}, out: []on{{nic1, pong(vip)}}},
			{in: []on{{nic1, tagged(ping(vip))}}, out: []on{{nic1, tagged(pong(vip))}}},
			{in: []on{{nic1, with(ping(vip), func(f *packet.Frame) { f.TTL = 1 })}}, out: []on{{nic1, pong(vip)}}},
		},
		counters: map[string]uint64{"reply-icmp-echo": 3},
	},
	{
		name: "ICMP that is not answered",
		steps: []step{drops(on{nic1, ping(vipMute)}, on{nic1, spoil(ping(vip), l4+9)}, on{nic1, spoil(ping(vip), l2+10)},
			on{nic1, with(ping(vip), func(f *packet.Frame) { f.ICMPType = 13 })}, on{nic1, ping(ip4{10, 1, 0, 99})})},
		counters: map[string]uint64{"drop-icmp-disabled": 1, "drop-bad-icmp": 1, "drop-bad-ip-checksum": 1, "drop-icmp-unhandled": 1, "drop-not-for-us": 1},
	},
	{
		name: "what is for the kernel's own addresses goes to its twin",
		steps: []step{
			sameOn(nic1, twin1, to(ask(5001, 22, syn), snip1), ping(snip1), to(udp(ask(5001, 161, 0)), snip1),
				with(to(ask(5001, 22, syn), snip1), func(f *packet.Frame) { f.TTL = 1 }), tagged(to(ask(5001, 22, syn), snip1))),
			sameOn(nic2, twin2, to(answer(server1, 80, 61000, ack), snip2), with(to(answer(server1, 80, 61000, ack), snip2), func(f *packet.Frame) { f.Frag = 0x2000 }),
				with(to(answer(server1, 80, 61000, ack), snip2), func(f *packet.Frame) { f.IPOptions = []byte{1, 1, 1, 0} })),
		},
		counters: map[string]uint64{"punt-local": 6, "punt-fragment": 1, "punt-ip-options": 1},
	},
	{
		name:     "a late packet of a forgotten flow is the kernel's, which answers RST",
		steps:    []step{sameOn(nic2, twin2, answer(server1, 8001, 2000, ack))},
		counters: map[string]uint64{"punt-local": 1},
	},
	{
		name: "multicast, IPv6 and what is not IP",
		steps: []step{sameOn(nic1, twin1,
			packet.Frame{Dst: mac{1, 0, 0x5e, 0, 0, 18}, Src: otherMAC, SrcIP: client, DstIP: ip4{224, 0, 0, 18}, Proto: 112, Payload: payload},
			packet.Frame{Dst: broadcast, Src: otherMAC, SrcIP: client, DstIP: ip4{10, 1, 0, 255}, Proto: packet.ProtoUDP, SrcPort: 68, DstPort: 67},
			other(mac1, 0x86dd, 0x60), other(mac1, 0x88cc, 1, 2), other(mac{1, 0x80, 0xc2}, 0x0026, 0x42, 0x42, 3),
			with(ask(5001, webPort, syn), func(f *packet.Frame) { f.Tags = []uint16{5, 6} }))},
		counters: map[string]uint64{"punt-multicast": 2, "punt-ipv6": 1, "punt-not-ip": 3},
	},
	{
		name: "frames from the kernel leave by the NIC of their twin as they are",
		steps: []step{
			sameOn(twin1, nic1, other(otherMAC, 0x0800, 0xff), whoHas(vip), ask(5001, webPort, syn)),
			sameOn(twin2, nic2, tagged(ask(5001, webPort, syn)), []byte{1, 2, 3}),
		},
		counters: map[string]uint64{"forward-from-kernel": 5},
	},
	{
		name: "too much for the kernel",
		steps: []step{{do: func(b *bed) {
			b.q.turns = true // the rates are divided among the workers
			for range 510 {
				b.enters(nic1, other(mac1, 0x88cc))
				b.q.Sent(twin1)
			}
		}}, {do: func(b *bed) { b.pass(0.1) }, in: []on{{nic1, other(mac1, 0x88cc)}}, out: []on{{twin1, other(mac1, 0x88cc)}}}},
		counters: map[string]uint64{"punt-not-ip": 501, "drop-punt-limit": 10},
	},
}
