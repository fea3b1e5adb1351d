package grammar

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"sluice/vendor-config/schema"
)

// referenceHead is what stands before the sections of the reference.
const referenceHead = `# Commands

Written out from the schema by ` + "`make docs`" + `; a test refuses a page that is not what the schema gives. Words may be abbreviated as long
as one is meant, and case does not count. An argument in brackets may be left out; ` + "`...`" + ` stands for several values. Each ` + "`show`" + ` can be
filtered: ` + "`| grep`" + `. A **stored** object is kept, shown and written back, but its function is not built in this release.

`

// chapter is a part of the reference: the objects whose commands begin with one word.
type chapter struct {
	word, help string
	commands   [][]*schema.Object // objects that share their words
}

// Reference is the reference of all commands as Markdown: a chapter for each group of objects, and for each object its
// synopses and arguments.
func Reference() string {
	var b strings.Builder
	b.WriteString(referenceHead)
	all := chapters()
	for _, c := range all {
		fmt.Fprintf(&b, "- [%s](#%s): %s\n", c.word, strings.ReplaceAll(strings.ToLower(c.word), " ", "-"), c.help)
	}
	b.WriteString("- [session](#session): Commands of the session itself\n")
	for _, c := range all {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n", c.word, c.help)
		for _, objs := range c.commands {
			section(&b, objs)
		}
	}
	b.WriteString("\n## session\n\nCommands of the session itself\n\n| command | does |\n|---|---|\n")
	for _, w := range sessionWords {
		fmt.Fprintf(&b, "| `%s` | %s |\n", w.Text, cell(w.Help))
	}
	return b.String()
}

// chapters are the objects by the word that their names begin with; what has a name of one word is among those that operators
// know it by, else in the first chapter.
func chapters() []chapter {
	all := []chapter{{word: "server and service", help: "Servers, services and what belongs to no other group"}}
	seen := map[string]int{} // place in a chapter's commands, by name
	for _, o := range schema.Objects() {
		word := o.Words[0]
		if len(o.Words) == 1 {
			word = all[0].word
			if o != schema.Of[schema.NSLine]() && slices.ContainsFunc(paths(), func(p path) bool { return p.obj == o && len(p.words) > 0 && p.words[0] == "network" }) {
				word = "network"
			}
		}
		at := slices.IndexFunc(all, func(c chapter) bool { return c.word == word })
		if at < 0 {
			at = len(all)
			all = append(all, chapter{word: word, help: groups[word]})
		}
		if i, known := seen[o.Name()]; known {
			all[at].commands[i] = append(all[at].commands[i], o)
			continue
		}
		seen[o.Name()] = len(all[at].commands)
		all[at].commands = append(all[at].commands, []*schema.Object{o})
	}
	slices.SortStableFunc(all[1:], func(a, b chapter) int {
		return strings.Compare(strings.ToLower(a.word), strings.ToLower(b.word))
	})
	for _, c := range all {
		slices.SortStableFunc(c.commands, func(a, b []*schema.Object) int {
			return strings.Compare(strings.ToLower(a[0].Name()), strings.ToLower(b[0].Name()))
		})
	}
	return all
}

// section writes the commands of objects that share their words.
func section(b *strings.Builder, objs []*schema.Object) {
	fmt.Fprintf(b, "\n### %s\n\n", objs[0].Name())
	for _, o := range objs {
		mark := ""
		if o.Stored {
			mark = " (**stored**)"
		}
		fmt.Fprintf(b, "%s%s.\n", cell(o.Help), mark)
	}
	b.WriteString("\n```\n")
	var rows []*entry
	for _, v := range verbs {
		takes := slices.DeleteFunc(slices.Clone(objs), func(o *schema.Object) bool { return !o.Has(v.Text) })
		if len(takes) == 0 {
			continue
		}
		f := formOf(v.Text, takes)
		wrapped(b, usage(f))
		rows = collect(rows, f)
	}
	b.WriteString("```\n")
	if len(rows) > 0 {
		b.WriteString("\n| argument | with | values | default | range | is |\n|---|---|---|---|---|---|\n")
	}
	for _, a := range rows {
		fmt.Fprintf(b, "| `%s` | %s | %s | %s | %s | %s |\n", a.name, strings.Join(a.verbs, " "), cell(accepted(a.field)), cell(standard(a.field)), bounds(a.field), cell(a.field.Help))
	}
	unbuilt := map[string]bool{}
	for _, o := range objs {
		for n := range o.Unbuilt {
			unbuilt["-"+n] = true
		}
	}
	if len(unbuilt) > 0 {
		fmt.Fprintf(b, "\nKnown and not built in this release: %s.\n", strings.Join(slices.Sorted(maps.Keys(unbuilt)), ", "))
	}
}

// entry is a row of a table: what is typed, and the verbs that take it.
type entry struct {
	name  string
	field *schema.Field
	verbs []string
}

// collect adds the arguments of a form to those of the forms before.
func collect(rows []*entry, f *form) []*entry {
	add := func(name string, field *schema.Field) {
		i := slices.IndexFunc(rows, func(a *entry) bool {
			return strings.TrimPrefix(a.name, "-") == strings.TrimPrefix(name, "-") && (a.field == field || a.field.Help == field.Help || a.field.Key == 1 && field.Key == 1)
		})
		if i < 0 {
			i, rows = len(rows), append(rows, &entry{name: name, field: field})
		}
		if !slices.Contains(rows[i].verbs, f.verb) {
			rows[i].verbs = append(rows[i].verbs, f.verb)
		}
	}
	f.arguments(func(name string, field *schema.Field) {
		add(name, field)
		if o := f.at(field).obj.Other(field); o != nil && f.verb == "add" {
			add(o.CLI, o)
		}
	})
	return rows
}

// wrapWidth is the greatest width of a synopsis, as far as an argument is not longer.
const wrapWidth = 110

// wrapped writes a synopsis in lines that break before an argument.
func wrapped(b *strings.Builder, text string) {
	width := 0
	parts := strings.Split(text, " [")
	for i, part := range parts {
		if i > 0 {
			part = "[" + part
		}
		switch {
		case i == 0:
		case width+1+len(part) > wrapWidth:
			b.WriteString("\n   ")
			width = 3
			fallthrough
		default:
			b.WriteString(" ")
			width++
		}
		b.WriteString(part)
		width += len(part)
	}
	b.WriteString("\n")
}

// accepted says what an argument takes.
func accepted(f *schema.Field) string {
	var out string
	switch {
	case f.Flag:
		return ""
	case len(f.Enum) > 0:
		out = strings.Join(f.Enum, ", ")
	case f.Ref != "":
		out = "name of a " + strings.ReplaceAll(f.Ref, ",", " or ")
	case f.Numeric():
		out = "number"
	case f.Type.Kind().String() != "string":
		out = "IPv4 address"
	case f.Syntax == "":
		out = "text"
	default:
		out = f.Syntax + ", e.g. " + f.Example()
	}
	if f.Any != "" {
		out += ", or *"
	}
	if len(f.Later) > 0 {
		out += "; not built: " + strings.Join(f.Later, ", ")
	}
	return out
}

// standard says what an argument is when it is not given.
func standard(f *schema.Field) string {
	if f.DefaultBy != "" {
		return "by " + f.DefaultBy
	}
	return f.Default
}

// bounds says how great or long a value may be.
func bounds(f *schema.Field) string {
	switch lo, hi := uint64(0), uint64(0); {
	case f.Numeric():
		lo, hi = f.Bounds()
		return fmt.Sprintf("%d-%d%s", lo, hi, plainUnit(f.Unit))
	case f.HasMax:
		return "up to " + strconv.FormatUint(f.Max, 10) + " bytes"
	}
	return ""
}

// cell is text that stands in a table as it is.
func cell(s string) string {
	return strings.NewReplacer("|", `\|`, "<", "&lt;", "*", `\*`, "_", `\_`).Replace(s)
}
