package grammar

import (
	"fmt"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"testing"

	"sluice/vendor-config/schema"
)

// wrongTexts are words that are no text of each syntax; control characters, which none may have, come on top.
var wrongTexts = map[string][]string{
	"name": {"é", "a/b"}, "codes": {"0", "5-4", "x"}, "request": {"GET", "get /"}, "ifnum": {"1", "x/1"}, "host": {"a..b", "10.0.0.999"},
	"protocol": {"SCTP", "0", "256"}, "addresses": {"10.0.0.999"}, "domain": {"a..b"}, "file": {"../a", "/a"},
	"severities": {"NONSENSE"}, "oid": {"1.x"}, "address": {"10.0.0.999"}, "address6": {"2001:::1"}, "prefix": {"10.0.0.0/33"},
	"prefix6": {"2001:db8::/129"}, "mac": {"1:2"}, "port": {"x"}, "numbers": {"x"}, "range": {"9-1"}, "compare-address": {"10.0.0.9-10.0.0.1"},
	"compare-port": {"70000"}, "account": {"é"}, "pattern": {"("}, "publickey": {"ssh-rsa x"}, "attribute": {"é"},
}

// wrongValues are values that the argument must not take, as typed.
func wrongValues(f *schema.Field) []string {
	number := f.Type.Kind() >= reflect.Uint8 && f.Type.Kind() <= reflect.Uint64
	switch {
	case len(f.Enum) > 0:
		return append([]string{"NONSENSE", `""`}, f.Later...)
	case f.Type == reflect.TypeFor[netip.Addr]():
		return []string{"10.0.0.999", "nonsense", `""`}
	case number:
		all := []string{"nonsense", `""`, "1.5", "99999999999999999999999"}
		if lo, hi := f.Bounds(); lo > 0 {
			all = append(all, fmt.Sprint(lo-1))
			if hi+1 > hi {
				all = append(all, fmt.Sprint(hi+1))
			}
		} else if hi+1 > hi {
			all = append(all, fmt.Sprint(hi+1))
		}
		return all
	}
	all := []string{`"a\tb"`}
	if f.Syntax == "payload" { // which has a written form for every character
		all = []string{"a\xff"}
	}
	if f.HasMax {
		all = append(all, strings.Repeat("a", int(f.Max)+1))
	}
	for _, w := range wrongTexts[f.Syntax] {
		all = append(all, Quote(w))
	}
	return all
}

// command is what is typed with right values: its words up to the arguments, and those of its positionals that must be given.
type command struct {
	form  *form
	words string
	given []string
}

// commands are all commands of the schema: each verb with the objects that share their words.
func commands() []command {
	var all []command
	for _, v := range verbs {
		seen := map[string]bool{}
		for _, o := range schema.Objects() {
			if !o.Has(v.Text) || seen[o.Name()] {
				continue
			}
			seen[o.Name()] = true
			tokens, _, _ := Tokenize(o.Command(v.Text))
			_, objs, _, _, err := resolve(tokens)
			if err != nil || len(objs) == 0 {
				panic(v.Text + " " + o.Name() + ": no command")
			}
			c := command{form: formOf(v.Text, objs), words: o.Command(v.Text)}
			for _, p := range c.form.pos[:c.form.need] {
				c.given = append(c.given, Quote(c.form.at(p).field.Example()))
			}
			all = append(all, c)
		}
	}
	return all
}

// with is the command with n of its positionals and further words.
func (c command) with(n int, words ...string) string {
	return strings.Join(slices.Concat([]string{c.words}, c.given[:n], words), " ")
}

// fault is one wrong line and the word that its error must name.
type fault struct{ line, name string }

// faults are the wrong lines of a command: for each argument a wrong value, a missing one, and an unknown word behind it.
func (c command) faults() []fault {
	f := c.form
	var all []fault
	for i, p := range f.pos[:f.need] {
		all = append(all, fault{c.with(i), p.CLI}, fault{c.with(i, "-frobnicate"), "-frobnicate"})
		if f.at(p).obj.Other(p) != nil && f.verb == "add" { // another value may stand there
			all = append(all, fault{c.with(i, `"a\tb"`), p.CLI})
			continue
		}
		for _, w := range wrongValues(p) {
			all = append(all, fault{c.with(i, w), p.CLI})
		}
	}
	if len(f.pos) == f.need && !f.many && !slices.ContainsFunc(f.pos, func(p *schema.Field) bool { return p.Unless != "" }) {
		all = append(all, fault{c.with(f.need, "frobnicate"), "frobnicate"})
	}
	all = append(all, fault{c.with(f.need, "-frobnicate"), "-frobnicate"}, fault{c.with(f.need, `"open`), "open"})
	for _, k := range f.keywords() {
		name := "-" + k.field.CLI
		if k.obj != f.objs[0] && k.obj != f.inner && f.verb == "set" { // the row that it is of comes behind it
			all = append(all, fault{c.with(f.need, name), k.field.CLI}, fault{c.with(f.need, name, "5"), k.obj.Keys()[1].CLI})
			continue
		}
		if f.verb == "unset" || k.field.Flag {
			all = append(all, fault{c.with(f.need, name, name), k.field.CLI}, fault{c.with(f.need, name, "-frobnicate"), "-frobnicate"})
			continue
		}
		right := Quote(k.field.Example())
		all = append(all, fault{c.with(f.need, name), k.field.CLI}, fault{c.with(f.need, name, "-frobnicate"), k.field.CLI},
			fault{c.with(f.need, name, right, "-frobnicate"), "-frobnicate"}, fault{c.with(f.need, name, right, name, right), k.field.CLI})
		if !k.field.Many && len(after(k)) == 0 && len(f.pos) == f.need && !f.many {
			all = append(all, fault{c.with(f.need, name, right, "frobnicate"), "frobnicate"})
		}
		for _, w := range wrongValues(k.field) {
			all = append(all, fault{c.with(f.need, name, w), k.field.CLI})
		}
	}
	for _, o := range f.objs {
		for n, neutral := range o.Unbuilt {
			if _, known := f.unbuilt(n); known && neutral == nil && slices.Contains([]string{"add", "set", "bind"}, f.verb) {
				all = append(all, fault{c.with(f.need, "-"+n, "x"), n}, fault{c.with(f.need, "-"+n), n})
			}
		}
	}
	return all
}

// TestGeneratedErrors: each argument of each command, wrong, missing or followed by a word that means nothing, is refused in one
// line that names it, and nothing is changed.
func TestGeneratedErrors(t *testing.T) {
	base := configOf(t, withGroups()...)
	before := Lines(base)
	tried, arguments := 0, 0
	for _, c := range commands() {
		arguments += len(c.form.pos) + len(c.form.keywords())
		for _, row := range c.faults() {
			tried++
			after, err := do(base, row.line)
			switch {
			case err == nil:
				t.Errorf("%s: accepted", row.line)
			case strings.ContainsAny(err.Error(), "\n\r\t"):
				t.Errorf("%s: %q is more than a line", row.line, err)
			case !strings.Contains(strings.ToLower(err.Error()), strings.ToLower(row.name)):
				t.Errorf("%s: %q does not name %s", row.line, err, row.name)
			}
			if after != base {
				t.Errorf("%s: changed the configuration", row.line)
			}
		}
	}
	if !slices.Equal(before, Lines(base)) {
		t.Error("a refused command wrote into the version before")
	}
	if t.Logf("%d lines for %d arguments", tried, arguments); arguments < 3000 || tried < 4*arguments {
		t.Errorf("only %d lines for %d arguments", tried, arguments)
	}
}
