package render

import (
	"reflect"
	"strings"

	"sluice/cli/grammar"
	"sluice/vendor-config/schema"
)

// Discreet is the configuration as it may be shown: secrets are hidden. Read back by who has the secrets it is what it was, see
// Revealed; by anybody else it is refused.
func Discreet(c *schema.Config) *schema.Config {
	d := c.Clone()
	for _, o := range schema.Objects() {
		for _, f := range o.Fields {
			if !o.Rows || !f.Secret {
				continue
			}
			for _, row := range d.Rows(o) {
				text := f.Text(reflect.ValueOf(row).Elem())
				if text == "" || f.HasDefault && text == f.Default {
					continue
				}
				hidden := o.Copy(row)
				reflect.ValueOf(hidden).Elem().Field(f.Index).SetString(f.Mask(text))
				d.Rename(o, o.Key(row), hidden)
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

// Revealed is the value of a field for which text stands: where it is as Discreet has shown it, the one that the row with the same
// key has in c. v is the row so far, its key at least. Of what is hidden and is in no such row, the error says so.
func Revealed(c *schema.Config, o *schema.Object, f *schema.Field, text string, v reflect.Value) (string, error) {
	kept := o == schema.Of[schema.NSLine]() && f == o.Field("text") && strings.Contains(text, schema.Hidden)
	switch {
	case f.Key > 0:
		return c.Unmask(o, f, text), nil // what is in no row is refused as any mask is
	case !kept && !(f.Secret && schema.Masked(text)):
		return text, nil
	}
	row, there := c.Row(o, o.Key(v.Addr().Interface()))
	if there {
		secret := f.Text(reflect.ValueOf(row).Elem())
		if kept && grammar.DiscreetKept(secret) == text || !kept && secret != "" {
			return secret, nil
		}
	}
	return "", schema.Refuse(schema.BadValue, f.CLI, schema.Hidden).Because("that is how show hides a secret; give the secret itself")
}
