package render

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"sluice/vendor-config/schema"
)

// Namespaces of the file.
const (
	baseNS = "urn:ietf:params:xml:ns:netconf:base:1.0" // RFC 6241: <config>
	ownNS  = "urn:sluice:config"                       // our module
	heldNS = "urn:sluice:held"                         // rows that are kept though they are not in force
)

// Head is the first line of an XML file.
const Head = `<?xml version="1.0" encoding="UTF-8"?>` + "\n"

// Writer writes XML files and keeps the texts of rows, which take longer to make than to write: of a configuration that
// differs from the one before in a row, the text of one block is new. Several may use it at once.
type Writer struct {
	mu      sync.Mutex
	config  *schema.Config
	objects map[*schema.Object][]*block
}

// XML is the configuration as the content of a file, whoever saved it.
func XML(c *schema.Config) ([]byte, error) { return encode(c, nil, Meta{}) }

// encode is Writer.XML for a file that nothing like it was written before.
func encode(c *schema.Config, kept []Held, m Meta) ([]byte, error) {
	return new(Writer).XML(c, kept, m)
}

// XML is Text in one piece.
func (w *Writer) XML(c *schema.Config, kept []Held, m Meta) ([]byte, error) {
	t, err := w.Text(c, kept, m)
	return t.Bytes(), err
}

// Text is the file with what is kept in it though it is not in force. The form is canonical: objects in the order of the schema, rows in the order in which they
// were created, leaves in the order of the struct with the keys first, and no leaf at its default. Its first piece is Head.
func (w *Writer) Text(c *schema.Config, kept []Held, m Meta) (Text, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.config == nil {
		w.config = schema.New()
	}
	objects := map[*schema.Object][]*block{} // put in place when all is well
	var b bytes.Buffer
	fmt.Fprintf(&b, "<?sluice version=\"%d\"", newest())
	if m != (Meta{}) {
		fmt.Fprintf(&b, " saved-by=%q saved-at=%q", plainName(m.By), m.At.UTC().Format(time.RFC3339))
	}
	b.WriteString("?>\n")
	fmt.Fprintf(&b, "<config xmlns=%q>\n  <sluice xmlns=%q>\n", baseNS, ownNS)
	all := Text{[]byte(Head), b.Bytes()}
	for _, o := range schema.Objects() {
		blocks := w.objects[o]
		if blocks == nil || !w.config.Same(c, o) {
			var err error
			if blocks, err = again(blocks, o, c.Rows(o)); err != nil {
				return nil, err
			}
		}
		objects[o] = blocks
		for _, b := range blocks {
			all = append(all, b.text)
		}
	}
	w.config, w.objects = c, objects
	var end bytes.Buffer
	end.WriteString("  </sluice>\n")
	encodeHeld(&end, kept)
	end.WriteString("</config>\n")
	return append(all, end.Bytes()), nil
}

func encodeRow(b *bytes.Buffer, o *schema.Object, row any) error {
	all, err := values(o, row)
	if err != nil {
		return err
	}
	fmt.Fprintf(b, "    <%s>\n", o.YANG)
	for _, l := range all {
		fmt.Fprintf(b, "      <%s>", l.field.YANG)
		escape.WriteString(b, l.text)
		fmt.Fprintf(b, "</%s>\n", l.field.YANG)
	}
	fmt.Fprintf(b, "    </%s>\n", o.YANG)
	return nil
}

// value is a leaf that is written.
type value struct {
	field *schema.Field
	text  string
}

// values are what is written of a row: keys, what is required, and what is not at its default.
func values(o *schema.Object, row any) ([]value, error) {
	v := reflect.ValueOf(row).Elem()
	scratch := reflect.New(o.Type).Elem()
	var out []value
	for _, f := range o.Leaves() {
		text := f.Text(v)
		scratch.Set(v)
		if f.Reset(o, scratch); f.Key == 0 && !f.Required && text == f.Text(scratch) {
			continue
		}
		if f.Secret && schema.Masked(text) {
			out = append(out, value{f, text})
			continue
		}
		// What could not be read back is not written: the operator hears of it now and not after the next start.
		if err := f.Set(scratch, text); err != nil {
			return nil, err
		}
		if f.Text(scratch) != text {
			return nil, fmt.Errorf("%s: the value %q would be read back as %q", f.CLI, text, f.Text(scratch))
		}
		if err := textual(text); err != nil {
			return nil, fmt.Errorf("%s: %w", f.CLI, err)
		}
		out = append(out, value{f, text})
	}
	return out, nil
}

// title names a row as the operator does: "lb vserver v1".
func title(o *schema.Object, v reflect.Value) string {
	words := []string{o.Name()}
	for _, f := range o.Keys() {
		if t := f.Text(v); t != "" && t != "0" {
			words = append(words, f.Mask(t))
		}
	}
	return strings.Join(words, " ")
}

// escape writes line ends and tabs as references, which a reader may not normalise (XML 1.0, 2.11).
var escape = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", "\t", "&#9;", "\n", "&#10;", "\r", "&#13;")

var escapeAttr = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "\t", "&#9;", "\n", "&#10;", "\r", "&#13;")

// textual refuses what XML 1.0 (2.2) cannot hold.
func textual(s string) error {
	if len(s) > maxLeaf {
		return fmt.Errorf("the value is longer than %d bytes", maxLeaf)
	}
	if !utf8.ValidString(s) {
		return fmt.Errorf("the value %q is not UTF-8 text", s)
	}
	for _, r := range s {
		if r < 0x20 && r != '\t' && r != '\n' && r != '\r' || r == 0xFFFE || r == 0xFFFF {
			return fmt.Errorf("the value holds the character %U, which a configuration file cannot hold", r)
		}
	}
	return nil
}

// plainName keeps a user's name from ending the instruction that it stands in.
func plainName(s string) string {
	return strings.Map(func(r rune) rune {
		if r < 0x20 || r > 0x7e || strings.ContainsRune(`"?<>&\`, r) {
			return '_'
		}
		return r
	}, s)
}

// WithoutMeta is the file without the line that says who saved it and when.
func WithoutMeta(data []byte) []byte {
	rest, ok := bytes.CutPrefix(data, []byte(Head))
	if !ok || !bytes.HasPrefix(rest, []byte("<?sluice ")) {
		return data
	}
	_, rest, _ = bytes.Cut(rest, []byte("?>\n"))
	return rest
}

// parseMeta reads what encode has written about the file; a field that is not understood stays zero.
func parseMeta(inst string) Meta {
	at, _ := time.Parse(time.RFC3339, attrOf(inst, "saved-at"))
	return Meta{attrOf(inst, "saved-by"), at}
}

// attrOf is a value in an instruction, "" if it is not there.
func attrOf(inst, name string) string {
	_, rest, _ := strings.Cut(" "+inst, " "+name+`="`)
	v, _, _ := strings.Cut(rest, `"`)
	return v
}
