package render

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"maps"
	"strings"

	"sluice/vendor-config/schema"
)

// level is where in the file the reader stands.
type level int

const (
	inDocument level = iota // outside everything
	inConfig                // <config>
	inSluice                // <config><sluice>: rows
	inHeld                  // <config><held>
	inHeldRow               // <config><held><row>
	inContent               // <config><held><row><content>: one row, or an element of another module
)

// frame is one open container; rows and leaves are read in one go and have none.
type frame struct {
	name  string // as written, with its prefix
	level level
	scope map[string]string // namespace by prefix
}

// reader walks through the file once. It resynchronises where the XML is broken, so it uses the tokens of encoding/xml
// and keeps track of nesting and namespaces itself.
type reader struct {
	findings
	start    int // offset at which dec began
	dec      *xml.Decoder
	work     int // bytes that may still be read, over all attempts
	stack    []frame
	version  int // of the schema that the file was written by
	resynced bool
	rootSeen bool
	nextRow  int // cache of findRow: the row start found last
	searched int // and from where
}

// fault is a place where the text is no longer well-formed.
type fault struct {
	at     int // offset
	resume int // where reading may go on; 0 is unknown
	msg    string
}

func (f *fault) Error() string { return f.msg }

// ReadXML reads the content of a startup file. It never fails: what cannot be read becomes a problem, and reading goes on
// behind it.
func ReadXML(data []byte, opt Options) *Document {
	// Every attempt after a fault reads on from a later place; a hostile file could make each of them long.
	r := &reader{findings: found(data, opt), work: 8*len(data) + 1<<20, nextRow: -1, searched: -1}
	if r.tooLong() {
		return &r.Document
	}
	if r.version = newest(); opt.Own {
		r.version = 1
	}
	r.restart(0)
	r.run(opt)
	if r.Newer != nil {
		return &r.Document
	}
	return r.finish(opt.Check)
}

func (r *reader) restart(at int) {
	if at == 0 && strings.HasPrefix(string(r.data[:min(3, len(r.data))]), "\ufeff") {
		at = 3
	}
	r.start, r.dec = at, xml.NewDecoder(&source{data: r.data[at:], work: &r.work})
}

// offset is where the next token begins.
func (r *reader) offset() int { return r.start + int(r.dec.InputOffset()) }

// token reads one token; an error other than io.EOF is a *fault.
func (r *reader) token() (tok xml.Token, start int, err error) {
	start = r.offset()
	tok, err = r.dec.RawToken()
	if err == nil || err == io.EOF {
		return tok, start, err
	}
	f := &fault{at: min(r.offset(), len(r.data)), msg: "the XML is broken here: " + err.Error()}
	var syntax *xml.SyntaxError
	switch {
	case errors.Is(err, errWork):
		f.msg, f.resume = "the file is too broken to be read on", len(r.data)
	case f.at >= len(r.data):
		f.msg = "the file is cut off here"
	case errors.As(err, &syntax):
		f.msg = "the XML is broken here: " + syntax.Msg
	}
	if strings.HasPrefix(string(r.data[start:min(start+4, len(r.data))]), "<!--") && f.resume == 0 {
		f.resume = endOfComment(r.data, start) // a row inside a comment is not to be woken
	}
	return nil, start, f
}

func (r *reader) run(opt Options) {
	for {
		tok, start, err := r.token()
		if err == io.EOF {
			r.ended()
			return
		}
		if err == nil {
			switch t := tok.(type) {
			case xml.StartElement:
				err = r.open(t, start)
			case xml.EndElement:
				r.close(t, start)
			case xml.CharData:
				if at := nonBlank(t); at >= 0 {
					r.problem(start+at, "", "there is text where only elements belong")
				}
			case xml.Directive:
				r.problem(start, "", "a document type declaration is refused and has no effect")
			case xml.ProcInst:
				if t.Target == "sluice" && !r.rootSeen {
					r.Meta = parseMeta(string(t.Inst))
					r.dated(start, attrOf(string(t.Inst), "version"), opt.anyVersion)
				}
			}
		}
		if r.Newer != nil {
			return
		}
		var f *fault
		if errors.As(err, &f) {
			r.problem(f.at, "", f.msg)
			if !r.resync(start, "", f) {
				return
			}
		}
	}
}

// dated takes note of the version that the file says it is of. Of a newer one nothing is read.
func (r *reader) dated(at int, version string, whatever bool) {
	n, err := versionOf(version)
	switch {
	case err != nil:
		r.problem(at, "", err.Error())
	case n > newest() && whatever:
	case n > newest():
		r.Newer = fmt.Errorf("%w: its schema has version %d, this one knows up to %d", ErrNewer, n, newest())
		r.problem(at, "", r.Newer.Error())
	default:
		r.version = n
	}
}

// open handles an element that begins outside rows.
func (r *reader) open(t xml.StartElement, start int) error {
	top := frame{level: inDocument}
	if len(r.stack) > 0 {
		top = r.stack[len(r.stack)-1]
	}
	scope, _ := scopeOf(top.scope, t.Attr)
	uri, local := scope[t.Name.Space], t.Name.Local
	down := func(l level) error {
		r.rootSeen = true
		r.stack = append(r.stack, frame{rawName(t.Name), l, scope})
		return nil
	}
	switch {
	case top.level == inDocument && local == "config" && (uri == baseNS || uri == ""):
		return down(inConfig)
	case top.level <= inConfig && local == "sluice" && (uri == ownNS || uri == ""):
		if scope = maps.Clone(scope); scope == nil {
			scope = map[string]string{}
		}
		scope[t.Name.Space] = ownNS // a file written by hand may leave the namespaces out
		return down(inSluice)
	case top.level == inConfig && local == "held" && uri == heldNS:
		return down(inHeld)
	case top.level == inHeld && local == "row" && uri == heldNS:
		return down(inHeldRow)
	case top.level == inHeldRow && local == "content" && uri == heldNS:
		return down(inContent)
	case top.level == inHeldRow && local == "reason" && uri == heldNS:
		return r.skip(t.Name)
	case top.level == inSluice || top.level == inContent:
		if uri == ownNS && r.version < newest() {
			return r.oldRow(t, start, scope)
		}
		if o := schema.Listed(local); uri == ownNS && o != nil {
			return r.row(o, t, start, scope)
		}
	}
	return r.unknown(t, start, scope, top.level)
}

// close handles the end of a container. After a fault some ends are missing, and none is complained about.
func (r *reader) close(t xml.EndElement, start int) {
	for i := len(r.stack) - 1; i >= 0; i-- {
		if r.stack[i].name != rawName(t.Name) {
			continue
		}
		if open := r.stack[len(r.stack)-1].name; i < len(r.stack)-1 && !r.resynced {
			r.problem(start, "", fmt.Sprintf("</%s> comes before the end of <%s>", rawName(t.Name), open))
		}
		r.stack = r.stack[:i]
		return
	}
	if !r.resynced {
		r.problem(start, "", fmt.Sprintf("</%s> ends nothing that has begun", rawName(t.Name)))
	}
}

// ended handles the end of the file.
func (r *reader) ended() {
	switch {
	case nonBlank(r.data) < 0:
		r.problem(0, "", Empty)
	case !r.rootSeen && !r.resynced:
		r.problem(0, "", "the file holds no <config>")
	case len(r.stack) > 0 && !r.resynced:
		r.problem(len(r.data), "", fmt.Sprintf("the file is cut off before </%s>", r.stack[len(r.stack)-1].name))
	}
}

// unknown keeps an element that this version does not know.
func (r *reader) unknown(t xml.StartElement, start int, scope map[string]string, at level) error {
	if err := r.skip(t.Name); err != nil {
		return err
	}
	name := rawName(t.Name)
	if at == inDocument {
		r.rootSeen = true
		r.problem(start, "", fmt.Sprintf("<%s> stands where <config> belongs", name))
		return nil
	}
	_, declared := scopeOf(nil, t.Attr)
	h := Held{text: selfContained(r.data[start:r.offset()], len(name), scope, declared), reason: fmt.Sprintf("unknown element <%s>", name)}
	r.hold(h, start, t.Name.Local, at == inContent)
	return nil
}

// skip reads to the end of the element whose start has just been read.
func (r *reader) skip(name xml.Name) error {
	open := []string{rawName(name)}
	for len(open) > 0 {
		tok, start, err := r.token()
		if err == io.EOF {
			return &fault{at: len(r.data), msg: fmt.Sprintf("the file is cut off before </%s>", open[len(open)-1])}
		}
		if err != nil {
			return err
		}
		switch t := tok.(type) {
		case xml.StartElement:
			if open = append(open, rawName(t.Name)); len(open) > maxDepth {
				return &fault{at: start, msg: fmt.Sprintf("elements are nested deeper than %d", maxDepth)}
			}
		case xml.EndElement:
			if top := open[len(open)-1]; top != rawName(t.Name) {
				return &fault{at: start, msg: fmt.Sprintf("</%s> comes before the end of <%s>", rawName(t.Name), top)}
			}
			open = open[:len(open)-1]
		case xml.Directive:
			return &fault{at: start, msg: "a document type declaration is refused"}
		}
	}
	return nil
}

// scopeOf adds the namespaces that the attributes declare; declared are their prefixes.
func scopeOf(outer map[string]string, attrs []xml.Attr) (scope map[string]string, declared map[string]bool) {
	scope = outer
	for _, a := range attrs {
		prefix, ok := nsPrefix(a)
		if !ok {
			continue
		}
		if declared == nil {
			declared = map[string]bool{}
			if scope = maps.Clone(outer); scope == nil {
				scope = map[string]string{}
			}
		}
		scope[prefix], declared[prefix] = a.Value, true
	}
	return scope, declared
}

// nsPrefix tells the prefix for which an attribute declares a namespace; "" is the default namespace.
func nsPrefix(a xml.Attr) (prefix string, ok bool) {
	switch {
	case a.Name.Space == "xmlns":
		return a.Name.Local, true
	case a.Name.Space == "" && a.Name.Local == "xmlns":
		return "", true
	}
	return "", false
}

func rawName(n xml.Name) string {
	if n.Space == "" {
		return n.Local
	}
	return n.Space + ":" + n.Local
}
