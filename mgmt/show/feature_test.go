package show

import (
	"strings"
	"testing"
)

// TestStoredNodesAndPartitions: what is stored about pairs and partitions is shown behind what is in force, and no line of it lets a
// collector take a partition for one that it can switch to.
func TestStoredNodesAndPartitions(t *testing.T) {
	v := seen(t)
	v.Config = configure(t, "add HA node 0 10.1.0.5\nset HA node 0 -helloInterval 400\nadd HA node 1 10.1.0.9\nadd ns partition p1 -maxConn 5")
	for line, want := range map[string][]string{
		"show HA node":   {"1)\tNode ID:      0\n", "Master State: Primary\n", "2)\tHA node 0  (stored, not in force)\n", "helloInterval: 400\n", "3)\tHA node 1  (stored, not in force)\n"},
		"show HA node 0": {"\tNode ID:      0\n", "\tHA node 0  (stored, not in force)\n"},
		"show HA node 1": {"\tHA node 1  (stored, not in force)\n"},
		"show partition": {"\tPartition: default, the whole appliance\n1)\tns partition p1  (stored, not in force)\n"},
	} {
		got := answer(t, line, v)
		for _, w := range want {
			if !strings.Contains(got, w) {
				t.Errorf("%s: want %q in\n%s", line, w, got)
			}
		}
		if strings.Contains(got, "Name:") || strings.HasSuffix(line, "1") && strings.Contains(got, "Primary") || strings.HasSuffix(line, "0") && strings.Contains(got, "node 1") {
			t.Errorf("%s:\n%s", line, got)
		}
	}
	v.Stats.Ports[0].LinkUp = false
	if got := answer(t, "show HA node 0", v); !strings.Contains(got, "Enabled Interfaces : 1/1 1/2\n\tDisabled Interfaces : None\n\tInterfaces without link : 1/1 1/2\n") {
		t.Error(got)
	}
}

// TestFeaturesHaveNames: a name in full for each but those that have none, and none for what does not exist.
func TestFeaturesHaveNames(t *testing.T) {
	shown := answer(t, "show ns feature", seen(t)) + answer(t, "show ns mode", seen(t))
	for acronym, long := range longNames {
		if !strings.Contains(shown, ")\t"+long+" ") || !strings.Contains(shown, " "+acronym+" ") {
			t.Errorf("%s (%s) is not shown", long, acronym)
		}
	}
}
