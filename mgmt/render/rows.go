package render

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"

	"sluice/vendor-config/schema"
)

// row is a row of the file that is valid by itself.
type row struct {
	object *schema.Object
	value  any // pointer to the object's struct
	at     int // offset in the file
	text   Held
	again  bool // it was held when the file was saved
}

func (w *row) title() string { return title(w.object, reflect.ValueOf(w.value).Elem()) }

// leaf is a child element of a row.
type leaf struct {
	name string // local
	text strings.Builder
	at   int
	bad  string // what is wrong with it apart from its value
}

// original is a row as it stands in the file.
type original struct {
	start  int
	leaves []*leaf
	text   []byte // the element, with every namespace that it needs declared in it
	wrong  string // what is wrong with it apart from its leaves
	again  bool   // it was held when the file was saved
}

// row reads one row of o. A row that is not valid is held.
func (r *reader) row(o *schema.Object, t xml.StartElement, start int, scope map[string]string) error {
	p, err := r.original(o, t, start, scope)
	if p != nil {
		r.finishRow(o, p, p.leaves, p.text)
	}
	return err
}

// original reads a row, which is nil after a fault of the text. o is nil when it is not known.
func (r *reader) original(o *schema.Object, t xml.StartElement, start int, scope map[string]string) (*original, error) {
	p := &original{start: start, again: r.stack[len(r.stack)-1].level == inContent}
	var err error
	p.leaves, p.wrong, err = r.leaves(t, scope)
	if err != nil {
		f := err.(*fault)
		name := t.Name.Local
		if o != nil {
			name = heading(o, p.leaves)
		}
		r.problem(f.at, name, f.msg)
		if !r.resync(start, rawName(t.Name), f) {
			r.restart(len(r.data))
			r.resynced = true
		}
		return nil, nil
	}
	_, declared := scopeOf(nil, t.Attr)
	p.text = selfContained(r.data[start:r.offset()], len(rawName(t.Name)), scope, declared)
	if a := strangeAttr(t.Attr); p.wrong == "" && a != "" {
		p.wrong = "unknown attribute " + a
	}
	return p, nil
}

// finishRow takes a row of o with these leaves, or holds text in its place. A nil o is not known.
func (r *reader) finishRow(o *schema.Object, p *original, leaves []*leaf, text []byte) {
	if o == nil {
		name, _, _ := strings.Cut(strings.Trim(string(text), "<"), " ")
		r.hold(Held{text: text, reason: fmt.Sprintf("unknown element <%s>", clip(name))}, p.start, clip(name), p.again)
		return
	}
	h := Held{text: text, object: o}
	value, at, why := r.build(o, leaves)
	if why == nil && p.wrong != "" {
		at, why = p.start, errors.New(p.wrong)
	}
	if why == nil {
		h.key = o.Key(value)
		r.add(&row{o, value, p.start, h, p.again})
		return
	}
	if at < 0 {
		at = p.start
	}
	if r.whole(o, leaves) {
		h.key = o.Key(value)
	}
	h.reason = why.Error()
	r.hold(h, at, heading(o, leaves), p.again)
}

// leaves reads the children of a row to its end.
func (r *reader) leaves(t xml.StartElement, scope map[string]string) (leaves []*leaf, stray string, err error) {
	for {
		tok, start, err := r.token()
		if err == io.EOF {
			return leaves, "", &fault{at: len(r.data), msg: "the file is cut off in this row"}
		}
		if err != nil {
			return leaves, "", err
		}
		switch c := tok.(type) {
		case xml.EndElement:
			if rawName(c.Name) != rawName(t.Name) {
				return leaves, "", &fault{at: start, msg: fmt.Sprintf("</%s> comes before the end of <%s>", rawName(c.Name), rawName(t.Name))}
			}
			return leaves, stray, nil
		case xml.StartElement:
			l := &leaf{name: c.Name.Local, at: start}
			leaves = append(leaves, l)
			inner, _ := scopeOf(scope, c.Attr)
			if inner[c.Name.Space] != scope[t.Name.Space] {
				l.bad = fmt.Sprintf("unknown element <%s> of another namespace", rawName(c.Name))
			}
			if a := strangeAttr(c.Attr); a != "" {
				l.bad = fmt.Sprintf("unknown attribute %s of <%s>", a, rawName(c.Name))
			}
			if err := r.leaf(l, c, start); err != nil {
				return leaves, "", err
			}
		case xml.CharData:
			if nonBlank(c) >= 0 {
				stray = "there is text between the elements of the row"
			}
		case xml.Directive:
			return leaves, "", &fault{at: start, msg: "a document type declaration is refused"}
		}
	}
}

// leaf reads a child's text to its end.
func (r *reader) leaf(l *leaf, t xml.StartElement, start int) error {
	if r.rowAt(start) {
		return unclosed(start)
	}
	for {
		tok, at, err := r.token()
		if err == io.EOF {
			return &fault{at: len(r.data), msg: "the file is cut off in this row"}
		}
		if err != nil {
			return err
		}
		switch c := tok.(type) {
		case xml.EndElement:
			if rawName(c.Name) != rawName(t.Name) {
				return &fault{at: at, msg: fmt.Sprintf("</%s> comes before the end of <%s>", rawName(c.Name), rawName(t.Name))}
			}
			return nil
		case xml.StartElement:
			if r.rowAt(at) {
				return unclosed(at)
			}
			l.bad = fmt.Sprintf("unknown element <%s> in <%s>", rawName(c.Name), rawName(t.Name))
			if err := r.skip(c.Name); err != nil {
				return err
			}
		case xml.CharData:
			l.text.Write(c)
		case xml.Directive:
			return &fault{at: at, msg: "a document type declaration is refused"}
		}
	}
}

func unclosed(at int) *fault {
	return &fault{at: at, msg: "another row begins here before the end of this one", resume: at}
}

// build makes a row of its leaves, on top of the row that the base has with that key. at is the offset of the first leaf at
// fault, -1 when it is the row itself.
func (r *findings) build(o *schema.Object, leaves []*leaf) (value any, at int, err error) {
	value, at = o.Fresh(), -1
	v := reflect.ValueOf(value).Elem()
	given := map[*schema.Field]bool{}
	var faults []string
	blame := func(l *leaf, why string) {
		if at < 0 {
			at = l.at
		}
		faults = append(faults, why)
	}
	before := r.before(o, leaves)
	if before != nil {
		v.Set(reflect.ValueOf(before).Elem())
	}
	if slices.ContainsFunc(leaves, func(l *leaf) bool { return strings.Contains(l.text.String(), schema.Hidden) }) {
		r.key(o, leaves, v) // by which secrets are found
	}
	for _, l := range leaves {
		f := o.Leaf(l.name)
		switch {
		case l.bad != "":
			blame(l, l.bad)
		case f == nil:
			blame(l, fmt.Sprintf("unknown element <%s>", clip(l.name)))
		case given[f]:
			blame(l, fmt.Sprintf("<%s> is given twice", l.name))
		case l.text.Len() > maxLeaf:
			blame(l, fmt.Sprintf("<%s> is longer than %d bytes", l.name, maxLeaf))
		default:
			text, err := Revealed(r.secrets, o, f, f.Content(l.text.String()), v)
			if err == nil {
				err = f.Set(v, text)
			}
			if err != nil {
				blame(l, err.Error())
			}
		}
		if f != nil {
			given[f] = true
		}
	}
	for _, f := range o.Fields {
		if f.DefaultBy != "" && !given[f] && before == nil {
			f.Reset(o, v)
		}
	}
	if m := missing(o, v, given, before != nil); len(m) > 0 {
		faults = append(faults, fmt.Sprintf("Required argument missing [%s]", strings.Join(m, ", ")))
	}
	if len(faults) > 0 {
		return value, at, errors.New(strings.Join(faults, "; "))
	}
	return value, -1, nil
}

// before is the row of the base that the leaves are about, or nil.
func (r *findings) before(o *schema.Object, leaves []*leaf) any {
	v := reflect.New(o.Type)
	if r.base.Len(o) == 0 || !r.key(o, leaves, v.Elem()) {
		return nil
	}
	row, _ := r.base.Row(o, o.Key(v.Interface()))
	return row
}

// missing lists the keys and required arguments that have no value.
func missing(o *schema.Object, v reflect.Value, given map[*schema.Field]bool, before bool) []string {
	var out []string
	for _, f := range o.Leaves() {
		if (f.Key > 0 || f.Required) && (!given[f] && !before || f.Text(v) == "") {
			out = append(out, f.CLI)
		}
	}
	return out
}

// whole tells whether the leaves hold the whole key of a row.
func (r *findings) whole(o *schema.Object, leaves []*leaf) bool {
	return r.key(o, leaves, reflect.New(o.Type).Elem())
}

// key sets the key of v to what the leaves say, if they say all of it.
func (r *findings) key(o *schema.Object, leaves []*leaf, v reflect.Value) bool {
	for _, f := range o.Keys() {
		l := leafOf(leaves, f)
		if l == nil || l.bad != "" || f.Set(v, r.secrets.Unmask(o, f, f.Content(l.text.String()))) != nil || f.Text(v) == "" {
			return false
		}
	}
	return true
}

// heading names a row of which perhaps not everything could be read.
func heading(o *schema.Object, leaves []*leaf) string {
	words := []string{o.Name()}
	for _, f := range o.Keys() {
		if l := leafOf(leaves, f); l != nil {
			words = append(words, f.Mask(clip(f.Content(l.text.String()))))
		}
	}
	return strings.TrimSpace(strings.Join(words, " "))
}

func leafOf(leaves []*leaf, f *schema.Field) *leaf {
	i := slices.IndexFunc(leaves, func(l *leaf) bool { return l.name == f.YANG })
	if i < 0 {
		return nil
	}
	return leaves[i]
}

// strangeAttr is the first attribute that is no namespace declaration; our rows and leaves have none.
func strangeAttr(attrs []xml.Attr) string {
	for _, a := range attrs {
		if _, ok := nsPrefix(a); !ok {
			return rawName(a.Name)
		}
	}
	return ""
}
