package main

import (
	"fmt"
	"net/netip"
	"testing"

	"sluice/dataplane/api"
)

// BenchmarkApply10000 replaces the configuration of 1,000 vservers with ten services each, half of them on hashes, by one that
// differs in the timeout of a vserver.
func BenchmarkApply10000(b *testing.B) {
	c, _, _ := startControl(b)
	t := &api.Tables{Config: &api.Config{SNIPs: []api.SNIP{{ID: 1, IP: netip.MustParseAddr("10.1.0.5"), PortLo: 1024, PortHi: 59999}}}, Health: &api.Health{}}
	for i := range uint32(10000) {
		if i%10 == 0 {
			v := api.Vserver{ID: i/10 + 1, Name: fmt.Sprint("v", i/10), Proto: api.ProtoTCP, Port: 80, Method: api.LeastConnection,
				IP: netip.AddrFrom4([4]byte{172, 16, byte(i / 10 >> 8), byte(i / 10)})}
			if i/10%2 == 1 {
				v.Method = api.SourceIPHash
			}
			t.Config.Vservers = append(t.Config.Vservers, v)
		}
		t.Config.Services = append(t.Config.Services, api.Service{ID: i + 1, Name: fmt.Sprint("s", i), Proto: api.ProtoTCP, Port: 80,
			IP: netip.AddrFrom4([4]byte{10, 64, byte(i >> 8), byte(i)}), SNIPs: []uint32{1}, ServerTimeout: 360})
		v := &t.Config.Vservers[i/10]
		v.Bindings = append(v.Bindings, api.Binding{Service: i + 1, Weight: 1})
		t.Health.Up = append(t.Health.Up, i+1)
	}
	if err := c.Apply(b.Context(), t); err != nil {
		b.Fatal(err)
	}
	n := uint32(0)
	for b.Loop() {
		n++
		next := *t.Config
		next.Version, next.Vservers = uint64(n), append([]api.Vserver(nil), next.Vservers...)
		next.Vservers[n%1000].ClientTimeout = n
		health := *t.Health
		if err := c.Apply(b.Context(), &api.Tables{Config: &next, Health: &health}); err != nil {
			b.Fatal(err)
		}
	}
}
