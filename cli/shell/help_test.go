package shell

import (
	"strings"
	"testing"

	"sluice/cli/grammar"
	"sluice/vendor-config/schema"
)

// TestListing: what candidates that stand together say alike is said once, above them.
func TestListing(t *testing.T) {
	list := []grammar.Candidate{{Text: "-a", Help: "One"}, {Text: "X", Help: "Two"}, {Text: "Y", Help: "Two"}, {Text: "Z", Help: "Two"}, {Text: "p"}, {Text: "q"}, {Text: grammar.Enter, Help: "Run"}}
	want := "  -a            One\n  Two:\n  X\n  Y\n  Z\n  p\n  q\n  <cr>          Run\n"
	if got := listing(list, 0); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	if got := listing(list, 2); !strings.HasSuffix(got, "  Two:\n  X\n  ... and 5 more; begin the word to see fewer\n") {
		t.Errorf("two of them:\n%s", got)
	}
	methods, err := help([]string{"add", "lb", "vserver", "v", "HTTP", "10.1.0.50", "80", "-lbMethod"}, schema.New())
	if err != nil || strings.Count(methods, "Balancing method") > 1 {
		t.Errorf("%v: what -lbMethod is stands more than once:\n%s", err, methods)
	}
	all, _ := grammar.Complete("add lb vserver v HTTP 10.1.0.50 80 -lbMethod ", schema.New())
	if got := listing(all, 0); len(all) < 10 || strings.Count(got, "Balancing method") != 1 || !strings.Contains(got, "\n  SOURCEIPHASH\n") {
		t.Errorf("the methods:\n%s", got)
	}
}
