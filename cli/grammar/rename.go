package grammar

import (
	"reflect"
	"slices"

	"sluice/vendor-config/schema"
)

// rename gives a row another name: in its place, and wherever other rows speak of it.
func (op *Op) rename(c *schema.Config) error {
	o := op.Object
	old, err := op.existing(c)
	if err != nil {
		return err
	}
	to, _ := op.Arg("newName")
	if to == op.Key[0] {
		return schema.Refuse(schema.RowExists, Label(o), to).Because("it is called so already")
	}
	if _, exists := c.Row(o, to); exists {
		return schema.Refuse(schema.RowExists, Label(o), to)
	}
	speaking := speakers(c, o, op.Key[0])
	row := o.Copy(old)
	if err := o.Keys()[0].Set(reflect.ValueOf(row).Elem(), to); err != nil {
		return err
	}
	c.Rename(o, op.Key[0], row)
	for _, s := range speaking {
		n := s.o.Copy(s.row)
		for _, f := range s.fields {
			if err := f.Set(reflect.ValueOf(n).Elem(), to); err != nil {
				return err
			}
		}
		c.Rename(s.o, s.o.Key(s.row), n)
	}
	renamed, _ := c.Row(o, to) // which may speak of itself
	if err := checkRow(c, o, renamed); err != nil {
		return err
	}
	if changed := rulesOf[o].changed; changed != nil {
		return changed(c, renamed)
	}
	return nil
}

// speaker is a row that speaks of another by some of its fields.
type speaker struct {
	o      *schema.Object
	row    any
	fields []*schema.Field
}

// speakers are the rows that speak of the row of o with the name.
func speakers(c *schema.Config, o *schema.Object, name string) []speaker {
	var all []speaker
	for _, other := range schema.Objects() {
		var fields []*schema.Field
		for _, f := range other.Fields {
			if slices.Contains(f.Targets(), o) {
				fields = append(fields, f)
			}
		}
		if len(fields) == 0 {
			continue
		}
		for row := range c.Each(other) {
			s := speaker{o: other, row: row}
			for _, f := range fields {
				if f.Text(reflect.ValueOf(row).Elem()) != name {
					continue
				}
				if of, _ := f.Refers(c, name); of == o {
					s.fields = append(s.fields, f)
				}
			}
			if s.fields != nil {
				all = append(all, s)
			}
		}
	}
	return all
}
