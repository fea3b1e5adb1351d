package schema

import (
	"reflect"
	"slices"
	"strings"
)

// Listed finds the object with rows of that YANG name, or nil.
func Listed(yang string) *Object {
	if o := byYANG[yang]; o != nil && o.Rows {
		return o
	}
	return nil
}

// Leaf finds a field by its YANG name, or nil.
func (o *Object) Leaf(yang string) *Field {
	i := slices.IndexFunc(o.Fields, func(f *Field) bool { return f.YANG == yang })
	if i < 0 {
		return nil
	}
	return o.Fields[i]
}

// Content is the value in the text of a leaf: blanks around it belong to it only where any text is allowed.
func (f *Field) Content(text string) string {
	if f.Type.Kind() == reflect.String && len(f.Enum) == 0 {
		return text
	}
	return strings.TrimSpace(text)
}

// Presence tells whether a row without a key means something by being there: one that has nothing to say without a value. Else it
// is there with its defaults (RFC 7950 section 7.5.1).
func (o *Object) Presence() bool {
	return o.Single && slices.ContainsFunc(o.Fields, func(f *Field) bool { return f.Required })
}

// Leaves are the fields in the order in which files have them: the keys first (RFC 7950 section 7.8.5).
func (o *Object) Leaves() []*Field {
	out := make([]*Field, 0, len(o.Fields))
	out = append(out, o.keys...)
	for _, f := range o.Fields {
		if f.Key == 0 {
			out = append(out, f)
		}
	}
	return out
}
