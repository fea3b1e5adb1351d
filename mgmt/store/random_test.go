package store

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"reflect"
	"testing"

	"sluice/vendor-config/schema"
)

// randomConfig makes a valid configuration of any objects of the schema, references included.
func randomConfig(r *rand.Rand, rows int) *schema.Config {
	c := schema.New()
	for _, o := range schema.Objects() {
		if !o.Rows {
			continue
		}
		for range r.IntN(rows + 1) {
			if row := randomRow(r, c, o); row != nil {
				c.Put(o, row)
			}
		}
	}
	return c
}

func randomRow(r *rand.Rand, c *schema.Config, o *schema.Object) any {
	row := o.Fresh()
	v := reflect.ValueOf(row).Elem()
	for _, f := range o.Fields {
		if f.Key == 0 && !f.Required && r.IntN(2) == 0 || len(f.Later) == 1 && f.Later[0] == "*" {
			continue
		}
		text, ok := randomText(r, c, f)
		if !ok {
			if f.Key > 0 || f.Required {
				return nil // nothing to refer to
			}
			continue
		}
		if f.Syntax != "" && f.Set(v, text) != nil {
			text = wellFormed(f, v, text)
		}
		if err := f.Set(v, text); err != nil {
			panic(fmt.Sprintf("%s %s %q: %v", o.Name(), f.CLI, text, err))
		}
	}
	for _, f := range o.Fields { // as add does
		if f.DefaultBy != "" && f.Text(v) == "" {
			f.Reset(o, v)
		}
	}
	return row
}

// wellFormed is a text in the form that the field asks for, different for different texts.
func wellFormed(f *schema.Field, v reflect.Value, text string) string {
	n := uint32(2166136261)
	for _, c := range []byte(text) {
		n = (n ^ uint32(c)) * 16777619
	}
	for _, form := range []string{"n%d #:@=-.", "1/%d", "%d 300-302", "GET /%d", "n%d.example", "2001:db8::%d 10.0.0.1", "1.3.%d"} {
		s := fmt.Sprintf(form, 100+n%800)
		if f.Set(v, s) == nil {
			return s
		}
	}
	return text
}

func randomText(r *rand.Rand, c *schema.Config, f *schema.Field) (string, bool) {
	switch {
	case f.Ref != "":
		o := f.Targets()[r.IntN(len(f.Targets()))]
		rows := c.Rows(o)
		if len(rows) == 0 {
			return "", false
		}
		return o.Key(rows[r.IntN(len(rows))]), true
	case len(f.Enum) > 0:
		return f.Enum[r.IntN(len(f.Enum))], true
	case f.Type == reflect.TypeFor[netip.Addr]():
		return netip.AddrFrom4([4]byte{byte(r.Uint32()), byte(r.Uint32()), byte(r.Uint32()), byte(r.Uint32())}).String(), true
	case f.Type.Kind() == reflect.String:
		return randomString(r, f), true
	}
	lo, hi := f.Bounds()
	return fmt.Sprint(lo + r.Uint64N(hi-lo+1)), true
}

func randomString(r *rand.Rand, f *schema.Field) string {
	alphabet := []rune("abcXYZ019-_. <>&'\"]]>;#?*äß→😀\u2028\u00a0")
	most := 20
	if f.HasMax {
		most = int(f.Max) / 4 // a rune has up to four bytes
	}
	s := []rune{'n'}
	for range r.IntN(max(most-1, 1)) {
		s = append(s, alphabet[r.IntN(len(alphabet))])
	}
	if f.Key == 0 && !f.Required && r.IntN(8) == 0 {
		return ""
	}
	return string(s)
}

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
	var w writer
	versions := []*schema.Config{randomConfig(r, 30)}
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
			} else if row := randomRow(r, c, o); row != nil {
				c.Put(o, row)
			}
		}
		if r.IntN(10) == 0 { // cannot be written: nothing of it may be kept
			bad := c.Clone()
			schema.Put(bad, &schema.Server{Name: "new", IPAddress: netip.MustParseAddr("10.0.0.1"), State: "ENABLED"})
			schema.Put(bad, &schema.Service{Name: "bad\x00", Server: "new", ServiceType: "TCP"})
			if _, err := w.encode(bad, nil, Meta{}); err == nil {
				t.Fatal("a name with a zero byte is written")
			}
		}
		got, err := w.encode(c, nil, Meta{})
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

func TestSaveThenLoadIsEqual(t *testing.T) {
	s := open(t)
	for seed := range uint64(150) {
		want := randomConfig(rand.New(rand.NewPCG(seed, 1)), 12)
		if err := s.Save(want, Meta{By: "oper"}); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		got, problems, err := s.Load()
		if err != nil || len(problems) > 0 {
			t.Fatalf("seed %d: %v %v", seed, err, problems)
		}
		same(t, got, want)
	}
}
