package render

import (
	"bytes"
	"fmt"
	"io"
	"reflect"
	"slices"

	"sluice/vendor-config/schema"
)

// Text is the content of a file in pieces. They are shared with what is kept for the next file and must not be written to:
// the file of ten thousand vservers is as large as their rows in memory, and need not be there a second time.
type Text [][]byte

// Bytes is the text in one piece.
func (t Text) Bytes() []byte { return slices.Concat(t...) }

// WriteTo writes the pieces one by one.
func (t Text) WriteTo(w io.Writer) (n int64, err error) {
	for _, piece := range t {
		k, err := w.Write(piece)
		if n += int64(k); err != nil {
			return n, err
		}
	}
	return n, nil
}

// block is the text of successive rows of one object. It never changes.
type block struct {
	rows []any
	text []byte
}

// blockRows is how many rows share a block: a changed row costs the text of as many.
const blockRows = 64

// again is the text of rows, of which most may be in the blocks of an earlier text. Blocks that are not even half full are made
// anew together with their neighbours, so that rows that come and go do not leave a block for each.
func again(before []*block, o *schema.Object, rows []any) (all []*block, err error) {
	begins := make(map[any]*block, len(before))
	for _, b := range before {
		if len(b.rows) >= blockRows/2 {
			begins[b.rows[0]] = b
		}
	}
	var text bytes.Buffer
	from, at := 0, 0 // rows from and on up to at have their text in no block yet
	end := func() {
		if at > from {
			all = append(all, &block{slices.Clone(rows[from:at]), bytes.Clone(text.Bytes())})
			text.Reset()
		}
		from = at
	}
	for at < len(rows) {
		if b := begins[rows[at]]; b != nil && len(b.rows) <= len(rows)-at && slices.Equal(b.rows, rows[at:at+len(b.rows)]) {
			end()
			all = append(all, b)
			at += len(b.rows)
			from = at
			continue
		}
		if err := encodeRow(&text, o, rows[at]); err != nil {
			return nil, fmt.Errorf("%s: %w", title(o, reflect.ValueOf(rows[at]).Elem()), err)
		}
		if at++; at-from == blockRows {
			end()
		}
	}
	end()
	return all, nil
}
