package render

import (
	"bytes"
	"iter"
	"regexp"
)

// Texts of YAML are read in parts, since its library holds a tree of all that it is given, about 400 bytes for each line, comma and
// bracket. A text is cut before the line of an object (`  server:`) and before that of a row (`    - name: a`), where indentation has
// ended whatever came before. Only a string in quotes, or something in brackets, could go on across such a line; its first part is
// then not closed and the text is refused, never read as something else.
const (
	partBytes = 128 << 10 // a part that is as long ends before the next row
	partMost  = 4 << 20   // a part that cannot be cut may be as long
	maxPieces = 200000    // line ends, commas and brackets in a part, of which there is one at least for two nodes of the tree
)

// part is a piece of the text from one offset to another.
type part struct {
	from, to int
	head     []byte // lines that the rows of the part stand below, for they are in an earlier one
}

var (
	rootLine   = regexp.MustCompile(`^("sluice(:sluice)?"|sluice(:sluice)?):[ \t]*(#.*)?$`)
	objectLine = regexp.MustCompile(`^ *[a-z][a-z0-9-]*:[ \t]*(#.*)?$`)
)

// parts cuts a text.
func parts(data []byte) iter.Seq[part] { return partsOf(data, partBytes) }

// partsOf cuts a text into parts of at least so many bytes, but the last.
func partsOf(data []byte, least int) iter.Seq[part] {
	return func(yield func(part) bool) {
		p := part{}
		if len(data) > least && oneLineEnd(data) {
			c := &cutter{}
			for at := 0; at < len(data); {
				end := len(data)
				if n := bytes.IndexByte(data[at:], '\n'); n >= 0 {
					end = at + n + 1
				}
				if depth := c.line(data[at:end]); depth > 0 && at-p.from >= least {
					p.to = at
					if !yield(p) {
						return
					}
					p = part{from: at, head: bytes.Join([][]byte{c.root, c.object}[:depth], []byte("\n"))}
					p.head = append(p.head, '\n')
				}
				at = end
			}
		}
		p.to = len(data)
		yield(p)
	}
}

// oneLineEnd tells whether nothing ends a line but \n and \r\n; YAML knows more.
func oneLineEnd(data []byte) bool {
	return bytes.Count(data, []byte("\r")) == bytes.Count(data, []byte("\r\n")) &&
		!bytes.Contains(data, []byte("\u0085")) && !bytes.Contains(data, []byte("\u2028")) && !bytes.Contains(data, []byte("\u2029"))
}

// cutter finds out line by line where a text can be cut.
type cutter struct {
	root    []byte // the line of the root, nil before it
	strange bool   // the text does not begin with a root alone on its line
	object  []byte // the line of the object whose rows follow, nil when that is not known
	indent  int    // of objects, 0 before the first
	rows    int    // indentation of the dashes of its rows, -1 when they have none, -2 before the first of them
}

// line tells whether the text can be cut before the line: 1 below the root, 2 below the object, 0 not at all.
func (c *cutter) line(line []byte) (depth int) {
	line = bytes.TrimRight(line, "\r\n")
	text := bytes.TrimLeft(line, " ")
	indent := len(line) - len(text)
	mark := indent == 0 && (bytes.HasPrefix(text, []byte("---")) || bytes.HasPrefix(text, []byte("...")))
	switch {
	case c.strange || len(bytes.TrimSpace(text)) == 0 || text[0] == '#':
		return 0
	case c.root == nil && (mark || text[0] == '%'):
		return 0
	case c.root == nil:
		c.root = bytes.TrimPrefix(line, []byte("\ufeff"))
		c.strange = !rootLine.Match(c.root)
		return 0
	case mark: // there is another document
		c.strange = true
		return 0
	case c.indent == 0:
		c.indent = indent
	}
	row := bytes.HasPrefix(text, []byte("- ")) || string(text) == "-"
	switch {
	case indent == c.indent && objectLine.Match(line):
		c.object, c.rows = line, -2
		return 1
	case c.object == nil:
	case c.rows == -2 && row && indent >= c.indent:
		c.rows = indent
	case c.rows == -2:
		c.rows = -1
	}
	switch {
	case c.object != nil && row && indent == c.rows:
		return 2
	case indent <= c.indent:
		c.object = nil // it is not known below what the next rows are
	}
	return 0
}
