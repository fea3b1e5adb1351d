package dataplane

import (
	"slices"

	"sluice/dataplane/api"
)

// without is the configuration of every row less some services, and the health that goes with it.
func without(ids ...uint32) *api.Tables {
	t := tables()
	gone := func(id uint32) bool { return slices.Contains(ids, id) }
	t.Config.Version = 2
	t.Config.Services = slices.DeleteFunc(t.Config.Services, func(s api.Service) bool { return gone(s.ID) })
	for i := range t.Config.Vservers {
		v := &t.Config.Vservers[i]
		v.Bindings = slices.DeleteFunc(v.Bindings, func(b api.Binding) bool { return gone(b.Service) })
	}
	return &api.Tables{Config: t.Config, Health: &api.Health{Version: 2, Up: slices.DeleteFunc(slices.Clone(allUp), gone)}}
}

// applies publishes tables.
func applies(t *api.Tables) step { return step{do: func(b *bed) { b.apply(t) }} }

// renumbered is the configuration of every row, but the number of web1 is another service's now.
func renumbered() *api.Tables {
	t := without()
	s := &t.Config.Services[0]
	s.Name, s.IP, s.Port = "other", addr(server3), 9001
	return t
}

// goneRows: a service is removed while flows to it live. They go on, with the port that they have, until they end or are silent for
// the timeout that is left; whoever gets the service's number has nothing to do with them.
var goneRows = []row{
	{
		name: "a removed service: its flows go on, new ones go elsewhere, and the port comes back",
		steps: steps(handshake(5001, webPort, q1),
			applies(without(1)),
			step{in: []on{{nic2, data(answer(server1, 8001, q1, psh))}}, out: []on{{nic1, data(answered(webPort, 5001, psh))}}},
			step{in: []on{{nic1, data(ask(5001, webPort, psh))}}, out: []on{{nic2, data(asked(server1, q1, 8001, psh))}}},
			asks(6000, 4, webPort, []ip4{server3, server2}, []uint16{8003, 8002}),
			step{do: func(b *bed) {
				b.traffic("www", b.stats().Vservers, api.FlowStats{ID: 1, Flows: 5, OpenFlows: 5, PacketsIn: 7, BytesIn: 7*40 + uint64(len(payload)),
					PacketsOut: 2, BytesOut: 80 + uint64(len(payload))})
			}},
			passes(179), flowsAre(2), // the handshakes of the others have not ended
			passes(4), flowsAre(0),
			applies(without()),
			step{do: func(b *bed) {
				s := b.stats()
				b.traffic("web1", s.Services, api.FlowStats{ID: 1, Flows: 1, PacketsIn: 3, BytesIn: 120 + uint64(len(payload)), PacketsOut: 2, BytesOut: 80 + uint64(len(payload)), Up: true})
				if s.SNIPs[0].PortsInUse != 0 {
					b.t.Errorf("%d ports are still in use", s.SNIPs[0].PortsInUse)
				}
			}}),
		counters: map[string]uint64{"forward-new-flow": 5, "forward-flow": 4},
	},
	{
		name: "a removed service whose vserver goes as well: its flows go on and are forgotten after 120 s",
		steps: steps(handshake(5001, webPort, q1),
			step{do: func(b *bed) {
				t := without(1)
				t.Config.Vservers = t.Config.Vservers[1:]
				b.apply(t)
			}, in: []on{{nic1, ask(5001, webPort, ack)}}, out: []on{{nic2, asked(server1, q1, 8001, ack)}}},
			passes(118), flowsAre(2), passes(5), flowsAre(0),
			drops(on{nic1, ask(5001, webPort, ack)})),
		counters: map[string]uint64{"forward-new-flow": 1, "forward-flow": 3, "drop-no-vserver": 1},
	},
	{
		name: "the number of a removed service is another's: old flows stay where they are, new ones go to the other",
		steps: steps(handshake(5001, webPort, q1),
			applies(renumbered()),
			step{in: []on{{nic1, data(ask(5001, webPort, psh))}}, out: []on{{nic2, data(asked(server1, q1, 8001, psh))}}},
			step{in: []on{{nic2, data(answer(server1, 8001, q1, psh))}}, out: []on{{nic1, data(answered(webPort, 5001, psh))}}},
			open(c2, webPort, server2, q2, 8002), open(c3, webPort, server3, q3, 8003), open(c4, webPort, server3, q4, 9001),
			// The old flow ends: its port is given back once, and the other's flow is still counted.
			step{in: []on{{nic2, answer(server1, 8001, q1, rst)}}, out: []on{{nic1, answered(webPort, 5001, rst)}}},
			step{do: func(b *bed) {
				s := b.stats()
				if s.Services[0].Name != "other" || s.Services[0].OpenFlows != 1 {
					b.t.Errorf("service %s has %d open flows, not 1", s.Services[0].Name, s.Services[0].OpenFlows)
				}
			}},
			passes(20), flowsAre(6),
			step{do: func(b *bed) {
				if n := b.stats().SNIPs[0].PortsInUse; n != 3 {
					b.t.Errorf("%d ports are in use, not 3", n)
				}
			}},
			// Nobody took the old flow's words for the other's.
			step{in: []on{{nic1, ask(c4, webPort, ack)}}, out: []on{{nic2, asked(server3, q4, 9001, ack)}}}),
		counters: map[string]uint64{"forward-new-flow": 4, "forward-flow": 6},
	},
}
