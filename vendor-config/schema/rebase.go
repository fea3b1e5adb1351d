package schema

import (
	"reflect"
	"strings"
)

// Rebase carries the changes that lead from base to mine over to theirs, row by row. clash names a row that was changed in
// both and differently, or is "".
func Rebase(base, mine, theirs *Config) (c *Config, clash string) {
	c = theirs.Clone()
	for _, o := range Objects() {
		if !o.Rows || base.Same(mine, o) {
			continue
		}
		take := func(key string) bool {
			was, _ := base.row(o, key)
			is, there := mine.row(o, key)
			other, _ := theirs.row(o, key)
			switch {
			case reflect.DeepEqual(was, is), reflect.DeepEqual(is, other):
				return true
			case !reflect.DeepEqual(was, other):
				return false
			case there:
				c.Put(o, is)
			default:
				c.Delete(o, key)
			}
			return true
		}
		for row := range base.Each(o) {
			if !take(o.Key(row)) {
				return nil, titled(o, row)
			}
		}
		for row := range mine.Each(o) {
			if !take(o.Key(row)) {
				return nil, titled(o, row)
			}
		}
	}
	return c, ""
}

// titled names a row as an operator does.
func titled(o *Object, row any) string {
	return o.Name() + " " + strings.ReplaceAll(o.Key(row), keySeparator, " ")
}
