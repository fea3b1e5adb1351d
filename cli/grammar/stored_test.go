package grammar

import (
	"slices"
	"strings"
	"testing"

	"sluice/vendor-config/schema"
)

// TestStoredObjects: what is not built is kept, told of, written behind its mark and read again.
func TestStoredObjects(t *testing.T) {
	c := configOf(t, "add cs vserver web HTTP 10.1.0.60 80 -cltTimeout 60", "bind cs vserver web -policyName p1 -priority 10",
		"bind cs vserver web -lbvserver nobody", "add vrID 5 -priority 200", "bind vrID 5 -ifnum 1/1 1/2", "add server s1 10.2.0.11",
		"add ns pbr r ALLOW -srcIP EQ 10.0.0.1-10.0.0.9 -destPort NEQ 80 -nextHop 10.1.0.9 -srcMac 020000000001", "disable ns pbr r")
	want := []string{"add vrID 5 -priority 200", "add server s1 10.2.0.11", StoredMark,
		"add cs vserver web HTTP 10.1.0.60 80 -cltTimeout 60",
		"add ns pbr r ALLOW -srcIP = 10.0.0.1-10.0.0.9 -destPort != 80 -nextHop 10.1.0.9 -srcMac 02:00:00:00:00:01 -state DISABLED",
		"bind vrID 5 -ifnum 1/1", "bind vrID 5 -ifnum 1/2",
		"bind cs vserver web -lbvserver nobody", "bind cs vserver web -policyName p1 -priority 10"}
	if got := Lines(c); !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	readBack(t, c)
	if err := Check(c); err != nil {
		t.Error(err)
	}
	c, err := do(c, "rm cs vserver web")
	if err != nil || len(Lines(c)) != 6 {
		t.Errorf("%v: bindings stay: %v", err, Lines(c))
	}
}

// TestStoredWarning: the operator hears once a line that nothing will act on it, and not when it goes.
func TestStoredWarning(t *testing.T) {
	for line, want := range map[string]string{
		"add cs vserver v HTTP 10.1.0.60 80": "[cs vserver] is stored, but its function is not built in this release",
		"bind vrID 5 -ifnum 1/1 1/2":         "[vrID -ifnum] is stored, but its function is not built in this release",
		"set ns pbr r -priority 5":           "[ns pbr] is stored, but its function is not built in this release",
		"rm ns pbr r":                        "",
		"show cs vserver":                    "",
		"add server s1 10.0.0.1":             "",
	} {
		op, err := Parse(line)
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		if got := strings.Join(op.Warnings(), "|"); got != want {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
}

// TestStoredReferences: a row that is built goes although one that is only stored speaks of it, which then goes with it if it is
// bound to it.
func TestStoredReferences(t *testing.T) {
	c := configOf(t, "add lb vserver lb1 HTTP 10.1.0.61 80", "add cs vserver web HTTP 10.1.0.60 80", "bind cs vserver web -lbvserver lb1")
	c, err := do(c, "rm lb vserver lb1")
	if err != nil || c.Len(schema.Of[schema.CSVserverDefault]()) != 0 {
		t.Errorf("%v: %v", err, Lines(c))
	}
}

// TestStatOfStored: of whatever is only stored, `stat` says so.
func TestStatOfStored(t *testing.T) {
	built := map[string]bool{}
	for _, o := range schema.Objects() {
		built[o.Name()] = built[o.Name()] || !o.Stored
	}
	for _, o := range schema.Objects() {
		if built[o.Name()] {
			continue
		}
		for _, behind := range []string{"", " x"} {
			line := "stat " + o.Name() + behind
			_, err := Parse(line)
			want := "Feature not supported in this release [stat " + o.Name() + "]: " + o.Name() + " is only stored, so there is nothing to count"
			if err == nil || err.Error() != want {
				t.Errorf("%s: %v, want %s", line, err, want)
			}
		}
	}
}
