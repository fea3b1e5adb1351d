package compile

import (
	"fmt"
	"net/netip"
	"os"
	"reflect"
	"testing"
	"time"

	"sluice/cli/grammar"
	"sluice/dataplane/api"
	"sluice/mgmt/vrrp"
	"sluice/vendor-config/schema"
)

// TestVRRPEffectivePriority: the tables of the reference, with a base priority of 101, by how many vservers are DOWN.
func TestVRRPEffectivePriority(t *testing.T) {
	for _, r := range []struct {
		tracking string
		n        int
		want     []uint8
	}{
		{"NONE", 4, []uint8{101, 101, 101, 101, 101}},
		{"ALL", 4, []uint8{101, 0, 0, 0, 0}},
		{"ONE", 4, []uint8{101, 101, 101, 101, 0}},
		{"PROGRESSIVE", 4, []uint8{101, 75, 50, 25, 0}},
		{"PROGRESSIVE", 2, []uint8{101, 50, 0}},
		{"ALL", 0, []uint8{101}}, {"ONE", 0, []uint8{101}}, {"PROGRESSIVE", 0, []uint8{101}},
		{"ALL", 1, []uint8{101, 0}}, {"ONE", 1, []uint8{101, 0}}, {"PROGRESSIVE", 1, []uint8{101, 0}},
	} {
		for down, want := range r.want {
			if got := byVservers(101, r.tracking, r.n, down); got != want {
				t.Errorf("tracking %s with %d of %d DOWN: %d, want %d", r.tracking, down, r.n, got, want)
			}
		}
	}
	if got := byVservers(255, "PROGRESSIVE", 100_000, 1); got != 254 {
		t.Errorf("255 with one of 100,000 DOWN: %d, want 254", got)
	}
}

// TestVRRPTrackedPorts: once however many are DOWN, no lower than 0, and nothing with a reduction of 0.
func TestVRRPTrackedPorts(t *testing.T) {
	for _, r := range []struct {
		priority, less uint8
		down           map[string]string
		want           uint8
		why            string
	}{
		{210, 60, nil, 210, ""},
		{210, 60, map[string]string{"1/3": "it is DOWN"}, 210, ""},
		{210, 60, map[string]string{"1/1": "it is DOWN"}, 150, "tracked port 1/1 DOWN"},
		{210, 60, map[string]string{"1/1": "it is DOWN", "1/2": "it is DOWN"}, 150, "tracked port 1/1 1/2 DOWN"},
		{50, 60, map[string]string{"1/2": "it is DOWN"}, 0, "tracked port 1/2 DOWN"},
		{210, 0, map[string]string{"1/2": "it is DOWN"}, 210, ""},
	} {
		x := Router{Row: &schema.VRID{Priority: r.priority, TrackifNumPriority: r.less, Tracking: "NONE"}, Tracked: []string{"1/1", "1/2"}}
		if got, why := x.Priority(&State{Down: r.down}); got != r.want || why != r.why {
			t.Errorf("%d less %d with %v: %d (%q), want %d (%q)", r.priority, r.less, r.down, got, why, r.want, r.why)
		}
	}
}

// vrrpSite is the configuration of a node of the three-node topology, on two ports.
func vrrpSite(t *testing.T, node int) (*Compiled, *schema.Config, *State) {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("../../cli/grammar/testdata/import/vrrp_NS%d.conf", node))
	if err != nil {
		t.Fatal(err)
	}
	c := schema.New()
	grammar.Import(c, text, grammar.Check)
	return routersOf(t, c)
}

func routersOf(t *testing.T, c *schema.Config) (*Compiled, *schema.Config, *State) {
	t.Helper()
	s := site(c)
	s.Elsewhere = nil
	out, err := Compile(c, s, nil)
	if err != nil {
		t.Fatal(err)
	}
	return out, c, s
}

// TestVRRPIntents: what a node of the topology is to do: one virtual router a VIP, on the port of VLAN 100.
func TestVRRPIntents(t *testing.T) {
	out, c, s := vrrpSite(t, 2)
	s.Vservers = map[string]Since{"vs_VIP1_80": {Up: true}, "vs_VIP1_8080": {Up: true}, "vs_VIP2_80": {Up: true}}
	s.Held = map[uint8]bool{3: true}
	got := Intents(c, out.Routers, s)
	if len(got) != 4 {
		t.Fatalf("%d virtual routers, want 4: %+v", len(got), got)
	}
	want := vrrp.Intent{ID: 2, Device: "tw0", Source: netip.MustParsePrefix("192.0.2.2/24"), VIPs: []netip.Addr{netip.MustParseAddr("192.0.2.12")}, Priority: 80,
		Reason: "1 of 2 vservers DOWN with tracking PROGRESSIVE", Preempt: true, Hello: 200 * time.Millisecond, Dead: time.Second, Version: 3}
	if !reflect.DeepEqual(got[1], want) {
		t.Errorf("got  %+v\nwant %+v", got[1], want)
	}
	if got[0].Priority != 110 || got[2].Priority != 0 || !got[2].Held || got[0].Held || got[0].Lease() != 300*time.Millisecond {
		t.Errorf("%+v", got)
	}
	s.Down = map[string]string{"1/1": "interface 1/1 is DOWN", "1/2": "interface 1/2 is DOWN"}
	if got := Intents(c, out.Routers, s); got[0].Down != "interface 1/1 is DOWN" || got[0].Priority != 50 {
		t.Errorf("with both ports DOWN: %+v", got[0])
	}
	for _, in := range got {
		if err := in.Check(); err != nil {
			t.Error(err)
		}
	}
}

// TestVRRPPlaces: a VIP's virtual router is where its VLAN is bound to, or else where its subnet is; VIPs on two ports make two.
func TestVRRPPlaces(t *testing.T) {
	out, c, s := routersOf(t, configure(t, `
add vlan 2
add ns ip 10.1.0.5 255.255.255.0
add ns ip 10.1.0.6 255.255.255.0
add ns ip 10.2.0.5 255.255.255.0
bind vlan 2 -ifnum 1/2
bind vlan 2 -IPAddress 10.2.0.5 255.255.255.0
add vrID 7
add vrID 8
set vrIDParam -helloInterval 1000 -version 2 -checksum rfc5798 -sendToMaster ENABLED
add ns ip 10.1.0.50 255.255.255.0 -type VIP -vrID 7
add ns ip 10.2.0.50 255.255.255.0 -type VIP -vrID 7
add ns ip 10.1.0.51 255.255.255.255 -type VIP -vrID 7
add ns ip 172.16.0.1 255.255.255.255 -type VIP -vrID 7
add ns ip 172.16.0.2 255.255.255.255 -type VIP -vrID 8
bind vlan 2 -IPAddress 172.16.0.2 255.255.255.255
add ns ip 10.1.0.52 255.255.255.255 -type VIP -vrID 8 -state DISABLED`))
	var got []string
	for _, in := range Intents(c, out.Routers, s) {
		got = append(got, fmt.Sprintf("%d %s %v %v %v %d %v", in.ID, in.Device, in.Source, in.OnLink, in.VIPs, in.Version, in.Checksum))
	}
	want := []string{"7 tw0 10.1.0.5/24 [10.1.0.6/24] [10.1.0.50 10.1.0.51] 2 rfc5798", "7 tw1 10.2.0.5/24 [] [10.2.0.50] 2 rfc5798", "8 tw1 10.2.0.5/24 [] [172.16.0.2] 2 rfc5798"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%q\nwant\n%q", got, want)
	}
	// What the dataplane hears: a backup knows its master, who is no master's master.
	s.Routers = map[RouterOn]vrrp.State{{7, "tw0"}: {Role: vrrp.Master, MasterAddress: netip.MustParseAddr("10.1.0.5")},
		{7, "tw1"}: {Role: vrrp.Backup, MasterAddress: netip.MustParseAddr("10.2.0.6")}}
	roles := []api.Role{{Port: 0, ID: 7, Master: true}, {Port: 1, ID: 7, Via: netip.MustParseAddr("10.2.0.6")}, {Port: 1, ID: 8}}
	if got := Roles(c, out.Routers, s); !reflect.DeepEqual(got, roles) {
		t.Errorf("roles %+v, want %+v", got, roles)
	}
	for _, a := range out.Tables.Config.Addresses {
		if id := map[string]uint8{"10.1.0.50": 7, "10.2.0.50": 7, "10.1.0.51": 7, "172.16.0.1": 7, "172.16.0.2": 8}[a.IP.String()]; a.VRID != id {
			t.Errorf("%v has vrID %d, want %d", a.IP, a.VRID, id)
		}
	}
}
