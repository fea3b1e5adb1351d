package grammar

import (
	"reflect"
	"slices"
	"strings"

	"sluice/vendor-config/schema"
)

// Diff are the commands that make of one configuration another, in an order in which they can be given; they are tried
// on a copy of from. The order of rows and what no command can say are left aside. Rest are commands that would have to
// be given and that the appliance would refuse: to be rid of the NSIP, or to have a name change hands in a circle between objects
// of different kinds.
func Diff(from, to *schema.Config) (lines, rest []string) {
	all := Steps(from, to)
	if inOneGo(from, all) {
		return all, nil
	}
	sim := from.Clone()
	for todo := all; len(todo) > 0; {
		var left []string
		for _, l := range todo {
			next := sim.Clone()
			op, err := Parse(l)
			if err == nil && op != nil {
				err = op.Apply(next)
			}
			if err != nil {
				left = append(left, l) // it may need one that comes later
				continue
			}
			sim = next
			lines = append(lines, l)
		}
		if len(left) == len(todo) {
			if !alike(sim, to) { // else other commands have done it on their way
				rest = left
			}
			break
		}
		todo = left
	}
	return lines, rest
}

// Steps are the commands of Diff, in an order in which they need not work.
func Steps(from, to *schema.Config) []string {
	d := &distance{from: from, to: to, again: map[any]bool{}}
	d.findAgain()
	return d.commands()
}

// inOneGo tells whether commands work as they stand, which most do and which needs no copy for each.
func inOneGo(from *schema.Config, lines []string) bool {
	c := from.Clone()
	for _, l := range lines {
		op, err := Parse(l)
		if err != nil || op == nil || op.Apply(c) != nil {
			return false
		}
	}
	return true
}

// alike tells whether two configurations have the same rows, in whatever order, as far as commands can say.
func alike(a, b *schema.Config) bool {
	for _, o := range schema.Objects() {
		if a.Len(o) != b.Len(o) {
			return false
		}
		for row := range a.Each(o) {
			other, ok := b.Row(o, o.Key(row))
			if !ok || len(differing(o, row, other)) > 0 {
				return false
			}
		}
	}
	return true
}

// differing are the arguments in which two rows differ, of those that a lasting command can give.
func differing(o *schema.Object, a, b any) (fields []*schema.Field) {
	if a == b || reflect.DeepEqual(a, b) {
		return nil
	}
	v, w := reflect.ValueOf(a).Elem(), reflect.ValueOf(b).Elem()
	for _, f := range o.Fields {
		said := f.Key > 0 || f.Takes(o.Verbs[0]) || f.Takes("set")
		if said && !f.Kept && f.Text(v) != f.Text(w) {
			fields = append(fields, f)
		}
	}
	return fields
}

// distance is what stands between two configurations.
type distance struct {
	from, to *schema.Config
	again    map[any]bool // rows of from that are removed and made again, since no command changes them so
}

// findAgain finds the rows that must be made again: those of which something differs that is fixed, and those that refer to
// one.
func (d *distance) findAgain() {
	var names map[*schema.Object]map[string]bool // of rows that go
	note := func(o *schema.Object, row any) {
		d.again[row] = true
		if names == nil {
			names = map[*schema.Object]map[string]bool{}
		}
		if names[o] == nil {
			names[o] = map[string]bool{}
		}
		names[o][o.Key(row)] = true
	}
	for _, o := range schema.Objects() {
		if d.from.Same(d.to, o) || o.Single {
			continue
		}
		for row := range d.from.Each(o) {
			if other, ok := d.to.Row(o, o.Key(row)); ok && !changeable(o, differing(o, row, other)) {
				note(o, row)
			}
		}
	}
	for _, o := range schema.Objects() {
		for row := range d.from.Each(o) {
			if other, ok := d.to.Row(o, o.Key(row)); ok && !o.Single && d.astray(o, row, other) {
				note(o, row)
			}
		}
	}
	for more := names != nil; more; {
		more = false
		for _, o := range schema.Objects() {
			for row := range d.from.Each(o) {
				if !d.again[row] && !o.Single && refersTo(o, row, names) {
					note(o, row)
					more = true
				}
			}
		}
	}
}

// astray tells whether a row names the same as before and means a row of another object by it: the one of before goes.
func (d *distance) astray(o *schema.Object, row, other any) bool {
	v, w := reflect.ValueOf(row).Elem(), reflect.ValueOf(other).Elem()
	for _, f := range o.Fields {
		if name := f.Text(v); len(f.Targets()) > 1 && name != "" && name == f.Text(w) {
			before, had := f.Refers(d.from, name)
			after, has := f.Refers(d.to, name)
			if had != nil && has != nil && before != after {
				return true
			}
		}
	}
	return false
}

// changeable tells whether commands can change these arguments of a row.
func changeable(o *schema.Object, fields []*schema.Field) bool {
	for _, f := range fields {
		switch {
		case f.CLI == "state" && o.Has("enable"):
		case !o.Has("set") || f.Fixed || !f.Takes("set") || f.Key > 0:
			return false
		}
	}
	return true
}

func refersTo(o *schema.Object, row any, names map[*schema.Object]map[string]bool) bool {
	v := reflect.ValueOf(row).Elem()
	for _, f := range o.Fields {
		for _, t := range f.Targets() {
			if names[t][f.Text(v)] {
				return true
			}
		}
	}
	return false
}

// commands are all that must be done: removals first, those of what refers to others before these, then what is new, then
// changes.
func (d *distance) commands() []string {
	var removals, additions, changes []string
	for _, o := range slices.Backward(schema.Objects()) {
		if o.Single || d.from.Same(d.to, o) && len(d.again) == 0 {
			continue
		}
		for _, row := range slices.Backward(inOrder(d.from, o)) {
			if _, stays := d.to.Row(o, o.Key(row)); !stays || d.again[row] {
				removals = append(removals, keyed(removal(o), o, row))
			}
		}
	}
	for _, o := range schema.Objects() {
		if !o.Rows || d.from.Same(d.to, o) && len(d.again) == 0 {
			continue
		}
		if o.Single {
			changes = append(changes, changesOf(o, single(d.from, o), single(d.to, o))...)
			continue
		}
		for _, row := range inOrder(d.to, o) {
			old, ok := d.from.Row(o, o.Key(row))
			if !ok || d.again[old] {
				additions = append(additions, addition(o, row))
			} else {
				changes = append(changes, changesOf(o, old, row)...)
			}
		}
	}
	return slices.Concat(removals, additions, changes)
}

// addition is the command that makes a row. A kept line is not itself that command, and must not be taken for what it asks for.
func addition(o *schema.Object, row any) string {
	l, ok := row.(*schema.NSLine)
	if !ok {
		return Line(o, row)
	}
	text := keyed("add", o, row) + " " + Quote(l.Text)
	if l.Reason != "" {
		text += " -reason " + Quote(l.Reason)
	}
	return text
}

func single(c *schema.Config, o *schema.Object) any {
	if row, ok := c.Row(o); ok {
		return row
	}
	return o.Fresh()
}

func removal(o *schema.Object) string {
	switch o.Verbs[0] {
	case "bind":
		return "unbind"
	case "link":
		return "unlink"
	}
	return "rm"
}

// keyed is a command about a row, without arguments.
func keyed(verb string, o *schema.Object, row any) string {
	v := reflect.ValueOf(row).Elem()
	words := append([]string{verb}, o.Words...)
	for _, k := range o.Keys() {
		if k.Keyword {
			words = append(words, "-"+k.CLI)
		}
		words = append(words, Quote(writeText(k, v)))
	}
	return strings.Join(words, " ")
}

// changesOf are the commands that make a row like another of the same key.
func changesOf(o *schema.Object, old, row any) (lines []string) {
	fields := differing(o, old, row)
	if len(fields) == 0 {
		return nil
	}
	v := reflect.ValueOf(row).Elem()
	var place, set, unset string
	var said []*schema.Field
	for _, f := range fields {
		if f.CLI == "state" && o.Has("enable") {
			verb := "disable"
			if f.Text(v) == "ENABLED" {
				verb = "enable"
			}
			lines = append(lines, keyed(verb, o, row))
			continue
		}
		if placed(f) && f.Text(v) != "" {
			place = ""
			for _, p := range positionals(o) { // with those before it
				if placed(p) && p.Pos <= f.Pos {
					place += " " + Quote(writeText(p, v))
				}
			}
			continue
		}
		for f.After != "" { // it is written with the keyword that it stands behind
			f = o.Field(f.After)
		}
		if slices.Contains(said, f) {
			continue
		}
		said = append(said, f)
		if o.Has("unset") && usual(o, f, v) {
			unset += " -" + f.CLI
			continue
		}
		if k := o.Keys(); o.Verbs[0] == "bind" && len(k) == 2 && !k[1].Within { // the option of a binding names whose it is
			lines = append(lines, strings.Join([]string{"set", o.Name(), Quote(writeText(k[0], v))}, " ")+argument(o, f, v)+" "+Quote(writeText(k[1], v)))
			continue
		}
		set += argument(o, f, v)
	}
	if place+set != "" {
		lines = append(lines, keyed("set", o, row)+place+set)
	}
	if unset != "" {
		lines = append(lines, keyed("unset", o, row)+unset)
	}
	return lines
}

// usual tells whether an argument, and what stands behind it, is what unset makes of it.
func usual(o *schema.Object, f *schema.Field, v reflect.Value) bool {
	fresh := reflect.New(o.Type).Elem()
	fresh.Set(v)
	for _, f := range append(after(keyword{o, f}), f) {
		if f.Reset(o, fresh); f.Text(fresh) != f.Text(v) {
			return false
		}
	}
	return true
}

// placed tells whether set takes the argument without its name.
func placed(f *schema.Field) bool {
	return f.Pos > 0 && (slices.Contains(f.Only, "set") || slices.Contains(f.Also, "set"))
}

// argument is an argument of set. What stands behind a keyword is written with it.
func argument(o *schema.Object, f *schema.Field, v reflect.Value) string {
	words := []string{"", "-" + f.CLI}
	if !f.Flag {
		words = append(words, values(f, v)...)
	}
	for _, a := range after(keyword{o, f}) {
		words = append(words, Quote(a.Text(v)))
	}
	return strings.Join(words, " ")
}
