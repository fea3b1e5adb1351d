package grammar

import (
	"slices"
	"strings"
	"sync"

	"sluice/vendor-config/schema"
)

// form is what may follow the verb and the words of a command.
type form struct {
	verb string
	objs []*schema.Object // the main one first; the others share its words, e.g. the bindings of a vserver
	pos  []*schema.Field  // positionals in order
	need int              // how many of them must be given
	many bool             // the last positional may be repeated

	all struct { // see formOf
		keywords []keyword
		names    []string
		ignored  map[string]int
		exact    map[string]int // place in names of each
	}

	inner *schema.Object // one of objs, which the command is about if the keys within are given: all or none; see schema, within
}

// keyword is an argument that is typed as -name.
type keyword struct {
	obj   *schema.Object
	field *schema.Field
}

func newForm(verb string, objs []*schema.Object) *form {
	f := &form{verb: verb, objs: objs}
	main := objs[0]
	for _, k := range main.Keys() {
		if !k.Dashed(verb) {
			f.pos = append(f.pos, k)
		}
	}
	keys := len(f.pos)
	if !main.Rows {
		f.operational(main)
		return f
	}
	switch verb {
	case "add":
		f.pos = append(f.pos, slices.DeleteFunc(positionals(main), func(p *schema.Field) bool { return !p.Takes("add") })...)
		f.need = keys
		for i, p := range f.pos {
			if p.Required || main.Other(p) != nil {
				f.need = i + 1
			}
		}
		f.many = len(f.pos) > 0 && f.pos[len(f.pos)-1].Many
		return f
	case "rename":
		f.pos = append(f.pos, newName(main))
		f.need = len(f.pos)
		return f
	case "show", "stat":
	default:
		f.need = keys
	}
	for _, o := range objs[1:] {
		f.beside(o)
	}
	for _, p := range positionals(main) {
		if slices.Contains(p.Also, verb) || slices.Contains(p.Only, verb) {
			f.pos = append(f.pos, p)
			if p.Required && (main.Single || verb == main.Verbs[0]) {
				f.need = len(f.pos)
			}
		}
	}
	f.many = verb == "rm" && len(f.pos) == 1 || (verb == "bind" || verb == "unbind") && len(f.pos) > 0 && f.pos[len(f.pos)-1].Many
	return f
}

// beside makes room in the form for an object that shares the main one's words. It may have fewer positionals, as a monitor of
// a group beside a member, or more, as a member of a group beside the group.
func (f *form) beside(o *schema.Object) {
	n := 0
	for _, k := range o.Keys() {
		switch {
		case k.Dashed(f.verb):
		case k.Within:
			f.inner = o
			f.pos = append(f.pos, k)
		default:
			n++
		}
	}
	if f.verb == "bind" || f.verb == "unbind" {
		f.need = min(f.need, n)
	}
}

// at is a positional with the object that it is of.
func (f *form) at(p *schema.Field) keyword {
	if f.inner != nil && p.Within {
		return keyword{f.inner, p}
	}
	return keyword{f.objs[0], p}
}

// operational fills the form of a command without rows.
func (f *form) operational(o *schema.Object) {
	for _, p := range positionals(o) {
		if p.Takes(f.verb) {
			f.pos = append(f.pos, p)
			if p.Required {
				f.need = len(f.pos)
			}
			f.many = p.Many
		}
	}
}

// positionals are the fields that stand behind the keys of add, in order.
func positionals(o *schema.Object) []*schema.Field {
	var pos []*schema.Field
	for _, f := range o.Fields {
		if f.Pos > 0 {
			pos = append(pos, f)
		}
	}
	slices.SortFunc(pos, func(a, b *schema.Field) int { return a.Pos - b.Pos })
	return pos
}

// findKeywords are the arguments that the form takes as -name, in the order of the schema.
func (f *form) findKeywords() []keyword {
	var all []keyword
	for i, o := range f.objs {
		for _, a := range o.Fields {
			if i > 0 && f.takes(f.objs[0], f.objs[0].Field(a.CLI), false) {
				continue // the main object has it as well: see reader.about
			}
			if a.After == "" && (!slices.Contains(f.pos, a) || a.Sealed && f.verb == "set") && f.takes(o, a, i > 0) {
				all = append(all, keyword{o, a})
			}
		}
	}
	return all
}

// takes tells whether the argument of the object may be given as keyword. aside: the object is not the main one.
func (f *form) takes(o *schema.Object, a *schema.Field, aside bool) bool {
	if a == nil || a.Instead != "" {
		return false
	}
	if a.Key > 0 {
		return a.Keyword && (f.verb == "bind" || f.verb == "unbind") || a.Added && f.verb == "add"
	}
	if aside && f.verb == "set" {
		return slices.Contains(a.Only, "set")
	}
	switch f.verb {
	case "add", "bind", "link":
		return a.Takes(f.verb)
	case "set":
		return !a.Fixed && a.Takes("set")
	case "unset":
		if !o.Rows {
			return true
		}
		return !a.Fixed && !a.Required && a.Takes("set")
	case "show", "clear", "save", "start", "stop", "disable", "commit", "rollback", "kill", "force", "unbind", "create", "restore", "rm", "ping", "traceroute", "reboot", "shutdown":
		return slices.Contains(a.Only, f.verb)
	}
	return false
}

// findIgnored are keywords that change nothing: how many values follow them.
func (f *form) findIgnored() map[string]int {
	m := map[string]int{"-devno": 1}
	switch f.verb {
	case "show":
		m["-all"] = 0
		if f.objs[0] == schema.Of[schema.ServiceGroup]() {
			m["-includeMembers"] = 0 // they always are
		}
	case "stat":
		m["-detail"], m["-fullValues"] = 0, 0
	case "add", "set":
		if f.objs[0] == schema.Of[schema.SystemUser]() { // what a device writes about the hash, which says the same itself
			m["-encrypted"], m["-hashmethod"] = 0, 1
		}
	case "unbind": // they tell nothing that the key does not
		m["-priority"], m["-type"] = 1, 1
	}
	return m
}

// unbuilt finds an argument that the reference product has and this version does not build.
func (f *form) unbuilt(name string) (values []string, known bool) {
	for _, o := range f.objs {
		if v, ok := o.Unbuilt[name]; ok {
			return v, true
		}
		if a := o.Field(name); a != nil && slices.Contains(a.Only, f.verb) {
			return nil, false // built for some objects
		}
	}
	values, known = verbUnbuilt[f.verb][name]
	return values, known
}

// verbUnbuilt are arguments of verbs that this version does not build, with the values that ask for nothing.
var verbUnbuilt = map[string]map[string][]string{
	"disable": {"graceFul": {"NO"}},
	"stat":    {"ntimes": {"1"}, "logFile": nil, "clearstats": nil, "sortBy": nil},
	"show":    {"internal": nil, "detail": nil},
}

// findNames are all words that begin with a dash and mean something here, so that an abbreviation never picks one of two.
func (f *form) findNames() []string {
	var all []string
	for _, k := range f.keywords() {
		all = append(all, "-"+k.field.CLI)
	}
	for n := range f.ignored() {
		if n != "-devno" {
			all = append(all, n)
		}
	}
	for n := range verbUnbuilt[f.verb] {
		all = append(all, "-"+n)
	}
	if slices.Contains([]string{"add", "set", "unset", "bind", "unbind", "clear", "show", "diff", "start", "ping", "traceroute", "reboot", "shutdown"}, f.verb) {
		for _, o := range f.objs {
			for n := range o.Unbuilt {
				all = append(all, "-"+n)
			}
		}
	}
	return all
}

// usage is the synopsis of a command, e.g. "add server <name> <IPAddress> [-state ( ENABLED | DISABLED )] [-comment <string>]".
func usage(f *form) string {
	parts := []string{f.objs[0].Command(f.verb)}
	for i, p := range f.pos {
		word := "<" + p.CLI + ">"
		if o := f.objs[0].Other(p); o != nil && f.verb == "add" {
			word = "(<" + p.CLI + "> | <" + o.CLI + ">)"
		}
		if f.many && i == len(f.pos)-1 {
			word += " ..."
		}
		if i >= f.need {
			word = "[" + word + "]"
		}
		parts = append(parts, word)
	}
	for _, k := range f.keywords() {
		word := "-" + k.field.CLI
		if f.verb != "unset" && !k.field.Flag {
			word += " " + placeholder(k.field)
		}
		for _, a := range after(k) {
			if f.verb != "unset" {
				word += " [<" + a.CLI + ">]"
			}
		}
		if f.verb == "set" && k.obj != f.objs[0] && k.obj != f.inner {
			word += " <" + k.obj.Keys()[1].CLI + ">"
		}
		if k.field.Key == 0 || len(f.objs) > 1 {
			word = "[" + word + "]"
		}
		parts = append(parts, word)
	}
	return strings.Join(parts, " ")
}

// placeholder shows which values an argument takes: few enumerated ones by name.
func placeholder(f *schema.Field) string {
	switch {
	case len(f.Enum) > 1 && len(f.Enum) <= 4:
		return "( " + strings.Join(f.Enum, " | ") + " )"
	case f.Many:
		return "<" + f.CLI + "> ..."
	}
	return "<" + f.CLI + ">"
}

// arguments calls each for every argument of the command with its name as it is typed: the positionals, then the keywords, each
// with what may stand behind its value.
func (f *form) arguments(each func(name string, field *schema.Field)) {
	for _, p := range f.pos {
		each(p.CLI, p)
	}
	for _, k := range f.keywords() {
		each("-"+k.field.CLI, k.field)
		if f.verb == "unset" {
			continue
		}
		for _, a := range after(k) {
			each(a.CLI, a)
		}
	}
}

// after are the fields that may follow the keyword's value, each behind the one before.
func after(k keyword) []*schema.Field {
	var out []*schema.Field
	for _, f := range k.obj.Fields {
		if f.After == k.field.CLI {
			out = append(append(out, f), after(keyword{k.obj, f})...)
		}
	}
	return out
}

// newName is the second positional of rename: what a row of the object is called from then on.
func newName(o *schema.Object) *schema.Field { return newNames()[o] }

var newNames = sync.OnceValue(func() map[*schema.Object]*schema.Field {
	all := map[*schema.Object]*schema.Field{}
	for _, o := range schema.Objects() {
		if o.Has("rename") {
			f := *o.Keys()[0]
			f.CLI, f.Help, f.Key, f.Pos = "newName", "New name", 0, 2
			all[o] = &f
		}
	}
	return all
})
