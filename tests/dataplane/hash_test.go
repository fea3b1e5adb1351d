package dataplane

import (
	"slices"
	"testing"

	"sluice/dataplane/api"
	"sluice/dataplane/packet"
)

// goesTo opens a connection from a client behind the gateway and says which server got it.
func (b *bed) goesTo(from ip4, sport, dport uint16) ip4 {
	b.t.Helper()
	return b.through(nic1, nic2, with(ask(sport, dport, syn), func(f *packet.Frame) { f.SrcIP = from })).Dst()
}

// homes are the servers that n clients go to, each with another connection.
func (b *bed) homes(n int, sport, dport uint16) []ip4 {
	b.t.Helper()
	var list []ip4
	for i := range n {
		list = append(list, b.goesTo(ip4{192, 0, 2, byte(i)}, sport, dport))
	}
	return list
}

// numbered is the configuration of another appliance: services have other numbers and are bound in another order.
func numbered() *api.Tables {
	t := tables()
	for i := range t.Config.Services {
		t.Config.Services[i].ID += 100
	}
	t.Health.Up = slices.Clone(allUp)
	for i := range t.Health.Up {
		t.Health.Up[i] += 100
	}
	slices.Reverse(t.Config.Services)
	for i := range t.Config.Vservers {
		v := &t.Config.Vservers[i]
		for j := range v.Bindings {
			v.Bindings[j].Service += 100
		}
		slices.Reverse(v.Bindings)
	}
	return t
}

// TestHashedClientsStay: a client goes to one server from every port, on every worker and on every appliance; when a server goes
// down its clients move and no others, but for Maglev's few, and when it is back all are where they were.
func TestHashedClientsStay(t *testing.T) {
	const clients = 250
	here, there := newBed(t, newMemory(t), 1<<13), newCrew(t, newMemories(t, 4, poolSize), crew{workers: 4, turns: true}, 1<<15)
	there.apply(numbered())
	home := here.homes(clients, 5000, hashPort)
	by := map[ip4]int{}
	for _, s := range home {
		by[s]++
	}
	for _, s := range []ip4{server1, server2, server3} {
		if by[s] < clients/4 {
			t.Errorf("%v has %d of %d clients", addr(s), by[s], clients)
		}
	}
	if !slices.Equal(home, here.homes(clients, 5001, hashPort)) {
		t.Error("from another port clients go elsewhere")
	}
	if !slices.Equal(home, there.homes(clients, 5002, hashPort)) {
		t.Error("four workers of an appliance with other numbers send clients elsewhere")
	}
	health(1, 3)(here)
	moved := 0
	for i, s := range here.homes(clients, 5003, hashPort) {
		if s == server2 {
			t.Fatalf("client %d went to the server that is down", i)
		}
		if s != home[i] && home[i] != server2 {
			moved++
		}
	}
	if moved > clients/100 {
		t.Errorf("%d of %d clients moved needlessly", moved, clients)
	}
	health(allUp...)(here)
	if !slices.Equal(home, here.homes(clients, 5004, hashPort)) {
		t.Error("with the server back, clients are not where they were")
	}
	here.close()
	there.close()
}

// TestHashMethods: what of a packet decides, method by method.
func TestHashMethods(t *testing.T) {
	b := newBed(t, newMemory(t), 1<<13)
	set := func(m api.Method, mask uint32) {
		tab := tables()
		tab.Config.Vservers[11].Method, tab.Config.Vservers[11].HashMask = m, mask
		b.apply(&api.Tables{Config: tab.Config})
	}
	sport := uint16(5000)
	// spread is the number of servers that clients and ports reach.
	spread := func(clients, ports int) int {
		seen := map[ip4]bool{}
		for i := range clients {
			for range ports {
				seen[b.goesTo(ip4{192, 0, 2, byte(i)}, sport, hashPort)] = true
				sport++
			}
		}
		return len(seen)
	}
	for _, row := range []struct {
		name           string
		method         api.Method
		mask           uint32
		clients, ports int
		want           int
	}{
		{"SOURCEIPHASH: one client, many ports", api.SourceIPHash, 0, 1, 40, 1},
		{"SOURCEIPHASH: many clients", api.SourceIPHash, 0, 40, 1, 3},
		{"SOURCEIPHASH -netmask 255.255.255.0: one network", api.SourceIPHash, 0xffffff00, 200, 1, 1},
		{"DESTINATIONIPHASH: one address is asked", api.DestinationIPHash, 0, 40, 2, 1},
		{"SRCIPDESTIPHASH: one client, many ports", api.SourceDestinationIPHash, 0, 1, 40, 1},
		{"SRCIPDESTIPHASH: many clients", api.SourceDestinationIPHash, 0, 40, 1, 3},
		{"SRCIPSRCPORTHASH: one client, many ports", api.SourceIPSourcePortHash, 0, 1, 40, 3},
	} {
		set(row.method, row.mask)
		if got := spread(row.clients, row.ports); got != row.want {
			t.Errorf("%s: %d servers, want %d", row.name, got, row.want)
		}
	}
	b.close()
}

// TestHashedFlowOutlivesItsService: when a client's server is taken away its connection goes on, new ones go elsewhere, and with the
// server back they come back.
func TestHashedFlowOutlivesItsService(t *testing.T) {
	b := newBed(t, newMemory(t), 1024)
	home := b.goesTo(client, 5000, hashPort)
	b.close()
	id := uint32(home[3] - 10) // web1 is 10.2.0.11
	sport := uint16(8000 + id)
	flow := row{
		steps: []step{
			open(5001, hashPort, home, q1, sport),
			{in: []on{{nic2, answer(home, sport, q1, synack)}}, out: []on{{nic1, answered(hashPort, 5001, synack)}}},
			{in: []on{{nic1, ask(5001, hashPort, ack)}}, out: []on{{nic2, asked(home, q1, sport, ack)}}},
			applies(without(id)),
			{do: func(b *bed) {
				if away := b.goesTo(client, 5002, hashPort); away == home {
					b.t.Errorf("a new connection went to %v, which was taken away", addr(home))
				}
			}},
			{in: []on{{nic1, data(ask(5001, hashPort, psh))}}, out: []on{{nic2, data(asked(home, q1, sport, psh))}}},
			{in: []on{{nic2, data(answer(home, sport, q1, psh))}}, out: []on{{nic1, data(answered(hashPort, 5001, psh))}}},
			applies(without()),
			open(5003, hashPort, home, q2, sport),
		},
		counters: map[string]uint64{"forward-new-flow": 3, "forward-flow": 4},
	}
	flow.run(t, newMemory(t), alone)
}

// TestSessionlessAlike: each packet of many connections comes to some worker of one of two appliances, whose services have other
// numbers and another order: a connection's packets all reach the same server, and neither appliance keeps a flow.
func TestSessionlessAlike(t *testing.T) {
	both := []*bed{newBed(t, newMemory(t), 1<<10), newCrew(t, newMemories(t, 4, poolSize), crew{workers: 4, turns: true}, 1<<12)}
	for i, b := range both {
		t := modes()
		v := &t.Config.Vservers[slices.IndexFunc(t.Config.Vservers, func(v api.Vserver) bool { return v.ID == 34 })]
		v.Method, v.Bindings = api.SourceDestinationIPHash, []api.Binding{{Service: 30, Weight: 1}, {Service: 31, Weight: 3}, {Service: 32, Weight: 1}}
		if i == 1 {
			slices.Reverse(v.Bindings)
			for j := range t.Config.Services {
				t.Config.Services[j].ID = 200 - t.Config.Services[j].ID
			}
			for _, v := range t.Config.Vservers {
				for j := range v.Bindings {
					v.Bindings[j].Service = 200 - v.Bindings[j].Service
				}
			}
			for j := range t.Health.Up {
				t.Health.Up[j] = 200 - t.Health.Up[j]
			}
			slices.Reverse(t.Config.Services)
		}
		b.apply(t)
	}
	by := map[mac]int{}
	for i := range 200 {
		var home mac
		for j, flags := range []uint8{syn, ack, psh, fin, ack, rst} {
			f := with(data(askOf(vipEach, uint16(1000+i), 7777, flags)), func(f *packet.Frame) { f.SrcIP = ip4{192, 0, 2, byte(i)} })
			to := packet.Ether(both[(i+j)%2].becomes(nic1, nic2, f.Bytes())).Dst()
			if j == 0 {
				home = to
				by[to]++
			} else if to != home {
				t.Fatalf("packet %d of connection %d goes to %x, the first went to %x", j, i, to, home)
			}
		}
	}
	if len(by) != 3 || by[serverMAC(server2)] < 80 {
		t.Errorf("200 connections went to %v", by)
	}
	for _, b := range both {
		if n := sum(b.stats(), flowsOf); n != 0 {
			t.Errorf("%d flow entries", n)
		}
		b.close()
	}
}
