package netconf

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"sluice/mgmt/render"
	"sluice/vendor-config/schema"
)

// edit changes c as the <config> of an edit-config says (RFC 6241 section 7.2). After an error c is half changed and of no
// use. What only the whole configuration can show, such as a reference that leads nowhere, is not looked at.
func edit(c *schema.Config, config *element, operation string) error {
	e := editor{c: c, secrets: c.Clone()}
	return e.edit(config, operation)
}

// editor changes c. Secrets that come back hidden, as they were read, are those of secrets.
type editor struct{ c, secrets *schema.Config }

func (ed *editor) edit(config *element, operation string) error {
	c := ed.c
	if operation == "replace" {
		c.Replace(schema.New())
		operation = "merge"
	}
	for _, root := range config.kids {
		if root.name.Space != ownNS {
			return wrong("unknown-namespace", "/", fmt.Sprintf("nothing is configured in the namespace %q", valid(root.name.Space)),
				"bad-element", root.name.Local, "bad-namespace", root.name.Space)
		}
		if root.name.Local != "sluice" {
			return unknown("/", root)
		}
		op, err := operationOf(root, operation, rootPath)
		if err != nil {
			return err
		}
		switch op {
		case "replace", "delete", "remove":
			c.Replace(schema.New())
		}
		if op == "delete" || op == "remove" {
			continue
		}
		for _, e := range root.kids {
			if err := ed.object(e, op); err != nil {
				return err
			}
		}
	}
	return nil
}

const rootPath = "/sluice:sluice"

func unknown(path string, e *element) error {
	return wrong("unknown-element", path, fmt.Sprintf("there is no %s here", valid(e.name.Local)), "bad-element", e.name.Local)
}

// operationOf is what is to be done to a node: its own attribute, or what holds around it.
func operationOf(e *element, inherited, path string) (string, error) {
	for _, a := range e.attrs {
		switch {
		case a.Name.Local == "xmlns" || a.Name.Space == "xmlns":
		case a.Name.Space == baseNS && a.Name.Local == "operation":
			if !slices.Contains([]string{"merge", "replace", "create", "delete", "remove"}, a.Value) {
				return "", wrong("bad-attribute", path, fmt.Sprintf("%q is no operation", valid(a.Value)), "bad-attribute", "operation", "bad-element", e.name.Local)
			}
			inherited = a.Value
		case a.Name.Space == defaultNS && a.Name.Local == "default": // comes back from report-all-tagged
		default:
			return "", wrong("unknown-attribute", path, fmt.Sprintf("%s bears an attribute that means nothing here", valid(e.name.Local)),
				"bad-attribute", a.Name.Local, "bad-element", e.name.Local)
		}
	}
	return inherited, nil
}

// object changes one row.
func (ed *editor) object(e *element, inherited string) error {
	c := ed.c
	o := schema.Listed(e.name.Local)
	if e.name.Space != ownNS || o == nil {
		return unknown(rootPath, e)
	}
	path := rootPath + "/sluice:" + o.YANG
	op, err := operationOf(e, inherited, path)
	if err != nil {
		return err
	}
	row := reflect.New(o.Type)
	if err := ed.keys(o, e, row.Elem(), path); err != nil {
		return err
	}
	path += predicates(o, row.Elem())
	before, there := c.Row(o, o.Key(row.Interface()))
	if o.Single && !there && !o.Presence() {
		before = o.Fresh() // it is there with its defaults, and without them it does not exist
	}
	switch {
	case op == "create" && there:
		return wrong("data-exists", path, "it is there already")
	case (op == "delete" || op == "none" && before == nil) && !there:
		return wrong("data-missing", path, "it is not there")
	case op == "delete" || op == "remove":
		c.Delete(o, o.Key(row.Interface()))
		return nil
	case op == "replace" || op == "create":
		before = nil
	}
	next, err := ed.row(o, e, row.Elem(), before, op, path)
	if err == nil {
		c.Put(o, next)
	}
	return err
}

// keys reads the key leaves of a row.
func (ed *editor) keys(o *schema.Object, e *element, v reflect.Value, path string) error {
	for _, f := range o.Keys() {
		k := e.in(ownNS, f.YANG)
		if k == nil {
			return wrong("missing-element", path, fmt.Sprintf("a row of %s is named by its %s", o.YANG, f.YANG), "bad-element", f.YANG)
		}
		if err := ed.set(o, f, v, k, path); err != nil {
			return err
		}
		if f.Text(v) == "" {
			return wrong("invalid-value", path+"/sluice:"+f.YANG, "a key is not empty", "bad-element", f.YANG)
		}
	}
	return nil
}

// predicates name a row in a path.
func predicates(o *schema.Object, v reflect.Value) string {
	var b strings.Builder
	for _, f := range o.Keys() {
		quote := "'"
		if strings.Contains(f.Text(v), "'") {
			quote = `"`
		}
		fmt.Fprintf(&b, "[sluice:%s=%s%s%s]", f.YANG, quote, f.Mask(f.Text(v)), quote)
	}
	return b.String()
}

// set parses the text of a leaf into the row.
func (ed *editor) set(o *schema.Object, f *schema.Field, v reflect.Value, leaf *element, path string) error {
	path += "/sluice:" + f.YANG
	if len(leaf.kids) > 0 {
		return unknown(path, leaf.kids[0])
	}
	text, err := render.Revealed(ed.secrets, o, f, f.Content(string(leaf.text)), v)
	if err == nil {
		err = f.Set(v, text)
	}
	if err != nil {
		return wrong("invalid-value", path, err.Error(), "bad-element", f.YANG)
	}
	return nil
}

// row makes the row with the key that the leaves make of the one before; nil stands for none.
func (ed *editor) row(o *schema.Object, e *element, key reflect.Value, before any, op, path string) (any, error) {
	row := o.Fresh()
	v := reflect.ValueOf(row).Elem()
	if before != nil {
		v.Set(reflect.ValueOf(before).Elem())
	}
	for _, f := range o.Keys() {
		v.Field(f.Index).Set(key.Field(f.Index))
	}
	given := map[*schema.Field]bool{}
	for _, leaf := range e.kids {
		f := o.Leaf(leaf.name.Local)
		if leaf.name.Space != ownNS || f == nil {
			return nil, unknown(path, leaf)
		}
		if given[f] {
			return nil, wrong("bad-element", path+"/sluice:"+f.YANG, f.YANG+" is given twice", "bad-element", f.YANG)
		}
		given[f] = true
		if err := ed.leaf(o, f, leaf, v, op, path); err != nil {
			return nil, err
		}
	}
	for _, f := range o.Fields {
		if f.DefaultBy != "" && !given[f] && before == nil {
			f.Reset(o, v)
		}
		if f.Required && f.Text(v) == "" || f.Required && before == nil && !given[f] {
			return nil, wrong("data-missing", path, schema.Refuse(schema.Missing, f.CLI).Error(), "bad-element", f.YANG)
		}
	}
	return row, nil
}

// leaf changes one leaf. A leaf at its default does not exist (RFC 6243 section 2.2, trim).
func (ed *editor) leaf(o *schema.Object, f *schema.Field, leaf *element, v reflect.Value, inherited, path string) error {
	at := path + "/sluice:" + f.YANG
	op, err := operationOf(leaf, inherited, at)
	if err != nil {
		return err
	}
	own := op != inherited || slices.ContainsFunc(leaf.attrs, isOperation)
	if f.Key > 0 {
		if own && op != "merge" && op != inherited {
			return wrong("operation-not-supported", at, "a key does not change; delete the row and create another", "bad-element", f.YANG)
		}
		return ed.set(o, f, v, leaf, path)
	}
	if own {
		there := f.Required || !atDefault(o, f, v)
		switch {
		case op == "create" && there:
			return wrong("data-exists", at, "it has a value already", "bad-element", f.YANG)
		case op == "delete" && !there:
			return wrong("data-missing", at, "it has no value, or its default", "bad-element", f.YANG)
		}
	}
	if op == "delete" || op == "remove" {
		f.Reset(o, v)
		return nil
	}
	if op == "none" {
		return nil
	}
	return ed.set(o, f, v, leaf, path)
}

func atDefault(o *schema.Object, f *schema.Field, v reflect.Value) bool {
	scratch := reflect.New(o.Type).Elem()
	scratch.Set(v)
	f.Reset(o, scratch)
	return f.Text(scratch) == f.Text(v)
}
