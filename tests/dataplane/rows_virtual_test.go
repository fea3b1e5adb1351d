package dataplane

import (
	"sluice/dataplane/api"
	"sluice/dataplane/packet"
)

// The virtual router of vip and vipAny in virtualRows, and its master elsewhere.
const routerID = 60

var (
	routerMAC   = mac{0, 0, 0x5e, 0, 1, routerID} // RFC 9568 section 7.3
	foreignMAC  = mac{0, 0, 0x5e, 0, 1, routerID + 1}
	master      = ip4{10, 1, 0, 6}
	masterMAC   = mac{2, 0x3a, 0, 0, 0, 6}
	multicast   = mac{1, 0, 0x5e, 0, 0, 18}
	rolesOfRows = uint64(0) // versions
)

// plays gives vip and vipAny a virtual router in which this appliance plays a role on port 1, and renews the lease for a second.
func plays(r api.Role) func(*bed) { return playsFor(r, 1000) }

func playsFor(r api.Role, millis uint32) func(*bed) {
	return func(b *bed) {
		c := config()
		c.Version = 2
		c.Addresses[0].VRID, c.Addresses[1].VRID = routerID, routerID
		r.ID = routerID
		rolesOfRows++
		b.apply(&api.Tables{Config: c, Health: &api.Health{Version: 2, Up: allUp}, Roles: &api.Roles{Version: rolesOfRows, List: []api.Role{r}},
			Neighbors: &api.Neighbors{Version: 2, Entries: append(neighborList(), api.Neighbor{IP: addr(master), MAC: masterMAC})}})
		b.renew(millis)
	}
}

// becomes changes the role alone.
func becomes(r api.Role) func(*bed) {
	return func(b *bed) {
		r.ID = routerID
		rolesOfRows++
		b.apply(&api.Tables{Roles: &api.Roles{Version: rolesOfRows, List: []api.Role{r}}})
		b.renew(1000)
	}
}

func (b *bed) renew(millis uint32) {
	b.t.Helper()
	for _, w := range b.ws {
		if !w.Renew(rolesOfRows, millis) || w.Renew(rolesOfRows+1, millis) {
			b.t.Fatal("a worker takes leases for other roles than it has")
		}
	}
}

// virtually is a frame to the virtual MAC address.
func virtually(f packet.Frame) packet.Frame { f.Dst = routerMAC; return f }

// isAt is the answer to whoHas.
func isAt(ip ip4, at mac) []byte {
	return packet.Frame{Dst: clientMAC, Src: at}.ARP(packet.ARPReplyOp, at, ip, clientMAC, client)
}

// handedOn is a frame of the client as the master gets it.
func handedOn(f packet.Frame) packet.Frame { f.Dst, f.Src = masterMAC, mac1; return f }

func advert(id byte) packet.Frame {
	return packet.Frame{Dst: multicast, Src: mac{0, 0, 0x5e, 0, 1, id}, SrcIP: master, DstIP: ip4{224, 0, 0, 18}, Proto: packet.ProtoVRRP, TTL: 255,
		Payload: []byte{0x31, id, 210, 1, 0, 20, 0, 0, 10, 1, 0, 50}}
}

var (
	leads  = api.Role{Master: true}
	backs  = api.Role{}
	shares = api.Role{Sharing: true}
	sends  = api.Role{Via: addr(master)}
	both   = api.Role{Sharing: true, Via: addr(master)}
)

// served are the frames of a flow to the virtual MAC: translated, and answered with the port's own.
func served(sport uint16) []step {
	return []step{
		{in: []on{{nic1, virtually(ask(sport, webPort, syn))}}, out: []on{{nic2, asked(server1, q1, 8001, syn)}}},
		{in: []on{{nic2, answer(server1, 8001, q1, syn|ack)}}, out: []on{{nic1, answered(webPort, sport, syn|ack)}}},
		{in: []on{{nic1, virtually(ask(sport, webPort, ack))}}, out: []on{{nic2, asked(server1, q1, 8001, ack)}}},
	}
}

// injected is what comes to a backup, which plays r: a SYN to either MAC address, a segment of no flow, and a ping.
func injected(r api.Role, out ...on) step {
	return step{do: plays(r), in: []on{{nic1, virtually(ask(c1, webPort, syn))}, {nic1, ask(c1, webPort, syn)}, {nic1, virtually(ask(c2, webPort, ack))},
		{nic1, virtually(ping(vip))}}, out: out}
}

// virtualRows: VIPs of a virtual router (VRRP).
var virtualRows = []row{
	{
		name: "the master answers ARP for the VIPs with the virtual MAC, and data leaves with the port's",
		steps: append([]step{{do: plays(leads), in: []on{{nic1, whoHas(vip)}, {nic1, whoHas(vipAny)}}, out: []on{{nic1, isAt(vip, routerMAC)}, {nic1, isAt(vipAny, routerMAC)}}},
			// A neighbor that asks again asks the virtual MAC alone.
			{in: []on{{nic1, packet.Frame{Dst: routerMAC, Src: clientMAC}.ARP(packet.ARPRequestOp, clientMAC, client, routerMAC, vip)}}, out: []on{{nic1, isAt(vip, routerMAC)}}},
			{in: []on{{nic1, virtually(ping(vip))}}, out: []on{{nic1, pong(vip)}}},
			{in: []on{{nic1, tagged(virtually(ping(vip)))}}, out: []on{{nic1, tagged(pong(vip))}}}}, served(c1)...),
		counters: map[string]uint64{"reply-arp": 3, "reply-icmp-echo": 2, "forward-new-flow": 1, "forward-flow": 2},
	},
	{
		name: "on a port without the virtual router nobody answers ARP for its VIPs",
		steps: []step{{do: plays(leads)}, drops(on{nic2, packet.Frame{Dst: broadcast, Src: otherMAC}.ARP(packet.ARPRequestOp, otherMAC, stranger, mac{}, vip)},
			on{nic2, with(ask(c1, webPort, syn), func(f *packet.Frame) { f.Dst = routerMAC })})},
		counters: map[string]uint64{"drop-arp-backup": 1, "drop-not-our-mac": 1},
	},
	{
		name: "frames to other virtual routers are not ours, nor are those to ours while we are not master, but for the VIPs",
		steps: []step{{do: plays(leads)}, drops(on{nic1, with(ask(c1, webPort, syn), func(f *packet.Frame) { f.Dst = foreignMAC })}),
			{do: becomes(shares)}, drops(on{nic1, virtually(to(ask(c1, 22, syn), snip1))}, on{nic1, virtually(to(ask(c1, 80, syn), remote))},
				on{nic1, packet.Frame{Dst: routerMAC, Src: clientMAC}.ARP(packet.ARPRequestOp, clientMAC, client, routerMAC, vip)},
				on{nic1, append(append([]byte{}, routerMAC[:]...), 1, 2, 3)}, on{nic1, virtually(ask(c1, webPort, syn)).Bytes()[:20]}, on{nic1, routerMAC[:]})},
		counters: map[string]uint64{"drop-not-our-mac": 4, "drop-truncated": 3},
	},
	{
		name:     "a backup neither answers nor serves",
		steps:    []step{{do: plays(backs), in: []on{{nic1, whoHas(vip)}}}, injected(backs)},
		counters: map[string]uint64{"drop-arp-backup": 1, "drop-backup-vip": 4},
	},
	{
		name: "a backup that shares serves, but answers no ARP",
		steps: append([]step{{do: plays(shares), in: []on{{nic1, whoHas(vip)}}},
			{in: []on{{nic1, virtually(ping(vip))}}, out: []on{{nic1, pong(vip)}}}}, served(c1)...),
		counters: map[string]uint64{"drop-arp-backup": 1, "reply-icmp-echo": 1, "forward-new-flow": 1, "forward-flow": 2},
	},
	{
		name: "a backup that sends to the master changes the MAC addresses and nothing else",
		steps: []step{injected(sends, on{nic1, handedOn(ask(c1, webPort, syn))}, on{nic1, handedOn(ask(c1, webPort, syn))}, on{nic1, handedOn(ask(c2, webPort, ack))},
			on{nic1, handedOn(ping(vip))}),
			{in: []on{{nic1, virtually(with(ask(c1, webPort, syn), func(f *packet.Frame) { f.TTL = 1 }))}},
				out: []on{{nic1, handedOn(with(ask(c1, webPort, syn), func(f *packet.Frame) { f.TTL = 1 }))}}},
			{in: []on{{nic1, tagged(virtually(ask(c3, webPort, syn)))}}, out: []on{{nic1, tagged(handedOn(ask(c3, webPort, syn)))}}},
			// The master itself has sent it here: two nodes that take each other for the master do not play with it.
			drops(on{nic1, with(ask(c1, webPort, syn), func(f *packet.Frame) { f.Src = masterMAC })})},
		counters: map[string]uint64{"forward-to-master": 6, "drop-loop": 1},
	},
	{
		name:     "sharing comes before sending to the master",
		steps:    append([]step{{do: plays(both)}}, served(c1)...),
		counters: map[string]uint64{"forward-new-flow": 1, "forward-flow": 2},
	},
	{
		name:     "VIPs whose virtual router has no role yet are a backup's",
		steps:    []step{{do: plays(leads)}, {do: func(b *bed) { becomes(backs)(b); b.apply(&api.Tables{Roles: &api.Roles{Version: 1000}}) }}, drops(on{nic1, whoHas(vip)}, on{nic1, ask(c1, webPort, syn)})},
		counters: map[string]uint64{"drop-arp-backup": 1, "drop-backup-vip": 1},
	},
	{
		name: "when the lease runs out nobody answers and no new flow begins; known flows go on",
		steps: append(append([]step{{do: playsFor(leads, 300), in: []on{{nic1, whoHas(vip)}}, out: []on{{nic1, isAt(vip, routerMAC)}}}}, served(c1)...),
			step{do: func(b *bed) { b.pass(0.2) }, in: []on{{nic1, whoHas(vip)}}, out: []on{{nic1, isAt(vip, routerMAC)}}},
			step{do: func(b *bed) { b.pass(0.1) }, in: []on{{nic1, whoHas(vip)}, {nic1, virtually(ask(c2, webPort, syn))}, {nic1, ask(c3, webPort, syn)}}},
			step{in: []on{{nic1, virtually(ask(c1, webPort, ack))}}, out: []on{{nic2, asked(server1, q1, 8001, ack)}}},
			step{in: []on{{nic1, ask(c1, webPort, ack)}}, out: []on{{nic2, asked(server1, q1, 8001, ack)}}},
			step{in: []on{{nic2, answer(server1, 8001, q1, ack)}}, out: []on{{nic1, answered(webPort, c1, ack)}}},
			step{do: func(b *bed) { b.renew(300) }, in: []on{{nic1, whoHas(vip)}}, out: []on{{nic1, isAt(vip, routerMAC)}}}),
		counters: map[string]uint64{"reply-arp": 3, "drop-arp-backup": 1, "drop-backup-vip": 2, "forward-new-flow": 1, "forward-flow": 5},
	},
	{
		name: "known flows go on when another one becomes master",
		steps: append(append([]step{{do: plays(leads)}}, served(c1)...),
			step{do: becomes(sends), in: []on{{nic1, virtually(ask(c1, webPort, ack))}}, out: []on{{nic2, asked(server1, q1, 8001, ack)}}},
			step{in: []on{{nic1, virtually(ask(c2, webPort, syn))}}, out: []on{{nic1, handedOn(ask(c2, webPort, syn))}}}),
		counters: map[string]uint64{"forward-new-flow": 1, "forward-flow": 3, "forward-to-master": 1},
	},
	{
		name: "errors about known flows reach the server when another one becomes master, also of flows that a link tells apart",
		steps: []step{
			{do: func(b *bed) {
				plays(leads)(b)
				t := links(0)
				t.Config.Addresses[0].VRID, t.Config.Addresses[1].VRID = routerID, routerID
				b.apply(t)
			}},
			{in: []on{{nic1, ask(5001, webPort, syn)}}, out: []on{{nic2, asked(server1, q1, 8001, syn)}}},
			{in: []on{{nic1, byCache(ask(5001, linkPort, syn))}}, out: []on{{nic2, asked(server1, q2, 8001, syn)}}},
			{do: becomes(backs)},
			tellsServer(clientMAC, webPort, server1, q1, 8001), tellsServer(cacheMAC, linkPort, server1, q2, 8001),
		},
		counters: map[string]uint64{"forward-new-flow": 2, "forward-icmp-error": 2},
	},
	{
		name: "advertisements of our virtual routers go to the kernel, beside a flood of others",
		steps: []step{{do: plays(backs)}, sameOn(nic1, twin1, advert(routerID), advert(routerID+1)), {do: func(b *bed) {
			b.q.turns = true
			for range 1010 {
				b.enters(nic1, advert(routerID+1))
				b.q.Sent(twin1)
			}
		}}, sameOn(nic1, twin1, advert(routerID))},
		counters: map[string]uint64{"punt-vrrp": 2, "punt-multicast": 1000, "drop-punt-limit": 11},
	},
}
