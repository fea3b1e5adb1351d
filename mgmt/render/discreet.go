package render

import (
	"reflect"

	"sluice/cli/grammar"
	"sluice/vendor-config/schema"
)

// Discreet is the configuration as it may be shown: secrets are hidden. Reading it back as it stands is refused.
func Discreet(c *schema.Config) *schema.Config {
	d := c.Clone()
	for _, o := range schema.Objects() {
		for _, f := range o.Fields {
			if !o.Rows || !f.Secret {
				continue
			}
			for _, row := range d.Rows(o) {
				if f.Text(reflect.ValueOf(row).Elem()) == "" {
					continue
				}
				hidden := o.Copy(row)
				reflect.ValueOf(hidden).Elem().Field(f.Index).SetString(schema.Hidden)
				d.Put(o, hidden)
			}
		}
	}
	for _, l := range schema.All[schema.NSLine](d) {
		if text := grammar.DiscreetKept(l.Text); text != l.Text {
			schema.Put(d, &schema.NSLine{Number: l.Number, Text: text, Reason: l.Reason})
		}
	}
	return d
}
