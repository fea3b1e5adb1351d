package dataplane

import (
	"net/netip"
	"slices"
	"testing"

	"sluice/dataplane/api"
	"sluice/dataplane/packet"
)

// Addresses that are not ours.
var (
	origin  = ip4{203, 0, 113, 80}
	origin2 = ip4{203, 0, 114, 9}
	shell   = ip4{192, 168, 77, 1} // the kernel's, on another device
)

// The services behind wildcards, one on each server, for every protocol and port.
const (
	wild1 = uint32(20 + iota)
	wild2
	wild3
	wildKeep // on server 1, which sees the client's address
)

// wildcard is a vserver for one of those services.
func wildcard(id uint32, name string, proto uint8, port uint16, service uint32, priority uint8, listen string) api.Vserver {
	return api.Vserver{ID: id, Name: name, Proto: proto, IP: netip.IPv4Unspecified(), IPMask: netip.IPv4Unspecified(), Port: port, Method: api.RoundRobin,
		ClientTimeout: 180, Bindings: []api.Binding{{Service: service, Weight: 1}}, ListenPriority: priority, Listen: listen}
}

func pattern(v api.Vserver, ip, mask string) api.Vserver {
	v.IP, v.IPMask = netip.MustParseAddr(ip), netip.MustParseAddr(mask)
	return v
}

// transparent sends packets of v on to devices as they are.
func transparent(v api.Vserver, sessionless bool) api.Vserver {
	v.Mode, v.Sessionless, v.Method = api.ModeMAC, sessionless, api.SourceDestinationIPHash
	return v
}

// onLink is what such a device gets, back what it sends back.
func onLink(f packet.Frame) packet.Frame { f.Dst, f.Src = serverMAC(server1), mac2; return f }
func back(f packet.Frame) packet.Frame   { f.Dst, f.Src = mac2, serverMAC(server1); return f }

// withWildcards is the configuration of every row and wildcard vservers. Services are there for every protocol that one has.
func withWildcards(list ...api.Vserver) *api.Tables {
	c, up := config(), slices.Clone(allUp)
	c.Version = 3
	c.Addresses = append(c.Addresses, api.Address{IP: addr(shell), Kind: api.OwnElsewhere})
	c.PortVLANs = []uint16{1, 30}
	have := map[uint32]bool{}
	for _, v := range list {
		b := &v.Bindings[0]
		s := api.Service{ID: b.Service + 10*uint32(v.Proto), Name: "wild", Proto: v.Proto, IP: addr([]ip4{server1, server2, server3, server1}[b.Service-wild1]),
			SNIPs: []uint32{1}, ServerTimeout: 360, UseSourceIP: b.Service == wildKeep}
		v.Bindings = []api.Binding{{Service: s.ID, Weight: 1}}
		if c.Vservers = append(c.Vservers, v); !have[s.ID] {
			have[s.ID] = true
			c.Services, up = append(c.Services, s), append(up, s.ID)
		}
	}
	return &api.Tables{Config: c, Health: &api.Health{Version: 3, Up: up}}
}

func abroad(f packet.Frame) packet.Frame { f.DstIP = origin; return f }

// goes lets the first packet of a flow in and tells by the server whose it became; zero: nobody's.
func goes(f packet.Frame, server ip4) step {
	return step{do: func(b *bed) {
		b.t.Helper()
		b.enters(nic1, f)
		got := b.q.Sent(nic2)
		if server == (ip4{}) {
			if len(got) != 0 {
				b.t.Errorf("%s became %s", describe(f.Bytes()), describe(got[0]))
			}
			return
		}
		if len(got) != 1 {
			b.t.Fatalf("%s became %d packets to servers", describe(f.Bytes()), len(got))
		}
		if _, l3 := packet.Ether(got[0]).Split(); packet.IPv4(l3).Dst() != server {
			b.t.Errorf("%s became %s, but is for %v", describe(f.Bytes()), describe(got[0]), addr(server))
		}
	}}
}

var nobody ip4

// wildcardRows: what is taken for addresses that are not ours, and by whom.
var wildcardRows = []row{
	{
		name: "a wildcard ANY * * takes TCP, UDP and what has no ports; answers come from the address that was asked",
		steps: []step{
			applies(withWildcards(wildcard(20, "all", api.ProtoAny, 0, wild1, 101, ""))),
			{in: []on{{nic1, abroad(ask(5001, 443, syn))}}, out: []on{{nic2, asked(server1, q1, 443, syn)}}},
			{in: []on{{nic2, answer(server1, 443, q1, synack)}},
				out: []on{{nic1, with(answered(443, 5001, synack), func(f *packet.Frame) { f.SrcIP = origin })}}},
			{in: []on{{nic1, abroad(ask(5001, 443, ack))}}, out: []on{{nic2, asked(server1, q1, 443, ack)}}},
			{in: []on{{nic1, udp(abroad(ask(5001, 53, 0)))}}, out: []on{{nic2, udp(asked(server1, q2, 53, 0))}}},
			{in: []on{{nic1, gre(abroad(ask(0, 0, 0)))}}, out: []on{{nic2, gre(asked(server1, 0, 0, 0))}}},
			{in: []on{{nic2, gre(answer(server1, 0, 0, 0))}}, out: []on{{nic1, with(gre(answered(0, 0, 0)), func(f *packet.Frame) { f.SrcIP = origin })}}},
		},
		counters: map[string]uint64{"forward-new-flow": 3, "forward-flow": 3},
	},
	{
		name: "what a wildcard does not take",
		steps: []step{
			applies(withWildcards(wildcard(20, "all", api.ProtoAny, 0, wild1, 101, ""))),
			drops(on{nic1, abroad(ask(5001, 80, ack))},
				on{nic1, with(abroad(ask(5001, 80, syn)), func(f *packet.Frame) { f.Dst = otherMAC })},
				on{nic1, with(abroad(ask(5001, 80, syn)), func(f *packet.Frame) { f.TTL = 1 })},
				on{nic1, with(abroad(ask(5001, 80, syn)), func(f *packet.Frame) { f.SrcIP = origin })},
				on{nic1, with(abroad(udp(ask(5001, 80, 0))), func(f *packet.Frame) { f.Frag = 0x2000 })},
				on{nic1, with(abroad(ask(5001, 80, syn)), func(f *packet.Frame) { f.IPOptions = []byte{1, 1, 1, 0} })},
				on{nic1, spoil(abroad(ask(5001, 80, syn)), l2+10)},
				on{nic1, ping(origin)}, on{nic1, ask(5001, 99, syn)}, on{nic1, to(ask(5001, 22, syn), shell)}),
		},
		counters: map[string]uint64{"drop-no-flow": 1, "drop-not-our-mac": 1, "drop-ttl-expired": 1, "drop-martian-source": 1, "drop-fragment": 1,
			"drop-ip-options": 1, "drop-bad-ip-checksum": 1, "drop-not-for-us": 2, "drop-no-vserver": 1},
	},
	{
		name: "a wildcard takes nothing that is for the appliance itself",
		steps: []step{
			applies(withWildcards(wildcard(20, "all", api.ProtoAny, 0, wild1, 0, ""))),
			// SSH and BGP to a SNIP, what answers monitors, whose ports are the kernel's, and a late answer of a forgotten flow.
			sameOn(nic1, twin1, to(ask(5001, 22, syn), snip1), to(ask(5001, 179, syn), snip1), to(udp(ask(5001, 3784, 0)), snip1), ping(snip1)),
			sameOn(nic2, twin2, answer(server1, 80, 61000, synack), udp(answer(server1, 53, 65535, 0)), answer(server1, 80, 2000, ack), gre(answer(server1, 0, 0, 0))),
			// VRRP, ARP for a SNIP and of others, IPv6.
			sameOn(nic1, twin1, packet.Frame{Dst: mac{1, 0, 0x5e, 0, 0, 18}, Src: otherMAC, SrcIP: client, DstIP: ip4{224, 0, 0, 18}, Proto: 112, Payload: payload},
				whoHas(snip1), whoHas(origin), other(mac1, 0x86dd, 0x60)),
			sameOn(twin1, nic1, abroad(ask(5001, 22, syn))),
		},
		counters: map[string]uint64{"punt-local": 8, "punt-multicast": 1, "punt-arp": 2, "punt-ipv6": 1, "forward-from-kernel": 1},
	},
	{
		name: "the more exact of wildcards is asked first, and one of a protocol takes no other",
		steps: []step{
			applies(withWildcards(wildcard(20, "all", api.ProtoAny, 0, wild1, 101, ""), wildcard(21, "tcp", api.ProtoTCP, 0, wild2, 101, ""),
				wildcard(22, "web", api.ProtoTCP, 80, wild3, 101, ""))),
			goes(abroad(ask(5001, 80, syn)), server3), goes(abroad(ask(5002, 81, syn)), server2), goes(abroad(udp(ask(5003, 80, 0))), server1),
		},
		counters: map[string]uint64{"forward-new-flow": 3},
	},
	{
		name:     "listen policies narrow wildcards, which are asked by priority, whatever the order of configuration",
		steps:    append(policySteps(false), policySteps(true)...),
		counters: map[string]uint64{"forward-new-flow": 15, "forward-flow": 1, "drop-not-for-us": 2},
	},
	{
		name: "a listen policy by VLAN: of the tag, or of the port",
		steps: []step{
			applies(withWildcards(wildcard(20, "seven", api.ProtoAny, 0, wild1, 101, "CLIENT.VLAN.ID.EQ(7)"),
				wildcard(21, "port", api.ProtoAny, 0, wild2, 101, "CLIENT.VLAN.ID == 30"), wildcard(22, "rest", api.ProtoAny, 0, wild3, 101, "CLIENT.VLAN.ID.LT(2)"))),
			goes(tagged(abroad(ask(5001, 80, syn))), server1),
			goes(abroad(ask(5002, 80, syn)), server3),
			goes(with(abroad(ask(5003, 80, syn)), func(f *packet.Frame) { f.Tags = []uint16{3 << 13} }), server3),
			goes(with(abroad(ask(5004, 80, syn)), func(f *packet.Frame) { f.Tags = []uint16{8} }), nobody),
			{in: []on{{nic2, with(abroad(ask(5005, 80, syn)), func(f *packet.Frame) { f.Dst = mac2 })}}, out: []on{{nic2, asked(server2, q1, 80, syn)}}},
		},
		counters: map[string]uint64{"forward-new-flow": 4, "drop-not-for-us": 1},
	},
	{
		name: "patterns: the one with the most bits is asked first, before wildcards",
		steps: []step{
			applies(withWildcards(wildcard(20, "all", api.ProtoAny, 0, wild1, 0, "TRUE"), pattern(wildcard(21, "net", api.ProtoAny, 0, wild2, 101, ""), "203.0.113.0", "255.255.255.0"),
				pattern(wildcard(22, "end", api.ProtoTCP, 0, wild3, 101, ""), "0.0.0.9", "0.0.0.255"))),
			goes(abroad(ask(5001, 80, syn)), server2), goes(to(ask(5002, 80, syn), origin2), server3), goes(to(udp(ask(5003, 80, 0)), origin2), server1),
			goes(to(ask(5004, 80, syn), ip4{203, 0, 113, 9}), server2),
		},
		counters: map[string]uint64{"forward-new-flow": 4},
	},
	{
		name: "a wildcard whose service sees the client's address: the answers find their flow at any worker",
		steps: []step{
			applies(withWildcards(wildcard(20, "all", api.ProtoAny, 0, wildKeep, 101, ""))),
			{in: []on{{nic1, abroad(ask(c1, 80, syn))}}, out: []on{{nic2, asClient(asked(server1, c1, 80, syn))}}},
			{in: []on{{nic2, toClient(answer(server1, 80, c1, synack))}},
				out: []on{{nic1, with(answered(80, c1, synack), func(f *packet.Frame) { f.SrcIP = origin })}}},
			{in: []on{{nic1, abroad(ask(c1, 80, ack))}}, out: []on{{nic2, asClient(asked(server1, c1, 80, ack))}}},
			{in: []on{{nic2, data(toClient(answer(server1, 80, c1, psh)))}},
				out: []on{{nic1, data(with(answered(80, c1, psh), func(f *packet.Frame) { f.SrcIP = origin }))}}},
		},
		counters: map[string]uint64{"forward-new-flow": 1, "forward-flow": 3},
	},
	{
		name: "sessionless, ModeMAC: every packet goes to the node of its addresses as it is, whoever has it, and none is known",
		steps: []step{
			applies(withWildcards(transparent(wildcard(20, "all", api.ProtoAny, 0, wildKeep, 101, ""), true))),
			{in: []on{{nic1, abroad(ask(c1, 80, syn))}, {nic1, data(abroad(ask(c1, 80, psh)))}, {nic1, udp(abroad(ask(c2, 80, 0)))}, {nic1, gre(abroad(ask(0, 0, 0)))}},
				out: []on{{nic2, onLink(abroad(ask(c1, 80, syn)))}, {nic2, onLink(data(abroad(ask(c1, 80, psh))))}, {nic2, onLink(udp(abroad(ask(c2, 80, 0))))}, {nic2, onLink(gre(abroad(ask(0, 0, 0))))}}},
			flowsAre(0),
		},
		counters: map[string]uint64{"forward-sessionless": 4},
	},
	{
		name: "ModeMAC with flows: what the origin answers by the appliance finds its flow at any worker",
		steps: []step{
			applies(withWildcards(transparent(wildcard(20, "all", api.ProtoAny, 0, wildKeep, 101, ""), false))),
			{in: []on{{nic1, abroad(ask(5001, 80, syn))}}, out: []on{{nic2, onLink(abroad(ask(5001, 80, syn)))}}},
			{in: []on{{nic2, with(answered(80, 5001, synack), func(f *packet.Frame) { f.Dst, f.Src, f.SrcIP, f.TTL = mac2, serverMAC(server1), origin, 60 })}},
				out: []on{{nic1, with(answered(80, 5001, synack), func(f *packet.Frame) { f.SrcIP, f.TTL = origin, 60 })}}},
			{in: []on{{nic1, abroad(ask(5001, 80, ack))}}, out: []on{{nic2, onLink(abroad(ask(5001, 80, ack)))}}},
		},
		counters: map[string]uint64{"forward-new-flow": 1, "forward-flow": 2},
	},
	{
		name: "ModeMAC: a node that sends back what it gets does not get it again",
		steps: []step{
			applies(withWildcards(transparent(wildcard(20, "all", api.ProtoUDP, 0, wildKeep, 101, ""), false), transparent(wildcard(21, "rest", api.ProtoAny, 0, wildKeep, 101, ""), true))),
			{in: []on{{nic1, udp(abroad(ask(5001, 80, 0)))}, {nic1, gre(abroad(ask(0, 0, 0)))}},
				out: []on{{nic2, onLink(udp(abroad(ask(5001, 80, 0))))}, {nic2, onLink(gre(abroad(ask(0, 0, 0))))}}},
			drops(on{nic2, back(udp(abroad(ask(5001, 80, 0))))}, on{nic2, back(gre(abroad(ask(0, 0, 0))))}),
			{in: []on{{nic1, udp(abroad(ask(5001, 80, 0)))}, {nic1, gre(abroad(ask(0, 0, 0)))}},
				out: []on{{nic2, onLink(udp(abroad(ask(5001, 80, 0))))}, {nic2, onLink(gre(abroad(ask(0, 0, 0))))}}},
		},
		counters: map[string]uint64{"forward-new-flow": 1, "forward-flow": 1, "forward-sessionless": 2, "drop-loop": 2},
	},
	{
		name: "a vserver on several addresses listens on each of them and on no other",
		steps: []step{
			applies(func() *api.Tables {
				t := without()
				for i := range 3 {
					t.Config.Addresses = append(t.Config.Addresses, api.Address{IP: addr(ip4{10, 1, 0, byte(60 + i)}), Kind: api.OwnVIP, ARP: true})
				}
				t.Config.Vservers[0].IP, t.Config.Vservers[0].Range = addr(ip4{10, 1, 0, 60}), 3
				return t
			}()),
			{in: []on{{nic1, to(ask(c1, webPort, syn), ip4{10, 1, 0, 62})}}, out: []on{{nic2, asked(server1, q1, 8001, syn)}}},
			{in: []on{{nic2, answer(server1, 8001, q1, synack)}},
				out: []on{{nic1, with(answered(webPort, c1, synack), func(f *packet.Frame) { f.SrcIP = ip4{10, 1, 0, 62} })}}},
			goes(to(ask(c2, webPort, syn), ip4{10, 1, 0, 60}), server2), goes(to(ask(c3, webPort, syn), ip4{10, 1, 0, 61}), server3),
			goes(to(ask(c4, webPort, syn), ip4{10, 1, 0, 63}), nobody), goes(ask(c5, webPort, syn), nobody),
		},
		counters: map[string]uint64{"forward-new-flow": 3, "forward-flow": 1, "drop-not-for-us": 1, "drop-no-vserver": 1},
	},
}

// policySteps ask wildcards with listen policies, in this order of configuration or the other.
func policySteps(reversed bool) []step {
	list := []api.Vserver{
		wildcard(20, "late", api.ProtoAny, 0, wild1, 60, "CLIENT.IP.SRC.IN_SUBNET(10.1.0.0/16) && !CLIENT.UDP.DSTPORT.EQ(53)"),
		wildcard(21, "early", api.ProtoAny, 0, wild2, 50, "CLIENT.TCP.DSTPORT.BETWEEN(80, 89) || CLIENT.IP.PROTOCOL.EQ(GRE)"),
		wildcard(22, "b", api.ProtoAny, 0, wild2, 70, "CLIENT.UDP.DSTPORT == 53"),
		wildcard(23, "a", api.ProtoAny, 0, wild3, 70, "CLIENT.UDP.DSTPORT < 54"),
	}
	first := uint16(5001)
	if reversed {
		slices.Reverse(list)
		first = 6001
	}
	far := func(f packet.Frame) packet.Frame { return fromRemote(abroad(f)) }
	return []step{
		applies(withWildcards(list...)),
		goes(abroad(ask(first, 80, syn)), server2), goes(abroad(ask(first+1, 90, syn)), server1), goes(abroad(udp(ask(first+2, 80, 0))), server1),
		goes(abroad(udp(ask(first+3, 53, 0))), server3), // both of priority 70 match: the first by name
		goes(far(ask(first+4, 89, syn)), server2), goes(far(udp(ask(first+5, 52, 0))), server3), goes(far(udp(ask(first+6, 53, 0))), server3),
		goes(abroad(gre(ask(0, 0, 0))), server2),
		goes(far(ask(first+7, 90, syn)), nobody),
	}
}

// TestWildcardsTakeNothingOfOurs plays every row again under wildcards that take all they can, before specific vservers if they
// could: nothing changes, but for the rows that tell what becomes of packets to foreign addresses.
func TestWildcardsTakeNothingOfOurs(t *testing.T) {
	n := 0
	for _, r := range rows() {
		if r.several || r.counters["drop-not-for-us"] > 0 {
			continue
		}
		t.Run(r.name, func(t *testing.T) {
			all := withWildcards(wildcard(90, "everything", api.ProtoAny, 0, wild3, 0, "TRUE"), wildcard(91, "tcp", api.ProtoTCP, 0, wild3, 0, ""))
			all.Config.SNIPs[1].PortHi = all.Config.SNIPs[1].PortLo + 1
			r.steps = append([]step{applies(all)}, r.steps...)
			r.run(t, newMemory(t), alone)
		})
		n++
	}
	if n < 60 {
		t.Errorf("%d rows were played: the test has lost its point", n)
	}
}
