package main

import (
	"encoding/binary"
	"fmt"
	"net/netip"

	"sluice/dataplane/api"
	"sluice/dataplane/table"
)

// The scene: clients behind a router on port 1/1, servers on port 1/2; 50 addresses with a TCP and a UDP vserver each, a vserver
// bound to 16 of the 64 services, one SNIP.
const (
	vips     = uint32(50)
	servers  = 32
	bindings = 16

	portTCP     = 80 // of the vservers whose flows stay
	portUDP     = 80
	portUDPOnce = 81 // of UDP vservers whose flows are soon forgotten
	portServer  = 8080

	snipLo, snipHi = 1024, 59999

	// Idle limits in seconds. A TCP flow of which only a SYN was seen is forgotten after 30 s whatever its vserver says.
	staySeconds = 100_000
	onceSeconds = 5
	synSeconds  = 30
)

var (
	vip0    = addr("192.0.2.10")
	snip    = addr("172.16.255.1")
	server0 = addr("172.16.0.1")
	client0 = addr("10.0.0.0")
	router  = addr("192.0.2.1")

	routerMAC = [6]byte{0x02, 0, 0, 0, 1, 1}
	macs      = [2][6]byte{{0x02, 0, 0, 0, 2, 1}, {0x02, 0, 0, 0, 2, 2}} // of our ports
	ports     = []table.Port{{Name: "1/1", MAC: macs[0], MTU: 1500}, {Name: "1/2", MAC: macs[1], MTU: 1500}}
)

func addr(s string) uint32 {
	a := netip.MustParseAddr(s).As4()
	return binary.BigEndian.Uint32(a[:])
}

func ip(n uint32) netip.Addr {
	var a [4]byte
	binary.BigEndian.PutUint32(a[:], n)
	return netip.AddrFrom4(a)
}

func serverMAC(i uint32) [6]byte { return [6]byte{0x02, 0, 0, 0, 3, byte(i)} }

// tables are what management would say.
func tables() *api.Tables { return tablesOf(vips) }

// tablesOf is tables with another number of addresses.
func tablesOf(vips uint32) *api.Tables {
	c := &api.Config{Version: 1,
		Addresses: []api.Address{{IP: ip(snip), Kind: api.OwnSNIP}},
		SNIPs:     []api.SNIP{{ID: 1, IP: ip(snip), PortLo: snipLo, PortHi: snipHi}}}
	h := &api.Health{Version: 1}
	n := &api.Neighbors{Version: 1, Entries: []api.Neighbor{{Port: 0, IP: ip(router), MAC: routerMAC}}}
	for i := uint32(0); i < servers; i++ {
		for k, proto := range []uint8{protoTCP, protoUDP} {
			s := api.Service{ID: 1 + 2*i + uint32(k), Name: fmt.Sprintf("s%d-%d", i, proto), Proto: proto, IP: ip(server0 + i),
				Port: portServer, SNIPs: []uint32{1}, ServerTimeout: staySeconds}
			c.Services = append(c.Services, s)
			h.Up = append(h.Up, s.ID)
		}
		n.Entries = append(n.Entries, api.Neighbor{Port: 1, IP: ip(server0 + i), MAC: serverMAC(i)})
	}
	for i := uint32(0); i < vips; i++ {
		c.Addresses = append(c.Addresses, api.Address{IP: ip(vip0 + i), Kind: api.OwnVIP, ARP: true, ICMP: true})
		for _, v := range []api.Vserver{
			{Proto: protoTCP, Port: portTCP, ClientTimeout: staySeconds},
			{Proto: protoUDP, Port: portUDP, ClientTimeout: staySeconds},
			{Proto: protoUDP, Port: portUDPOnce, ClientTimeout: onceSeconds},
		} {
			v.ID = uint32(len(c.Vservers) + 1)
			v.Name = fmt.Sprintf("v%d", v.ID)
			v.IP, v.Method = ip(vip0+i), api.RoundRobin
			first := i % (servers / bindings) * bindings
			for b := first; b < first+bindings; b++ {
				id := 1 + 2*b
				if v.Proto == protoUDP {
					id++
				}
				v.Bindings = append(v.Bindings, api.Binding{Service: id, Weight: 1})
			}
			c.Vservers = append(c.Vservers, v)
		}
	}
	f := &api.FIB{Version: 1, Routes: []api.Route{
		{Prefix: netip.PrefixFrom(ip(addr("192.0.2.0")), 24), Port: 0},
		{Prefix: netip.PrefixFrom(ip(addr("172.16.0.0")), 16), Port: 1},
		{Prefix: netip.PrefixFrom(ip(client0), 8), Port: 0, Gateway: ip(router)},
	}}
	return &api.Tables{Config: c, Health: h, FIB: f, Neighbors: n}
}

// fromClient is a packet of flow id: its tuple is a function of id. One flow in eight is UDP; once makes it one that is
// soon forgotten.
func fromClient(id uint32, flags uint8, once bool) packet4 {
	p := packet4{dstMAC: macs[0], srcMAC: routerMAC, src: client0 + id>>6, dst: vip0 + id%vips,
		srcPort: uint16(1024 + id&63<<8 + id>>26), dstPort: portTCP, proto: protoTCP, flags: flags, ttl: ttlAtStart}
	if id&7 == 7 {
		p.proto, p.flags, p.dstPort = protoUDP, 0, portUDP
		if once {
			p.dstPort = portUDPOnce
		}
	}
	return p
}

// chosen is where the dataplane sends a flow: it decides the port and the server, the rest follows.
type chosen struct {
	port   uint16 // of the SNIP
	server uint16 // index
}

// toServer is the frame that in must become for a flow that was sent to c.
func (c chosen) toServer(in packet4) packet4 {
	out := in
	out.dstMAC, out.srcMAC = serverMAC(uint32(c.server)), macs[1]
	out.src, out.srcPort = snip, c.port
	out.dst, out.dstPort = server0+uint32(c.server), portServer
	out.ttl--
	return out
}

// choice reads from the frame to the server what was chosen, and says what is wrong with it otherwise.
func choice(in, out packet4) (chosen, error) {
	c := chosen{port: out.srcPort, server: uint16(out.dst - server0)}
	if out.dst-server0 >= servers || out.srcPort < snipLo || out.srcPort > snipHi {
		return c, fmt.Errorf("flow to %v:%d was sent to %v from port %d", ip(in.dst), in.dstPort, ip(out.dst), out.srcPort)
	}
	if first := (in.dst - vip0) % (servers / bindings) * bindings; uint32(c.server) < first || uint32(c.server) >= first+bindings {
		return c, fmt.Errorf("flow to %v was sent to %v, which its vserver is not bound to", ip(in.dst), ip(out.dst))
	}
	return c, nil
}
