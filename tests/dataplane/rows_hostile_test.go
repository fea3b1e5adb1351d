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
		name:     "merged frames, which the port has cut, have a name of their own",
		steps:    []step{drops(on{nic1, cut(1982)}, on{nic1, cut(1500)})},
		counters: map[string]uint64{"drop-oversized": 1, "drop-truncated": 1},
	},
}
