package render

import (
	"bytes"
	"io"
	"regexp"
	"sort"
	"strings"
	"sync"

	"sluice/vendor-config/schema"
)

// rowStart matches the start of a row that the schema knows: its element followed by a child. The child tells it from
// a leaf of the same name: a service's <server> holds text.
var rowStart = sync.OnceValue(func() (re struct{ anywhere, here *regexp.Regexp }) {
	var names []string
	for _, o := range schema.Objects() {
		if o.Rows {
			names = append(names, regexp.QuoteMeta(o.YANG))
		}
	}
	sort.Sort(sort.Reverse(sort.StringSlice(names)))
	one := `<(?:[A-Za-z_][\w.-]*:)?(?:` + strings.Join(names, "|") + `)(?:\s[^<>/]*)?>\s*<[A-Za-z_]`
	re.anywhere, re.here = regexp.MustCompile(one), regexp.MustCompile("^"+one)
	return re
})

// rowAt tells whether a row begins at the offset.
func (r *reader) rowAt(at int) bool { return rowStart().here.Match(r.data[at:]) }

// findRow is the offset of the first row that begins at from or later and not in a comment, or the end of the data.
func (r *reader) findRow(from int) int {
	if r.searched >= 0 && from >= r.searched && from <= r.nextRow {
		return r.nextRow
	}
	r.searched = from
	for from < len(r.data) {
		at := len(r.data)
		if m := rowStart().anywhere.FindIndex(r.data[from:]); m != nil {
			at = from + m[0]
		}
		comment := bytes.Index(r.data[from:at], []byte("<!--"))
		if comment < 0 {
			r.nextRow = at
			return at
		}
		from = endOfComment(r.data, from+comment)
	}
	r.nextRow = len(r.data)
	return r.nextRow
}

// resync makes reading go on after a fault: behind the end of the row at fault, if it has one before the next row
// begins, else at the next row. start is where the row (or the token outside rows) at fault began, row its element's
// name or "". It tells whether there is anything left.
func (r *reader) resync(start int, row string, f *fault) bool {
	r.resynced = true
	from := max(start+1, f.resume)
	to := r.findRow(from)
	if row != "" && (f.resume == 0 || f.resume < to) {
		end := regexp.MustCompile(`</` + regexp.QuoteMeta(row) + `\s*>`)
		if m := end.FindIndex(r.data[from:to]); m != nil {
			to = from + m[1]
		}
	}
	if to >= len(r.data) {
		return false
	}
	if !r.rowsOpen() {
		r.stack = []frame{{"config", inConfig, nil}, {"sluice", inSluice, map[string]string{"": ownNS}}}
	}
	r.rootSeen = true
	r.restart(to)
	return true
}

// rowsOpen tells whether the reader stands where rows belong.
func (r *reader) rowsOpen() bool {
	if len(r.stack) == 0 {
		return false
	}
	l := r.stack[len(r.stack)-1].level
	return l == inSluice || l == inContent
}

func endOfComment(data []byte, start int) int {
	from := min(start+4, len(data))
	if i := bytes.Index(data[from:], []byte("-->")); i >= 0 {
		return from + i + 3
	}
	return len(data)
}

// source is the data for the decoder. It counts what is read and stops when the allowance is used up.
type source struct {
	data []byte
	work *int
}

func (s *source) ReadByte() (byte, error) {
	if len(s.data) == 0 {
		return 0, io.EOF
	}
	if *s.work <= 0 {
		return 0, errWork
	}
	*s.work--
	c := s.data[0]
	s.data = s.data[1:]
	return c, nil
}

func (s *source) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	c, err := s.ReadByte()
	if err != nil {
		return 0, err
	}
	p[0] = c
	return 1, nil
}
