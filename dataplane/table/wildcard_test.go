package table

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"strings"
	"testing"

	"sluice/dataplane/api"
)

// TestWildcardOracle compares the look-up with a naive one, over random wildcards and patterns in random order.
func TestWildcardOracle(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 11))
	s, taken := empty(t), 0
	for range 60 {
		c := &api.Config{PortVLANs: []uint16{uint16(1 + r.IntN(2)), uint16(1 + r.IntN(2))}}
		names := r.Perm(1 + r.IntN(8))
		for i, n := range names {
			mask := []string{"0.0.0.0", "0.0.0.0", "255.255.255.0", "255.255.0.0", "0.0.0.3"}[r.IntN(5)]
			v := api.Vserver{ID: uint32(1 + i), Name: fmt.Sprint("w", n), Method: api.RoundRobin, Proto: []uint8{0, 0, 6, 17}[r.IntN(4)], IPMask: ip(mask),
				IP: masked(ip(fmt.Sprintf("198.51.%d.%d", r.IntN(2), r.IntN(4))), ip(mask)), ListenPriority: uint8(r.IntN(2))}
			if v.Proto != 0 {
				v.Port = uint16(r.IntN(3))
			}
			switch r.IntN(3) {
			case 0:
				v.Listen = fmt.Sprintf("CLIENT.IP.SRC.GET4.EQ(%d)", r.IntN(3))
			case 1:
				v.Listen = fmt.Sprintf("CLIENT.TCP.DSTPORT.EQ(%d) || CLIENT.VLAN.ID == %d", r.IntN(3), 1+r.IntN(3))
			}
			c.Vservers = append(c.Vservers, v)
		}
		next := mustBuild(t, &api.Tables{Config: c}, s)
		for range 100 {
			p := asker{ip(fmt.Sprintf("10.0.0.%d", r.IntN(3))), ip(fmt.Sprintf("198.51.%d.%d", r.IntN(3), r.IntN(5))), []uint8{6, 17, 47}[r.IntN(3)], uint16(r.IntN(3)), uint16(1 + r.IntN(3))}
			if p.proto == 47 {
				p.port = 0
			}
			want := p.naive(c.Vservers)
			a, b := uint64(ip4(p.src))|uint64(ip4(p.dst))<<32, uint64(net16(p.port))<<16|uint64(p.proto)<<32|present
			got := next.Wildcard(a, b, p.vlan)
			if (got == nil) != (want == nil) || got != nil && got.ID != want.ID {
				t.Fatalf("%+v is taken by %+v, want %+v of\n%+v", p, got, want, c.Vservers)
			}
			if got != nil {
				taken++
			}
		}
		for i, id := range append(c.PortVLANs, 1, 1) {
			if got := next.PortVLAN(uint16(i)); got != id {
				t.Fatalf("port %d is in VLAN %d, not %d", i, got, id)
			}
		}
		if next.Bytes() == 0 {
			t.Fatal("no memory")
		}
		s.Free(next)
		s = next
	}
	s.Free(nil)
	if taken < 1500 {
		t.Errorf("%d packets were taken: the test has lost its point", taken)
	}
}

func masked(a, mask netip.Addr) netip.Addr {
	b, m := a.As4(), mask.As4()
	for i := range b {
		b[i] &= m[i]
	}
	return netip.AddrFrom4(b)
}

// asker is a packet to a foreign address.
type asker struct {
	src, dst netip.Addr
	proto    uint8
	port     uint16
	vlan     uint16
}

// naive finds the best of all that match, with the policies of TestWildcardOracle written in Go.
func (p *asker) naive(list []api.Vserver) (best *api.Vserver) {
	rank := func(v *api.Vserver) string {
		yes := map[bool]int{true: 1}
		ones := 0
		for _, b := range v.IPMask.As4() {
			for ; b != 0; b &= b - 1 {
				ones++
			}
		}
		return fmt.Sprintf("%02d %03d %d %d %d %s", 32-ones, v.ListenPriority, yes[v.Listen == ""], yes[v.Port == 0], yes[v.Proto == 0], v.Name)
	}
	for i := range list {
		v := &list[i]
		var n, m int
		matches := v.Listen == ""
		if k, _ := fmt.Sscanf(v.Listen, "CLIENT.IP.SRC.GET4.EQ(%d)", &n); k == 1 {
			matches = int(p.src.As4()[3]) == n
		} else if k, _ := fmt.Sscanf(v.Listen, "CLIENT.TCP.DSTPORT.EQ(%d) || CLIENT.VLAN.ID == %d", &n, &m); k == 2 {
			matches = p.proto == 6 && int(p.port) == n || int(p.vlan) == m
		}
		if matches && masked(p.dst, v.IPMask) == v.IP && (v.Port == 0 || v.Port == p.port) && (v.Proto == 0 || v.Proto == p.proto) &&
			(best == nil || rank(v) < rank(best)) {
			best = v
		}
	}
	return best
}

func TestWildcardsThatAreWrong(t *testing.T) {
	any4 := netip.IPv4Unspecified()
	for _, row := range []struct {
		v    api.Vserver
		says string
	}{
		{api.Vserver{IP: ip("10.0.0.1"), Listen: "TRUE"}, "vserver w has the listen policy TRUE, which narrows wildcard vservers, and the address 10.0.0.1"},
		{api.Vserver{IP: any4, IPMask: any4, Listen: "CLIENT.FOO"}, "listen policy of vserver w: at character 1: CLIENT.FOO is not known"},
		{api.Vserver{IP: ip("10.0.0.1"), IPMask: ip("255.255.255.0")}, "vserver w has the pattern 10.0.0.1, of which the mask 255.255.255.0 leaves less"},
		{api.Vserver{IP: ip("10.0.0.0"), IPMask: ip("ffff::")}, "this dataplane carries IPv4 only"},
		{api.Vserver{IP: ip("255.255.255.254"), Range: 3}, "beyond the last address"},
	} {
		row.v.ID, row.v.Name, row.v.Method = 1, "w", api.RoundRobin
		_, err := Build(&api.Tables{Config: &api.Config{Vservers: []api.Vserver{row.v}}}, empty(t))
		if err == nil || !strings.Contains(err.Error(), row.says) {
			t.Errorf("%+v: %v, want %q", row.v, err, row.says)
		}
	}
}
