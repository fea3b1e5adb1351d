package render

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"unicode/utf8"

	"sluice/vendor-config/schema"
)

// Root is the one member of a JSON or YAML text: our container, named with its module (RFC 7951 section 4).
const Root = "sluice:sluice"

// JSON is the configuration as RFC 7951 has it: lists are arrays of objects, numbers of 64 bits are strings.
func JSON(c *schema.Config) ([]byte, error) {
	var b bytes.Buffer
	fmt.Fprintf(&b, "{\n  %q: {", Root)
	behind := ""
	for _, o := range schema.Objects() {
		rows := c.Rows(o)
		if len(rows) == 0 {
			continue
		}
		fmt.Fprintf(&b, "%s\n    %q: ", behind, o.YANG)
		behind = ","
		if !o.Single {
			b.WriteString("[")
		}
		for i, row := range rows {
			if i > 0 {
				b.WriteString(", ")
			}
			if err := jsonRow(&b, o, row); err != nil {
				return nil, fmt.Errorf("%s: %w", title(o, reflect.ValueOf(row).Elem()), err)
			}
		}
		if !o.Single {
			b.WriteString("]")
		}
	}
	if behind != "" {
		b.WriteString("\n  ")
	}
	b.WriteString("}\n}\n")
	return b.Bytes(), nil
}

func jsonRow(b *bytes.Buffer, o *schema.Object, row any) error {
	all, err := values(o, row)
	if err != nil {
		return err
	}
	b.WriteString("{")
	for i, l := range all {
		if i > 0 {
			b.WriteString(",")
		}
		fmt.Fprintf(b, "\n      %q: ", l.field.YANG)
		if l.field.Numeric() && l.field.Type.Bits() < 64 {
			b.WriteString(l.text)
			continue
		}
		writeString(b, l.text)
	}
	b.WriteString("\n    }")
	return nil
}

// writeString writes s in quotes, with no more escapes than JSON and YAML both know.
func writeString(b *bytes.Buffer, s string) {
	e := json.NewEncoder(b)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // a string cannot fail
	b.Truncate(b.Len() - 1)
}

// jsonReader reads a text token by token: no more of it is ever held than one row.
type jsonReader struct {
	findings
	dec *json.Decoder
}

// errStop ends the reading of a text of which a problem has been reported that nothing behind it survives.
var errStop = errors.New("stop")

// ReadJSON reads what JSON writes. A text that is no JSON is read up to the fault, which is a problem.
func ReadJSON(data []byte, opt Options) *Document {
	r := &jsonReader{findings: found(data, opt)}
	if r.tooLong() {
		return &r.Document
	}
	text := bytes.TrimPrefix(data, []byte("\ufeff"))
	if at := invalid(text); at >= 0 {
		r.problem(at, "", "the text is not UTF-8 here")
		return &r.Document
	}
	r.data, r.dec = text, json.NewDecoder(bytes.NewReader(text))
	r.dec.UseNumber()
	if err := r.document(); err != nil && err != errStop {
		r.broken(err)
	}
	return r.finish(opt.Check)
}

// invalid is the offset of the first byte that belongs to no character, or -1.
func invalid(b []byte) int {
	for at := 0; at < len(b); {
		c, n := utf8.DecodeRune(b[at:])
		if c == utf8.RuneError && n <= 1 {
			return at
		}
		at += n
	}
	return -1
}

// at is where the next token begins.
func (r *jsonReader) at() int {
	at := int(r.dec.InputOffset())
	for at < len(r.data) && strings.IndexByte(" \t\r\n,:", r.data[at]) >= 0 {
		at++
	}
	return at
}

func (r *jsonReader) broken(err error) {
	at := r.at()
	var syntax *json.SyntaxError
	switch {
	case err == io.EOF, err == io.ErrUnexpectedEOF, at >= len(r.data):
		r.problem(len(r.data), "", "the JSON is cut off here")
	case errors.As(err, &syntax):
		r.problem(min(int(syntax.Offset), len(r.data)), "", "the JSON is broken here: "+err.Error())
	default:
		r.problem(at, "", "the JSON is broken here: "+err.Error())
	}
}

// stop reports what is wrong at the offset and ends the reading.
func (r *jsonReader) stop(at int, why string) error {
	r.problem(at, "", why)
	return errStop
}

// begins takes the token that opens a container, d being `{` or `[`.
func (r *jsonReader) begins(d json.Delim, what string) error {
	at := r.at()
	t, err := r.dec.Token()
	if err == nil && t != d {
		kind := "an object"
		if d == '[' {
			kind = "an array"
		}
		return r.stop(at, fmt.Sprintf("%s is %s", what, kind))
	}
	return err
}

// members calls each for every member of an object whose beginning has been taken. A name twice is a problem.
func (r *jsonReader) members(each func(name string, at int) error) error {
	seen := map[string]bool{}
	for r.dec.More() {
		at := r.at()
		t, err := r.dec.Token()
		if err != nil {
			return err
		}
		name, _ := t.(string)
		name = strings.TrimPrefix(name, "sluice:")
		if len(seen) < 1000 {
			if seen[name] {
				return r.stop(at, fmt.Sprintf("the member %q is there twice", clip(name)))
			}
			seen[name] = true
		}
		if err := each(name, at); err != nil {
			return err
		}
	}
	_, err := r.dec.Token()
	return err
}

func (r *jsonReader) document() error {
	if nonBlank(r.data) < 0 {
		return r.stop(0, Empty)
	}
	if err := r.begins('{', "the text"); err != nil {
		return err
	}
	rooted := false
	err := r.members(func(name string, at int) error {
		if name != "sluice" {
			r.problem(at, "", fmt.Sprintf("unknown member %q where %q belongs", clip(name), Root))
			return r.skip(1)
		}
		rooted = true
		if err := r.begins('{', Root); err != nil {
			return err
		}
		return r.members(r.object)
	})
	if err != nil {
		return err
	}
	if !rooted {
		r.problem(0, "", fmt.Sprintf("the text holds no member %q", Root))
	}
	if at := r.at(); at < len(r.data) {
		return r.stop(at, "there is text behind the end of the JSON")
	}
	return nil
}

// object reads the rows of one object.
func (r *jsonReader) object(name string, at int) error {
	o := schema.Listed(name)
	if o == nil {
		r.problem(at, clip(name), fmt.Sprintf("unknown member %q", clip(name)))
		return r.skip(2)
	}
	if o.Single {
		return r.row(o)
	}
	if err := r.begins('[', name); err != nil {
		return err
	}
	for r.dec.More() {
		if err := r.row(o); err != nil {
			return err
		}
	}
	_, err := r.dec.Token()
	return err
}

func (r *jsonReader) row(o *schema.Object) error {
	start := r.at()
	if err := r.begins('{', "a row of "+o.YANG); err != nil {
		return err
	}
	var leaves []*leaf
	err := r.members(func(name string, at int) error {
		l := &leaf{name: name, at: at}
		t, err := r.dec.Token()
		if err != nil {
			return err
		}
		if len(leaves) < maxLeaves {
			leaves = append(leaves, l)
		}
		switch t := t.(type) {
		case string:
			l.text.WriteString(t)
		case json.Number:
			if f := o.Leaf(name); f != nil && !f.Numeric() {
				l.bad = fmt.Sprintf("%q is a string, not a number", name)
			}
			l.text.WriteString(t.String())
		case json.Delim:
			l.bad = fmt.Sprintf("%q is a single value", clip(name))
			return r.rest(4)
		default:
			l.bad = fmt.Sprintf("%q is a string or a number", clip(name))
		}
		return nil
	})
	if err != nil {
		return err
	}
	r.plain(o, leaves, start)
	return nil
}

// maxLeaves is how many members of a row are looked at; no object has so many.
const maxLeaves = 1000

// skip reads a value that is not used; depth is how many containers it stands in.
func (r *jsonReader) skip(depth int) error {
	t, err := r.dec.Token()
	if _, opens := t.(json.Delim); err == nil && opens {
		err = r.rest(depth + 1)
	}
	return err
}

// rest reads to the end of a container whose beginning has been taken, the depth-th from outside.
func (r *jsonReader) rest(depth int) error {
	for inside := 1; inside > 0; {
		at := r.at()
		t, err := r.dec.Token()
		if err != nil {
			return err
		}
		switch t {
		case json.Delim('{'), json.Delim('['):
			if inside++; depth+inside > maxDepth {
				return r.stop(at, fmt.Sprintf("values are nested deeper than %d", maxDepth))
			}
		case json.Delim('}'), json.Delim(']'):
			inside--
		}
	}
	return nil
}
