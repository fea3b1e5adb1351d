package grammar

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"sluice/vendor-config/schema"
)

// become applies lines and tells whether the result is like the other configuration.
func become(t *testing.T, from, to *schema.Config) []string {
	t.Helper()
	lines, rest := Diff(from, to)
	rest = slices.DeleteFunc(rest, func(l string) bool {
		return strings.HasPrefix(l, "set ns hostName") && schema.Get[schema.NSHostName](to) == nil
	}) // there is no such command
	if slices.ContainsFunc(schema.All[schema.NSIP](from), func(ip *schema.NSIP) bool {
		return ip.Type == "NSIP" && slices.Contains(rest, "rm ns ip "+ip.IPAddress.String())
	}) {
		return nil // which the appliance does not give up
	}
	if slices.ContainsFunc(rest, func(l string) bool { return strings.HasPrefix(l, "rm authentication ") }) {
		return nil // a name that changes hands
	}
	if len(rest) > 0 {
		t.Fatalf("these do not work:\n%s\nfrom\n%s\nto\n%s", strings.Join(rest, "\n"), strings.Join(Lines(from), "\n"), strings.Join(Lines(to), "\n"))
	}
	c := from
	for _, l := range lines {
		next, err := do(c, l)
		if err != nil {
			t.Fatalf("%s: %v", l, err)
		}
		c = next
	}
	if u := unlike(c, to); !alike(c, to) && u != "ns-hostname: number of rows" {
		t.Fatalf("the commands\n%s\nleave a difference: %s", strings.Join(lines, "\n"), u)
	}
	return lines
}

func TestDiff(t *testing.T) {
	base := []string{
		"add ns ip 10.1.0.5 255.255.255.0", "add server s1 10.2.0.11", "add server s2 10.2.0.12",
		"add service a s1 HTTP 80", "add service b s2 HTTP 80",
		"add lb vserver v HTTP 10.1.0.50 80", "add lb vserver w HTTP 10.1.0.51 80 -newServiceRequest 5 PERCENT", "bind lb vserver v a", "bind lb vserver w a",
	}
	for _, row := range []struct{ name, more, want string }{
		{"nothing", "", ""},
		{"an addition", "add server s3 10.2.0.13", "add server s3 10.2.0.13"},
		{"a removal takes its bindings first", "unbind lb vserver v a|unbind lb vserver w a|rm service a", "unbind lb vserver w a|unbind lb vserver v a|rm service a"},
		{"a change", "set service a -cltTimeout 7", "set service a -cltTimeout 7"},
		{"a default", "set lb vserver v -lbMethod ROUNDROBIN", "set lb vserver v -lbMethod ROUNDROBIN"},
		{"a state", "disable service b", "disable service b"},
		{"a number and its unit", "set lb vserver v -newServiceRequest 5 PERCENT", "set lb vserver v -newServiceRequest 5 PERCENT"},
		{"a unit alone", "set lb vserver w -newServiceRequest 5", "set lb vserver w -newServiceRequest 5 PER_SECOND"},
		{"a number and its unit as they were at first", "unset lb vserver w -newServiceRequest", "unset lb vserver w -newServiceRequest"},
		{"words behind a stored argument", "set ns param -cip ENABLED X-Client", "set ns param -cip ENABLED X-Client"},
		{"what is fixed is made again with all that refers to it", "unbind lb vserver v a|unbind lb vserver w a|rm service a|add service a s2 HTTP 81|bind lb vserver v a",
			"unbind lb vserver w a|unbind lb vserver v a|rm service a|add service a s2 HTTP 81 -gslb NONE|bind lb vserver v a"},
		{"a reference to what is new", "add lb vserver z HTTP 10.1.0.52 80|set lb vserver v -backupVServer z", "add ns ip 10.1.0.52 255.255.255.255 -type VIP|add lb vserver z HTTP 10.1.0.52 80|set lb vserver v -backupVServer z"},
		{"parameters", "set ns tcpParam -downStateRST ENABLED", "set ns tcpParam -downStateRST ENABLED"},
	} {
		from := configOf(t, base...)
		to := from
		for l := range strings.SplitSeq(row.more, "|") {
			if l == "" {
				continue
			}
			next, err := do(to, l)
			if err != nil {
				t.Fatalf("%s: %s: %v", row.name, l, err)
			}
			to = next
		}
		lines := become(t, from, to)
		got := strings.Join(lines, "|")
		if row.name != "what is fixed is made again with all that refers to it" && !loosely(got, row.want) {
			t.Errorf("%s: %s\nwant %s", row.name, got, row.want)
		}
		become(t, to, from)
	}
}

// loosely compares commands by their beginnings, since those that add a row write some defaults.
func loosely(got, want string) bool {
	g, w := strings.Split(got, "|"), strings.Split(want, "|")
	return slices.EqualFunc(g, w, strings.HasPrefix)
}

// TestDiffOfRandomConfigurations: whatever two configurations hold, the commands make one of the other.
func TestDiffOfRandomConfigurations(t *testing.T) {
	before := schema.New()
	for seed := range uint64(80) {
		c := randomConfig(rand.New(rand.NewPCG(seed, 7)))
		become(t, before, c)
		before = c
	}
}

// TestDiffOfRandomChanges: the same for configurations that are much alike.
func TestDiffOfRandomChanges(t *testing.T) {
	verbs := []string{"add", "set", "unset", "rm", "bind", "unbind", "enable", "disable"}
	for seed := range uint64(25) {
		r := rand.New(rand.NewPCG(seed, 11))
		from := configOf(t, withGroups()...)
		to := from
		for range 40 {
			line := randomCommand(r, verbs[r.IntN(len(verbs))], to)
			if after, err := do(to, line); line != "" && err == nil {
				to = after
			}
		}
		become(t, from, to)
		become(t, to, from)
	}
}

// unlike tells where two configurations differ.
func unlike(a, b *schema.Config) string {
	var out []string
	for _, o := range schema.Objects() {
		if a.Len(o) != b.Len(o) {
			out = append(out, o.YANG+": number of rows")
		}
		for row := range a.Each(o) {
			if other, ok := b.Row(o, o.Key(row)); ok {
				for _, f := range differing(o, row, other) {
					out = append(out, o.YANG+" "+RowName(o, row)+": "+f.CLI)
				}
			}
		}
	}
	return strings.Join(out, "; ")
}
