package table

import (
	"fmt"
	"net/netip"
	"testing"

	"sluice/dataplane/api"
)

// large is a configuration of n vservers with ten services each, half of them with a hash method, everything up.
func large(n int) *api.Tables {
	t := &api.Tables{Config: &api.Config{SNIPs: []api.SNIP{{ID: 1, IP: ip("10.2.0.5"), PortLo: 1024, PortHi: 59999}}}, Health: &api.Health{}}
	for i := range n {
		v := api.Vserver{ID: uint32(i + 1), Name: fmt.Sprint("v", i), Proto: api.ProtoTCP, IP: netip.AddrFrom4([4]byte{10, 1, byte(i >> 8), byte(i)}), Port: 80,
			Method: api.LeastConnection, ClientTimeout: 180}
		if i%2 == 0 {
			v.Method, v.HashMask = api.SourceIPHash, 1<<32-1
		}
		t.Config.Addresses = append(t.Config.Addresses, api.Address{IP: v.IP, Kind: api.OwnVIP, ARP: true})
		for j := range 10 {
			s := api.Service{ID: uint32(len(t.Config.Services) + 1), Proto: api.ProtoTCP, IP: addrOf(0x0a020000 + uint32(len(t.Config.Services))), Port: 80, SNIPs: []uint32{1}}
			s.Name = fmt.Sprint("s", s.ID)
			t.Config.Services = append(t.Config.Services, s)
			t.Health.Up = append(t.Health.Up, s.ID)
			v.Bindings = append(v.Bindings, api.Binding{Service: s.ID, Weight: uint16(1 + j%2)})
		}
		t.Config.Vservers = append(t.Config.Vservers, v)
	}
	return t
}

// BenchmarkBuild builds large configurations anew, after a command that changes one pool, and after a server went down.
func BenchmarkBuild(b *testing.B) {
	for _, n := range []int{1000} {
		tab := large(n)
		none := empty(b)
		b.Run(fmt.Sprint(n, "-first"), func(b *testing.B) {
			for b.Loop() {
				mustBuild(b, tab, none).Free(none)
			}
		})
		s := mustBuild(b, tab, none)
		b.Run(fmt.Sprint(n, "-command"), func(b *testing.B) {
			for i := 0; b.Loop(); i++ {
				tab.Config.Vservers[0].Bindings[0].Weight = uint16(1 + i%100)
				next := mustBuild(b, &api.Tables{Config: tab.Config}, s)
				s.Free(next)
				s = next
			}
		})
		b.Run(fmt.Sprint(n, "-health"), func(b *testing.B) {
			for i := 0; b.Loop(); i++ {
				next := mustBuild(b, &api.Tables{Health: &api.Health{Up: tab.Health.Up[i%2:]}}, s)
				s.Free(next)
				s = next
			}
		})
		s.Free(none)
	}
}
