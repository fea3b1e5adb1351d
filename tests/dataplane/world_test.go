package dataplane

import (
	"math/rand/v2"
	"net/netip"

	"sluice/dataplane/api"
	"sluice/dataplane/packet"
)

// world is what the model's dataplane is told, and changes: which services are there, up and bound, which vservers there are,
// where gateways and servers are.
type world struct {
	version  uint64
	services []modelService
	vservers []modelVserver
	gateway  ip4            // of remote clients; zero: no route
	macs     map[ip4]mac    // neighbors; those that are missing are being asked for
	changed  map[string]int // by kind of change: how many
}

type modelService struct {
	id          uint32
	proto       uint8
	ip          ip4
	port        uint16
	usip, proxy bool
	here, up    bool
}

type modelVserver struct {
	id       uint32
	port     uint16
	proto    uint8
	method   api.Method
	services []int // by place in world.services; bound if here
	here     bool
}

var (
	gateways = []ip4{{10, 1, 0, 1}, {10, 1, 0, 2}}
	server4  = ip4{10, 2, 0, 14} // a neighbor that comes and goes
)

const farPort = 89 // the only server comes and goes

func newWorld() *world {
	w := &world{gateway: gateways[0], macs: map[ip4]mac{client: clientMAC, gateways[0]: gatewayMAC, gateways[1]: otherMAC}, changed: map[string]int{}}
	for _, s := range []ip4{server1, server2, server3, server4} {
		w.macs[s] = serverMAC(s)
	}
	w.services = []modelService{
		{id: 1, proto: packet.ProtoTCP, ip: server1, port: 8001}, {id: 2, proto: packet.ProtoTCP, ip: server2, port: 8002},
		{id: 3, proto: packet.ProtoTCP, ip: server3, port: 8003}, {id: 4, proto: packet.ProtoUDP, ip: server4, port: 53},
		{id: 5, proto: packet.ProtoTCP, ip: server1, port: 80, usip: true}, {id: 6, proto: packet.ProtoTCP, ip: server1, port: 80, usip: true, proxy: true},
		{id: 7, proto: packet.ProtoTCP, ip: server4, port: 80},
	}
	for i := range w.services {
		w.services[i].here, w.services[i].up = true, true
	}
	w.vservers = []modelVserver{
		{1, webPort, packet.ProtoTCP, api.RoundRobin, []int{0, 1, 2}, true}, {2, dnsPort, packet.ProtoUDP, api.RoundRobin, []int{3}, true},
		{3, keepPort, packet.ProtoTCP, api.RoundRobin, []int{4}, true}, {4, proxyPort, packet.ProtoTCP, api.LeastConnection, []int{5}, true},
		{7, hashPort, packet.ProtoTCP, api.SourceIPHash, []int{0, 1, 2}, true},
		{5, leastPort, packet.ProtoTCP, api.LeastConnection, []int{0, 1}, true}, {6, farPort, packet.ProtoTCP, api.RoundRobin, []int{6}, true},
	}
	return w
}

// tables are all parts of w.
func (w *world) tables() *api.Tables {
	w.version++
	t := &api.Tables{
		Config: &api.Config{Version: w.version, Addresses: config().Addresses, SNIPs: config().SNIPs[:1]},
		Health: &api.Health{Version: w.version},
		FIB: &api.FIB{Version: w.version, Routes: []api.Route{
			{Prefix: netip.MustParsePrefix("10.1.0.0/24"), Port: 0}, {Prefix: netip.MustParsePrefix("10.2.0.0/24"), Port: 1}}},
		Neighbors: &api.Neighbors{Version: w.version},
	}
	for _, s := range w.services {
		if s.here {
			t.Config.Services = append(t.Config.Services, api.Service{ID: s.id, Name: "s", Proto: s.proto, IP: addr(s.ip), Port: s.port,
				UseSourceIP: s.usip, UseProxyPort: s.proxy, SNIPs: []uint32{1}, ServerTimeout: serverTimeout})
		}
		if s.here && s.up {
			t.Health.Up = append(t.Health.Up, s.id)
		}
	}
	for _, v := range w.vservers {
		if !v.here {
			continue
		}
		c := api.Vserver{ID: v.id, Name: "v", Proto: v.proto, IP: addr(vip), Port: v.port, Method: v.method, ClientTimeout: clientTimeout}
		for _, i := range v.services {
			if w.services[i].here {
				c.Bindings = append(c.Bindings, api.Binding{Service: w.services[i].id, Weight: 1})
			}
		}
		t.Config.Vservers = append(t.Config.Vservers, c)
	}
	if w.gateway != (ip4{}) {
		t.FIB.Routes = append(t.FIB.Routes, api.Route{Prefix: netip.MustParsePrefix("192.0.2.0/24"), Port: 0, Gateway: addr(w.gateway)})
	}
	for ip, m := range w.macs {
		port := uint16(ip[1] - 1)
		t.Neighbors.Entries = append(t.Neighbors.Entries, api.Neighbor{Port: port, IP: addr(ip), MAC: m})
	}
	return t
}

// Timeouts in seconds. The model's clock moves by whole moments only: no limit of the dataplane is over within 2 s before a
// multiple of it, so that what has aged is never in doubt. The table is swept in less.
const (
	clientTimeout = 180
	serverTimeout = 360
	moment        = 7
)

// change changes one thing at random and returns the parts that say so.
func (w *world) change(r *rand.Rand) *api.Tables {
	pick := func(s []int) *modelService { return &w.services[s[r.IntN(len(s))]] }
	each := []int{0, 1, 2, 0, 1, 2, 3, 4, 5, 6}
	kind := []string{"health", "health", "services", "vservers", "route", "mac", "neighbor"}[r.IntN(7)]
	w.changed[kind]++
	switch kind {
	case "health":
		s := pick(each)
		s.up = !s.up
		return &api.Tables{Health: w.tables().Health}
	case "services":
		s := pick(each)
		s.here = !s.here
	case "vservers":
		v := &w.vservers[r.IntN(len(w.vservers))]
		v.here = !v.here || r.IntN(2) == 0
	case "route":
		w.gateway = []ip4{gateways[0], gateways[1], {}}[r.IntN(3)]
		return &api.Tables{FIB: w.tables().FIB}
	case "mac":
		list := []ip4{server1, server2, server3}
		w.macs[list[r.IntN(3)]] = mac{2, 0x77, 0, 0, byte(r.IntN(256)), byte(r.IntN(256))}
		return &api.Tables{Neighbors: w.tables().Neighbors}
	default:
		ip := []ip4{server4, server4, gateways[0], gateways[1]}[r.IntN(4)]
		if _, known := w.macs[ip]; known {
			delete(w.macs, ip)
		} else {
			w.macs[ip] = mac{2, 0x77, ip[1], ip[3], byte(r.IntN(256)), byte(r.IntN(256))}
		}
		return &api.Tables{Neighbors: w.tables().Neighbors}
	}
	t := w.tables()
	return &api.Tables{Config: t.Config, Health: t.Health}
}

// candidates are the services that may take a new flow of v.
func (w *world) candidates(v *modelVserver) []*modelService {
	var list []*modelService
	for _, i := range v.services {
		if s := &w.services[i]; s.here && s.up {
			list = append(list, s)
		}
	}
	return list
}

// hop is the next hop toward ip; false if there is no route.
func (w *world) hop(ip ip4) (ip4, bool) {
	if ip[0] == 10 {
		return ip, true
	}
	return w.gateway, w.gateway != ip4{}
}

// idleLimit is the seconds that a flow of v and s may be silent.
func idleLimit(v *modelVserver, s *modelService) int {
	switch {
	case v.here:
		return clientTimeout
	case s.here:
		return serverTimeout
	}
	return 120
}
