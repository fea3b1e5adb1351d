package grammar

import (
	"reflect"
	"slices"
	"strings"
	"sync"

	"sluice/vendor-config/schema"
)

// StoredMark is the comment before the commands of rows that are only stored.
const StoredMark = "# stored, not in force:"

// Lines writes the configuration as commands, in the order in which a device saves them. Parsed and applied in order
// to an empty configuration they give an equal one.
func Lines(c *schema.Config) []string { return lines(c, false) }

// Shown are Lines for human eyes: secrets are hidden in them, so that they cannot be read back.
func Shown(c *schema.Config) []string { return lines(c, true) }

func lines(c *schema.Config, hide bool) []string {
	var out []string
	marked := false
	for _, o := range schema.Objects() {
		for _, row := range inOrder(c, o) {
			if o.Stored && !marked {
				out, marked = append(out, StoredMark), true
			}
			out = append(out, line(o, row, hide))
		}
	}
	return out
}

// Discreet is a line as it was typed, without the secrets in it: what may stand in a log. It hides the word behind
// everything that may be short for the name of a secret, and what stands in the place of one, whether or not the line is a
// command.
func Discreet(line string) string {
	tokens, _, _ := Tokenize(line)
	return discreet(line, tokens)
}

func discreet(line string, tokens []Token) string {
	if command, start, ok := aliasWithin(line, tokens); ok {
		return line[:start] + command
	}
	if within, ok := keptWithin(tokens); ok { // alone, since nothing else of such a command is secret
		t := tokens[4]
		return line[:t.Start] + within + line[t.End:]
	}
	hide := secretPlaces(tokens)
	for i := len(tokens) - 1; i > 0; i-- {
		if t := tokens[i-1]; hide[i] || t.Keyword && len(t.Text) > 2 && secretNamed(t.Text[1:]) {
			line = line[:tokens[i].Start] + schema.Hidden + line[tokens[i].End:]
		}
	}
	return line
}

// secretive are the first words of objects that take a secret without a keyword, and the first place on a line that it may have.
var secretive = sync.OnceValue(func() map[string]int {
	words := map[string]int{}
	for _, o := range schema.Objects() {
		for _, f := range o.Fields {
			if !f.Secret || f.Pos == 0 && (f.Key == 0 || f.Keyword) {
				continue
			}
			word, place := strings.ToLower(o.Words[0]), len(o.Words)+max(f.Pos, f.Key)
			if at, there := words[word]; !there || place < at {
				words[word] = place
			}
		}
	}
	return words
})

// secretFrom is the first place of the line where a secret may stand without a keyword, 0 if there is none.
func secretFrom(tokens []Token) (place int) {
	for word, at := range secretive() {
		if strings.HasPrefix(word, strings.ToLower(tokens[1].Text)) && (place == 0 || at < place) {
			place = at
		}
	}
	return place
}

// secretPlaces are the words that stand in the place of a secret, such as the password of a user. Of a line that is about
// such an object and no command every word is one that might be.
func secretPlaces(tokens []Token) map[int]bool {
	hide := map[int]bool{}
	if len(tokens) < 2 {
		return nil
	}
	from := secretFrom(tokens)
	if from == 0 {
		return nil // most lines are about nothing of the kind, and the rest costs
	}
	verb, objs, used, _, err := resolve(tokens)
	if err != nil || objs == nil {
		for i := from; i < len(tokens) && len(tokens[1].Text) > 1; i++ {
			hide[i] = true
		}
		return hide
	}
	r := newReader(formOf(verb, objs))
	if !slices.ContainsFunc(r.form.pos, func(f *schema.Field) bool { return f.Secret }) {
		return hide
	}
	lost := false
	for i, t := range tokens[used:] {
		waits := r.pending.field != nil || r.optional.field != nil || r.skip > 0 || r.refused != ""
		full := r.filled == len(r.form.pos)
		place := !t.Keyword && !waits && (!full && r.form.pos[r.filled].Secret || full && r.form.many && r.form.pos[r.filled-1].Secret)
		if r.take(t) != nil && !waits && (full || t.Keyword) {
			lost = true // what follows may be anything
		}
		hide[used+i] = place || lost && !t.Keyword
	}
	return hide
}

func secretNamed(short string) bool {
	for _, name := range secretNames() {
		if continues(name, short) {
			return true
		}
	}
	return false
}

// secretNames are the arguments of all objects that are secrets.
var secretNames = sync.OnceValue(func() []string {
	var names []string
	for _, o := range schema.Objects() {
		for _, f := range o.Fields {
			if f.Secret && !slices.Contains(names, f.CLI) {
				names = append(names, f.CLI)
			}
		}
	}
	return names
})

// inOrder are the rows of an object, each behind those of the same object that it refers to.
func inOrder(c *schema.Config, o *schema.Object) []any {
	rows := c.Rows(o)
	var own []*schema.Field
	for _, f := range o.Fields {
		if f.Ref != "" && slices.Contains(f.Targets(), o) {
			own = append(own, f)
		}
	}
	if len(own) == 0 {
		return rows
	}
	list, done := make([]any, 0, len(rows)), make(map[any]bool, len(rows))
	var add func(row any)
	add = func(row any) {
		if done[row] {
			return
		}
		done[row] = true
		for _, f := range own {
			if other, ok := c.Row(o, f.Text(reflect.ValueOf(row).Elem())); ok {
				add(other)
			}
		}
		list = append(list, row)
	}
	for _, row := range rows {
		add(row)
	}
	return list
}

// Line writes the command that creates a row.
func Line(o *schema.Object, row any) string { return line(o, row, false) }

// ShownLine is Line with its secrets hidden.
func ShownLine(o *schema.Object, row any) string { return line(o, row, true) }

func line(o *schema.Object, row any, hide bool) string {
	if l, ok := row.(*schema.NSLine); ok {
		return keptLine(l, hide)
	}
	v := reflect.ValueOf(row).Elem()
	if nsip, ok := row.(*schema.NSIP); ok && plainNSIP(nsip) {
		return setNSIPLine(nsip)
	}
	words := append([]string{o.Verbs[0]}, o.Words...)
	f := formOf(o.Verbs[0], []*schema.Object{o})
	var last []*schema.Field // positionals that stand behind the keywords
	for i, p := range f.pos {
		text := writeText(p, v)
		if other := o.Other(p); text == "" && other != nil {
			text = writeText(other, v)
		}
		if text == "" && i >= f.need {
			if p.Unless != "" && written(o, o.Field(p.Unless), v) {
				last = f.pos[i+1:]
			}
			break // the rest of the positionals is optional and not given
		}
		if p.Secret && hide {
			text = p.Mask(text)
		}
		words = append(words, Quote(text))
	}
	var arguments, before [][]string // before: the argument that takes the place of a positional, once others could swallow the rest
	for _, k := range f.keywords() {
		if !written(o, k.field, v) && !followed(o, k, v) {
			continue
		}
		a := keywordWords(o, k, v, hide, last != nil && !o.Stored)
		if last != nil && f.pos[len(f.pos)-len(last)-1].Unless == k.field.CLI && swallows(o) {
			before = append(before, a)
			continue
		}
		arguments = append(arguments, a)
	}
	for _, a := range append(arguments, before...) {
		words = append(words, a...)
	}
	for _, p := range last {
		words = append(words, Quote(writeText(p, v)))
	}
	return strings.Join(words, " ")
}

// swallows tells whether the object has arguments behind which any word may be a further value.
func swallows(o *schema.Object) bool {
	return o.Stored && slices.ContainsFunc(o.Fields, func(f *schema.Field) bool { return f.After != "" && len(f.Enum) == 0 || f.Many })
}

// keywordWords are a keyword with its value and what stands behind it; all of that if a positional follows, which would be taken for it.
func keywordWords(o *schema.Object, k keyword, v reflect.Value, hide, whole bool) []string {
	words := []string{"-" + k.field.CLI}
	switch {
	case k.field.Secret && hide:
		words = append(words, k.field.Mask(k.field.Text(v)))
	case !k.field.Flag:
		words = append(words, values(k.field, v)...)
	}
	for _, a := range after(k) {
		if written(o, a, v) || whole {
			words = append(words, Quote(a.Text(v)))
		}
	}
	return words
}

// writeText is a positional as a device writes it: a port of 0 as *.
func writeText(f *schema.Field, v reflect.Value) string {
	text := f.Text(v)
	if f.Any != "" && text == f.Any {
		return "*"
	}
	return text
}

func values(f *schema.Field, v reflect.Value) []string {
	if f.Many && f.Key == 0 {
		var words []string
		tokens, _, err := Tokenize(f.Text(v)) // expressions may hold spaces
		if err != nil {
			return []string{Quote(f.Text(v))}
		}
		for _, t := range tokens {
			words = append(words, Quote(t.Text))
		}
		return words
	}
	return []string{Quote(writeText(f, v))}
}

// written tells whether an argument must be there for the row to be read back as it is.
func written(o *schema.Object, f *schema.Field, v reflect.Value) bool {
	switch {
	case f.Always || f.Key > 0:
		return true
	case f.HasDefault || f.DefaultBy != "":
		return f.Text(v) != f.DefaultIn(o, v)
	}
	return !v.Field(f.Index).IsZero()
}

// followed tells whether a value behind the keyword must be written, so that the keyword must be as well.
func followed(o *schema.Object, k keyword, v reflect.Value) bool {
	for _, a := range after(k) {
		if written(o, a, v) {
			return true
		}
	}
	return false
}
