// Package seeds has the tables and scenarios of the source documents, each run through the whole product in the lab.
package seeds

import (
	"path/filepath"
	"testing"

	"sluice/tests/lab/topology"
)

// lab is the topology of the document that is tested.
var lab *topology.Lab

// TestMain: T=basic@TAG takes labs of its own, beside others.
func TestMain(m *testing.M) {
	topology.Main(&lab, "seed003", func() error { return nil }, m.Run)
}

// shell runs a line that must succeed.
func shell(t *testing.T, line string) string {
	t.Helper()
	out, err := lab.Appliance().Shell(line)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// client runs a program of the lab in the client's namespace, which must succeed.
func client(t *testing.T, args ...string) {
	t.Helper()
	cmd := lab.Command("client", append([]string{filepath.Join(lab.Bin, "sluice-lab")}, args...)...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v: %s", args, err, out)
	}
}
