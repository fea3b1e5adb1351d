package show

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"sluice/mgmt/compile"
	"sluice/mgmt/vrrp"
)

// TestVirtualRouters: what is told of virtual routers: a master whose priority is lowered, a backup, and one without a port.
func TestVirtualRouters(t *testing.T) {
	v := seen(t)
	v.Config = configure(t, site+`
add vrID 1 -priority 210 -tracking PROGRESSIVE -trackifNumPriority 60
bind vrID 1 -trackifNum 1/1 1/2
add vrID 2 -priority 100 -preemption DISABLED -sharing ENABLED -preemptiondelaytimer 5
add vrID 3
set vrIDParam -helloInterval 200 -deadInterval 1 -sendToMaster ENABLED
set ns ip 10.1.0.50 -vrID 1
set ns ip 10.1.0.51 -vrID 2`)
	s := v.State
	s.IDs = compile.AssignIDs(v.Config, s.Resolutions, s.IDs)
	s.Down = map[string]string{"1/2": "interface 1/2 is DOWN"}
	s.Hold(2, true)
	out, err := compile.Compile(v.Config, s, nil)
	if err != nil {
		t.Fatal(err)
	}
	v.Routers = out.Routers
	at := func(d time.Duration) time.Time { return v.Now.Add(-d) }
	v.Stands = []vrrp.State{
		{ID: 1, Device: "tw0", Role: vrrp.Master, Since: at(time.Hour), Reason: "no advertisement for 675ms", MasterAddress: netip.MustParseAddr("10.1.0.5"),
			History: []vrrp.Transition{{At: at(2 * time.Hour), From: vrrp.Init, To: vrrp.Backup, Reason: "it is configured"},
				{At: at(time.Hour), From: vrrp.Backup, To: vrrp.Master, Reason: "no advertisement for 675ms"}}},
		{ID: 2, Device: "tw0", Role: vrrp.Backup, Since: at(time.Minute), Reason: "it is kept backup", MasterAddress: netip.MustParseAddr("10.1.0.6"), MasterPriority: 160, MasterInterval: 200 * time.Millisecond},
	}
	v.Adverts = []vrrp.Count{{ID: 1, Device: "tw0", Received: 10, Sent: 2000, Gratuitous: 10, Transitions: 1, Refused: map[vrrp.Refusal]uint64{vrrp.TTL: 3}},
		{Device: "tw0", Refused: map[vrrp.Refusal]uint64{vrrp.ID: 7}}}
	var got strings.Builder
	for _, line := range []string{"show vrID", "show vrID 2", "show vrID 9", "show vrIDParam", "stat vrID", "stat vrID 1", "stat vrID 9", "show ns ip -type VIP"} {
		got.WriteString("> " + line + "\n" + answer(t, line, v))
	}
	golden(t, "virtual-router", got.String())
}
