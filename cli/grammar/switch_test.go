package grammar

import (
	"slices"
	"testing"
)

// TestSwitchMonitors: one or all monitors of a service or group are disabled and enabled where they are bound, and nowhere else.
func TestSwitchMonitors(t *testing.T) {
	c := configOf(t, "add ns ip 10.2.0.5 255.255.255.0", "add server s1 10.2.0.11", "add service a s1 TCP 80", "add service b s1 TCP 81",
		"add serviceGroup g TCP", "bind serviceGroup g s1 90", "add lb monitor m TCP",
		"bind service a -monitorName m", "bind service a -monitorName ping -weight 3", "bind service b -monitorName m", "bind serviceGroup g -monitorName m")
	for _, step := range []struct {
		line string
		want []string
	}{
		{"disable lb monitor a ping", []string{"bind service a -monitorName m", "bind service a -monitorName ping -monState DISABLED -weight 3", "bind service b -monitorName m", "bind serviceGroup g -monitorName m"}},
		{"disa lb mon a", []string{"bind service a -monitorName m -monState DISABLED", "bind service a -monitorName ping -monState DISABLED -weight 3", "bind service b -monitorName m", "bind serviceGroup g -monitorName m"}},
		{"enable lb monitor a m", []string{"bind service a -monitorName m", "bind service a -monitorName ping -monState DISABLED -weight 3", "bind service b -monitorName m", "bind serviceGroup g -monitorName m"}},
		{"disable lb monitor g", []string{"bind service a -monitorName m", "bind service a -monitorName ping -monState DISABLED -weight 3", "bind service b -monitorName m", "bind serviceGroup g -monitorName m -monState DISABLED"}},
		{"enable lb monitor a", []string{"bind service a -monitorName m", "bind service a -monitorName ping -weight 3", "bind service b -monitorName m", "bind serviceGroup g -monitorName m -monState DISABLED"}},
	} {
		var err error
		if c, err = do(c, step.line); err != nil {
			t.Fatalf("%s: %v", step.line, err)
		}
		for _, line := range step.want {
			if !slices.Contains(Lines(c), line) {
				t.Errorf("after %s there is no line %s in\n%q", step.line, line, Lines(c))
			}
		}
	}
}
