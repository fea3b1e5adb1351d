package schema

import (
	"iter"
	"reflect"
	"slices"
	"strings"
)

// Config is one version of the configuration: rows by object, in the order in which they were created. A published
// version never changes; Clone is cheap, and rows are replaced, never written to.
type Config struct {
	tables map[*Object]*rows
}

type rows struct {
	order []string
	byKey map[string]any // pointer to the object's struct

	claim  func(row any) string // see Claimant
	claims map[string]string    // key of the row by its claim
	asked  int                  // how often Claimant looked at every row
}

// New returns an empty configuration.
func New() *Config { return &Config{tables: map[*Object]*rows{}} }

// Clone returns a copy that can be changed without the original seeing it.
func (c *Config) Clone() *Config {
	n := New()
	for o, t := range c.tables {
		m := make(map[string]any, len(t.byKey))
		for k, v := range t.byKey {
			m[k] = v
		}
		n.tables[o] = &rows{order: slices.Clone(t.order), byKey: m}
	}
	return n
}

// keySeparator cannot be typed in a name.
const keySeparator = "\x00"

// Key is the row's key in the form that Get, Put and Delete use.
func (o *Object) Key(row any) string {
	v := reflect.ValueOf(row).Elem()
	var k []string
	for _, f := range o.Keys() {
		k = append(k, f.Text(v))
	}
	return strings.Join(k, keySeparator)
}

// Rows are the rows of o in order of creation: pointers that must not be written through.
func (c *Config) Rows(o *Object) []any {
	t := c.tables[o]
	if t == nil {
		return nil
	}
	out := make([]any, len(t.order))
	for i, k := range t.order {
		out[i] = t.byKey[k]
	}
	return out
}

// Row finds a row by its key values.
func (c *Config) Row(o *Object, key ...string) (any, bool) {
	t := c.tables[o]
	if t == nil {
		return nil, false
	}
	row, ok := t.byKey[strings.Join(key, keySeparator)]
	return row, ok
}

// Put adds a row, or replaces the one with the same key in its place. A single row at its defaults is not kept.
func (c *Config) Put(o *Object, row any) {
	if o.Single && reflect.DeepEqual(row, o.Fresh()) {
		c.Delete(o)
		return
	}
	t := c.tables[o]
	if t == nil {
		t = &rows{byKey: map[string]any{}}
		c.tables[o] = t
	}
	k := o.Key(row)
	if _, ok := t.byKey[k]; !ok {
		t.order = append(t.order, k)
	}
	if old := t.byKey[k]; t.claims != nil {
		t.disclaim(old, k)
		t.claims[t.claim(row)] = k
	}
	t.byKey[k] = row
}

// disclaim forgets what the row with key k claims.
func (t *rows) disclaim(row any, k string) {
	if row == nil || t.claims == nil {
		return
	}
	if was := t.claim(row); t.claims[was] == k {
		delete(t.claims, was)
	}
}

// Claimant finds the row of o for which claim is what. The answers are kept from call to call, so that a long file loads
// in linear time: claim must be the same function at each call with o, and c must not be in the hands of others yet.
func (c *Config) Claimant(o *Object, claim func(row any) string, what string) any {
	t := c.tables[o]
	if t == nil {
		return nil
	}
	if t.asked++; t.claims == nil && t.asked < 3 { // one command asks once or twice: a table does not pay
		for _, k := range t.order {
			if row := t.byKey[k]; claim(row) == what {
				return row
			}
		}
		return nil
	}
	if t.claims == nil {
		t.claim, t.claims = claim, make(map[string]string, len(t.byKey))
		for _, k := range t.order {
			t.claims[claim(t.byKey[k])] = k
		}
	}
	k, ok := t.claims[what]
	if !ok {
		return nil
	}
	return t.byKey[k]
}

// Delete removes a row; it tells whether there was one.
func (c *Config) Delete(o *Object, key ...string) bool {
	t := c.tables[o]
	k := strings.Join(key, keySeparator)
	if t == nil || t.byKey[k] == nil {
		return false
	}
	t.disclaim(t.byKey[k], k)
	delete(t.byKey, k)
	t.order = slices.DeleteFunc(t.order, func(x string) bool { return x == k })
	return true
}

// Remove removes the row that has the same key as row.
func (c *Config) Remove(o *Object, row any) { c.Delete(o, o.Key(row)) }

// All are the rows of type T in order of creation; they must not be written to.
func All[T any](c *Config) []*T {
	var out []*T
	for _, r := range c.Rows(Of[T]()) {
		out = append(out, r.(*T))
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

// Put adds or replaces a row of type T.
func Put[T any](c *Config, row *T) { c.Put(Of[T](), row) }

// Each yields the rows of o in order of creation; they must not be written to.
func (c *Config) Each(o *Object) iter.Seq[any] {
	return func(yield func(any) bool) {
		t := c.tables[o]
		if t == nil {
			return
		}
		for _, k := range t.order {
			if !yield(t.byKey[k]) {
				return
			}
		}
	}
}

// Len is the number of rows of o.
func (c *Config) Len(o *Object) int {
	if t := c.tables[o]; t != nil {
		return len(t.order)
	}
	return 0
}

// Equal tells whether two configurations have the same rows in the same order.
func (c *Config) Equal(d *Config) bool {
	for _, o := range objects {
		if c.Len(o) != d.Len(o) {
			return false
		}
		a, b := c.Rows(o), d.Rows(o)
		for i := range a {
			if !reflect.DeepEqual(a[i], b[i]) {
				return false
			}
		}
	}
	return true
}
