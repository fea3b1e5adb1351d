package schema

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
