package show

import (
	"reflect"
	"strings"

	"sluice/cli/grammar"
	"sluice/vendor-config/schema"
)

// showStored writes the rows of an object whose function is not built: all that was said about each, and what is bound to it.
func showStored(p *page) error {
	o := p.op.Object
	rows := p.Config.Rows(o)
	one := len(p.op.Key) > 0
	if one {
		row, ok := p.Config.Row(o, p.op.Key...)
		if !ok {
			return missing(p.op)
		}
		rows = []any{row}
	}
	return p.storedRows(rows, 0, one)
}

// storedRows writes rows that are only stored, with numbers behind those of others before them.
func (p *page) storedRows(rows []any, before int, one bool) error {
	o := p.op.Object
	for i, row := range rows {
		p.number(before+i, one)
		p.f("%s  (stored, not in force)\n", strings.TrimSpace(o.Name()+" "+grammar.RowName(o, row)))
		v := reflect.ValueOf(row).Elem()
		for _, f := range o.Fields {
			text := f.Text(v)
			if f.Key > 0 || f.Kept || text == "" || v.Field(f.Index).IsZero() && !f.HasDefault {
				continue
			}
			p.f("\t%s: %s\n", f.CLI, f.Mask(text))
		}
		if k, ok := row.(*schema.SSLCertKey); ok {
			p.ending(k.CertkeyName)
		}
		p.bound(o, row)
	}
	return nil
}

// bound writes what is bound to a row that is only stored.
func (p *page) bound(o *schema.Object, row any) {
	for _, b := range schema.Objects() {
		if !b.Stored || b == o || b.Verbs[0] != "bind" || b.Name() != o.Name() {
			continue
		}
		for bound := range p.Config.Each(b) {
			if b.Keys()[0].Text(reflect.ValueOf(bound).Elem()) == o.Key(row) {
				p.f("\t%s\n", grammar.ShownLine(b, bound))
			}
		}
	}
}
