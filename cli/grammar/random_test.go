package grammar

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"sluice/vendor-config/schema"
)

// randomText is a text that may need quotes and escapes.
func randomText(r *rand.Rand, most int) string {
	pieces := []string{"a", "b", "7", " ", "  ", `"`, `'`, `\`, "#", "-", "(", ")", "q/", "é", "東", "|", ";", "*", "[1-3]", "\\n", "_", ".", "%"}
	var b strings.Builder
	for range r.IntN(8) {
		if p := pieces[r.IntN(len(pieces))]; b.Len()+len(p) <= most {
			b.WriteString(p)
		}
	}
	return b.String()
}

// randomValue is a value of the field's type that may or may not be accepted.
func randomValue(r *rand.Rand, f *schema.Field, c *schema.Config) string {
	if f == schema.Of[schema.LBMonitorMetric]().Field("monitorName") { // few are of the type that metrics are for
		for _, m := range schema.All[schema.LBMonitor](c) {
			if m.Type == "LOAD" {
				return m.Name
			}
		}
	}
	if f == schema.Of[schema.LBMonitor]().Field("type") && r.IntN(2) == 0 {
		return "LOAD"
	}
	switch {
	case f.Sealed:
		return "10a1b2c3d8ab8fbcc1ec4e8bbbb1b5c23d11dd2c0f5a4a6c5"
	case f.Syntax == "account":
		return []string{"a", "b.c", "d@e", "-"}[r.IntN(4)]
	case f.Syntax == "attribute":
		return "cn"
	case f.Syntax == "pattern":
		return []string{"^show .*", "(?!x)[1-3] \"", "("}[r.IntN(3)]
	case f.Syntax == "publickey":
		return fmt.Sprintf("ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIEm+Uhp3Xz1Dq6hVhK1vDr6MZbVQdRYs0Qe8hH0Jr0bA key %d", r.IntN(3))
	case slices.Contains([]string{"address", "address6", "prefix", "prefix6", "mac", "port", "numbers", "range", "compare-address", "compare-port"}, f.Syntax):
		return f.Example()
	case f.Ref != "" && slices.ContainsFunc(f.Targets(), func(o *schema.Object) bool { return c.Len(o) > 0 }):
		o := f.Targets()[r.IntN(len(f.Targets()))]
		for c.Len(o) == 0 {
			o = f.Targets()[r.IntN(len(f.Targets()))]
		}
		rows := c.Rows(o)
		return o.Keys()[0].Text(reflect.ValueOf(rows[r.IntN(len(rows))]).Elem())
	case (f.CLI == "m" || f.CLI == "sessionless" || f.CLI == "transparent" || f.CLI == "ipTunnel" || f.CLI == "tos") && r.IntN(5) > 0:
		return f.Default // most others ask for more
	case len(f.Enum) > 0:
		return f.Enum[r.IntN(len(f.Enum))]
	case f.CLI == "metric":
		return []string{"cpu", "users"}[r.IntN(2)]
	case f.Syntax == "name":
		names := []string{"a", "web1", "x y", "7up", "_q", "n#1", "q=1=", "10.0.0.7", "a:b@c", "q.x.", "exit", "ON"}
		return names[r.IntN(len(names))] + []string{"", "0", "-z"}[r.IntN(3)]
	case f.Syntax == "codes":
		return []string{"200", "200 300-302", "404-499"}[r.IntN(3)]
	case f.Syntax == "addresses":
		return []string{"10.0.0.1", "10.0.0.1 2001:db8::1"}[r.IntN(2)]
	case f.Syntax == "domain", f.Syntax == "file":
		return []string{"a.example", "b"}[r.IntN(2)]
	case f.Syntax == "oid":
		return []string{"1.3.6.1.2.1.1.3.0", ".1.3"}[r.IntN(2)]
	case f.Syntax == "request":
		return []string{"HEAD /", "GET /a?b=c", `GET /"q'\x`}[r.IntN(3)]
	case f.Syntax == "host":
		return []string{"www.example.com", "a", "_x.y-z.org.", "10.0.0.999"}[r.IntN(4)]
	case f.Syntax == "ifnum":
		return fmt.Sprintf("1/%d", 1+r.IntN(4))
	case f.CLI == "Listenpolicy":
		return []string{"NONE", "NONE", "NONE", "NONE", "CLIENT.VLAN.ID.EQ(7)", `!(CLIENT.TCP.DSTPORT.EQ(80) || "x")`}[r.IntN(6)]
	case f.CLI == "Listenpriority" && r.IntN(3) > 0, f.CLI == "range" && r.IntN(3) > 0:
		return f.Default
	case f.Any == "::" && r.IntN(3) == 0:
		return "*"
	case f.CLI == "IPMask":
		return []string{"255.255.255.0", "0.0.0.255", "255.0.255.0"}[r.IntN(3)]
	case strings.HasSuffix(strings.ToLower(f.CLI), "mask"):
		return []string{"255.255.255.255", "255.255.255.0", "255.255.0.0", "0.0.0.0"}[r.IntN(4)]
	case f.CLI == "network":
		return []string{"0.0.0.0", "10.9.0.0", "10.9.8.0"}[r.IntN(3)]
	case f.Type == reflect.TypeFor[schema.NSIP]().Field(0).Type:
		return fmt.Sprintf("10.%d.0.%d", r.IntN(3), 1+r.IntN(6))
	case f.Flag:
		return ""
	case f.Many && f.Syntax == "" && f.Type.Kind() == reflect.String:
		return []string{"a", "b 7", "é (x y) -z"}[r.IntN(3)]
	case f.Syntax != "" && f.Syntax != "payload":
		return f.Example()
	case f.Type.Kind() == reflect.String:
		return randomText(r, 30)
	}
	lo, hi := f.Bounds()
	return fmt.Sprint(lo + r.Uint64N(min(hi-lo+1, 30)))
}

// randomConfig puts rows with random fields, as far as the rules accept them.
func randomConfig(r *rand.Rand) *schema.Config {
	c := schema.New()
	stored := slices.DeleteFunc(slices.Clone(schema.Objects()), func(o *schema.Object) bool { return !o.Stored })
	var focus *schema.Object // there are many, all are alike, and few have to do with each other
	for _, o := range schema.Objects() {
		if !o.Rows || o == schema.Of[schema.NSLine]() { // which is written as the line that it is, and read by Import only
			continue
		}
		tries := 6
		if o.Stored && focus == nil {
			focus = stored[r.IntN(len(stored))]
		}
		if o.Stored && o != focus && !slices.ContainsFunc(focus.Fields, func(f *schema.Field) bool { return slices.Contains(f.Targets(), o) }) {
			continue
		}
		if o == schema.Of[schema.LBMonitorMetric]() { // most are refused, since the monitor's table lacks the metric
			tries = 32
		}
		for range r.IntN(tries) {
			row := o.Fresh()
			v := reflect.ValueOf(row).Elem()
			ok := true
			for _, f := range o.Fields {
				if f.ForField != "" && !slices.Contains(f.ForValues, o.Field(f.ForField).Text(v)) {
					continue
				}
				// Of an object with many options a few are given, lest none of its rows fits together.
				if f.Key > 0 || f.Required || f.Takes(o.Verbs[0]) && (f.Pos > 0 && r.IntN(2) == 0 || r.IntN(max(2, len(o.Fields)/6)) == 0) {
					ok = f.Set(v, randomValue(r, f, c)) == nil && ok
					if f.Instead != "" {
						v.Field(o.Field(f.Instead).Index).SetZero()
					}
				}
			}
			for _, f := range o.Fields { // as add does
				if f.DefaultBy != "" && f.Text(v) == "" {
					f.Reset(o, v)
				}
			}
			if n := c.Clone(); ok && put(n, o, row) == nil {
				c = n
			}
		}
	}
	return c
}

// TestWrittenConfigurationsReadBack: whatever a configuration holds, its lines give it again.
func TestWrittenConfigurationsReadBack(t *testing.T) {
	rows := map[string]int{}
	for seed := range uint64(2100) {
		c := randomConfig(rand.New(rand.NewPCG(seed, 2)))
		for _, o := range schema.Objects() {
			rows[o.YANG] += c.Len(o)
		}
		if err := Check(c); err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, strings.Join(Lines(c), "\n"))
		}
		readBack(t, c)
	}
	for _, o := range schema.Objects() {
		if least := map[bool]int{false: 80, true: 1}[o.Stored]; o.Rows && o != schema.Of[schema.NSLine]() && rows[o.YANG] < least {
			t.Errorf("only %d rows of %s were tried", rows[o.YANG], o.YANG)
		}
	}
}

// TestRandomOperations: after any sequence of commands, accepted or refused, the configuration is sound, a refused one
// has changed nothing, and the result can be written and read.
func TestRandomOperations(t *testing.T) {
	verbs := []string{"add", "add", "add", "set", "unset", "rm", "bind", "bind", "unbind", "enable", "disable"}
	accepted := map[string]int{}
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 3))
		c := configOf(t, withGroups()...)
		for range 60 {
			line := randomCommand(r, verbs[r.IntN(len(verbs))], c)
			if line == "" {
				continue
			}
			before := Lines(c)
			after, err := do(c, line)
			if !slices.Equal(before, Lines(c)) {
				t.Fatalf("seed %d: %s wrote into the version before", seed, line)
			}
			if err != nil {
				continue
			}
			accepted[strings.Fields(line)[0]]++
			if err := Check(after); err != nil {
				t.Fatalf("seed %d: %s was accepted and then: %v", seed, line, err)
			}
			c = after
		}
		readBack(t, c)
	}
	for _, v := range verbs {
		if accepted[v] < 10 {
			t.Errorf("only %d commands with %s were accepted", accepted[v], v)
		}
	}
}

func randomCommand(r *rand.Rand, verb string, c *schema.Config) string {
	var able []*schema.Object
	for _, o := range schema.Objects() {
		if o.Rows && o.Has(verb) && o != schema.Of[schema.NSLine]() {
			able = append(able, o)
		}
	}
	o := able[r.IntN(len(able))]
	f := formOf(verb, []*schema.Object{o})
	words := []string{verb, o.Name()}
	rows := c.Rows(o)
	for _, p := range f.pos {
		v := randomValue(r, p, c)
		if p.Key > 0 && verb != "add" && verb != "bind" && len(rows) > 0 {
			v = p.Text(reflect.ValueOf(rows[r.IntN(len(rows))]).Elem())
		}
		words = append(words, Quote(v))
	}
	for _, k := range f.keywords() {
		if k.field.Key == 0 && r.IntN(4) > 0 {
			continue
		}
		words = append(words, "-"+k.field.CLI)
		if verb != "unset" && !k.field.Flag {
			words = append(words, Quote(randomValue(r, k.field, c)))
		}
	}
	return strings.Join(words, " ")
}
