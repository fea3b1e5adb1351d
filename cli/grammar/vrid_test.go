package grammar

import (
	"strings"
	"testing"

	"sluice/vendor-config/schema"
)

// TestVirtualRouters: what commands about virtual routers are refused for, with the way out.
func TestVirtualRouters(t *testing.T) {
	c := configOf(t, "add vrID 5", "add vrID 6", "add ns ip 10.1.0.5 255.255.255.0", "add ns ip 10.1.0.50 255.255.255.0 -type VIP -vrID 5",
		"add ns ip 10.1.0.51 255.255.255.0 -type VIP", "bind vrID 6 -trackifNum 1/1 1/2")
	for line, want := range map[string]string{
		"add vrID 0":                                  "id",
		"add vrID 256":                                "id",
		"add vrID 5":                                  "[id, 5]",
		"set vrID 7 -priority 1":                      "[id, 7]",
		"set vrID 5 -priority 256":                    "priority",
		"set vrID 5 -tracking SOME":                   "tracking",
		"set vrID 5 -preemptiondelaytimer 36001":      "preemptiondelaytimer",
		"set vrID 5 -ownerNode 1":                     "not supported in this release [ownerNode, 1]",
		"rm vrID 5":                                   "ns ip 10.1.0.50 has it",
		"rm vrID -all":                                "[-all]",
		"bind vrID 7 -trackifNum 1/1":                 "[id, 7]",
		"bind vrID 6 -trackifNum 1/1":                 "already exists",
		"set ns ip 10.1.0.5 -vrID 5":                  "only a VIP has a virtual router",
		"set ns ip 10.1.0.51 -vrID 7":                 "add vrID 7 first",
		"set ns ip 10.1.0.51 -vrID 0":                 "vrID",
		"set vrIDParam -helloInterval 199":            "helloInterval",
		"set vrIDParam -deadInterval 4":               "deadInterval",
		"set vrIDParam -version 4":                    "version",
		"set vrIDParam -version 2 -helloInterval 500": "helloInterval 1000",
		"set vrIDParam -checksum some":                "checksum",
		"force vrID":                                  "id",
		"force vrID 0 -backup":                        "id",
	} {
		if _, err := do(c.Clone(), line); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", line, err, want)
		}
	}
	for _, line := range []string{"set vrIDParam -version 2", "set vrIDParam -version 2 -helloInterval 1000", "unset ns ip 10.1.0.50 -vrID", "rm vrID 6", "set vrID 5 -priority 0",
		"set vrID 5 -ownerNode 255", "unbind vrID 6 -trackifNum 1/2", "rm ns ip 10.1.0.50"} {
		if _, err := do(c.Clone(), line); err != nil {
			t.Errorf("%s: %v", line, err)
		}
	}
	if d, err := do(c.Clone(), "rm vrID 6"); err != nil || d.Len(schema.Of[schema.VRIDTrack]()) != 0 {
		t.Errorf("tracked ports stay when the virtual router goes: %v", err)
	}
	readBack(t, c)
}

// TestTrackingWithoutPreemption: it is allowed, and the operator hears of it.
func TestTrackingWithoutPreemption(t *testing.T) {
	c := configOf(t, "add vrID 5 -tracking ALL -preemption DISABLED", "add vrID 6 -tracking ALL", "add vrID 7 -preemption DISABLED")
	for line, want := range map[string]bool{"set vrID 5 -priority 9": true, "set vrID 6 -priority 9": false, "set vrID 7 -priority 9": false, "show vrID 5": false, "rm vrID 5": false} {
		op, err := Parse(line)
		if err != nil {
			t.Fatal(err)
		}
		if got := op.Cautions(c); (len(got) == 1) != want {
			t.Errorf("%s: %q, want a warning: %v", line, got, want)
		}
	}
}
