package table

import (
	"net/netip"
	"strings"
	"testing"

	"sluice/dataplane/api"
)

func TestRoles(t *testing.T) {
	ports := []Port{{Name: "1/1"}, {Name: "1/2"}}
	s, err := Empty(ports)
	if err != nil {
		t.Fatal(err)
	}
	if s.HasRoles(0) || s.Role(0, 7) != (Role{}) || s.RoleOn(1, 255) != (Role{}) {
		t.Error("without roles there is one")
	}
	n, err := Build(&api.Tables{Roles: &api.Roles{Version: 3, List: []api.Role{
		{Port: 1, ID: 255, Master: true}, {Port: 1, ID: 7, Sharing: true, Via: netip.MustParseAddr("10.0.0.1")}}}}, s)
	if err != nil {
		t.Fatal(err)
	}
	defer n.Free(nil)
	if n.RolesVersion() != 3 || n.Gen != s.Gen {
		t.Errorf("version %d, generation %d: want 3 and the one before, %d", n.RolesVersion(), n.Gen, s.Gen)
	}
	if n.HasRoles(0) || !n.HasRoles(1) || n.RoleOn(0, 255) != (Role{}) {
		t.Error("roles are on another port than they were given on")
	}
	want := Role{RoleTaken | RoleSharing, ip4(netip.MustParseAddr("10.0.0.1"))}
	if n.RoleOn(1, 7) != want || n.Role(1, 7) != want || n.Role(0, 7) != want {
		t.Errorf("vrID 7 is %v, %v and %v, want %v", n.RoleOn(1, 7), n.Role(1, 7), n.Role(0, 7), want)
	}
	if n.Role(0, 255).Flags&RoleMaster == 0 {
		t.Error("a master is none on another port")
	}
	s.Free(n)
}

func TestBadRoles(t *testing.T) {
	s, err := Empty([]Port{{Name: "1/1"}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Free(nil)
	for want, list := range map[string][]api.Role{
		"there are 1 ports":  {{Port: 1, ID: 1}},
		"vrIDs are 1 to 255": {{}},
		"two roles":          {{ID: 1}, {ID: 1}},
		"IPv4 only":          {{ID: 1, Via: netip.MustParseAddr("fe80::1")}},
	} {
		if _, err := Build(&api.Tables{Roles: &api.Roles{List: list}}, s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %q", list, err, want)
		}
	}
	c := &api.Config{Addresses: []api.Address{{IP: netip.MustParseAddr("10.0.0.5"), Kind: api.OwnSNIP, VRID: 1}}}
	if _, err := Build(&api.Tables{Config: c, Health: &api.Health{}}, s); err == nil || !strings.Contains(err.Error(), "no VIP") {
		t.Errorf("a SNIP with a vrID: %v", err)
	}
}
