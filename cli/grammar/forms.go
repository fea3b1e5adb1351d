package grammar

import (
	"reflect"
	"strings"
	"sync"

	"sluice/vendor-config/schema"
)

// forms are those that were asked for so far, by their verb and objects: a long file asks for the same few again and again.
var forms sync.Map

// formOf is the form of a verb and objects; it must not be written to.
func formOf(verb string, objs []*schema.Object) *form {
	var key strings.Builder
	key.WriteString(verb)
	for _, o := range objs {
		key.WriteByte(0)
		key.WriteString(o.YANG)
	}
	if f, ok := forms.Load(key.String()); ok {
		return f.(*form)
	}
	f := newForm(strings.Clone(verb), objs) // kept for good: not with the file that the verb was read in
	f.all.keywords = f.findKeywords()
	f.all.ignored = f.findIgnored()
	f.all.names = f.findNames()
	f.all.exact = make(map[string]int, len(f.all.names))
	for i, n := range f.all.names {
		if _, twice := f.all.exact[n]; !twice {
			f.all.exact[n] = i
		}
	}
	forms.Store(key.String(), f)
	return f
}

// keywords are the arguments that the form takes as -name, in the order of the schema.
func (f *form) keywords() []keyword { return f.all.keywords }

// ignored are keywords that change nothing: how many values follow them.
func (f *form) ignored() map[string]int { return f.all.ignored }

// names are all words that begin with a dash and mean something here.
func (f *form) names() []string { return f.all.names }

// name finds the argument that a word beginning with a dash means: as match does, and at once if it is spelt in full.
func (f *form) name(word string) (found string, several []string) {
	if i, ok := f.all.exact[word]; ok {
		return f.all.names[i], nil
	}
	return match(word, f.all.names)
}

// scratches are rows that values are tried on, by object.
var scratches sync.Map

// scratch lends a row of the object to try a value on; give it back.
func scratch(o *schema.Object) (row reflect.Value, back func()) {
	p, ok := scratches.Load(o)
	if !ok {
		p, _ = scratches.LoadOrStore(o, &sync.Pool{New: func() any { return reflect.New(o.Type).Interface() }})
	}
	pool := p.(*sync.Pool)
	v := pool.Get()
	return reflect.ValueOf(v).Elem(), func() { pool.Put(v) }
}
