package grammar

import (
	"slices"
	"strings"

	"sluice/vendor-config/password"
	"sluice/vendor-config/schema"
)

// Parse turns one line into an operation. A line that is empty or only a comment gives nil, nil. The error is one line
// in the words of the reference product and names the word at fault; nothing is changed by parsing.
func Parse(line string) (*Op, error) {
	tokens, _, err := Tokenize(line)
	if err != nil || len(tokens) == 0 {
		return nil, err
	}
	return parse(line, tokens)
}

// parse is Parse of a line whose words are known.
func parse(line string, tokens []Token) (*Op, error) {
	verb, objs, used, next, err := resolve(tokens)
	switch {
	case err != nil:
		return nil, err
	case objs == nil && next == nil:
		return session(verb, tokens[used:], line)
	case objs == nil:
		return nil, schema.Refuse("Incomplete command", shorten(strings.TrimSpace(line))).Because("next is one of " + some(texts(next)))
	}
	f := formOf(verb, objs)
	rows, err := spread(f, tokens[used:])
	if err != nil {
		return nil, err
	}
	var all []*Op
	for _, row := range rows {
		ops, err := read(f, row)
		if err != nil {
			return nil, err
		}
		all = append(all, ops...)
	}
	op := all[0]
	op.Line, op.Also = discreet(line, tokens), all[1:]
	return op, nil
}

// listMost is how many words an error lists.
const listMost = 12

// some are words as far as an error has room for them.
func some(words []string) string {
	if len(words) > listMost {
		words = append(slices.Clone(words[:listMost]), "...")
	}
	return strings.Join(words, " ")
}

// read makes the operations of the words behind a command.
func read(f *form, tokens []Token) ([]*Op, error) {
	r := newReader(f)
	for _, t := range tokens {
		if err := r.take(t); err != nil {
			return nil, err
		}
	}
	return r.finish()
}

// reader takes the tokens behind the words of a command one by one. Completion uses it as well: what may come next
// follows from its state.
type reader struct {
	form      *form
	filled    int                  // positionals that were given
	names     []string             // values of a positional that repeats
	values    map[keyword][]string // by argument
	order     []keyword            // arguments in the order typed, once each
	pending   keyword              // a keyword that waits for its value
	optional  keyword              // what may stand here without a dash: a unit, another value of the same keyword
	skip      int                  // values of an ignored keyword still to come
	neutral   []string             // values that the unbuilt keyword refused otherwise accepts
	refused   string               // its name
	encrypted bool                 // a device says that the password is its hash
	dropped   int                  // arguments that ask for nothing
	prefix    string               // of what completion looks for: names that do not begin so need not be listed
	operator  string               // what the value that is pending is compared by, with a space behind it
}

func newReader(f *form) *reader { return &reader{form: f, values: map[keyword][]string{}} }

func (r *reader) take(t Token) error {
	switch {
	case r.refused != "":
		return r.takeUnbuilt(t)
	case r.skip > 0:
		r.skip--
		return nil
	case r.pending.field != nil:
		k := r.pending
		if t.Keyword {
			return schema.Refuse(schema.Missing, k.field.CLI).Because("-" + k.field.CLI + " wants a value; quote one that begins with -")
		}
		r.pending = keyword{}
		return r.value(k, t.Text)
	case t.Keyword && (t.Text != "-" || r.filled == len(r.form.pos)): // a dash alone stands for a file
		return r.keyword(t)
	case r.optional.field != nil && (r.filled == len(r.form.pos) || fits(r.optional, t.Text)):
		return r.value(r.optional, t.Text)
	case r.filled < len(r.form.pos):
		if p := r.form.pos[r.filled]; r.replaced(p) {
			r.filled++
			return r.take(t)
		}
		r.filled++
		return r.positional(r.form.pos[r.filled-1], t.Text)
	case r.form.many:
		return r.positional(r.form.pos[len(r.form.pos)-1], t.Text)
	}
	return schema.Refuse(schema.NoSuchArg, shorten(t.Text))
}

// replaced tells whether a keyword was given that stands in the place of the positional.
func (r *reader) replaced(p *schema.Field) bool {
	return p.Unless != "" && r.values[keyword{r.form.objs[0], r.form.objs[0].Field(p.Unless)}] != nil
}

// takeUnbuilt reads the value of an argument that this version does not build.
func (r *reader) takeUnbuilt(t Token) error {
	name := r.refused
	if t.Keyword || !slices.ContainsFunc(r.neutral, func(n string) bool { return strings.EqualFold(n, t.Text) }) {
		return schema.Refuse(schema.NotSupported, name, shorten(t.Text))
	}
	r.refused = ""
	r.dropped++
	return nil
}

func (r *reader) positional(f *schema.Field, s string) error {
	k := r.form.at(f)
	v, err := canonical(k, s)
	if other := k.obj.Other(f); err != nil && other != nil && r.form.verb == "add" {
		if w, e := canonical(keyword{k.obj, other}, s); e == nil {
			k, v, err = keyword{k.obj, other}, w, nil
		}
	}
	if err != nil {
		return err
	}
	if k.field.Sealed && r.values[k] != nil {
		return schema.Refuse(schema.BadArgument, k.field.CLI).Because("it is given twice")
	}
	if r.form.many && f == r.form.pos[len(r.form.pos)-1] {
		r.names = append(r.names, v)
	}
	r.values[k] = append(r.values[k], v)
	if k.field.Key == 0 && !slices.Contains(r.order, k) {
		r.order = append(r.order, k)
	}
	return nil
}

func (r *reader) keyword(t Token) error {
	r.optional = keyword{}
	if n, ok := r.form.ignored()[t.Text]; ok {
		r.skip, r.encrypted = n, r.encrypted || t.Text == "-encrypted"
		return nil
	}
	name, several := r.form.name(t.Text)
	switch {
	case several != nil:
		slices.Sort(several)
		return schema.Refuse("Ambiguous argument", t.Text).Because("it may be " + strings.Join(several, ", "))
	case name == "" || t.Text == "-":
		return schema.Refuse(schema.NoSuchArg, shorten(t.Text))
	}
	name = name[1:]
	if neutral, known := r.form.unbuilt(name); known {
		return r.unbuilt(name, neutral)
	}
	for _, k := range r.form.keywords() {
		if k.field.CLI != name {
			continue
		}
		if r.values[k] != nil {
			return schema.Refuse(schema.BadArgument, "-"+name).Because("it is given twice")
		}
		r.order = append(r.order, k)
		if r.form.verb == "unset" || k.field.Flag {
			r.values[k] = []string{""}
			if r.form.verb != "unset" && len(k.field.Enum) > 0 { // that of a row says YES
				r.values[k][0] = k.field.Enum[0]
			}
			return nil
		}
		r.pending = k
	}
	return nil
}

func (r *reader) unbuilt(name string, neutral []string) error {
	switch {
	case r.form.verb == "unset" && neutral != nil:
		r.dropped++
		return nil
	case neutral == nil:
		return schema.Refuse(schema.NotSupported, name)
	}
	r.refused, r.neutral = name, neutral
	return nil
}

// value stores the value of a keyword, or of what stands behind it, and says what may follow without a dash.
func (r *reader) value(k keyword, s string) error {
	if r.operator == "" && k.field.Operator(s) {
		r.operator, r.pending = s+" ", k
		return nil
	}
	s, r.operator = r.operator+s, ""
	v, err := canonical(k, s)
	if err != nil {
		return err
	}
	old := r.values[k]
	r.optional = keyword{}
	if k.field.Many {
		if k.field.Key == 0 && old != nil {
			if v, err = canonical(k, old[0]+" "+s); err != nil {
				return err
			}
			old = nil
		}
		r.optional = k
	} else if next := after(k); len(next) > 0 {
		r.optional = keyword{k.obj, next[0]}
	} else if r.form.verb == "set" && k.obj != r.form.objs[0] && k.obj != r.form.inner && k.field.Key == 0 {
		r.pending = keyword{k.obj, k.obj.Keys()[1]}
	}
	r.values[k] = append(old, v)
	if !slices.Contains(r.order, k) {
		r.order = append(r.order, k)
	}
	return nil
}

// fits tells whether the word is a value of the argument. While positionals are missing, a word that is none is one of theirs.
func fits(k keyword, s string) bool {
	_, err := canonical(k, s)
	return err == nil
}

// canonical checks a value and gives its canonical spelling: enumerated values may be abbreviated.
func canonical(k keyword, s string) (string, error) {
	f := k.field
	if len(f.Enum) > 0 {
		among := append(slices.Clone(f.Enum), f.Later...)
		for a := range f.Alias {
			among = append(among, a)
		}
		word, several := "", []string(nil)
		if s != "" { // which would be short for the only value
			word, several = match(s, among)
		}
		if several != nil {
			return "", schema.Refuse(schema.BadValue, f.CLI, s).Because("it may be " + strings.Join(several, ", "))
		}
		if word != "" {
			s = word
		}
	}
	row, back := scratch(k.obj)
	defer back()
	if err := f.Set(row, s); err != nil {
		return "", err
	}
	return f.Text(row), nil
}

// finish checks that nothing is missing and makes the operations.
func (r *reader) finish() ([]*Op, error) {
	switch {
	case r.refused != "":
		return nil, schema.Refuse(schema.NotSupported, r.refused)
	case r.pending.field != nil:
		return nil, schema.Refuse(schema.Missing, r.pending.field.CLI)
	}
	if r.encrypted {
		for _, k := range r.order {
			for _, v := range r.values[k] {
				if k.field.Sealed && !password.Is(v) {
					return nil, schema.Refuse(schema.NotSupported, "encrypted").Because("the form of the hash is not known: give the password itself")
				}
			}
		}
	}
	if all := r.instead(); all != nil {
		if r.filled > 0 {
			return nil, schema.Refuse(schema.Conflict, r.form.pos[0].CLI, "-"+r.order[0].field.CLI)
		}
		return r.ops(all, true), nil
	}
	var missing []string
	for _, p := range r.form.pos[min(r.filled, r.form.need):r.form.need] {
		missing = append(missing, p.CLI)
	}
	if r.form.verb == "add" && missing == nil && r.filled > r.form.need { // what is optional comes together, as address and port
		for _, p := range r.form.pos[r.filled:] {
			if !r.form.objs[0].Stored || p.CLI == "port" {
				missing = append(missing, p.CLI)
			}
		}
	}
	if missing == nil && r.filled > r.form.need && r.form.verb != "add" && r.form.pos[r.filled-1].Within { // all or none
		for _, p := range r.form.pos[r.filled:] {
			if p.Within {
				missing = append(missing, p.CLI)
			}
		}
	}
	if missing != nil {
		return nil, schema.Refuse(schema.Missing, missing...)
	}
	about, err := r.about()
	if err != nil {
		return nil, err
	}
	var ops []*Op
	for i, o := range about {
		if i > 0 && !o.Rows {
			continue // see instead
		}
		ops = append(ops, r.ops(o, i > 0)...)
	}
	if len(ops) == 0 {
		return nil, schema.Refuse(schema.Missing, r.alternatives()...)
	}
	if r.form.verb == "set" || r.form.verb == "unset" {
		if len(ops) == 1 && len(ops[0].Args) == 0 && r.dropped == 0 {
			return nil, schema.Refuse(schema.Missing, "-argument").Because("give at least one argument to " + r.form.verb)
		}
	}
	return ops, nil
}

// instead is the object of which an argument was given that stands in the place of names, as -all of rm does; nil if none was.
func (r *reader) instead() *schema.Object {
	for _, k := range r.order {
		if k.obj != r.form.objs[0] && !k.obj.Rows && r.form.objs[0].Rows {
			return k.obj
		}
	}
	return nil
}

// about are the objects that the command is about: those of its form, but of a row and one within it only one. An argument
// that several of them have becomes that of the one that is meant.
func (r *reader) about() ([]*schema.Object, error) {
	all, outer, in := r.form.objs, r.form.objs[0], r.form.inner
	switch {
	case in == nil && (r.form.verb != "bind" || len(all) < 2):
		return all, nil
	case in != nil && r.filled > r.form.need && r.form.pos[r.filled-1].Within:
		all = []*schema.Object{in}
	case in != nil:
		all = []*schema.Object{outer}
	default:
		all = slices.DeleteFunc(slices.Clone(all), func(o *schema.Object) bool { return !r.named(o) })
	}
	for i, k := range r.order {
		if k.field.Key > 0 || slices.Contains(all, k.obj) || len(all) == 0 {
			continue
		}
		at := slices.IndexFunc(all, func(o *schema.Object) bool { return o.Field(k.field.CLI) != nil })
		if at < 0 {
			return nil, r.misplaced(k)
		}
		own := keyword{all[at], all[at].Field(k.field.CLI)}
		r.values[own], r.order[i] = r.values[k], own
	}
	return all, nil
}

// named tells whether the whole key of a row of o was given.
func (r *reader) named(o *schema.Object) bool {
	for _, k := range o.Keys() {
		if (k.Dashed(r.form.verb) || k.Within) && r.values[keyword{o, k}] == nil {
			return false
		}
	}
	return true
}

// misplaced refuses an argument of an object that the command is not about.
func (r *reader) misplaced(k keyword) error {
	var keys []string
	for _, f := range k.obj.Keys() {
		if f.Within || f.Keyword {
			keys = append(keys, f.CLI)
		}
	}
	if len(keys) == 0 {
		return schema.Refuse(schema.BadArgument, "-"+k.field.CLI).Because("it is of the whole " + k.obj.Name())
	}
	return schema.Refuse(schema.Missing, keys...).Because("-" + k.field.CLI + " is of one")
}

// alternatives are the keys of which one must be given.
func (r *reader) alternatives() []string {
	var out []string
	for _, p := range r.form.pos[r.form.need:] {
		out = append(out, p.CLI)
	}
	for _, o := range r.form.objs {
		for _, k := range o.Keys() {
			if k.Dashed(r.form.verb) {
				out = append(out, "-"+k.CLI)
			}
		}
	}
	return out
}

// ops are the operations on the rows of one object that the line asks for.
func (r *reader) ops(o *schema.Object, aside bool) []*Op {
	op := &Op{Verb: r.form.verb, Object: o}
	for _, k := range r.order {
		if k.obj == o && k.field.Key == 0 {
			op.Args = append(op.Args, Arg{k.field, strings.Join(r.values[k], " ")})
		}
	}
	if aside && r.form.verb == "set" && len(op.Args) == 0 {
		return nil
	}
	if !aside && r.form.verb == "set" && len(op.Args) == 0 && len(r.order) > 0 && r.dropped == 0 {
		return nil // all that is set belongs to a binding
	}
	if !o.Rows {
		return []*Op{op}
	}
	return r.keyed(o, op)
}

// keyed gives op its key; more values for one key field make more operations.
func (r *reader) keyed(o *schema.Object, op *Op) []*Op {
	ops := []*Op{op}
	for _, k := range o.Keys() {
		at := keyword{o, k}
		if k.Key == 1 && !k.Dashed(r.form.verb) { // objects that share words share the first positional
			at = keyword{r.form.objs[0], r.form.pos[0]}
		}
		values := r.values[at]
		if values == nil {
			if k.Dashed(r.form.verb) || k.Within {
				return nil
			}
			break
		}
		var next []*Op
		for _, base := range ops {
			for _, v := range values {
				n := *base
				n.Key = append(slices.Clone(base.Key), v)
				next = append(next, &n)
			}
		}
		ops = next
	}
	return ops
}
