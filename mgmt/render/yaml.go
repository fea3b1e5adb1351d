package render

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"sluice/vendor-config/schema"
)

// maxYAML is the greatest length of a YAML text in bytes.
const maxYAML = 32 << 20

// YAML is the configuration in the shape of JSON. Texts that some reader of YAML would take for something else stand in
// quotes.
func YAML(c *schema.Config) ([]byte, error) {
	var b bytes.Buffer
	b.WriteString(Root + ":")
	empty := true
	for _, o := range schema.Objects() {
		rows := c.Rows(o)
		if len(rows) == 0 {
			continue
		}
		empty = false
		fmt.Fprintf(&b, "\n  %s:", o.YANG)
		for _, row := range rows {
			all, err := values(o, row)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", title(o, reflect.ValueOf(row).Elem()), err)
			}
			lead := "    - "
			if o.Single {
				lead = "    "
			}
			if len(all) == 0 {
				b.WriteString(" {}")
			}
			for _, l := range all {
				fmt.Fprintf(&b, "\n%s%s: ", lead, l.field.YANG)
				writeScalar(&b, l)
				lead = strings.Repeat(" ", len(lead))
			}
		}
	}
	if empty {
		b.WriteString(" {}")
	}
	b.WriteString("\n")
	return b.Bytes(), nil
}

// meaningful are words that some version of YAML takes for something else than text.
var meaningful = strings.Fields("y n yes no on off true false null")

// writeScalar writes a value plain if every reader takes it for what it is.
func writeScalar(b *bytes.Buffer, l value) {
	s := l.text
	word := s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") == "" &&
		strings.IndexByte("0123456789-", s[0]) < 0 && !slices.Contains(meaningful, strings.ToLower(s))
	address := l.field.Type.Kind() == reflect.Struct && strings.Count(s, ".") == 3 // no number has three dots
	if word || address || l.field.Numeric() && l.field.Type.Bits() < 64 {
		b.WriteString(s)
		return
	}
	writeString(b, s)
}

// yamlReader walks the trees that the library has made of the parts of a text.
type yamlReader struct {
	findings
	part  part
	heads int             // lines of its head
	lines []int           // offset of each line of the part
	seen  map[string]bool // objects of all parts
}

// ReadYAML reads what YAML writes, and JSON, which is YAML too. Scalars are taken as they are written, whatever YAML would
// make of them: 010 and yes stay what they are. Anchors, aliases and tags are refused, so that no text grows by being read.
func ReadYAML(data []byte, opt Options) *Document {
	r := &yamlReader{findings: found(data, opt), seen: map[string]bool{}}
	if r.tooLong() {
		return &r.Document
	}
	switch {
	case len(data) > maxYAML:
		r.problem(0, "", fmt.Sprintf("the YAML is longer than %d MiB; as XML or JSON it may have twice as many", maxYAML>>20))
	case invalid(data) >= 0:
		r.problem(0, "", "the text is not UTF-8")
	default:
		for p := range parts(data) {
			if !r.read(p) {
				break
			}
		}
	}
	return r.finish(opt.Check)
}

// read reads one part. Behind one that is broken nothing is.
func (r *yamlReader) read(p part) bool {
	r.part, r.heads = p, bytes.Count(p.head, []byte("\n"))
	text := r.data[p.from:p.to]
	if why := tooMuchYAML(text); why != "" {
		r.problem(p.from, "", why)
		return false
	}
	r.lines = append(r.lines[:0], p.from)
	for at, c := range text {
		if c == '\n' {
			r.lines = append(r.lines, p.from+at+1)
		}
	}
	root, line, err := parseYAML(slices.Concat(p.head, text))
	switch {
	case err == io.EOF:
		r.problem(0, "", Empty)
	case err != nil:
		r.problem(r.place(line), "", "the YAML is broken here: "+err.Error())
	default:
		r.document(root)
	}
	return err == nil
}

// tooMuchYAML tells why a part is not read.
func tooMuchYAML(data []byte) string {
	pieces := 0
	for _, c := range data {
		if c == '\n' || c == '\r' || c == ',' || c == '[' || c == '{' {
			pieces++
		}
	}
	for _, more := range []string{"- - ", "\u0085", "\u2028", "\u2029"} { // nested sequences in a line, and what YAML takes for line ends
		pieces += bytes.Count(data, []byte(more))
	}
	if pieces > maxPieces || len(data) > partMost {
		return "the YAML has too many parts in one object; written as rows with a dash on a line each, or as XML or JSON, it may have more"
	}
	return ""
}

// parseYAML has the library read one document. line is where a fault is, if it is known.
func parseYAML(data []byte) (root *yaml.Node, line int, err error) {
	defer func() {
		if fault := recover(); fault != nil { // the library's, on a text that nobody has tried
			root, err = nil, errors.New("it cannot be read")
		}
	}()
	dec := yaml.NewDecoder(bytes.NewReader(data))
	var doc, more yaml.Node
	if err := dec.Decode(&doc); err != nil {
		if err == io.EOF {
			return nil, 0, err
		}
		text := strings.TrimPrefix(err.Error(), "yaml: ")
		if _, e := fmt.Sscanf(text, "line %d:", &line); e == nil {
			_, text, _ = strings.Cut(text, ": ")
		}
		return nil, line, errors.New(text)
	}
	if err := dec.Decode(&more); err != io.EOF {
		return nil, more.Line, errors.New("a text holds one document")
	}
	if doc.Kind != yaml.DocumentNode || len(doc.Content) != 1 {
		return nil, 0, io.EOF
	}
	return doc.Content[0], 0, nil
}

// place is the offset of a line of what the library was given.
func (r *yamlReader) place(line int) int {
	return r.lines[min(max(line-1-r.heads, 0), len(r.lines)-1)]
}

// strange tells what a node has that no configuration has.
func strange(n *yaml.Node) string {
	switch {
	case n.Kind == yaml.AliasNode:
		return "an alias is refused: write out what it stands for"
	case n.Anchor != "":
		return "an anchor is refused: nothing may refer to it"
	case n.Style&yaml.TaggedStyle != 0:
		return "a tag is refused: the schema says what a value is"
	}
	return ""
}

// members calls each for every member of a mapping; what is none is a problem.
func (r *yamlReader) members(n *yaml.Node, what string, each func(name string, key, value *yaml.Node)) {
	if why := strange(n); why != "" {
		r.problem(r.place(n.Line), "", why)
		return
	}
	if n.Kind == yaml.ScalarNode && n.Tag == "!!null" {
		return // "sluice:" with nothing below
	}
	if n.Kind != yaml.MappingNode {
		r.problem(r.place(n.Line), "", what+" is a mapping")
		return
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		name := strings.TrimPrefix(k.Value, "sluice:")
		why := strange(k)
		if why == "" {
			why = strange(v)
		}
		switch {
		case why != "":
			r.problem(r.place(k.Line), "", why)
		case k.Kind != yaml.ScalarNode:
			r.problem(r.place(k.Line), "", "a key is a word")
		case seen[name]:
			r.problem(r.place(k.Line), "", fmt.Sprintf("the key %q is there twice", clip(name)))
		default:
			each(name, k, v)
		}
		seen[name] = true
	}
}

func (r *yamlReader) document(root *yaml.Node) {
	rooted := false
	r.members(root, "the text", func(name string, k, v *yaml.Node) {
		if name != "sluice" {
			r.problem(r.place(k.Line), "", fmt.Sprintf("unknown key %q where %q belongs", clip(name), Root))
			return
		}
		rooted = true
		r.members(v, Root, r.object)
	})
	if !rooted && len(r.Problems) == 0 {
		r.problem(0, "", fmt.Sprintf("the text holds no key %q", Root))
	}
}

// object reads the rows of one object.
func (r *yamlReader) object(name string, k, v *yaml.Node) {
	o := schema.Listed(name)
	again := r.seen[name] && k.Line > r.heads // or it is the object whose rows go on
	r.seen[name] = true
	switch {
	case o == nil:
		r.problem(r.place(k.Line), clip(name), fmt.Sprintf("unknown key %q", clip(name)))
	case again:
		r.problem(r.place(k.Line), "", fmt.Sprintf("the key %q is there twice", clip(name)))
	case o.Single:
		r.row(o, v)
	case v.Kind == yaml.ScalarNode && v.Tag == "!!null":
	case v.Kind != yaml.SequenceNode:
		r.problem(r.place(v.Line), "", name+" is a list of rows, each with a dash")
	default:
		for _, n := range v.Content {
			r.row(o, n)
		}
	}
}

func (r *yamlReader) row(o *schema.Object, n *yaml.Node) {
	var leaves []*leaf
	before := len(r.Problems) + r.uncounted
	r.members(n, "a row of "+o.YANG, func(name string, k, v *yaml.Node) {
		l := &leaf{name: name, at: r.place(k.Line)}
		if leaves = append(leaves, l); v.Kind != yaml.ScalarNode {
			l.bad = fmt.Sprintf("%q is a single value", clip(name))
			return
		}
		l.text.WriteString(v.Value)
	})
	if len(r.Problems)+r.uncounted == before { // or the row is not what it seems
		r.plain(o, leaves, r.place(n.Line))
	}
}
