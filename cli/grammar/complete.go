package grammar

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"sluice/vendor-config/schema"
)

// Candidate is one word that may come next, with one line of help. The text `<cr>` means that the line may end here;
// a text in <> is a placeholder for a value.
type Candidate struct {
	Text, Help string
	short      bool // an optional group word is left out: not listed unless it was begun
}

// Enter is the candidate that stands for the end of the line.
const Enter = "<cr>"

// Complete lists what may come next after head, the line up to the cursor. prefix is the begun word that the
// candidates continue, "" after a space.
func Complete(head string, c *schema.Config) (candidates []Candidate, prefix string) {
	tokens, open, err := Tokenize(head)
	if err != nil {
		return nil, ""
	}
	if open {
		last := tokens[len(tokens)-1]
		if last.Quoted {
			return nil, ""
		}
		prefix, tokens = head[last.Start:], tokens[:len(tokens)-1]
	}
	verb, objs, used, next, err := resolve(tokens)
	switch {
	case err != nil:
		return nil, prefix
	case objs == nil && next == nil:
		return narrow(afterSession(verb, tokens[used:]), prefix), prefix
	case len(tokens) == 0 && shortFor[strings.ToLower(prefix)] != "": // it is that word already, whatever else begins so
		return narrow(next, shortFor[strings.ToLower(prefix)]), prefix
	case objs == nil:
		return narrow(next, prefix), prefix
	}
	r := newReader(formOf(verb, objs))
	r.prefix = prefix
	for _, t := range tokens[used:] {
		if r.take(t) != nil {
			return nil, prefix
		}
	}
	return narrow(r.next(c, strings.HasPrefix(prefix, "-")), prefix), prefix
}

// afterSession completes behind a word of the session: help takes a command.
func afterSession(word string, rest []Token) []Candidate {
	if word == "help" || word == "man" {
		_, objs, _, next, err := resolve(rest)
		if err == nil && objs == nil && next != nil {
			return append(next, Candidate{Text: Enter, Help: ""})
		}
	}
	switch file := (Candidate{Text: "<fileName>", Help: "File of commands in the configuration folder"}); {
	case word == "shell" && len(rest) == 0:
		return []Candidate{{Text: "<command>", Help: "Command of the system"}, {Text: Enter}}
	case word == "unalias" && len(rest) == 0:
		return []Candidate{{Text: "<name>", Help: "Word of your own"}}
	case word == "alias" && len(rest) == 0:
		return []Candidate{{Text: "<name>", Help: "Word of your own"}, {Text: Enter}}
	case word == "alias" && len(rest) == 1:
		return []Candidate{{Text: "<command>", Help: "What it stands for, in quotes"}, {Text: Enter}}
	case word == "batch" && len(rest) == 0:
		return []Candidate{{Text: "-fileName", Help: file.Help}}
	case word == "batch" && len(rest) == 1, word == "source" && len(rest) == 0:
		return []Candidate{file}
	}
	return []Candidate{{Text: Enter}}
}

// narrow keeps the candidates that continue the prefix, whatever their case; placeholders stay unless a dash was begun.
func narrow(all []Candidate, prefix string) []Candidate {
	if prefix == "" {
		return slices.DeleteFunc(all, func(c Candidate) bool { return c.short })
	}
	return slices.DeleteFunc(all, func(c Candidate) bool {
		if strings.HasPrefix(c.Text, "<") {
			return c.Text == Enter || prefix[0] == '-'
		}
		return !continues(c.Text, prefix)
	})
}

// continues tells whether the word begins like the prefix, whatever the case.
func continues(word, prefix string) bool {
	return len(word) >= len(prefix) && strings.EqualFold(word[:len(prefix)], prefix)
}

// next is what may stand next, given what was read. dash: a keyword was begun.
func (r *reader) next(c *schema.Config, dash bool) []Candidate {
	switch {
	case r.refused != "":
		var out []Candidate
		for _, n := range r.neutral {
			out = append(out, Candidate{Text: n, Help: "The only value of -" + r.refused + " that this release accepts"})
		}
		return out
	case r.skip > 0:
		return []Candidate{{Text: "<value>", Help: "Ignored"}}
	case r.pending.field != nil:
		return r.candidates(r.pending, c)
	case r.instead() != nil:
		return []Candidate{{Text: Enter, Help: "Execute the command"}}
	}
	var out []Candidate
	if r.optional.field != nil && !dash {
		out = r.candidates(r.optional, c)
	}
	at := r.filled
	for at < len(r.form.pos) && r.replaced(r.form.pos[at]) {
		at++
	}
	switch {
	case dash:
	case at < len(r.form.pos) && len(out) == 0:
		out = r.candidates(r.form.at(r.form.pos[at]), c)
	case r.form.many && len(out) == 0:
		out = r.candidates(keyword{r.form.objs[0], r.form.pos[len(r.form.pos)-1]}, c)
	}
	half := r.form.verb == "add" && r.filled > r.form.need && r.filled < len(r.form.pos)
	out = append(out, r.openKeywords(r.filled < r.form.need && !dash || half)...)
	if _, err := r.finish(); err == nil {
		out = append(out, Candidate{Text: Enter, Help: "Execute the command"})
	}
	return out
}

// openKeywords are the keywords that were not given yet; only those without a value where a positional must come first.
func (r *reader) openKeywords(early bool) []Candidate {
	var out []Candidate
	for _, k := range r.form.keywords() {
		if r.values[k] == nil && (!early || k.field.Flag) {
			out = append(out, Candidate{Text: "-" + k.field.CLI, Help: describe(k.field)})
		}
	}
	return out
}

// describe is the help of a field with its range, unit and default.
func describe(f *schema.Field) string {
	help := f.Help
	if f.Numeric() {
		lo, hi := f.Bounds()
		help += fmt.Sprintf(" (%d-%d%s)", lo, hi, plainUnit(f.Unit))
	}
	if f.HasDefault && f.Default != "" {
		help += " [default " + f.Default + "]"
	}
	return help
}

// plainUnit leaves out units that are themselves arguments.
func plainUnit(unit string) string {
	if unit == "" || strings.HasSuffix(unit, "-unit") {
		return ""
	}
	return " " + unit
}

// candidates are the values that may stand for an argument: enumerated ones, live names, or a placeholder.
func (r *reader) candidates(k keyword, c *schema.Config) []Candidate {
	f := k.field
	switch {
	case len(f.Enum) > 0:
		var out []Candidate
		for _, e := range f.Enum {
			out = append(out, Candidate{Text: e, Help: describe(f)})
		}
		return out
	case f.Secret:
	case f.Key > 0 && r.form.verb != "add" && r.form.verb != "bind" && (f.Ref == "" || f.Within || r.form.verb == "unbind" && f.Key > 1) && k.obj.Rows:
		return r.live(k, c)
	case f.Ref != "":
		return r.references(f.Targets(), describe(f), c)
	}
	return []Candidate{{Text: "<" + f.CLI + ">", Help: describe(f)}}
}

// names collects names as candidates. One that does not continue what was begun is only known to be there.
type names struct {
	prefix string
	any    bool
	list   []Candidate
}

func (n *names) add(name, help string) {
	n.any = true
	if !n.wants(name) {
		return
	}
	n.list = append(n.list, Candidate{Text: Quote(name), Help: help})
}

func (n *names) wants(name string) bool {
	return !plain(name) || continues(name, n.prefix)
}

// or are the names, or a placeholder where there is none.
func (n *names) or(f *schema.Field, help string) []Candidate {
	if !n.any {
		return []Candidate{{Text: "<" + f.CLI + ">", Help: help}}
	}
	return n.list
}

// references are the names of the rows of objects.
func (r *reader) references(among []*schema.Object, help string, c *schema.Config) []Candidate {
	out := names{prefix: r.prefix}
	for _, o := range among {
		key := o.Keys()[0]
		wanted := 0
		for row := range c.Each(o) { // a long list that grows as it is made costs more than looking twice
			if out.wants(key.Text(reflect.ValueOf(row).Elem())) {
				wanted++
			}
		}
		out.list = slices.Grow(out.list, wanted+2)
		for row := range c.Each(o) {
			out.add(key.Text(reflect.ValueOf(row).Elem()), o.Help)
		}
		if o == schema.Of[schema.LBMonitor]() {
			for _, name := range o.Builtins() {
				out.add(name, "Built-in monitor")
			}
		}
	}
	return out.or(among[0].Keys()[0], help)
}

// live are the values that a key field has in the rows that agree with the keys given so far.
func (r *reader) live(k keyword, c *schema.Config) []Candidate {
	if k.field.Key == 1 && len(k.obj.Keys()) == 1 {
		return r.references([]*schema.Object{k.obj}, describe(k.field), c)
	}
	out := names{prefix: r.prefix}
	seen := map[string]bool{}
	for row := range c.Each(k.obj) {
		v := reflect.ValueOf(row).Elem()
		if text := k.field.Text(v); !seen[text] && r.agree(k, v) {
			seen[text] = true
			out.add(text, k.obj.Help)
		}
	}
	return out.or(k.field, describe(k.field))
}

// agree tells whether the row has the key values that stand before k on the line.
func (r *reader) agree(k keyword, v reflect.Value) bool {
	for _, f := range k.obj.Keys() {
		if f.Key >= k.field.Key {
			return true
		}
		at := keyword{k.obj, f}
		if f.Key == 1 && !f.Dashed(r.form.verb) {
			at = keyword{r.form.objs[0], r.form.pos[0]}
		}
		if given := r.values[at]; given != nil && given[0] != f.Text(v) {
			return false
		}
	}
	return true
}
