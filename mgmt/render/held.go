package render

import (
	"bytes"
	"fmt"
	"slices"
	"sort"

	"sluice/vendor-config/schema"
)

// Held is an element of the file that is well-formed and not in force: an object that this version does not know, or a
// row that is not valid. It is written back outside <sluice>, so that what is in force stays valid under our
// module.
type Held struct {
	text   []byte // the element, verbatim, with every namespace that it needs declared in it
	reason string // why it is not in force
	object *schema.Object
	key    string // of the row, when the object is known and the key is whole
}

// Outdated leaves out the held rows that a row in force has replaced since.
func Outdated(all []Held, c *schema.Config) []Held {
	return slices.DeleteFunc(slices.Clone(all), func(h Held) bool {
		if h.object == nil || h.key == "" && !h.object.Single {
			return false
		}
		_, ok := c.Row(h.object, h.key)
		return ok
	})
}

func encodeHeld(b *bytes.Buffer, kept []Held) {
	if len(kept) == 0 {
		return
	}
	fmt.Fprintf(b, "  <!-- Not in force. Kept as they were found; read again at every start. -->\n  <held xmlns=%q>\n", heldNS)
	for _, h := range kept {
		b.WriteString("    <row>\n      <reason>")
		escape.WriteString(b, h.reason)
		b.WriteString("</reason>\n      <content>")
		b.Write(h.text)
		b.WriteString("</content>\n    </row>\n")
	}
	b.WriteString("  </held>\n")
}

// selfContained declares in the element's start tag the namespaces that it inherits from around it, so that it means
// the same in another place. It changes nothing when they are declared already. nameLen is the length of the name.
func selfContained(raw []byte, nameLen int, scope map[string]string, declared map[string]bool) []byte {
	var add bytes.Buffer
	if !declared[""] {
		fmt.Fprintf(&add, ` xmlns="%s"`, escapeAttr.Replace(scope[""]))
	}
	var prefixes []string
	for p := range scope {
		if p != "" && !declared[p] && bytes.Contains(raw, []byte(p+":")) {
			prefixes = append(prefixes, p)
		}
	}
	sort.Strings(prefixes)
	for _, p := range prefixes {
		fmt.Fprintf(&add, ` xmlns:%s="%s"`, p, escapeAttr.Replace(scope[p]))
	}
	at := 1 + nameLen
	return slices.Concat(raw[:at], add.Bytes(), raw[at:])
}
