package firstboot

import (
	"strings"
)

// NetScaler reads the reference product's userdata: NS-PRE-BOOT-CONFIG with NS-CONFIG (commands) and NS-BOOTSTRAP (addresses).
func NetScaler(text []byte) *Answers {
	a := &Answers{Source: "NetScaler userdata"}
	a.netscaler(text)
	return a
}

// netscaler is NetScaler within another source. It is no XML: commands stand in it as they are typed, with < and &.
func (a *Answers) netscaler(text []byte) {
	if len(text) > Largest {
		a.problem("userdata is larger than %d bytes", Largest)
		return
	}
	body, found := element(string(text), "NS-PRE-BOOT-CONFIG")
	if !found {
		a.problem("userdata has no element NS-PRE-BOOT-CONFIG that is closed")
		return
	}
	a.elements("NS-PRE-BOOT-CONFIG", body, map[string]func(string){
		"NS-CONFIG":    func(s string) { a.addCommands("NS-CONFIG", plainText(s)) },
		"NS-BOOTSTRAP": a.bootstrap,
	})
}

// bootstrap reads how the box is to find its addresses.
func (a *Answers) bootstrap(body string) {
	flag := func(name string) func(string) {
		return func(s string) {
			if s = strings.TrimSpace(s); !strings.EqualFold(s, "YES") && !strings.EqualFold(s, "NO") {
				a.problem("%s is neither YES nor NO", name)
			}
		}
	}
	a.elements("NS-BOOTSTRAP", body, map[string]func(string){
		// Which of the product's own ways to boot is taken: there is but one here, which does what both of them say.
		"SKIP-DEFAULT-BOOTSTRAP": flag("SKIP-DEFAULT-BOOTSTRAP"),
		"NEW-BOOTSTRAP-SEQUENCE": flag("NEW-BOOTSTRAP-SEQUENCE"),
		"MGMT-INTERFACE-CONFIG":  a.managementElement,
	})
}

// managementElement reads the address of the management card. Without one it is asked for by DHCP.
func (a *Answers) managementElement(body string) {
	var ip, mask string
	a.elements("MGMT-INTERFACE-CONFIG", body, map[string]func(string){
		"IP":          func(s string) { ip = strings.TrimSpace(s) },
		"SUBNET-MASK": func(s string) { mask = strings.TrimSpace(s) },
		"INTERFACE-NUM": func(s string) {
			if s = strings.TrimSpace(s); s != "eth0" && s != "0/1" {
				a.problem("INTERFACE-NUM is %s: the management card is the first one here, unless the box's record says otherwise", quoted(s))
			}
		},
	})
	if ip == "" && mask == "" {
		return
	}
	if err := a.SetAddress(ip, mask); err != nil {
		a.problem("MGMT-INTERFACE-CONFIG: %v", err)
	}
}

// mostElements bounds the elements side by side.
const mostElements = 100

// element is what stands between a tag and its end.
func element(text, name string) (body string, found bool) {
	rest := text
	for range mostElements {
		tag, inner, after, ok := next(rest)
		if !ok {
			return "", false
		}
		if strings.EqualFold(tag, name) {
			return inner, true
		}
		rest = after
	}
	return "", false
}

// elements has each element of a body read by who knows it. What nobody knows is said.
func (a *Answers) elements(where, body string, known map[string]func(string)) {
	seen := map[string]bool{}
	rest := body
	for range mostElements {
		tag, inner, after, ok := next(rest)
		if !ok {
			if strings.TrimSpace(stripComments(rest)) != "" {
				a.problem("%s: there is text outside of its elements, or an element without its end", where)
			}
			return
		}
		read := known[strings.ToUpper(tag)]
		switch {
		case read == nil:
			a.problem("%s: the element %s is not understood, and nothing of it is done", where, quoted(tag))
		case seen[strings.ToUpper(tag)]:
			a.problem("%s: the element %s stands there twice, and the first one holds", where, quoted(tag))
		default:
			seen[strings.ToUpper(tag)] = true
			read(inner)
		}
		rest = after
	}
	a.problem("%s: there are more than %d elements", where, mostElements)
}

// next finds the first element of a text: its name, what is in it, and what comes after it.
func next(text string) (tag, inner, after string, ok bool) {
	for {
		at := strings.IndexByte(text, '<')
		if at < 0 {
			return "", "", "", false
		}
		text = text[at:]
		switch {
		case strings.HasPrefix(text, "<!--"):
			end := strings.Index(text, "-->")
			if end < 0 {
				return "", "", "", false
			}
			text = text[end+3:]
			continue
		case strings.HasPrefix(text, "<?"), strings.HasPrefix(text, "</"), len(text) < 2 || !letter(text[1]):
			text = text[1:]
			continue
		}
		n := 1
		for n < len(text) && (letter(text[n]) || text[n] == '-' || text[n] == '_' || text[n] >= '0' && text[n] <= '9') {
			n++
		}
		end := strings.IndexByte(text, '>')
		if end < 0 {
			return "", "", "", false
		}
		tag = text[1:n]
		if text[end-1] == '/' {
			return tag, "", text[end+1:], true
		}
		body := text[end+1:]
		closing, folded := "</"+lower(tag), lower(body)
		for from := 0; ; {
			i := strings.Index(folded[from:], closing)
			if i < 0 {
				return "", "", "", false
			}
			i += from
			tail := strings.TrimLeft(body[i+len(closing):], " \t\r\n")
			if strings.HasPrefix(tail, ">") {
				return tag, body[:i], tail[1:], true
			}
			from = i + len(closing)
		}
	}
}

func letter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// lower is s with the ASCII letters in lower case, and as long.
func lower(s string) string {
	b := []byte(s)
	for i, c := range b {
		if c >= 'A' && c <= 'Z' {
			b[i] = c | 0x20
		}
	}
	return string(b)
}

// stripComments leaves out what stands between <!-- and -->.
func stripComments(s string) string {
	var out strings.Builder
	for {
		before, after, ok := strings.Cut(s, "<!--")
		out.WriteString(before)
		if !ok {
			return out.String()
		}
		if _, s, ok = strings.Cut(after, "-->"); !ok {
			out.WriteString("<!--") // one that does not end is text where none belongs
			return out.String()
		}
	}
}

var entities = strings.NewReplacer("&lt;", "<", "&gt;", ">", "&quot;", `"`, "&apos;", "'", "&amp;", "&")

// plainText is the text of an element: a CDATA section as it is, else with the five entities of XML replaced.
func plainText(s string) string {
	s = strings.TrimSpace(s)
	if inner, ok := strings.CutPrefix(s, "<![CDATA["); ok {
		return strings.TrimSuffix(strings.TrimSpace(inner), "]]>")
	}
	return entities.Replace(s)
}
