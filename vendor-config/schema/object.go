// Package schema is the object model: one Go struct per configuration object, one file per feature. The command
// grammar, help, completion, the configuration files and the reference pages are all read off its tags. It holds no
// behaviour of the appliance.
package schema

import (
	"reflect"
	"slices"
	"strings"
	"sync"
)

// Object describes one kind of configuration row, or one operational command (then Rows is false).
//
// Tags of a field:
//
//	cli:"lbMethod"    keyword (or the name of a positional) as the operator types it
//	key:"1"           part of the row's key, in this order; keys are the first positionals (except keyword ones)
//	keyword:"yes"     this key is typed as -keyword value, not as a positional; keyword:"add": only with add
//	pos:"2"           positional of `add` after the keys, in this order; with only: of those verbs
//	def:"5"           default; a field at its default is left out when written back (unless always)
//	defby:"serviceType HTTP=180 TCP=9000"  the default depends on another field; it is filled in by `add` and `unset`
//	always:"yes"      written back even at its default, as device-saved files do
//	enum:"A,B"        allowed values, canonical spelling
//	alias:"MIP=SNIP"  accepted spellings of a value
//	later:"C,D"       known values (or "*": the whole argument) that this version refuses by name
//	min:"1" max:"9"   range of a number; max is the greatest length of a string
//	any:"0"           `*` is accepted and means this number (or, written ::, AnyAddress)
//	unless:"IPPattern"  this positional is left out where that keyword is given; those behind it then follow the keywords
//	unit:"seconds"    unit of the number
//	ref:"service"     names a row of that object, or of one of several: ref:"service,serviceGroup"
//	fixed:"yes"       cannot be changed by `set` after `add`
//	required:"yes"    must be given to `add`
//	only:"add,set"    verbs that take the argument (all when left out)
//	within:"yes"      this key finds a row that belongs to one of another object with the same words: with it a command such as
//	                  set or disable is about that row, without it about the other
//	instead:"IPAddress"  no argument of its own: typed in the place of that positional, when the word is no value of that one
//	kept:"yes"        no argument of any command: it is kept in files only
//	also:"set,rm"     verbs besides add that take this positional, where it is optional and must agree with the row
//	many:"yes"        keyword takes values up to the next keyword: several rows when it is a key, else joined by spaces
//	syntax:"name"     form of a string: see syntaxes
//	after:"interval"  optional second value behind that keyword (e.g. `-interval 5 SEC`)
//	flag:"yes"        keyword without a value
//	for:"type TCP UDP"  means something only where that other field has one of the values
//	secret:"yes"      shown as ******** and never written to a log
//	seal:"yes"        a password: its hash alone is kept (see package password); a command may give either
//	help:"..."        one sentence
type Object struct {
	Words  []string // as typed: "lb vserver"
	YANG   string   // list name: "lb-vserver"
	Verbs  []string // first is the one that creates ("add" or "bind")
	Help   string
	Rows   bool // configuration rows; false: operational command only
	Single bool // rows without a key: there is one at most, and none stands for the defaults
	Stored bool // rows are kept, shown and written back, and nothing acts on them: see stored
	Type   reflect.Type
	Fields []*Field
	// Unbuilt are known arguments that this version does not build, each with the values that are accepted and dropped.
	Unbuilt map[string][]string

	keys []*Field // the key fields in order
}

// Field describes one argument.
type Field struct {
	Index              int // in the struct
	CLI, YANG, Help    string
	Default            string
	HasDefault, Always bool
	DefaultBy          string // the field that decides the default
	defaults           map[string]string
	Enum, Later        []string
	Only, Also         []string
	Alias              map[string]string
	Syntax             string
	Min, Max           uint64
	HasMin, HasMax     bool
	Any                string
	Unit, Ref, After   string
	Instead            string
	targets            []*Object
	Unless             string
	Key, Pos           int
	Fixed, Required    bool
	Flag, Keyword      bool
	Many, Secret       bool
	Sealed             bool
	Within, Kept       bool
	Added              bool     // keyword:"add"
	ForField           string   // the field that decides whether this one means something
	ForValues          []string // its values with which it does
	Type               reflect.Type
}

// Name is the object as the operator types it.
func (o *Object) Name() string { return strings.Join(o.Words, " ") }

// Has tells whether the object takes the verb.
func (o *Object) Has(verb string) bool {
	for _, v := range o.Verbs {
		if v == verb {
			return true
		}
	}
	return false
}

// always tells whether rows are only set, or enabled: they are there at their defaults before.
func (o *Object) always() bool { return o.Verbs[0] == "set" || o.Verbs[0] == "enable" }

// Keys are the key fields in order; the list must not be written to.
func (o *Object) Keys() []*Field { return o.keys }

func (o *Object) findKeys() []*Field {
	var keys []*Field
	for n := 1; ; n++ {
		found := false
		for _, f := range o.Fields {
			if f.Key == n {
				keys, found = append(keys, f), true
			}
		}
		if !found {
			return keys
		}
	}
}

// Command is the verb with the object behind it; of an object that is a verb itself, as ping, that word alone.
func (o *Object) Command(verb string) string {
	if verb == o.Name() {
		return verb
	}
	return verb + " " + o.Name()
}

// Field finds a field by its keyword or nil. Case does not count, except that of a single letter: ping has -s and -S.
func (o *Object) Field(cli string) *Field {
	for _, f := range o.Fields {
		if f.CLI == cli || len(cli) > 1 && strings.EqualFold(f.CLI, cli) {
			return f
		}
	}
	return nil
}

// Targets are the objects of which the field names a row: none, one, or several that have no names in common. The list must
// not be written to.
func (f *Field) Targets() []*Object {
	Objects() // which finds them
	return f.targets
}

// Needs tells whether the row that the field of o names must be there. What is only stored needs nothing but the row that it is
// bound to; settings of TLS are none that it could wait for, and devices have sets of texts of their own that no file adds.
func (o *Object) Needs(f *Field) bool {
	if f.Ref == "" || !o.Stored {
		return f.Ref != ""
	}
	to := f.Targets()[0]
	return f.Key == 1 && to.Name() == o.Name() && to.Verbs[0] == "add" && to != Of[PolicyPatset]()
}

// Refers finds the row that the field's value names, or nil; o is its object, or the first that it could be of.
func (f *Field) Refers(c *Config, name string) (o *Object, row any) {
	for _, t := range f.Targets() {
		if row, ok := c.Row(t, name); ok {
			return t, row
		}
	}
	return f.Targets()[0], nil
}

// Dangling is the first field of a row that names what must be there and is not, with that name; f is nil when there is none.
func (o *Object) Dangling(c *Config, row any) (f *Field, name string) {
	v := reflect.ValueOf(row).Elem()
	for _, f := range o.Fields {
		if !o.Needs(f) {
			continue
		}
		name := f.Text(v)
		if name == "" {
			continue
		}
		if _, there := f.Refers(c, name); there == nil && !f.Builtin(name) {
			return f, name
		}
	}
	return nil, ""
}

// builtins are the names of what is always there and no row, by its object.
var builtins = sync.OnceValue(func() map[*Object][]string {
	all := map[*Object][]string{}
	for _, m := range BuiltinMonitors() {
		all[Of[LBMonitor]()] = append(all[Of[LBMonitor]()], m.Name)
	}
	for _, p := range BuiltinCmdPolicies {
		all[Of[SystemCmdPolicy]()] = append(all[Of[SystemCmdPolicy]()], p.Name)
	}
	return all
})

// Builtins are the names of what is always there and no row: default monitors, or roles. The list must not be written to.
func (o *Object) Builtins() []string { return builtins()[o] }

// Builtin tells whether a name stands for what is always there and no row.
func (o *Object) Builtin(name string) bool { return slices.Contains(o.Builtins(), name) }

// Builtin tells whether what the field names is always there and no row.
func (f *Field) Builtin(name string) bool { return f.Targets()[0].Builtin(name) }

// Dashed tells whether the key is typed as -keyword value with the verb.
func (f *Field) Dashed(verb string) bool { return f.Keyword || f.Added && verb == "add" }

// Other is the field that may be typed in the place of the positional, or nil.
func (o *Object) Other(positional *Field) *Field {
	for _, f := range o.Fields {
		if f.Instead != "" && f.Instead == positional.CLI {
			return f
		}
	}
	return nil
}

// Takes tells whether the argument may be given with the verb, as far as its tag only says.
func (f *Field) Takes(verb string) bool {
	return !f.Kept && (len(f.Only) == 0 || slices.Contains(f.Only, verb))
}

// The objects: all, and by what they are looked for.
var (
	objects []*Object
	byYANG  = map[string]*Object{}
	byType  = map[reflect.Type]*Object{}
)

// fileOrder is the order in which objects are written, as device-saved files have it.
var fileOrder = []string{"ns-hostname", "system-parameter", "system-cmd-policy", "system-user", "system-user-policy", "system-user-key", "system-group",
	"system-group-user", "system-group-policy", "authentication-radius-action", "authentication-ldap-action", "authentication-radius-policy",
	"authentication-ldap-policy", "authentication-policy",
	"audit-syslog-params", "audit-syslog-action", "audit-syslog-policy", "audit-syslog-global", "system-global", "vlan", "vrid-param", "vrid", "vrid-track-interface", "ns-ip", "vlan-interface", "vlan-ip", "server", "service", "service-group",
	"lb-vserver", "lb-vserver-service", "lb-parameter", "ns-tcpparam", "l4-param", "ns-timeout", "lb-metric-table", "lb-metric", "lb-monitor", "lb-monitor-metric", "service-monitor", "service-group-member", "service-group-monitor", "route", "dns-name-server",
	"ntp-server", "ntp-sync"}

// Objects are all objects in the order in which they are written to a file: those that are built, then those that are only
// stored, each behind what it refers to; operational commands come last.
var Objects = sync.OnceValue(func() []*Object {
	sorted := slices.Clone(objects)
	for _, o := range objects {
		for _, f := range o.Fields {
			for _, r := range strings.FieldsFunc(f.Ref, func(c rune) bool { return c == ',' }) {
				target := Find(r)
				if target == nil {
					panic("schema: object " + o.YANG + ": field " + f.CLI + " refers to " + r + ", which does not exist")
				}
				f.targets = append(f.targets, target)
			}
		}
	}
	places := map[*Object]int{}
	for _, o := range objects {
		places[o] = place(o)
	}
	slices.SortStableFunc(sorted, func(a, b *Object) int { return places[a] - places[b] })
	return sorted
})

// operationalPlace is behind all rows: no chain of references is that long.
const operationalPlace = 1000

// place is where the rows of o stand in a file.
func place(o *Object) int {
	i := slices.Index(fileOrder, o.YANG)
	switch {
	case i >= 0:
		return i
	case o.Type == reflect.TypeFor[NSLine](): // a line that is kept may need any other
		return operationalPlace - 1
	case !o.Stored:
		return operationalPlace
	}
	at := len(fileOrder)
	for _, f := range o.Fields {
		for _, t := range f.targets {
			if t != o && t.Stored {
				at = max(at, place(t)+1)
			}
		}
	}
	return at
}

// Find returns the object of that name with rows, or nil. The name is as typed ("lb vserver") or the YANG name.
func Find(name string) *Object {
	if o := Listed(name); o != nil {
		return o
	}
	for _, o := range objects {
		if o.Rows && strings.EqualFold(o.Name(), name) && o.Verbs[0] != "bind" {
			return o
		}
	}
	return nil
}

// Of returns the object whose rows are of type T. It panics when there is none: a fault of the programmer.
func Of[T any]() *Object {
	t := reflect.TypeFor[T]()
	if o := byType[t]; o != nil {
		return o
	}
	panic("schema: no object of type " + t.String())
}
