package dataplane

import (
	"sluice/dataplane/api"
	"sluice/dataplane/packet"
)

// Where the vservers of modeConfig listen: vipMode for those that keep flows, on these ports, vipEach for the sessionless ones, on the
// same ports and, with ModeMAC, on all others.
var (
	vipMode = ip4{10, 1, 0, 60}
	vipEach = ip4{10, 1, 0, 61}
)

const (
	macPort    = 80
	tosPort    = 81
	tunnelPort = 82
	awayMAC    = 83 // ModeMAC, the server is behind a gateway
	dscp       = 37
)

// modeConfig is the configuration of every row and a vserver of each mode, with flows and without.
func modeConfig() *api.Config {
	c := config()
	c.Version = 2
	for _, ip := range []ip4{vipMode, vipEach} {
		c.Addresses = append(c.Addresses, api.Address{IP: addr(ip), Kind: api.OwnVIP, ARP: true, ICMP: true})
	}
	for i, ip := range []ip4{server1, server2, server3, remote} {
		for j, proto := range []uint8{api.ProtoTCP, api.ProtoAny} {
			c.Services = append(c.Services, api.Service{ID: uint32(20 + 10*j + i), Name: "direct", Proto: proto, IP: addr(ip), UseSourceIP: true,
				SNIPs: []uint32{1}, ServerTimeout: 360})
		}
	}
	vserver := func(id uint32, ip ip4, proto uint8, port uint16, mode api.Mode, services ...uint32) {
		v := api.Vserver{ID: id, Name: "mode", Proto: proto, IP: addr(ip), Port: port, Method: api.RoundRobin, ClientTimeout: 180, Mode: mode}
		if v.Sessionless = ip == vipEach; v.Sessionless {
			v.Method = api.SourceIPSourcePortHash
		}
		if mode == api.ModeTOS {
			v.DSCP = dscp
		}
		for _, s := range services {
			v.Bindings = append(v.Bindings, api.Binding{Service: s, Weight: 1})
		}
		c.Vservers = append(c.Vservers, v)
	}
	for i, ip := range []ip4{vipMode, vipEach} {
		id := uint32(20 + 10*i)
		vserver(id, ip, api.ProtoTCP, macPort, api.ModeMAC, 20)
		vserver(id+1, ip, api.ProtoTCP, tosPort, api.ModeTOS, 20)
		vserver(id+2, ip, api.ProtoTCP, tunnelPort, api.ModeTunnel, 20)
		vserver(id+3, ip, api.ProtoTCP, awayMAC, api.ModeMAC, 23)
		vserver(id+4, ip, api.ProtoAny, 0, api.Mode(1+i), 30)
	}
	c.Vservers[len(c.Vservers)-1].Mode = api.ModeMAC
	c.Vservers[len(c.Vservers)-6].Mode = api.ModeTunnel
	return c
}

// modes are the tables with it.
func modes() *api.Tables {
	return &api.Tables{Config: modeConfig(), Health: &api.Health{Version: 2, Up: append(append([]uint32(nil), allUp...), 20, 21, 22, 23, 30, 31, 32, 33)}}
}

var withModes = applies(modes())

// askOf is a client's frame to a vserver of modeConfig.
func askOf(ip ip4, sport, dport uint16, flags uint8) packet.Frame {
	return to(ask(sport, dport, flags), ip)
}

// passedOn is f in a frame to a server, else as it came.
func passedOn(f packet.Frame, server ip4) packet.Frame {
	f.Dst, f.Src = serverMAC(server), mac2
	return f
}

// marked is f as a server with a loopback VIP gets it by the DSCP; the ECN bits are the client's.
func marked(f packet.Frame, server ip4) packet.Frame {
	f = passedOn(f, server)
	f.DstIP, f.TOS, f.TTL = server, dscp<<2|f.TOS&3, 63
	return f
}

// enclosed is f in an IP packet to a server.
func enclosed(f packet.Frame, server ip4) []byte {
	f = passedOn(f, server)
	f.TTL = 63
	inner := f.Bytes()[l2+packet.VLANLen*len(f.Tags):]
	whole := packet.Frame{Dst: f.Dst, Src: f.Src, Tags: f.Tags, SrcIP: snip2, DstIP: server, Proto: packet.ProtoIPIP, TOS: f.TOS, ID: f.ID, Frag: f.Frag & 0x4000, Short: true}
	// The length of the outer packet is without what pads the inner frame.
	n := int(inner[2])<<8 | int(inner[3])
	whole.Payload = inner[:n]
	return append(whole.Bytes(), inner[n:]...)
}

// direct is a server's answer that a device passes on to us: it comes from the VIP and goes to the client.
func direct(sport, dport uint16, flags uint8) packet.Frame {
	return packet.Frame{Dst: mac2, Src: serverMAC(server1), SrcIP: vipMode, DstIP: client, SrcPort: sport, DstPort: dport, Flags: flags, TTL: 60}
}

// toClientAsIs is that frame at the client.
func toClientAsIs(f packet.Frame) packet.Frame {
	f.Dst, f.Src = clientMAC, mac1
	return f
}

func ecn(f packet.Frame) packet.Frame { f.TOS = 0xb8 | 1; return f }

// connection are a client's SYN, ACK, data, a fragment-shy packet and FIN, each as it comes out.
func connection(ip ip4, dport uint16, out func(packet.Frame) any) []step {
	var list []step
	for _, f := range []packet.Frame{askOf(ip, c1, dport, syn), askOf(ip, c1, dport, ack), data(ecn(askOf(ip, c1, dport, psh))),
		with(data(askOf(ip, c1, dport, psh)), func(f *packet.Frame) { f.Frag, f.ID = 0x4000, 99 }), tagged(data(askOf(ip, c1, dport, psh))), data(askOf(ip, c1, dport, fin))} {
		list = append(list, step{in: []on{{nic1, f}}, out: []on{{nic2, out(f)}}})
	}
	return list
}

func viaMAC(f packet.Frame) any    { return passedOn(f, server1) }
func viaTOS(f packet.Frame) any    { return marked(f, server1) }
func viaTunnel(f packet.Frame) any { return enclosed(f, server1) }

// modeRows: -m MAC, TOS and IPTUNNEL.
var modeRows = []row{
	{
		name:     "MAC: nothing but the frame changes, and what comes back this way reaches the client as it is",
		steps:    steps(steps([]step{withModes}, connection(vipMode, macPort, viaMAC)...), step{in: []on{{nic2, data(direct(macPort, c1, psh))}}, out: []on{{nic1, toClientAsIs(data(direct(macPort, c1, psh)))}}}, flowsAre(2)),
		counters: map[string]uint64{"forward-new-flow": 1, "forward-flow": 6},
	},
	{
		name:     "TOS: the server's address and the DSCP, ECN bits stay",
		steps:    steps(steps([]step{withModes}, connection(vipMode, tosPort, viaTOS)...), flowsAre(1)),
		counters: map[string]uint64{"forward-new-flow": 1, "forward-flow": 5},
	},
	{
		name:     "IPTUNNEL: an IP packet from a SNIP to the server around the client's",
		steps:    steps(steps([]step{withModes}, connection(vipMode, tunnelPort, viaTunnel)...), flowsAre(1)),
		counters: map[string]uint64{"forward-new-flow": 1, "forward-flow": 5},
	},
	{
		name: "sessionless, each mode: every packet by itself, none needs a SYN, and no flow is kept",
		steps: steps(steps(steps(steps([]step{withModes}, connection(vipEach, macPort, viaMAC)[2:]...), connection(vipEach, tosPort, viaTOS)...),
			connection(vipEach, tunnelPort, viaTunnel)...), flowsAre(0)),
		counters: map[string]uint64{"forward-sessionless": 16},
	},
	{
		name: "UDP and a protocol without ports",
		steps: []step{
			withModes,
			{in: []on{{nic1, data(udp(askOf(vipMode, c1, 5000, 0)))}}, out: []on{{nic2, enclosed(data(udp(askOf(vipMode, c1, 5000, 0))), server1)}}},
			{in: []on{{nic1, data(udp(askOf(vipMode, c1, 5000, 0)))}}, out: []on{{nic2, enclosed(data(udp(askOf(vipMode, c1, 5000, 0))), server1)}}},
			{in: []on{{nic1, gre(askOf(vipMode, 0, 0, 0))}}, out: []on{{nic2, enclosed(gre(askOf(vipMode, 0, 0, 0)), server1)}}},
			{in: []on{{nic1, gre(askOf(vipMode, 0, 0, 0))}}, out: []on{{nic2, enclosed(gre(askOf(vipMode, 0, 0, 0)), server1)}}},
			{in: []on{{nic1, data(udp(askOf(vipEach, c1, 5000, 0)))}}, out: []on{{nic2, passedOn(data(udp(askOf(vipEach, c1, 5000, 0))), server1)}}},
			{in: []on{{nic1, gre(askOf(vipEach, 0, 0, 0))}}, out: []on{{nic2, passedOn(gre(askOf(vipEach, 0, 0, 0)), server1)}}},
			flowsAre(2),
		},
		counters: map[string]uint64{"forward-new-flow": 2, "forward-flow": 2, "forward-sessionless": 2},
	},
	{
		name: "hops: with MAC none is taken, with TOS and IPTUNNEL one must be left",
		steps: []step{
			withModes,
			{in: []on{{nic1, ttl(askOf(vipMode, c1, macPort, syn), 1)}}, out: []on{{nic2, passedOn(ttl(askOf(vipMode, c1, macPort, syn), 1), server1)}}},
			{in: []on{{nic1, ttl(askOf(vipMode, c1, macPort, ack), 1)}}, out: []on{{nic2, passedOn(ttl(askOf(vipMode, c1, macPort, ack), 1), server1)}}},
			{in: []on{{nic1, ttl(askOf(vipEach, c1, macPort, ack), 1)}}, out: []on{{nic2, passedOn(ttl(askOf(vipEach, c1, macPort, ack), 1), server1)}}},
			drops(on{nic1, spoilTTL(askOf(vipMode, c1, macPort, ack))}, on{nic1, ttl(askOf(vipMode, c1, tosPort, syn), 1)}, on{nic1, ttl(askOf(vipEach, c1, tunnelPort, syn), 1)}),
		},
		counters: map[string]uint64{"forward-new-flow": 1, "forward-flow": 1, "forward-sessionless": 1, "drop-ttl-expired": 3},
	},
	{
		name: "MAC: a server behind a gateway has no MAC address here",
		steps: []step{
			withModes,
			drops(on{nic1, askOf(vipMode, c1, awayMAC, syn)}, on{nic1, askOf(vipEach, c1, awayMAC, syn)}),
		},
		counters: map[string]uint64{"drop-not-on-link": 2},
	},
	{
		name: "unfinished checksums are completed",
		steps: []step{
			withModes,
			{in: []on{{nic1, partial(askOf(vipMode, c1, macPort, syn))}}, out: []on{{nic2, passedOn(askOf(vipMode, c1, macPort, syn), server1)}}},
			{in: []on{{nic1, partial(data(askOf(vipMode, c1, macPort, psh)))}}, out: []on{{nic2, passedOn(data(askOf(vipMode, c1, macPort, psh)), server1)}}},
			{in: []on{{nic1, partial(askOf(vipMode, c1, tosPort, syn))}}, out: []on{{nic2, marked(askOf(vipMode, c1, tosPort, syn), server1)}}},
			{in: []on{{nic1, partial(data(askOf(vipEach, c1, tunnelPort, psh)))}}, out: []on{{nic2, enclosed(data(askOf(vipEach, c1, tunnelPort, psh)), server1)}}},
		},
		counters: map[string]uint64{"forward-new-flow": 2, "forward-flow": 1, "forward-sessionless": 1, "checksum-completed": 4},
	},
	{
		name: "the end of a one-way connection: after the client's FIN a SYN opens another one, and silence ends it soon",
		steps: steps(steps([]step{withModes}, connection(vipMode, tosPort, viaTOS)...),
			step{in: []on{{nic1, askOf(vipMode, c1, tosPort, syn)}}, out: []on{{nic2, marked(askOf(vipMode, c1, tosPort, syn), server1)}}},
			step{in: []on{{nic1, askOf(vipMode, c1, tosPort, fin)}}, out: []on{{nic2, marked(askOf(vipMode, c1, tosPort, fin), server1)}}},
			passes(58), flowsAre(1), passes(15), flowsAre(0)),
		counters: map[string]uint64{"forward-new-flow": 2, "forward-flow": 6},
	},
	{
		name: "a server whose MAC address is not known yet: what waits is sent as its mode says",
		steps: []step{
			withModes,
			{do: func(b *bed) { b.apply(&api.Tables{Neighbors: &api.Neighbors{Version: 9, Entries: neighborList()[:2]}}) },
				in: []on{{nic1, data(askOf(vipMode, c1, tunnelPort, syn))}, {nic1, askOf(vipMode, c1, macPort, syn)}, {nic1, data(askOf(vipEach, c1, tosPort, psh))}}},
			{do: func(b *bed) { b.apply(&api.Tables{Neighbors: &api.Neighbors{Version: 10, Entries: neighborList()}}) },
				out: []on{{nic2, enclosed(data(askOf(vipMode, c1, tunnelPort, syn)), server1)}, {nic2, passedOn(askOf(vipMode, c1, macPort, syn), server1)},
					{nic2, marked(data(askOf(vipEach, c1, tosPort, psh)), server1)}}},
		},
		counters: map[string]uint64{"held-neighbor": 3},
	},
	{
		name: "an error about what the server has sent reaches the server as its packets do, and one about the client's the client",
		steps: []step{
			withModes,
			{in: []on{{nic1, askOf(vipMode, c1, macPort, syn)}, {nic1, askOf(vipMode, c1, tosPort, syn)}, {nic1, askOf(vipMode, c1, tunnelPort, syn)}},
				out: []on{{nic2, passedOn(askOf(vipMode, c1, macPort, syn), server1)}, {nic2, marked(askOf(vipMode, c1, tosPort, syn), server1)}, {nic2, enclosed(askOf(vipMode, c1, tunnelPort, syn), server1)}}},
			{in: []on{{nic1, told(macPort)}}, out: []on{{nic2, passedOn(told(macPort), server1)}}},
			{in: []on{{nic1, told(tosPort)}}, out: []on{{nic2, marked(told(tosPort), server1)}}},
			{in: []on{{nic1, told(tunnelPort)}}, out: []on{{nic2, enclosed(told(tunnelPort), server1)}}},
			{in: []on{{nic2, func() packet.Frame {
				f := icmpError(router, client, packet.ICMPUnreachable, 1, askOf(vipMode, c1, macPort, ack))
				f.Dst, f.Src = mac2, otherMAC
				return f
			}()}}, out: []on{{nic1, func() packet.Frame {
				f := icmpError(router, client, packet.ICMPUnreachable, 1, askOf(vipMode, c1, macPort, ack))
				f.Dst, f.Src = clientMAC, mac1
				return f
			}()}}},
		},
		counters: map[string]uint64{"forward-new-flow": 3, "forward-icmp-error": 4},
	},
	{
		name: "bursts of flows with and without modes, some known well, some new",
		steps: []step{
			withModes,
			{in: []on{{nic1, udp(askOf(vipMode, c1, 5000, 0))}, {nic1, udp(ask(c1, dnsPort, 0))}},
				out: []on{{nic2, enclosed(udp(askOf(vipMode, c1, 5000, 0)), server1)}, {nic2, udp(asked(server1, q1, 53, 0))}}},
			{in: []on{{nic1, askOf(vipMode, c1, tosPort, syn)}, {nic1, askOf(vipMode, c1, macPort, syn)}},
				out: []on{{nic2, marked(askOf(vipMode, c1, tosPort, syn), server1)}, {nic2, passedOn(askOf(vipMode, c1, macPort, syn), server1)}}},
			{in: []on{{nic1, askOf(vipMode, c1, tosPort, ack)}, {nic1, askOf(vipMode, c1, macPort, ack)}},
				out: []on{{nic2, marked(askOf(vipMode, c1, tosPort, ack), server1)}, {nic2, passedOn(askOf(vipMode, c1, macPort, ack), server1)}}},
			{in: blended(false), out: blended(true)}, {in: blended(false), out: blended(true)},
		},
		counters: map[string]uint64{"forward-new-flow": 4, "forward-flow": 22},
	},
	{
		name: "path MTU: a tunnel leaves 20 bytes less, MAC and TOS nothing",
		steps: []step{
			withModes,
			{in: []on{{nic1, askOf(vipMode, c1, tunnelPort, syn)}}, out: []on{{nic2, enclosed(askOf(vipMode, c1, tunnelPort, syn), server1)}}},
			{in: []on{{nic1, fits(1480, askOf(vipMode, c1, tunnelPort, ack))}}, out: []on{{nic2, enclosed(fits(1480, askOf(vipMode, c1, tunnelPort, ack)), server1)}}},
			{in: []on{{nic1, fits(1481, askOf(vipMode, c1, tunnelPort, ack))}}, out: []on{{nic1, tooLong(1480, fits(1481, askOf(vipMode, c1, tunnelPort, ack)))}}},
			{in: []on{{nic1, tagged(fits(1481, askOf(vipMode, c1, tunnelPort, ack)))}}, out: []on{{nic1, tooLong(1480, tagged(fits(1481, askOf(vipMode, c1, tunnelPort, ack))))}}},
			{in: []on{{nic1, fits(1481, askOf(vipEach, c1, tunnelPort, ack))}}, out: []on{{nic1, tooLong(1480, fits(1481, askOf(vipEach, c1, tunnelPort, ack)))}}},
			{in: []on{{nic1, fits(1500, askOf(vipEach, c1, macPort, ack))}}, out: []on{{nic2, passedOn(fits(1500, askOf(vipEach, c1, macPort, ack)), server1)}}},
			{in: []on{{nic1, fits(1501, askOf(vipEach, c1, macPort, ack))}}, out: []on{{nic1, tooLong(1500, fits(1501, askOf(vipEach, c1, macPort, ack)))}}},
			{in: []on{{nic1, fits(1501, askOf(vipEach, c1, tosPort, ack))}}, out: []on{{nic1, tooLong(1500, marked(fits(1501, askOf(vipEach, c1, tosPort, ack)), server1))}}},
			drops(on{nic1, with(fits(1481, askOf(vipMode, c1, tunnelPort, ack)), func(f *packet.Frame) { f.Frag = 0 })}),
		},
		counters: map[string]uint64{"forward-new-flow": 1, "forward-flow": 1, "forward-sessionless": 1, "reply-frag-needed": 5, "drop-frame-too-long": 1},
	},
}

// blended are packets of four flows, as they come in or as they go out.
func blended(sent bool) (list []on) {
	toTunnel, toDNS := udp(askOf(vipMode, c1, 5000, 0)), udp(ask(c1, dnsPort, 0))
	toTOS, toMAC := data(askOf(vipMode, c1, tosPort, psh)), data(askOf(vipMode, c1, macPort, psh))
	in := []any{toTunnel, toTOS, toDNS, toTunnel, toMAC, toDNS, toTunnel, toTunnel, toTOS, toMAC}
	out := []any{enclosed(toTunnel, server1), marked(toTOS, server1), udp(asked(server1, q1, 53, 0)), enclosed(toTunnel, server1), passedOn(toMAC, server1),
		udp(asked(server1, q1, 53, 0)), enclosed(toTunnel, server1), enclosed(toTunnel, server1), marked(toTOS, server1), passedOn(toMAC, server1)}
	for i := range in {
		if sent {
			list = append(list, on{nic2, out[i]})
		} else {
			list = append(list, on{nic1, in[i]})
		}
	}
	return list
}

// told is the client's error about an answer that came from a port of vipMode.
func told(dport uint16) packet.Frame {
	about := direct(dport, c1, ack)
	f := icmpError(client, vipMode, packet.ICMPUnreachable, 4, about)
	f.Dst, f.Src = mac1, clientMAC
	return f
}

// fits is f with so many bytes from its IP header on, which may not be fragmented.
func fits(n int, f packet.Frame) packet.Frame {
	f.Frag, f.ID, f.Payload = 0x4000, 77, make([]byte, n-packet.IPv4Len-packet.TCPLen)
	return f
}

// tooLong is the answer that mtu bytes are the most; about is the frame as its sender sent it, but for the DSCP that it has got.
func tooLong(mtu int, about packet.Frame) packet.Frame {
	e := about
	e.TTL = 64
	if e.DstIP == server1 { // marked
		e.Dst, e.Src, e.DstIP = mac1, clientMAC, vipEach
	}
	f := fragNeeded(e)
	f.Payload[2], f.Payload[3] = byte(mtu>>8), byte(mtu)
	return f
}
