package table

import (
	"math/rand/v2"
	"net/netip"
	"strings"
	"testing"

	"sluice/dataplane/api"
)

var testPorts = []Port{{Name: "1/1", MAC: [6]byte{2, 0, 0, 0, 0, 1}}, {Name: "1/2", MAC: [6]byte{2, 0, 0, 0, 0, 2}, MTU: 1500}}

func ip(s string) netip.Addr { return netip.MustParseAddr(s) }

func empty(t testing.TB) *Set {
	t.Helper()
	s, err := Empty(testPorts)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func mustBuild(t testing.TB, tab *api.Tables, prev *Set) *Set {
	t.Helper()
	s, err := Build(tab, prev)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// sample is a small configuration that is right in everything.
func sample() *api.Config {
	return &api.Config{
		Version:   7,
		Addresses: []api.Address{{IP: ip("10.1.0.50"), Kind: api.OwnVIP, ARP: true}, {IP: ip("10.2.0.5"), Kind: api.OwnSNIP}},
		SNIPs:     []api.SNIP{{ID: 1, IP: ip("10.2.0.5"), PortLo: 1024, PortHi: 59999}},
		Services: []api.Service{
			{ID: 1, Name: "web1", Proto: api.ProtoTCP, IP: ip("10.2.0.11"), Port: 80, SNIPs: []uint32{1}, ServerTimeout: 360},
			{ID: 3, Name: "web3", Proto: api.ProtoTCP, IP: ip("10.2.0.13"), Port: 8080, UseSourceIP: true, UseProxyPort: true},
		},
		Vservers: []api.Vserver{{ID: 2, Name: "www", Proto: api.ProtoTCP, IP: ip("10.1.0.50"), Port: 80, Method: api.RoundRobin,
			ClientTimeout: 180, Bindings: []api.Binding{{Service: 1, Weight: 1}, {Service: 3, Weight: 2}}}},
	}
}

func TestBuildCompilesTheConfiguration(t *testing.T) {
	s := mustBuild(t, &api.Tables{Config: sample(), Health: &api.Health{Version: 3, Up: []uint32{1}}}, empty(t))
	defer s.Free(nil)
	v := s.Vserver(ip4(ip("10.1.0.50")), net16(80), api.ProtoTCP)
	if v == nil || v.ID != 2 || v.Timeout != 1800 || v.Method != uint8(api.RoundRobin) {
		t.Fatalf("vserver www compiled to %+v", v)
	}
	if p := s.Pool(v); p.N != 1 || p.Scheduled(0) != 1 {
		t.Errorf("with web1 up alone the schedule has %d places", p.N)
	}
	w := s.Service(1)
	if w == nil || w.Timeout != 3600 || w.Port != net16(80) || w.Flags != 0 || w.SNIPs != 1 {
		t.Fatalf("service web1 compiled to %+v", w)
	}
	if n := s.SNIP(w, 0); n.ID != 1 || n.PortLo != 1024 || n.PortHi != 59999 || Addr(n.IP) != ip("10.2.0.5") {
		t.Errorf("web1's SNIP compiled to %+v", n)
	}
	if w := s.Service(3); w == nil || w.Flags != UseSourceIP|UseProxyPort || w.SNIPs != 0 {
		t.Errorf("service web3 compiled to %+v", w)
	}
	for _, id := range []uint32{0, 2, 4, MaxID, 1<<32 - 1} {
		if s.Service(id) != nil {
			t.Errorf("there is a service %d", id)
		}
	}
	if s.Own(ip4(ip("10.1.0.50"))) != OwnVIP|OwnARP|OwnListens || s.Own(ip4(ip("10.2.0.5"))) != OwnSNIP|1024<<OwnPortLo|59999<<OwnPortHi || s.Own(ip4(ip("10.2.0.6"))) != 0 {
		t.Error("own addresses came out wrong")
	}
	if !s.Up(1) || s.Up(3) || s.Up(2) || s.Up(MaxID) {
		t.Error("health came out wrong")
	}
	if s.ConfigVersion() != 7 || s.HealthVersion() != 3 {
		t.Errorf("versions are %d and %d", s.ConfigVersion(), s.HealthVersion())
	}
}

// TestIdleLimits: the shorter timeout counts, none of two means never, none of what is left of two does not.
func TestIdleLimits(t *testing.T) {
	c := sample()
	c.Vservers = append(c.Vservers, api.Vserver{ID: 5, Name: "patient", Proto: api.ProtoTCP, IP: ip("10.1.0.50"), Port: 81, Method: api.RoundRobin})
	s := mustBuild(t, &api.Tables{Config: c}, empty(t))
	defer s.Free(nil)
	const none = 9 // no vserver's ID and no service's
	for _, tc := range []struct{ vserver, service, want uint32 }{
		{2, 1, 1800}, {2, 3, 1800}, {5, 1, 3600}, {5, 3, never},
		{none, 1, 3600}, {2, none, 1800}, {none, 3, Orphaned}, {5, none, Orphaned}, {none, none, Orphaned},
		{1, 3, Orphaned}, {4, 3, Orphaned}, // below the highest ID
	} {
		if got := s.IdleLimit(tc.vserver, tc.service); got != tc.want {
			t.Errorf("flows of vserver %d and service %d may be idle for %d ticks, not %d", tc.vserver, tc.service, got, tc.want)
		}
	}
}

func TestBuildRefusesWithASentenceThatNamesTheObject(t *testing.T) {
	cfg := func(change func(*api.Config)) *api.Tables {
		c := sample()
		change(c)
		return &api.Tables{Config: c}
	}
	mac := [6]byte{2, 1, 1, 1, 1, 1}
	route := func(r api.Route) *api.Tables { return &api.Tables{FIB: &api.FIB{Routes: []api.Route{r}}} }
	neigh := func(n ...api.Neighbor) *api.Tables { return &api.Tables{Neighbors: &api.Neighbors{Entries: n}} }
	for _, tc := range []struct {
		name string
		tab  *api.Tables
		says string
	}{
		{"vserver without ID", cfg(func(c *api.Config) { c.Vservers[0].ID = 0 }), "vserver www has the ID 0"},
		{"service ID too high", cfg(func(c *api.Config) { c.Services[0].ID = MaxID + 1 }), "service web1 has the ID 262144"},
		{"service twice", cfg(func(c *api.Config) { c.Services[1].ID = 1 }), "services web1 and web3 have the same ID 1"},
		{"vserver twice", cfg(func(c *api.Config) {
			c.Vservers = append(c.Vservers, c.Vservers[0])
			c.Vservers[1].Name = "w2"
		}), "vservers www and w2 have the same ID 2"},
		{"two on one port", cfg(func(c *api.Config) {
			c.Vservers = append(c.Vservers, c.Vservers[0])
			c.Vservers[1].Name, c.Vservers[1].ID = "w2", 9
		}), "vserver w2 listens on 10.1.0.50 port 80 protocol 6, where another"},
		{"IPv6 vserver", cfg(func(c *api.Config) { c.Vservers[0].IP = ip("2001:db8::1") }), "vserver www has the address 2001:db8::1"},
		{"IPv6 service", cfg(func(c *api.Config) { c.Services[0].IP = ip("2001:db8::1") }), "service web1 has the address"},
		{"no address", cfg(func(c *api.Config) { c.Services[0].IP = netip.Addr{} }), "service web1 has the address"},
		{"unknown service bound", cfg(func(c *api.Config) { c.Vservers[0].Bindings[0].Service = 2 }), "vserver www is bound to service 2"},
		{"bound twice", cfg(func(c *api.Config) { c.Vservers[0].Bindings[1].Service = 1 }), "vserver www is bound to service web1 twice"},
		{"weight 0", cfg(func(c *api.Config) { c.Vservers[0].Bindings[0].Weight = 0 }), "gives service web1 the weight 0"},
		{"weight 101", cfg(func(c *api.Config) { c.Vservers[0].Bindings[0].Weight = 101 }), "gives service web1 the weight 101"},
		{"protocols differ", cfg(func(c *api.Config) { c.Services[0].Proto = api.ProtoUDP }), "vserver www (protocol 6) is bound to service web1 (protocol 17)"},
		{"port without ports", cfg(func(c *api.Config) { c.Services[0].Proto = 89 }), "service web1 has port 80, but protocol 89"},
		{"method", cfg(func(c *api.Config) { c.Vservers[0].Method = 99 }), "vserver www has the balancing method 99"},
		{"too many for a hash", cfg(func(c *api.Config) {
			c.Vservers[0].Method, c.Vservers[0].Bindings = api.SourceIPHash, make([]api.Binding, 1<<16)
		}), "vserver www is bound to 65536 services: a hash method chooses among 65535 at most"},
		{"unknown SNIP", cfg(func(c *api.Config) { c.Services[0].SNIPs = []uint32{5} }), "service web1 names SNIP 5"},
		{"SNIP without ports", cfg(func(c *api.Config) { c.SNIPs[0].PortHi = 0 }), "SNIP 10.2.0.5 has no ports"},
		{"SNIP twice", cfg(func(c *api.Config) { c.SNIPs = append(c.SNIPs, c.SNIPs[0]) }), "have the same ID 1"},
		{"address twice", cfg(func(c *api.Config) { c.Addresses = append(c.Addresses, c.Addresses[0]) }), "address 10.1.0.50 is listed twice"},
		{"address kind", cfg(func(c *api.Config) { c.Addresses[0].Kind = 0 }), "address 10.1.0.50 is of kind 0"},
		{"health of nobody", &api.Tables{Config: sample(), Health: &api.Health{Up: []uint32{2}}}, "service 2 is up"},
		{"route to no port", route(api.Route{Prefix: netip.MustParsePrefix("10.0.0.0/8"), Port: 2}), "route 10.0.0.0/8 leaves by port number 2"},
		{"route with host bits", route(api.Route{Prefix: netip.MustParsePrefix("10.0.0.1/8")}), "the network is 10.0.0.0/8"},
		{"IPv6 route", route(api.Route{Prefix: netip.MustParsePrefix("2001:db8::/32")}), "route 2001:db8::/32 is not IPv4"},
		{"bad gateway", route(api.Route{Prefix: netip.MustParsePrefix("10.0.0.0/8"), Gateway: ip("224.0.0.1")}), "gateway 224.0.0.1"},
		{"neighbor on no port", neigh(api.Neighbor{Port: 9, IP: ip("10.1.0.1"), MAC: mac}), "neighbor 10.1.0.1 is on port number 9"},
		{"group MAC", neigh(api.Neighbor{IP: ip("10.1.0.1"), MAC: [6]byte{1, 0, 0x5e}}), "neighbor 10.1.0.1 has the MAC address 01:00:5e"},
		{"no MAC", neigh(api.Neighbor{IP: ip("10.1.0.1")}), "neighbor 10.1.0.1 has the MAC address 00:00"},
		{"IPv6 neighbor", neigh(api.Neighbor{IP: ip("fe80::1"), MAC: mac}), "neighbor fe80::1"},
		{"neighbor twice", neigh(api.Neighbor{IP: ip("10.1.0.1"), MAC: mac}, api.Neighbor{IP: ip("10.1.0.1"), MAC: mac}), "neighbor 10.1.0.1 on port 1/1 is listed twice"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			prev := empty(t)
			defer prev.Free(nil)
			s, err := Build(tc.tab, prev)
			if err == nil || s != nil {
				t.Fatalf("was built")
			}
			if !strings.Contains(err.Error(), tc.says) {
				t.Errorf("says %q, which lacks %q", err, tc.says)
			}
		})
	}
	if _, err := Build(nil, nil); err == nil {
		t.Error("nothing was built from nothing")
	}
}

func TestBuildSharesWhatDoesNotChange(t *testing.T) {
	first := mustBuild(t, &api.Tables{Config: sample(), Health: &api.Health{Up: []uint32{1, 3}}}, empty(t))
	second := mustBuild(t, &api.Tables{Health: &api.Health{Up: []uint32{3}}}, first)
	if second.conf != first.conf || second.fib != first.fib || second.neigh != first.neigh {
		t.Error("a change of health rebuilt more than the pools")
	}
	if second.pools == first.pools || second.Gen != first.Gen {
		t.Errorf("a change of health must change the pools and nothing else; generations %d and %d", first.Gen, second.Gen)
	}
	first.Free(second)
	v := second.Vserver(ip4(ip("10.1.0.50")), net16(80), api.ProtoTCP)
	if v == nil || second.Pool(v).N != 1 || second.Pool(v).Scheduled(0) != 3 {
		t.Error("the set does not survive that its predecessor is freed")
	}
	third := mustBuild(t, &api.Tables{Config: &api.Config{}}, second)
	if third.HealthVersion() != second.HealthVersion() || third.Up(3) {
		t.Error("health that came before the configuration must stay, without the services that are gone")
	}
	second.Free(third)
	third.Free(nil)
}

// naiveVserver walks the list once for every form of the key, the most exact first.
func naiveVserver(list []api.Vserver, a netip.Addr, port uint16, proto uint8) uint32 {
	for _, want := range []struct {
		port  uint16
		proto uint8
	}{{port, proto}, {0, proto}, {port, api.ProtoAny}, {0, api.ProtoAny}} {
		for _, v := range list {
			if v.IP == a && v.Port == want.port && v.Proto == want.proto {
				return v.ID
			}
		}
	}
	return 0
}

// TestVserverLookupAgainstNaive compares the hash with a search through the list, on crowded keys.
func TestVserverLookupAgainstNaive(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	protos := []uint8{api.ProtoAny, api.ProtoTCP, api.ProtoUDP}
	type key struct {
		last  byte
		port  uint16
		proto uint8
	}
	found := 0
	for round := 0; round < 50; round++ {
		c, seen := &api.Config{}, map[key]bool{}
		for i := 0; i < 20; i++ {
			k := key{byte(r.IntN(4)), uint16(r.IntN(4)), protos[r.IntN(3)]}
			if !seen[k] {
				seen[k] = true
				c.Vservers = append(c.Vservers, api.Vserver{ID: uint32(len(c.Vservers) + 1), Method: api.RoundRobin,
					IP: netip.AddrFrom4([4]byte{10, 0, 0, k.last}), Port: k.port, Proto: k.proto})
			}
		}
		s := mustBuild(t, &api.Tables{Config: c}, empty(t))
		for last := byte(0); last < 5; last++ {
			for port := uint16(0); port < 6; port++ {
				for _, proto := range []uint8{6, 17, 1, 47} {
					a := netip.AddrFrom4([4]byte{10, 0, 0, last})
					want, got := naiveVserver(c.Vservers, a, port, proto), uint32(0)
					if v := s.Vserver(ip4(a), net16(port), proto); v != nil {
						got = v.ID
					}
					if got != want {
						t.Fatalf("%v port %d protocol %d: vserver %d, the naive search finds %d", a, port, proto, got, want)
					}
					if want != 0 {
						found++
					}
				}
			}
		}
		s.Free(nil)
	}
	if found < 1000 {
		t.Fatalf("only %d lookups found a vserver: the comparison says little", found)
	}
}
