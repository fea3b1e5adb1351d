package schema

import (
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// tagNames are the tags that a field may bear; object.go explains them.
var tagNames = strings.Fields("cli key keyword pos def defby always enum alias later min max any unit ref fixed required only also within kept instead after unless many flag syntax for secret seal help")

// register adds an object; it panics on a wrong tag, so that a fault of the programmer shows at the first start.
func register[T any](words, yang, verbs, help string, rows bool) {
	o := &Object{Words: strings.Fields(words), YANG: yang, Verbs: strings.Fields(verbs), Help: help, Rows: rows, Type: reflect.TypeFor[T]()}
	if err := describe(o); err != "" {
		panic("schema: object " + o.YANG + ": " + err)
	}
	o.Single = rows && len(o.Keys()) == 0
	objects = append(objects, o)
	if byYANG[yang] == nil {
		byYANG[yang] = o
	}
	byType[o.Type] = o
}

// stored adds an object whose function is not built. Its rows are as good as any: typed, completed, shown, kept in files and
// written back, so that nothing an operator brings along is lost. But nothing acts on them, and everything says so. What a stored
// row refers to need not exist, except the row that it is bound to. Whoever builds the function turns stored into register and
// gives the object its place in fileOrder.
func stored[T any](words, yang, verbs, help string) {
	register[T](words, yang, verbs, help, true)
	Of[T]().Stored = true
}

// unbuilt names arguments of the reference product that this version knows but does not build. `name=VALUE|VALUE` is
// accepted, and dropped, with a value that asks for nothing; any other value, and a name alone, is refused by name.
func unbuilt[T any](arguments string) {
	o := Of[T]()
	if o.Unbuilt == nil {
		o.Unbuilt = map[string][]string{}
	}
	for _, a := range strings.Fields(arguments) {
		name, neutral, _ := strings.Cut(a, "=")
		if o.Field(name) != nil {
			panic("schema: object " + o.YANG + ": argument " + name + " is built and unbuilt")
		}
		o.Unbuilt[name] = nil
		if neutral != "" {
			o.Unbuilt[name] = strings.Split(neutral, "|")
		}
	}
}

// describe fills o.Fields from the tags; it returns what is wrong with them.
func describe(o *Object) string {
	if len(o.Words) == 0 || o.YANG == "" || len(o.Verbs) == 0 || o.Help == "" {
		return "words, YANG name, verbs and help must be given"
	}
	for i := range o.Type.NumField() {
		f, err := field(i, o.Type.Field(i))
		if err == "" {
			err = f.fault()
		}
		if err == "" && o.Field(f.CLI) != nil {
			err = "argument is there twice"
		}
		if err != "" {
			return "field " + o.Type.Field(i).Name + ": " + err
		}
		o.Fields = append(o.Fields, f)
	}
	o.keys = slices.Clip(o.findKeys()) // clipped, since callers append to it
	return o.fault()
}

func field(i int, sf reflect.StructField) (*Field, string) {
	tags, err := splitTag(string(sf.Tag))
	if err != "" {
		return nil, err
	}
	list := func(k string) []string {
		if tags[k] == "" {
			return nil
		}
		return strings.Split(tags[k], ",")
	}
	num := func(k string) (n uint64, given bool) {
		s, given := tags[k]
		if given {
			var e error
			if n, e = strconv.ParseUint(s, 10, 64); e != nil {
				err = "tag " + k + " is no number"
			}
		}
		return n, given
	}
	f := &Field{Index: i, CLI: tags["cli"], YANG: kebab(sf.Name), Help: tags["help"], Enum: list("enum"), Later: list("later"),
		Only: list("only"), Also: list("also"), Any: tags["any"], Unit: tags["unit"], Ref: tags["ref"], After: tags["after"], Unless: tags["unless"],
		Instead: tags["instead"],
		Syntax:  tags["syntax"], Always: tags["always"] != "", Fixed: tags["fixed"] != "", Required: tags["required"] != "",
		Secret: tags["secret"] != "", Sealed: tags["seal"] != "", Many: tags["many"] != "", Flag: tags["flag"] != "", Keyword: tags["keyword"] == "yes", Added: tags["keyword"] == "add",
		Within: tags["within"] != "", Kept: tags["kept"] != "", Type: sf.Type, Alias: map[string]string{}}
	f.Default, f.HasDefault = tags["def"]
	f.Min, f.HasMin = num("min")
	f.Max, f.HasMax = num("max")
	k, _ := num("key")
	p, _ := num("pos")
	f.Key, f.Pos = int(k), int(p)
	for _, a := range list("alias") {
		from, to, ok := strings.Cut(a, "=")
		if !ok {
			err = "tag alias wants FROM=TO"
		}
		f.Alias[from] = to
	}
	if other := strings.Fields(tags["for"]); len(other) > 1 {
		f.ForField, f.ForValues = other[0], other[1:]
	}
	if by := strings.Fields(tags["defby"]); len(by) > 0 {
		f.DefaultBy, f.defaults = by[0], map[string]string{}
		for _, d := range by[1:] {
			when, value, _ := strings.Cut(d, "=")
			f.defaults[when] = value
		}
	}
	return f, err
}

// splitTag reads the tags of a field and refuses names that mean nothing here.
func splitTag(s string) (map[string]string, string) {
	tags := map[string]string{}
	for s = strings.TrimSpace(s); s != ""; s = strings.TrimSpace(s) {
		name, rest, ok := strings.Cut(s, ":")
		quoted, err := strconv.QuotedPrefix(rest)
		if !ok || err != nil {
			return nil, "malformed tags at " + s
		}
		value, _ := strconv.Unquote(quoted)
		if !slices.Contains(tagNames, name) {
			return nil, "unknown tag " + name
		}
		if _, twice := tags[name]; twice {
			return nil, "tag " + name + " is there twice"
		}
		tags[name] = value
		s = rest[len(quoted):]
	}
	return tags, ""
}

// fault tells what is wrong with the field alone.
func (f *Field) fault() string {
	numeric := f.Numeric()
	switch {
	case f.CLI == "" || f.Help == "":
		return "tags cli and help must be given"
	case !numeric && f.Type.Kind() != reflect.String && f.Type != addrType:
		return "type " + f.Type.String() + " is not string, unsigned integer or netip.Addr"
	case f.HasMin && (!numeric || f.HasMax && f.Min > f.Max):
		return "min is greater than max, or given to a type without numbers"
	case f.HasMax && f.Type == addrType:
		return "max is given to an address"
	case len(f.Enum) > 0 && f.Type.Kind() != reflect.String:
		return "enum is given to a type other than string"
	case f.Key > 0 && f.Pos > 0:
		return "key and pos exclude each other"
	case (f.Keyword || f.Added || f.Within) && f.Key == 0:
		return "keyword and within are for keys only"
	case f.Flag && f.Type.Kind() != reflect.String:
		return "a flag is of type string"
	case f.Secret && f.Type.Kind() != reflect.String:
		return "a secret is of type string"
	case f.Sealed && !f.Secret:
		return "what is sealed is a secret"
	case f.Syntax != "" && syntaxes[f.Syntax] == nil:
		return "unknown syntax " + f.Syntax
	}
	scratch := reflect.New(reflect.StructOf([]reflect.StructField{{Name: "V", Type: f.Type}})).Elem()
	alone := *f
	alone.Index = 0
	for _, d := range append(slices.Collect(maps.Values(f.defaults)), f.Default) {
		if d == "" || !f.HasDefault && f.DefaultBy == "" {
			continue
		}
		if err := alone.Set(scratch, d); err != nil {
			return "default " + d + ": " + err.Error()
		}
	}
	for _, to := range f.Alias {
		if err := alone.Set(scratch, to); err != nil {
			return "alias: " + err.Error()
		}
	}
	return ""
}

// fault tells what is wrong with the fields together.
func (o *Object) fault() string {
	keys := len(o.Keys())
	for _, f := range o.Fields {
		if f.Key > keys {
			return "keys are not numbered 1, 2, 3"
		}
		if f.Pos > 0 && o.Rows && f.Pos <= keys {
			return "positional " + f.CLI + " stands among the keys"
		}
		for _, other := range []string{f.After, f.DefaultBy, f.ForField, f.Unless, f.Instead} {
			if other != "" && o.Field(other) == nil {
				return "field " + f.CLI + " speaks of " + other + ", which does not exist"
			}
		}
		for _, v := range append(slices.Clone(f.Only), f.Also...) {
			if !o.Has(v) {
				return "field " + f.CLI + " is for the verb " + v + ", which the object does not take"
			}
		}
	}
	if o.Rows && keys == 0 && !o.always() {
		return "rows need a key"
	}
	return ""
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
