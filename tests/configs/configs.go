// Package configs makes configurations for tests: of every object of the schema, with random values that are valid by
// themselves and references that lead somewhere.
package configs

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"reflect"

	"sluice/vendor-config/schema"
)

// Random makes a valid configuration of any objects of the schema, references included.
func Random(r *rand.Rand, rows int) *schema.Config {
	c := schema.New()
	for _, o := range schema.Objects() {
		if !o.Rows {
			continue
		}
		if o.Stored && r.IntN(8) > 0 { // there are many, and all are alike
			continue
		}
		for range r.IntN(rows + 1) {
			if row := Row(r, c, o); row != nil {
				c.Put(o, row)
			}
		}
	}
	return c
}

// Row makes a row of o that fits c, or nil if it would have nothing to refer to.
func Row(r *rand.Rand, c *schema.Config, o *schema.Object) any {
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
	for _, form := range []string{"n%d #:@=-.", "n%d", "^show %d", "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIEm+Uhp3Xz1Dq6hVhK1vDr6MZbVQdRYs0Qe8hH0Jr0bA %d", "1/%d", "%d 300-302", "GET /%d", "n%d.example", "2001:db8::%d 10.0.0.1", "1.3.%d"} {
		s := fmt.Sprintf(form, 100+n%800)
		if f.Set(v, s) == nil {
			return s
		}
	}
	if f.Set(v, text) != nil {
		return f.Example()
	}
	return text
}

func randomText(r *rand.Rand, c *schema.Config, f *schema.Field) (string, bool) {
	switch {
	case f.Sealed:
		return "10a1b2c3d8ab8fbcc1ec4e8bbbb1b5c23d11dd2c0f5a4a6c5", true
	case f.Ref != "":
		o := f.Targets()[r.IntN(len(f.Targets()))]
		rows := c.Rows(o)
		if len(rows) == 0 {
			return "", false
		}
		return o.Keys()[0].Text(reflect.ValueOf(rows[r.IntN(len(rows))]).Elem()), true
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
