package dataplane

import (
	"sluice/dataplane/api"
	"sluice/dataplane/packet"
)

// fromFarPort is the step in which a client's SYN goes to server1 from a port far from what q stands for.
func fromFarPort(sport, dport uint16, q uint16) step {
	return step{do: func(b *bed) {
		b.t.Helper()
		ip := b.through(nic1, nic2, ask(sport, dport, syn))
		if ip.Dst() != server1 {
			b.t.Fatalf("the SYN went to %v", addr(ip.Dst()))
		}
		port := int(packet.TCP(ip.Payload()).SrcPort())
		if far := (port - int(b.mean(q)) + 1<<16) % (1 << 16); far < 1000 || far > 1<<16-1000 {
			b.t.Errorf("the port is %d, after %d", port, b.mean(q))
		}
	}}
}

// web1Alone has every vserver of web servers choose server1.
var web1Alone = applies(limits(upBut(2, 3), func(*api.Config) {}))

// oldConnection is a client's SYN that the server answers for an older connection, and the client's answer to that.
func oldConnection(sport, dport, sdport uint16) []step {
	return []step{web1Alone, open(sport, dport, server1, q1, sdport),
		{in: []on{{nic2, answer(server1, sdport, q1, ack)}}, out: []on{{nic1, answered(dport, sport, ack)}}},
		{in: []on{{nic1, ask(sport, dport, rst)}}, out: []on{{nic2, asked(server1, q1, sdport, rst)}}},
	}
}

// staleRows: a server still knows connections of a dataplane that is gone.
var staleRows = []row{
	{
		name:     "a server's acknowledgment of an old connection: the client's next try comes from a far port",
		steps:    steps(oldConnection(5001, webPort, 8001), fromFarPort(5001, webPort, q1)),
		counters: map[string]uint64{"forward-new-flow": 2, "forward-flow": 2, "stale-connections": 1},
	},
	{
		name: "and so do other clients' connections, whatever the first one does",
		steps: steps(oldConnection(c1, webPort, 8001)[:3], fromFarPort(c2, webPort, q1),
			step{in: []on{{nic1, ask(c1, webPort, syn)}}, out: []on{{nic2, asked(server1, q1, 8001, syn)}}}),
		counters: map[string]uint64{"forward-new-flow": 2, "forward-flow": 2, "stale-connections": 1},
	},
	{
		name: "an acknowledgment of the handshake, or after it, is none of an old connection",
		steps: steps(append([]step{web1Alone}, handshake(5001, webPort, q1)...),
			step{in: []on{{nic2, answer(server1, 8001, q1, ack)}}, out: []on{{nic1, answered(webPort, 5001, ack)}}}),
		counters: map[string]uint64{"forward-new-flow": 1, "forward-flow": 3},
	},
}
