package grammar

import (
	"cmp"
	"reflect"
	"slices"

	"sluice/vendor-config/schema"
)

// priorityStep is the distance of priorities that renumber leaves for rules to come in between.
const priorityStep = 10

// ordered executes apply, clear and renumber of a list of rules that are asked in the order of their priorities. Rules are in force
// at once here, as far as they are, so that apply has nothing to do: files have it behind the rules.
func (op *Op) ordered(c *schema.Config, o *schema.Object) error {
	rows := c.Rows(o)
	switch op.Verb {
	case "clear":
		for _, row := range rows {
			c.Remove(o, row)
		}
	case "renumber":
		f := o.Field("priority")
		priority := func(row any) uint64 { // rules without one come last
			return reflect.ValueOf(row).Elem().Field(f.Index).Uint() - 1
		}
		slices.SortStableFunc(rows, func(a, b any) int { return cmp.Compare(priority(a), priority(b)) })
		for i, row := range rows {
			n := o.Copy(row)
			reflect.ValueOf(n).Elem().Field(f.Index).SetUint(uint64(i+1) * priorityStep)
			c.Put(o, n)
		}
	}
	return nil
}
