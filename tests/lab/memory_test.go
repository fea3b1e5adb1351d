package main

import (
	"fmt"
	"strings"
	"testing"
)

// TestTablesBeyondMemory: a command whose tables would not fit is refused with the size that they need, and the configuration before
// stays in force; when there is room again it is accepted.
func TestTablesBeyondMemory(t *testing.T) {
	mustSettle(t)
	settings(t, "flows: 262144\n", "flows: 262144\ntable-memory: 4\n")
	var empty, more, less strings.Builder
	for i := 1; i <= 100; i++ { // as soon as it has a service, each has a table of its own: 32 KiB
		fmt.Fprintf(&empty, "add lb vserver big%d HTTP 10.1.0.61 %d -lbMethod SOURCEIPHASH\n", i, 1000+i)
		fmt.Fprintf(&more, "bind lb vserver big%d web-s1 -weight %d\n", i, i)
		if i > 2 {
			fmt.Fprintf(&less, "rm lb vserver big%d\n", i)
		}
	}
	less.WriteString("rm ns ip 10.1.0.61\n")
	defer func() {
		if out, err := lab.Basic().Script(less.String()); err != nil {
			t.Errorf("%v: %s", err, out)
		}
	}()
	if out, err := lab.Basic().Script(empty.String()); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	_, err := lab.Basic().Script(more.String())
	out := fmt.Sprint(err)
	refused := strings.Count(out, "MiB of memory (configuration ")
	if refused < 10 || refused > 90 || refused != strings.Count(out, "ERROR: ") || !strings.Contains(out, "MiB are free: nothing has changed; ") {
		t.Fatalf("%d of 100 services were refused for want of memory:\n%s", refused, out)
	}
	if n := strings.Count(running(t), " big"); n+refused != 200 {
		t.Errorf("%d commands were refused and %d are in the running configuration, want 200 together", refused, n)
	}
	if r := get(t, 30); r.Failed != 0 || r.By["s1"] != 10 {
		t.Errorf("afterwards: %d failed %v, served by %v", r.Failed, r.Errors, r.By)
	}
	if out, err := lab.Basic().Script("rm lb vserver big1\nrm lb vserver big2\nset lb vserver web -comment x\nunset lb vserver web -comment\n"); err != nil {
		t.Errorf("with room again: %v: %s", err, out)
	}
}
