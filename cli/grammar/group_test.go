package grammar

import (
	"slices"
	"strings"
	"testing"
	"time"

	"sluice/vendor-config/schema"
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
	"add server byname www.example.com -domainResolveRetry 60",
	"add service named byname HTTP 80",
	"bind serviceGroup spare byname 80",
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

// TestLeaving: disable with a delay or gracefully keeps when it began; whatever comes after ends that.
func TestLeaving(t *testing.T) {
	at := time.UnixMilli(1780000000123)
	give := func(c *schema.Config, line string) *schema.Config {
		t.Helper()
		op, err := Parse(line)
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		op.At = at
		c = c.Clone()
		if err := op.Apply(c); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		return c
	}
	graceful := schema.Leaving{GraceFul: "YES", Since: 1780000000123}
	both := schema.Leaving{Delay: 30, GraceFul: "YES", Since: 1780000000123}
	delay := schema.Leaving{Delay: 30, GraceFul: "NO", Since: 1780000000123}
	stays := schema.Leaving{GraceFul: "NO"}
	for _, what := range []struct {
		name, delay string
		row         func(c *schema.Config) any
	}{
		{"server s1", " 30", func(c *schema.Config) any { return schema.Get[schema.Server](c, "s1") }},
		{"service web1", " 30", func(c *schema.Config) any { return schema.Get[schema.Service](c, "web1") }},
		{"serviceGroup pool", " -delay 30", func(c *schema.Config) any { return schema.Get[schema.ServiceGroup](c, "pool") }},
		{"serviceGroup pool s1 80", " -delay 30", func(c *schema.Config) any { return schema.Get[schema.ServiceGroupMember](c, "pool", "s1", "80") }},
		{"serviceGroup pool 10.2.0.11 80", " -delay 30", func(c *schema.Config) any { return schema.Get[schema.ServiceGroupMember](c, "pool", "s1", "80") }},
	} {
		c := configOf(t, withGroups()...)
		for _, step := range []struct {
			line  string
			want  schema.Leaving
			state string
		}{
			{"disable " + what.name + " -graceFul YES", graceful, "DISABLED"},
			{"disable " + what.name + what.delay + " -graceFul YES", both, "DISABLED"},
			{"enable " + what.name, stays, "ENABLED"},
			{"disable " + what.name + what.delay, delay, "DISABLED"},
			{"disable " + what.name, stays, "DISABLED"},
			{"disable " + what.name + what.delay, stays, "DISABLED"}, // it is out of service
			{"enable " + what.name, stays, "ENABLED"},
			{"disable " + what.name + " -graceFul NO", stays, "DISABLED"},
		} {
			c = give(c, step.line)
			if got := schema.LeavingOf(what.row(c)); got != step.want {
				t.Errorf("%s: %+v, want %+v", step.line, got, step.want)
			}
			if lines := strings.Join(Lines(c), "\n"); strings.Contains(lines, "-state DISABLED") != (step.state == "DISABLED") || strings.Contains(lines, "raceful") {
				t.Errorf("%s: written as\n%s", step.line, lines)
			}
		}
	}
}
