package grammar

import (
	"slices"
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
		"rm vrID -all":                                "Resource is in use [id, 5]: ns ip 10.1.0.50 has it; unset ns ip 10.1.0.50 -vrID first",
		"rm vrID":                                     "Required argument missing [id]",
		"rm vrID 6 -all":                              "Arguments exclude each other [id, -all]",
		"rm vrID -all 6":                              "Arguments exclude each other [id, -all]",
		"rm vrID -all -all":                           "Invalid argument [-all]: it is given twice",
		"rm vrID 7":                                   "No such resource [id, 7]",
		"rm vrID 6 7":                                 "No such resource [id, 7]",
		"add vrID 5 -all":                             "No such argument [-all]",
		"add vrID x":                                  "id",
		"add vrID -1":                                 "No such argument [-1]",
		"add vrID 7 -priority -1":                     "Required argument missing [priority]",
		"add vrID 7 -sharing YES":                     "sharing",
		"add vrID 7 -trackifNumPriority 256":          "trackifNumPriority",
		"unset vrID 5":                                "Required argument missing [-argument]: give at least one argument to unset",
		"unset vrID 7 -priority":                      "No such resource [id, 7]",
		"unset vrID 5 -id":                            "No such argument [-id]",
		"unset vrIDParam":                             "-argument",
		"bind vrID 6 -trackifNum":                     "trackifNum",
		"bind vrID 6 -trackifNum eth0":                "trackifNum",
		"unbind vrID 6 -trackifNum 1/3":               "it is not bound to 6",
		"add ns ip 10.1.0.52 255.255.255.0 -vrID 5":   "only a VIP has a virtual router",
		"set ns ip 10.1.0.50 -vrID 256":               "vrID",
		"unset ns ip 10.1.0.53 -vrID":                 "10.1.0.53",
		"set vrIDParam -helloInterval 1001":           "helloInterval",
		"set vrIDParam -deadInterval 0":               "deadInterval",
		"set vrIDParam -sendToMaster YES":             "sendToMaster",
		"force vrID 5 -backup now":                    "No such argument [now]",
		"force vrID 5 -master":                        "No such argument [-master]",
		"force vrID 256 -release":                     "id",
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
		} else if strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: more than one line: %v", line, err)
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
	if d, err := do(c.Clone(), "unset vrID 6 -priority -tracking -sharing"); err != nil || !slices.Equal(Lines(d), Lines(c)) {
		t.Errorf("defaults that are unset: %v", err)
	}
	readBack(t, c)
	free, err := do(c, "unset ns ip 10.1.0.50 -vrID")
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"rm vrID -all", "rm vrID -al", "rm vrid 5 6", "rm vrID [5-6]"} {
		d, err := do(free, line)
		if err != nil || d.Len(schema.Of[schema.VRID]()) != 0 || d.Len(schema.Of[schema.VRIDTrack]()) != 0 || d.Len(schema.Of[schema.NSIP]()) != 3 {
			t.Errorf("%s: %v", line, err)
		}
	}
	if d, err := do(schema.New(), "rm vrID -all"); err != nil || len(Lines(d)) != 0 {
		t.Errorf("rm vrID -all of none: %v", err)
	}
}

// TestForceVirtualRouter: it is no change of the configuration.
func TestForceVirtualRouter(t *testing.T) {
	for line, want := range map[string]string{"force vrID 5 -backup": "backup", "forc vrid 255 -rel": "release"} {
		op, err := Parse(line)
		if err != nil {
			t.Errorf("%s: %v", line, err)
			continue
		}
		if _, given := op.Arg(want); !given || op.Changes() || op.Verb != "force" || op.Object != schema.Of[schema.VRIDForce]() {
			t.Errorf("%s: %+v", line, op)
		}
	}
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

// TestDeadIntervalOfOneAdvertisement: a wait that one lost advertisement uses up is allowed, and the operator hears of it.
func TestDeadIntervalOfOneAdvertisement(t *testing.T) {
	for line, want := range map[string]int{
		"set vrIDParam -helloInterval 1000 -deadInterval 1": 1, "set vrIDParam -helloInterval 501 -deadInterval 1": 1, "set vrIDParam -helloInterval 500 -deadInterval 1": 0,
		"set vrIDParam -helloInterval 1000 -deadInterval 2": 0,
	} {
		c := configOf(t, line)
		op, err := Parse(line)
		if err != nil {
			t.Fatal(err)
		}
		if got := op.Cautions(c); len(got) != want {
			t.Errorf("%s: %q, want %d", line, got, want)
		}
	}
}
