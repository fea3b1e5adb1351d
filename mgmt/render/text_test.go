package render

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"testing"

	"sluice/vendor-config/schema"
)

// TestBlocksOfRows: whatever rows come, go and change, the text is that of a writer that knows nothing, a change makes the texts of a
// few blocks anew and blocks do not become small.
func TestBlocksOfRows(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 5))
	c := schema.New()
	row := func(n int, comment string) {
		schema.Put(c, &schema.Server{Name: fmt.Sprint("s", n), IPAddress: netip.AddrFrom4([4]byte{10, 0, byte(n >> 8), byte(n)}), State: "ENABLED", Comment: comment,
			GraceFul: "NO", DomainResolveRetry: 5})
	}
	for n := range 20 * blockRows {
		row(n, "")
	}
	var w Writer
	last, err := w.Text(c, nil, Meta{})
	if err != nil {
		t.Fatal(err)
	}
	for step := range 400 {
		c = c.Clone()
		changes := 1 + r.IntN(3)
		if step%40 == 39 {
			changes = 6 * blockRows
		}
		for range changes {
			switch n := r.IntN(20 * blockRows); r.IntN(3) {
			case 0:
				c.Delete(schema.Of[schema.Server](), fmt.Sprint("s", n))
			default: // an old one, or one that comes behind all
				row(n, fmt.Sprint(step))
			}
		}
		text, err := w.Text(c, nil, Meta{})
		if err != nil {
			t.Fatal(err)
		}
		want, err := encode(c, nil, Meta{})
		if err != nil || !bytes.Equal(text.Bytes(), want) {
			t.Fatalf("step %d: the text is not that of a new writer (%v)", step, err)
		}
		if fresh := newPieces(last, text); changes <= 3 && fresh > 20 {
			t.Errorf("step %d: %d pieces are new after %d changes", step, fresh, changes)
		}
		if most := c.Len(schema.Of[schema.Server]())/(blockRows/4) + 10; len(text) > most {
			t.Errorf("step %d: %d rows are in %d pieces", step, c.Len(schema.Of[schema.Server]()), len(text))
		}
		last = text
	}
}

// newPieces is how many pieces of b are not the memory of one of a.
func newPieces(a, b Text) (n int) {
	had := map[*byte]bool{}
	for _, p := range a {
		if len(p) > 0 {
			had[&p[0]] = true
		}
	}
	for _, p := range b {
		if len(p) > 0 && !had[&p[0]] {
			n++
		}
	}
	return n
}
