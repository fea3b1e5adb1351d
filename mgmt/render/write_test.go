package render

import (
	"math/rand/v2"
	"net/netip"
	"reflect"
	"testing"

	"sluice/tests/configs"
	"sluice/vendor-config/schema"
)

// same compares two configurations row by row, order included.
func same(t *testing.T, got, want *schema.Config) {
	t.Helper()
	for _, o := range schema.Objects() {
		g, w := got.Rows(o), want.Rows(o)
		if len(g) != len(w) {
			t.Fatalf("%s: %d rows, want %d", o.Name(), len(g), len(w))
		}
		for i := range w {
			if !reflect.DeepEqual(g[i], w[i]) {
				t.Fatalf("%s row %d:\n got %+v\nwant %+v", o.Name(), i, g[i], w[i])
			}
		}
	}
}

// TestKeptTextsAreThoseOfTheRows: a writer that has written other versions writes the same as one that has not.
func TestKeptTextsAreThoseOfTheRows(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 8))
	var w Writer
	versions := []*schema.Config{configs.Random(r, 30)}
	for step := range 500 {
		c := versions[r.IntN(len(versions))].Clone()
		for range r.IntN(4) {
			o := schema.Objects()[r.IntN(len(schema.Objects()))]
			if !o.Rows {
				continue
			}
			rows := c.Rows(o)
			if r.IntN(2) == 0 && len(rows) > 0 {
				c.Remove(o, rows[r.IntN(len(rows))])
			} else if row := configs.Row(r, c, o); row != nil {
				c.Put(o, row)
			}
		}
		if r.IntN(10) == 0 { // cannot be written: nothing of it may be kept
			bad := c.Clone()
			schema.Put(bad, &schema.Server{Name: "new", IPAddress: netip.MustParseAddr("10.0.0.1"), State: "ENABLED"})
			schema.Put(bad, &schema.Service{Name: "bad\x00", Server: "new", ServiceType: "TCP"})
			if _, err := w.XML(bad, nil, Meta{}); err == nil {
				t.Fatal("a name with a zero byte is written")
			}
		}
		got, err := w.XML(c, nil, Meta{})
		want, wanted := encode(c, nil, Meta{})
		if err != nil || wanted != nil {
			t.Fatal(err, wanted)
		}
		if string(got) != string(want) {
			t.Fatalf("step %d: written is\n%s\nwant\n%s", step, got, want)
		}
		if versions = append(versions, c); len(versions) > 8 {
			versions = versions[1:]
		}
	}
}

func TestWhatIsWrittenIsReadBack(t *testing.T) {
	for seed := range uint64(150) {
		want := configs.Random(rand.New(rand.NewPCG(seed, 1)), 12)
		for _, form := range forms {
			text, err := form.write(want)
			if err != nil {
				t.Fatalf("seed %d: %s: %v", seed, form.name, err)
			}
			for how, read := range map[string]func([]byte, Options) *Document{form.name: form.read, "whatever it is": Read} {
				d := read(text, Options{})
				if len(d.Problems) > 0 || d.Torn {
					t.Fatalf("seed %d: %s read as %s: %v\n%s", seed, form.name, how, d.Problems, text)
				}
				same(t, d.Config, want)
			}
		}
	}
}

var forms = []struct {
	name  string
	write func(*schema.Config) ([]byte, error)
	read  func([]byte, Options) *Document
}{{"XML", XML, ReadXML}, {"JSON", JSON, ReadJSON}, {"YAML", YAML, ReadYAML}}
