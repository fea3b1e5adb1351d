// Package schema is the object model: one Go struct per configuration object, one file per feature. The command
// grammar, help, completion, the configuration files and the reference pages are all read off its tags. It holds no
// behaviour of the appliance.
package schema

import (
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Object describes one kind of configuration row, or one operational command (then Rows is false).
//
// Tags of a field:
//
//	cli:"lbMethod"    keyword (or the name of a positional) as the operator types it
//	key:"1"           part of the row's key, in this order; keys are the first positionals (except keyword ones)
//	keyword:"yes"     this key is typed as -keyword value, not as a positional
//	pos:"2"           positional of `add` after the keys, in this order
//	def:"5"           default; a field at its default is left out when written back (unless always)
//	always:"yes"      written back even at its default, as device-saved files do
//	enum:"A,B"        allowed values, canonical spelling
//	later:"C,D"       known values (or "*": the whole argument) that this version refuses by name
//	min:"1" max:"9"   range of a number; max is the greatest length of a string
//	any:"0"           `*` is accepted and means this number (or the address 0.0.0.0)
//	unit:"seconds"    unit of the number
//	ref:"service"     names a row of that object
//	fixed:"yes"       cannot be changed by `set` after `add`
//	required:"yes"    must be given to `add`
//	only:"add,set"    verbs that take the argument (all when left out)
//	after:"interval"  optional second value behind that keyword (e.g. `-interval 5 SEC`)
//	flag:"yes"        keyword without a value
//	help:"..."        one sentence
type Object struct {
	Words  []string // as typed: "lb vserver"
	YANG   string   // list name: "lb-vserver"
	Verbs  []string // first is the one that creates ("add" or "bind")
	Help   string
	Rows   bool // configuration rows; false: operational command only
	Type   reflect.Type
	Fields []*Field
}

// Field describes one argument.
type Field struct {
	Index              int // in the struct
	CLI, YANG, Help    string
	Default            string
	HasDefault, Always bool
	Enum, Later, Only  []string
	Min, Max           uint64
	HasMin, HasMax     bool
	Any                string
	Unit, Ref, After   string
	Key, Pos           int
	Fixed, Required    bool
	Flag, Keyword      bool
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

// Keys are the key fields in order.
func (o *Object) Keys() []*Field {
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

// Field finds a field by its keyword, ignoring case, or nil.
func (o *Object) Field(cli string) *Field {
	for _, f := range o.Fields {
		if strings.EqualFold(f.CLI, cli) {
			return f
		}
	}
	return nil
}

var objects []*Object

// fileOrder is the order in which objects are written, as device-saved files have it.
var fileOrder = []string{"vlan", "ns-ip", "vlan-interface", "vlan-ip", "server", "service", "lb-vserver", "lb-vserver-service",
	"lb-monitor", "service-monitor", "route"}

// Objects are all objects in the order in which they are written to a file; operational commands come last.
var Objects = sync.OnceValue(func() []*Object {
	sorted := slices.Clone(objects)
	place := func(o *Object) int {
		if i := slices.Index(fileOrder, o.YANG); i >= 0 {
			return i
		}
		return len(fileOrder)
	}
	slices.SortStableFunc(sorted, func(a, b *Object) int { return place(a) - place(b) })
	return sorted
})

// Find returns the object of that name with rows, or nil. The name is as typed ("lb vserver") or the YANG name.
func Find(name string) *Object {
	for _, o := range objects {
		if o.Rows && (strings.EqualFold(o.Name(), name) && o.Verbs[0] != "bind" || o.YANG == name) {
			return o
		}
	}
	return nil
}

// Of returns the object whose rows are of type T. It panics when there is none: a fault of the programmer.
func Of[T any]() *Object {
	t := reflect.TypeFor[T]()
	for _, o := range objects {
		if o.Type == t {
			return o
		}
	}
	panic("schema: no object of type " + t.String())
}

func register[T any](words, yang, verbs, help string, rows bool) {
	o := &Object{Words: strings.Fields(words), YANG: yang, Verbs: strings.Fields(verbs), Help: help, Rows: rows, Type: reflect.TypeFor[T]()}
	for i := range o.Type.NumField() {
		o.Fields = append(o.Fields, field(i, o.Type.Field(i)))
	}
	objects = append(objects, o)
}

func field(i int, sf reflect.StructField) *Field {
	get := func(k string) string { return sf.Tag.Get(k) }
	list := func(k string) []string {
		if get(k) == "" {
			return nil
		}
		return strings.Split(get(k), ",")
	}
	num := func(k string) (uint64, bool) {
		if get(k) == "" {
			return 0, false
		}
		n, err := strconv.ParseUint(get(k), 10, 64)
		if err != nil {
			panic("schema: field " + sf.Name + ": tag " + k + " is no number")
		}
		return n, true
	}
	f := &Field{Index: i, CLI: get("cli"), Help: get("help"), Enum: list("enum"), Later: list("later"), Only: list("only"),
		Any: get("any"), Unit: get("unit"), Ref: get("ref"), After: get("after"), Always: get("always") != "",
		Fixed: get("fixed") != "", Required: get("required") != "", Flag: get("flag") != "", Keyword: get("keyword") != "", Type: sf.Type}
	f.YANG = kebab(sf.Name)
	f.Default, f.HasDefault = sf.Tag.Lookup("def")
	f.Min, f.HasMin = num("min")
	f.Max, f.HasMax = num("max")
	k, _ := num("key")
	p, _ := num("pos")
	f.Key, f.Pos = int(k), int(p)
	if f.CLI == "" || f.Help == "" {
		panic("schema: field " + sf.Name + " needs the tags cli and help")
	}
	return f
}

// kebab turns a Go name into a YANG name: LBMethod -> lb-method.
func kebab(s string) string {
	upper := func(c byte) bool { return c >= 'A' && c <= 'Z' }
	var b []byte
	for i := range len(s) {
		c := s[i]
		if upper(c) {
			if i > 0 && (!upper(s[i-1]) || i+1 < len(s) && !upper(s[i+1])) {
				b = append(b, '-')
			}
			c += 'a' - 'A'
		}
		b = append(b, c)
	}
	return string(b)
}
