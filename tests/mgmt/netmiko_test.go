package mgmt

import (
	"encoding/json"
	"os/exec"
	"strings"
	"testing"

	"sluice/tests/lab/topology"
)

// TestNetmikoNetScalerDriver: python3-netmiko as Debian has it logs in, finds the prompt, turns paging off and reads answers without
// their Done, errors included.
func TestNetmikoNetScalerDriver(t *testing.T) {
	cmd := client("timeout", "240", "/usr/bin/python3", "testdata/automation.py", lab.Basic().Addr, topology.Password)
	out, err := cmd.Output()
	if err != nil {
		if exit, ok := err.(*exec.ExitError); ok {
			t.Fatalf("%v: %s", err, exit.Stderr)
		}
		t.Fatal(err)
	}
	var got map[string]string
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, row := range []struct{ what, begins, has string }{
		{"prompt", ">", ""},
		{"show version", "\tSluice ", "Build"},
		{"add server netmiko1 10.2.9.1", "", ""},
		{"add server netmiko1 10.2.9.2", "ERROR: Resource already exists [server, netmiko1]", ""},
		{"show server netmiko1", "\tName: netmiko1", "IPAddress: 10.2.9.1"},
		{"show ns runningConfig", "#Sluice ", "add server netmiko1 10.2.9.1\n"},
		{"show nonsense", "ERROR: No such command [nonsense]", ""},
		{"set", "set server netmiko1 -comment one\n Done\n> add server netmiko2 10.2.9.2\n Done\n", ""},
		{"after", "\tName: netmiko1", "Comment: \"one\""},
		{"rm server netmiko1", "", ""},
	} {
		text, given := got[row.what]
		if !given || !strings.HasPrefix(text, row.begins) || !strings.Contains(text, row.has) || row.begins == "" && text != "" {
			t.Errorf("%s: %q, want %q at its beginning and %q in it", row.what, text, row.begins, row.has)
		}
		if row.what != "set" && strings.Contains(text, "Done") {
			t.Errorf("%s: the answer holds a Done: %q", row.what, text)
		}
	}
}
