package grammar

import (
	"slices"
	"strings"
	"testing"
)

// groupLines add a service group to the lab.
var groupLines = []string{
	"add server s4 10.2.0.15",
	"add serviceGroup pool HTTP",
	"bind serviceGroup pool s1 80 -weight 2",
	"bind serviceGroup pool s4 8080",
	"bind serviceGroup pool -monitorName m-http",
	"bind lb vserver vip pool",
	"add serviceGroup spare HTTP",
}

func withGroups() []string { return slices.Concat(labLines, groupLines) }

// TestServiceGroups: members are named by server or address, and commands speak of the group or of one member.
func TestServiceGroups(t *testing.T) {
	c := configOf(t, withGroups()...)
	for _, step := range []struct{ line, want string }{
		{"bind serviceGroup pool 10.2.0.12 80 -state DISABLED", "bind serviceGroup pool s2 80 -state DISABLED"},
		{"bind serviceGroup pool 10.2.0.77 80", "bind serviceGroup pool 10.2.0.77 80"},
		{"set serviceGroup pool s1 80 -weight 9", "bind serviceGroup pool s1 80 -weight 9"},
		{"unset serviceGroup pool 10.2.0.11 80 -weight", "bind serviceGroup pool s1 80"},
		{"disable serviceGroup pool s1 80", "bind serviceGroup pool s1 80 -state DISABLED"},
		{"enable serviceGroup pool 10.2.0.11 80", "bind serviceGroup pool s1 80"},
		{"disable serviceGroup pool", "add serviceGroup pool HTTP -usip NO -useproxyport YES -cltTimeout 180 -svrTimeout 360 -state DISABLED"},
		{"enable serviceGroup pool", "add serviceGroup pool HTTP -usip NO -useproxyport YES -cltTimeout 180 -svrTimeout 360"},
		{"set serviceGroup pool -svrTimeout 50 -usip YES", "add serviceGroup pool HTTP -usip YES -useproxyport YES -cltTimeout 180 -svrTimeout 50"},
		{"unset serviceGroup pool -svrTimeout -usip", "add serviceGroup pool HTTP -usip NO -useproxyport YES -cltTimeout 180 -svrTimeout 360"},
		{"bind serviceGroup pool -monitorName tcp", "bind serviceGroup pool -monitorName tcp"},
		{"bind serviceGroup pool s[1-2] 8[1-2]", "bind serviceGroup pool s2 82"},
	} {
		after, err := do(c, step.line)
		if err != nil {
			t.Fatalf("%s: %v", step.line, err)
		}
		if !slices.Contains(Lines(after), step.want) {
			t.Errorf("%s: no line %s in\n%s", step.line, step.want, strings.Join(Lines(after), "\n"))
		}
		readBack(t, after)
		c = after
	}
	for _, step := range []struct{ line, gone string }{
		{"unbind serviceGroup pool 10.2.0.77 80", "pool 10.2.0.77 80"},
		{"unbind serviceGroup pool -monitorName tcp", "pool -monitorName tcp"},
		{"unbind lb vserver vip pool", "bind lb vserver vip pool"},
		{"bind lb vserver vip pool", ""},
		{"rm serviceGroup pool", "pool"},
	} {
		after, err := do(c, step.line)
		if err != nil {
			t.Fatalf("%s: %v", step.line, err)
		}
		if lines := strings.Join(Lines(after), "\n"); step.gone != "" && strings.Contains(lines, step.gone) {
			t.Errorf("%s leaves %s in\n%s", step.line, step.gone, lines)
		}
		c = after
	}
}
