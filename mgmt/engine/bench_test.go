package engine

import (
	"fmt"
	"net/netip"
	"testing"

	"sluice/cli/grammar"
	"sluice/mgmt/compile"
	"sluice/vendor-config/schema"
)

// big is a configuration of n services, ten to a vserver.
func big(c *schema.Config, n int) {
	schema.Put(c, fresh(func(r *schema.NSIP) { r.IPAddress, r.Netmask = addr("10.0.0.5"), addr("255.0.0.0") }))
	for i := range n {
		name := fmt.Sprint("s", i)
		if i%10 == 0 {
			vip := netip.AddrFrom4([4]byte{172, 16, byte(i / 10 >> 8), byte(i / 10)})
			schema.Put(c, fresh(func(r *schema.NSIP) { r.IPAddress, r.Netmask, r.Type = vip, addr("255.255.255.255"), "VIP" }))
			schema.Put(c, fresh(func(r *schema.LBVserver) {
				r.Name, r.ServiceType, r.IPAddress, r.Port = fmt.Sprint("v", i/10), "TCP", vip, 80
			}))
		}
		schema.Put(c, fresh(func(r *schema.Server) {
			r.Name, r.IPAddress = name, netip.AddrFrom4([4]byte{10, 1, byte(i >> 8), byte(i)})
		}))
		schema.Put(c, fresh(func(r *schema.Service) { r.Name, r.Server, r.ServiceType, r.Port = name, name, "TCP", 80 }))
		schema.Put(c, fresh(func(r *schema.LBVserverService) { r.Vserver, r.Service = fmt.Sprint("v", i/10), name }))
	}
}

func benchmarkCommit(b *testing.B, n int) {
	e := New(Options{Ports: []compile.Port{{Name: "1/1", Twin: "tw0"}}, Host: &kernel{}, Prober: &prober{}, Check: grammar.Check})
	c := schema.New()
	big(c, n)
	if _, err := e.Boot(c); err != nil {
		b.Fatal(err)
	}
	for i := 0; b.Loop(); i++ {
		op, err := grammar.Parse(fmt.Sprintf("set service s%d -cltTimeout %d", i%n, i%1000+1))
		if err != nil {
			b.Fatal(err)
		}
		if _, err := e.Commit(Author{}, op.Apply); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCommit100(b *testing.B)   { benchmarkCommit(b, 100) }
func BenchmarkCommit10000(b *testing.B) { benchmarkCommit(b, 10000) }

// BenchmarkObserve10000 is a second's worth of reports of 10,000 monitors.
func BenchmarkObserve10000(b *testing.B) {
	e := New(Options{Ports: []compile.Port{{Name: "1/1", Twin: "tw0"}}, Host: &kernel{}, Prober: &prober{}})
	c := schema.New()
	big(c, 10000)
	if _, err := e.Boot(c); err != nil {
		b.Fatal(err)
	}
	for i := 0; b.Loop(); i++ {
		e.Observe(func(s *compile.State) error {
			for k := range 2000 {
				s.Record(fmt.Sprint("s", (i*2000+k)%10000), "tcp-default", compile.MonitorResult{Known: true, Up: i%2 == 0})
			}
			return nil
		})
	}
}
