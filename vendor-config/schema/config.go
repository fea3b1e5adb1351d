package schema

import (
	"iter"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
)

// Config is one version of the configuration: rows by object, in the order in which they were created. A published
// version never changes: rows are replaced, never written to, and versions share every table in which they do not differ.
type Config struct {
	tables map[*Object]*rows
	age    uint64              // how often it was cloned; atomic, since several may clone a published version at once
	claims map[*Object]*claims // see Claimant
	self   *identity           // of who owns tables; nil as long as it owns none

	attempting bool   // see Attempt
	steps      []step // since the attempt began
}

// rows is the table of one object. It belongs to the configuration that made it, until that is cloned; then nobody
// writes to it any more.
type rows struct {
	owner *identity
	age   uint64         // of the owner, as long as it may write
	list  []any          // pointers to the object's struct in order of creation; nil: a row that was deleted
	place map[string]int // in list, by key
	lent  bool           // place is shared with the table that this one was copied from
}

// identity tells configurations apart. A table names its owner by it and not by the configuration itself, which would keep
// that one's other tables in memory, and by their owners every version before.
type identity struct{ _ byte }

// claims are the answers of Claimant for one object.
type claims struct {
	claim func(row any) string
	rows  map[string]any // by what they claim; nil as long as every row is looked at
	asked int            // how often that was
}

// New returns an empty configuration.
func New() *Config { return &Config{tables: map[*Object]*rows{}} }

// Clone returns a copy that can be changed without the original seeing it. It costs the same for every size.
func (c *Config) Clone() *Config {
	atomic.AddUint64(&c.age, 1)
	return &Config{tables: maps.Clone(c.tables)}
}

// Replace makes c hold what d holds; both can be changed without the other seeing it.
func (c *Config) Replace(d *Config) {
	c.note(step{tables: c.tables})
	c.tables, c.claims = d.Clone().tables, nil
}

// Same tells whether c and d share the rows of o. If not they may still be equal, if so they are.
func (c *Config) Same(d *Config, o *Object) bool { return c.tables[o] == d.tables[o] }

// writable is the table of o for c alone.
func (c *Config) writable(o *Object) *rows {
	if c.self == nil {
		c.self = &identity{}
	}
	age := atomic.LoadUint64(&c.age)
	t := c.tables[o]
	switch {
	case t == nil:
		t = &rows{place: map[string]int{}}
	case t.owner == c.self && t.age == age:
		return t
	default: // most changes replace rows, for which the copy goes on with the same places
		t = &rows{list: slices.Clone(t.list), place: t.place, lent: true}
	}
	t.owner, t.age = c.self, age
	c.tables[o] = t
	return t
}

// places is t.place for t alone.
func (t *rows) places() map[string]int {
	if t.lent {
		t.place, t.lent = maps.Clone(t.place), false
	}
	return t.place
}

// keySeparator cannot be typed in a name.
const keySeparator = "\x00"

// Key is the row's key in the form that Get, Put and Delete use.
func (o *Object) Key(row any) string {
	v := reflect.ValueOf(row).Elem()
	text := ""
	for i, f := range o.Keys() {
		if i > 0 {
			text += keySeparator
		}
		text += f.Text(v)
	}
	return text
}

// Rows are the rows of o in order of creation: pointers that must not be written through.
func (c *Config) Rows(o *Object) []any {
	t := c.tables[o]
	if t == nil {
		return nil
	}
	out := make([]any, 0, len(t.place))
	for _, row := range t.list {
		if row != nil {
			out = append(out, row)
		}
	}
	return out
}

// Row finds a row by its key values.
func (c *Config) Row(o *Object, key ...string) (any, bool) {
	return c.row(o, strings.Join(key, keySeparator))
}

func (c *Config) row(o *Object, key string) (any, bool) {
	t := c.tables[o]
	if t == nil {
		return nil, false
	}
	i, ok := t.place[key]
	if !ok {
		return nil, false
	}
	return t.list[i], true
}

// Put adds a row, or replaces the one with the same key in its place. One that is always there is not kept at its defaults.
func (c *Config) Put(o *Object, row any) {
	if o.always() && o.fresh(row) {
		c.Remove(o, row)
		return
	}
	t := c.writable(o)
	k := o.Key(row)
	if i, there := t.place[k]; there {
		c.note(step{object: o, key: k, at: i, was: t.list[i]})
		c.disclaim(o, t.list[i])
		t.list[i] = row
	} else {
		c.note(step{object: o, key: k, at: len(t.list)})
		t.places()[k] = len(t.list)
		t.list = append(t.list, row)
	}
	c.claim(o, row)
}

// claim remembers what a row claims.
func (c *Config) claim(o *Object, row any) {
	if l := c.claims[o]; l != nil && l.rows != nil {
		l.rows[l.claim(row)] = row
	}
}

// fresh tells whether the row says nothing but its key.
func (o *Object) fresh(row any) bool {
	v, f := reflect.ValueOf(row).Elem(), o.Fresh()
	for _, k := range o.keys {
		reflect.ValueOf(f).Elem().Field(k.Index).Set(v.Field(k.Index))
	}
	return reflect.DeepEqual(row, f)
}

// Rename replaces the row with the key by one with another key, in its place.
func (c *Config) Rename(o *Object, key string, row any) {
	t := c.writable(o)
	place := t.places()
	i, ok := place[key]
	if !ok {
		return
	}
	c.note(step{object: o, key: key, at: i, was: t.list[i]})
	c.disclaim(o, t.list[i])
	delete(place, key)
	place[o.Key(row)], t.list[i] = i, row
	c.claim(o, row)
}

// disclaim forgets what a row claims.
func (c *Config) disclaim(o *Object, row any) {
	if l := c.claims[o]; row != nil && l != nil && l.rows != nil {
		if was := l.claim(row); l.rows[was] == row {
			delete(l.rows, was)
		}
	}
}

// Claimant finds the row of o for which claim is what. The answers are kept from call to call, so that a long file loads
// in linear time: claim must be the same function at each call with o, and c must not be in the hands of others yet.
func (c *Config) Claimant(o *Object, claim func(row any) string, what string) any {
	t := c.tables[o]
	if t == nil {
		return nil
	}
	l := c.claims[o]
	if l == nil {
		l = &claims{claim: claim}
		if c.claims == nil {
			c.claims = map[*Object]*claims{}
		}
		c.claims[o] = l
	}
	if l.asked++; l.rows == nil && l.asked < 3 { // one command asks once or twice: a table does not pay
		for _, row := range t.list {
			if row != nil && claim(row) == what {
				return row
			}
		}
		return nil
	}
	if l.rows == nil {
		l.rows = make(map[string]any, len(t.place))
		for _, row := range t.list {
			if row != nil {
				l.rows[claim(row)] = row
			}
		}
	}
	return l.rows[what]
}

// Delete removes a row; it tells whether there was one.
func (c *Config) Delete(o *Object, key ...string) bool {
	k := strings.Join(key, keySeparator)
	if _, ok := c.row(o, k); !ok {
		return false
	}
	t := c.writable(o)
	place := t.places()
	i := place[k]
	c.note(step{object: o, key: k, at: i, was: t.list[i]})
	c.disclaim(o, t.list[i])
	t.list[i] = nil
	delete(place, k)
	if len(t.list) > 2*len(place)+16 && !c.attempting { // an attempt is undone by places
		t.close(o)
	}
	return true
}

// close closes the gaps that deleted rows have left.
func (t *rows) close(o *Object) {
	n := 0
	for _, row := range t.list {
		if row != nil {
			t.list[n], t.place[o.Key(row)] = row, n
			n++
		}
	}
	clear(t.list[n:])
	t.list = t.list[:n]
}

// Remove removes the row that has the same key as row.
func (c *Config) Remove(o *Object, row any) { c.Delete(o, o.Key(row)) }

// All are the rows of type T in order of creation; they must not be written to.
func All[T any](c *Config) []*T {
	t := c.tables[Of[T]()]
	if t == nil {
		return nil
	}
	out := make([]*T, 0, len(t.place))
	for _, row := range t.list {
		if row != nil {
			out = append(out, row.(*T))
		}
	}
	return out
}

// Get finds the row of type T with the key, or nil; it must not be written to.
func Get[T any](c *Config, key ...string) *T {
	r, ok := c.Row(Of[T](), key...)
	if !ok {
		return nil
	}
	return r.(*T)
}

// Single is the row of an object that is there once, or its defaults as long as nobody has set any; it must not be written to.
func Single[T any](c *Config) *T {
	if row := Get[T](c); row != nil {
		return row
	}
	return Of[T]().Fresh().(*T)
}

// Put adds or replaces a row of type T.
func Put[T any](c *Config, row *T) { c.Put(Of[T](), row) }

// Each yields the rows of o in order of creation; they must not be written to.
func (c *Config) Each(o *Object) iter.Seq[any] {
	return func(yield func(any) bool) {
		t := c.tables[o]
		if t == nil {
			return
		}
		for _, row := range t.list {
			if row != nil && !yield(row) {
				return
			}
		}
	}
}

// Len is the number of rows of o.
func (c *Config) Len(o *Object) int {
	if t := c.tables[o]; t != nil {
		return len(t.place)
	}
	return 0
}

// Equal tells whether two configurations have the same rows in the same order.
func (c *Config) Equal(d *Config) bool {
	for _, o := range objects {
		if c.Same(d, o) {
			continue
		}
		if c.Len(o) != d.Len(o) {
			return false
		}
		a, b := c.Rows(o), d.Rows(o)
		for i := range a {
			if a[i] != b[i] && !reflect.DeepEqual(a[i], b[i]) {
				return false
			}
		}
	}
	return true
}
