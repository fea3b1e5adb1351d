package dataplane

import (
	"sluice/dataplane/api"
	"sluice/dataplane/packet"
)

const persistPort = 96

// persistent has web1 to web3 on a vserver with persistence, by turns for who is not known.
func persistent(kind api.Persistence, mask, seconds uint32) *api.Tables {
	t := tables()
	v := api.Vserver{ID: 70, Name: "persist", Proto: api.ProtoTCP, IP: addr(vip), Port: persistPort, Method: api.RoundRobin, ClientTimeout: 180,
		Persistence: kind, PersistMask: mask, PersistSeconds: seconds}
	for i := range webs {
		v.Bindings = append(v.Bindings, api.Binding{Service: uint32(i + 1), Weight: 1})
	}
	t.Config.Vservers = append(t.Config.Vservers, v)
	return &api.Tables{Config: t.Config, Health: t.Health}
}

// persists is the step in which the vserver comes.
func persists(kind api.Persistence, mask uint32) step {
	return applies(persistent(kind, mask, 120))
}

// stays is the step in which the vserver comes, with clients that stay with a server that is leaving or not.
func stays(leaving bool) step {
	t := persistent(api.PersistSourceIP, 0, 120)
	t.Config.Vservers[len(t.Config.Vservers)-1].PersistLeaving = leaving
	return applies(t)
}

// leaving has a service on its way out of service, and others up.
func leaving(id uint32, up ...uint32) func(*bed) {
	return func(b *bed) { b.apply(&api.Tables{Health: &api.Health{Up: up, Leaving: []uint32{id}}}) }
}

// beside is a client on the same network as client.
var beside = ip4{10, 1, 0, 101}

// from is the step in which a client opens a connection that goes to server.
func from(who ip4, sport uint16, server ip4, q, sdport uint16) step {
	return opens(who, sport, persistPort, server, q, sdport)
}

// opens is open for another client.
func opens(who ip4, sport, dport uint16, server ip4, q, sdport uint16) step {
	s := open(sport, dport, server, q, sdport)
	s.in[0].frame = with(s.in[0].frame.(packet.Frame), func(f *packet.Frame) { f.SrcIP = who })
	return s
}

var persistRows = []row{
	{
		name: "persistence SOURCEIP: whichever worker has them, all connections of a client go to one server",
		steps: []step{
			persists(api.PersistSourceIP, 0),
			from(client, 5001, server1, q1, 8001), from(client, 5002, server1, q2, 8001), from(client, 5003, server1, q3, 8001), from(client, 5004, server1, q4, 8001),
		},
		counters: map[string]uint64{"forward-new-flow": 4},
	},
	{
		name: "persistence SOURCEIP: each client has its own server",
		steps: []step{
			persists(api.PersistSourceIP, 0),
			from(client, 5001, server1, q1, 8001),
			{do: health(2)}, from(beside, 5001, server2, q2, 8002),
			{do: health(allUp...)}, from(beside, 5002, server2, q3, 8002), from(client, 5002, server1, q4, 8001),
		},
		counters: map[string]uint64{"forward-new-flow": 4},
	},
	{
		name: "persistence: a server that is down is replaced by another one, which stays when the first is back",
		steps: []step{
			persists(api.PersistSourceIP, 0), from(client, 5001, server1, q1, 8001),
			{do: health(3)}, from(client, 5002, server3, q2, 8003),
			{do: health(allUp...)}, from(client, 5003, server3, q3, 8003), from(client, 5004, server3, q4, 8003),
		},
		counters: map[string]uint64{"forward-new-flow": 4},
	},
	{
		name: "persistence: a server that is leaving keeps its clients and gets no others",
		steps: []step{
			stays(true), from(client, 5001, server1, q1, 8001),
			{do: leaving(1, 2)}, from(client, 5002, server1, q2, 8001), from(beside, 5001, server2, q3, 8002),
			{do: leaving(1)}, drops(on{nic1, ask(5003, persistPort, syn)}), // a vserver without a service that is up is down
			{do: leaving(1, 2)}, from(client, 5004, server1, q4, 8001),
		},
		counters: map[string]uint64{"forward-new-flow": 4, "drop-no-service-up": 1},
	},
	{
		name: "persistence, -trofsPersistence DISABLED: a server that is leaving loses its clients",
		steps: []step{
			stays(false), from(client, 5001, server1, q1, 8001),
			{do: leaving(1, 2)}, from(client, 5002, server2, q2, 8002), from(client, 5003, server2, q3, 8002),
		},
		counters: map[string]uint64{"forward-new-flow": 3},
	},
	{
		name: "persistence with no server up: refused, and remembered when it is back",
		steps: []step{
			persists(api.PersistSourceIP, 0), from(client, 5001, server1, q1, 8001),
			{do: health(4)}, drops(on{nic1, ask(5002, persistPort, syn)}),
			{do: health(allUp...)}, from(client, 5003, server1, q2, 8001),
		},
		counters: map[string]uint64{"forward-new-flow": 2, "drop-no-service-up": 1},
	},
	{
		name: "persistence lasts as long as there are new connections, and its time after the last",
		steps: []step{
			persists(api.PersistSourceIP, 0), from(client, c1, server1, q1, 8001),
			passes(119), from(client, c2, server1, q2, 8001),
			passes(119), from(client, c3, server1, q3, 8001),
			passes(121), from(client, c4, server2, q4, 8002),
		},
		counters: map[string]uint64{"forward-new-flow": 4},
	},
	{
		name: "persistence -persistMask 255.255.255.0: a network is one client",
		steps: []step{
			persists(api.PersistSourceIP, 0xffffff00),
			{do: health(3)}, from(client, 5001, server3, q1, 8003),
			{do: health(allUp...)}, from(beside, 5001, server3, q2, 8003),
			{do: health(2)}, from(remote, 5001, server2, q3, 8002),
			{do: health(allUp...)}, from(ip4{192, 0, 2, 200}, 5001, server2, q4, 8002),
		},
		counters: map[string]uint64{"forward-new-flow": 4},
	},
	{
		name: "persistence DESTIP: who asks for one address gets one server",
		steps: []step{
			persists(api.PersistDestinationIP, 0),
			{do: health(2)}, from(client, 5001, server2, q1, 8002),
			{do: health(allUp...)}, from(beside, 5001, server2, q2, 8002), from(remote, 5001, server2, q3, 8002),
		},
		counters: map[string]uint64{"forward-new-flow": 3},
	},
	{
		name: "persistence SRCIPDESTIP: a pair of addresses gets one server",
		steps: []step{
			persists(api.PersistSourceDestinationIP, 0),
			{do: health(2)}, from(client, 5001, server2, q1, 8002),
			{do: health(3)}, from(beside, 5001, server3, q2, 8003),
			{do: health(allUp...)}, from(client, 5002, server2, q3, 8002), from(beside, 5002, server3, q4, 8003),
		},
		counters: map[string]uint64{"forward-new-flow": 4},
	},
	{
		name: "backup persistence: who is forgotten by the first is known by the second",
		steps: []step{
			{do: func(b *bed) {
				t := persistent(api.PersistSourceDestinationIP, 0, 120)
				v := &t.Config.Vservers[len(t.Config.Vservers)-1]
				v.PersistBackup, v.PersistBackupSeconds = api.PersistSourceIP, 600
				b.apply(t)
			}},
			{do: health(3)}, from(client, 5001, server3, q1, 8003),
			{do: health(allUp...)}, passes(400), from(client, 5002, server3, q2, 8003),
			passes(119), from(client, 5003, server3, q3, 8003),
		},
		counters: map[string]uint64{"forward-new-flow": 3},
	},
	{
		name: "persistence: other tables change nothing for who is known, and a connection that is open goes on",
		steps: []step{
			persists(api.PersistSourceIP, 0),
			{do: health(2)}, from(client, c1, server2, q1, 8002),
			{do: health(allUp...)}, persists(api.PersistSourceIP, 0),
			from(client, 5002, server2, q2, 8002),
			{in: []on{{nic2, answer(server2, 8002, q1, synack)}}, out: []on{{nic1, answered(persistPort, c1, synack)}}},
			{in: []on{{nic1, ask(c1, persistPort, ack)}}, out: []on{{nic2, asked(server2, q1, 8002, ack)}}},
		},
		counters: map[string]uint64{"forward-new-flow": 2, "forward-flow": 2},
	},
}
