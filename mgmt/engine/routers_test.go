package engine

import (
	"errors"
	"net/netip"
	"testing"
	"time"

	"sluice/dataplane/api"
	"sluice/mgmt/compile"
	"sluice/mgmt/vrrp"
	"sluice/vendor-config/schema"
)

// TestRolesAndLeases: the dataplane hears of roles by themselves, and gets no lease for mastership that this appliance has given up
// as long as it has not heard of that.
func TestRolesAndLeases(t *testing.T) {
	p := &plane{}
	b := newBench(t, p)
	if _, err := b.Roles(); !errors.Is(err, ErrOtherRoles) {
		t.Errorf("without a dataplane: %v", err)
	}
	b.commit(func(c *schema.Config) {
		site(c)
		schema.Put(c, fresh(func(r *schema.VRID) { r.ID = 7 }))
		schema.Put(c, fresh(func(r *schema.VRIDParam) { r.SendToMaster = "ENABLED" }))
		schema.Put(c, fresh(func(r *schema.NSIP) {
			r.IPAddress, r.Netmask, r.Type, r.VRID = addr("10.1.0.50"), addr("255.255.255.255"), "VIP", 7
		}))
	})
	b.run()
	until(t, "the dataplane has tables", func() bool { _, err := b.Roles(); return err == nil })
	stands := func(role vrrp.Role) {
		t.Helper()
		err := b.Observe(func(s *compile.State) error {
			s.Stands(vrrp.State{ID: 7, Device: s.Ports[0].Twin, Role: role, MasterAddress: netip.MustParseAddr("10.1.0.6")})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	stands(vrrp.Master)
	b.Play(30 * time.Second)
	first, err := b.Roles()
	if r := p.now().Roles; err != nil || r == nil || len(r.List) != 1 || !r.List[0].Master || r.Version != first {
		t.Fatalf("version %d, %v: the dataplane has %+v", first, err, r)
	}
	applied := applications(p)
	stands(vrrp.Backup)
	if _, err := b.Roles(); !errors.Is(err, ErrOtherRoles) {
		t.Errorf("mastership is given up, and the dataplane would get a lease: %v", err)
	}
	b.Play(30 * time.Second)
	want := api.Role{ID: 7, Via: netip.MustParseAddr("10.1.0.6")}
	if r := p.now().Roles; r.List[0] != want {
		t.Errorf("the dataplane has %+v, want %+v", r.List[0], want)
	}
	if second, err := b.Roles(); err != nil || second == first {
		t.Errorf("version %d after %d: %v", second, first, err)
	}
	for _, t2 := range p.applied[applied:] {
		if t2.Config != nil || t2.FIB != nil {
			t.Errorf("a change of a role takes a configuration along: %+v", t2)
		}
	}
}

func applications(p *plane) (n int) {
	p.set(func() { n = len(p.applied) })
	return n
}
