package dataplane

import "sluice/dataplane/packet"

// icmpError is an error of a router or host about a packet that it got: the IP header and 8 bytes behind it.
func icmpError(src, dst ip4, typ, code uint8, about packet.Frame) packet.Frame {
	inner := about.Bytes()[l2:]
	return packet.Frame{SrcIP: src, DstIP: dst, Proto: packet.ProtoICMP, ICMPType: typ, ICMPCode: code,
		Payload: append([]byte{0, 0, 5, 0x14}, inner[:packet.IPv4Len+8]...)}
}

// lazy is a frame that is built when it is due, since it carries ports that the worker chose.
type lazy func(*bed) packet.Frame

// lazyBytes is the same in bytes.
type lazyBytes func(*bed) []byte

var router = ip4{10, 2, 0, 200}

// tellsServer is the step in which an error of the client's side about a flow from 5001 to a port reaches its server.
func tellsServer(from mac, dport uint16, server ip4, q, sdport uint16) step {
	return step{in: []on{{nic1, lazy(func(b *bed) packet.Frame {
		f := icmpError(client, vip, packet.ICMPUnreachable, 4, answered(dport, 5001, ack))
		f.Dst, f.Src = mac1, from
		return f
	})}}, out: []on{{nic2, lazy(func(b *bed) packet.Frame {
		f := icmpError(snip2, server, packet.ICMPUnreachable, 4, ttl(b.resolve(answer(server, sdport, q, ack)), 63))
		f.Dst, f.Src, f.TTL = serverMAC(server), mac2, 63
		return f
	})}}}
}

// tellsClient is the step in which an error of a router on the server's side about such a flow reaches the client.
func tellsClient(at mac, dport uint16, server ip4, q, sdport uint16) step {
	return step{in: []on{{nic2, lazy(func(b *bed) packet.Frame {
		f := icmpError(router, snip2, packet.ICMPUnreachable, 4, b.resolve(asked(server, q, sdport, ack)))
		f.Dst, f.Src = mac2, otherMAC
		return f
	})}}, out: []on{{nic1, lazy(func(b *bed) packet.Frame {
		f := icmpError(vip, client, packet.ICMPUnreachable, 4, ttl(ask(5001, dport, ack), 63))
		f.Dst, f.Src, f.TTL = at, mac1, 63
		return f
	})}}}
}

// icmpRows: errors about flows reach the flow's other side.
var icmpRows = []row{
	{
		name: "fragmentation needed on the server's side reaches the client",
		steps: []step{
			open(5001, webPort, server1, q1, 8001),
			tellsClient(clientMAC, webPort, server1, q1, 8001),
		},
		counters: map[string]uint64{"forward-new-flow": 1, "forward-icmp-error": 1},
	},
	{
		name: "an error of the client's side reaches the server",
		steps: []step{
			open(5001, webPort, server1, q1, 8001),
			tellsServer(clientMAC, webPort, server1, q1, 8001),
		},
		counters: map[string]uint64{"forward-new-flow": 1, "forward-icmp-error": 1},
	},
	{
		name: "errors about no flow of ours",
		steps: []step{
			drops(on{nic1, lazy(func(b *bed) packet.Frame {
				f := icmpError(client, vip, packet.ICMPUnreachable, 4, answered(webPort, 6001, ack))
				f.Dst, f.Src = mac1, clientMAC
				return f
			})}),
			sameOn(nic2, twin2, func() packet.Frame {
				f := icmpError(router, snip2, packet.ICMPUnreachable, 1, asked(server1, 61000, 8001, ack))
				f.Dst, f.Src = mac2, otherMAC
				return f
			}()),
		},
		counters: map[string]uint64{"drop-icmp-no-flow": 1, "punt-local": 1},
	},
}
