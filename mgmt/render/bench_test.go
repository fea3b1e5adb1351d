package render

import (
	"fmt"
	"strings"
	"testing"

	"sluice/cli/grammar"
	"sluice/vendor-config/schema"
)

func BenchmarkXML(b *testing.B) {
	lines := []string{"add ns ip 10.0.0.1 255.0.0.0"}
	for v := range 1000 {
		lines = append(lines, fmt.Sprintf("add lb vserver v%d TCP 10.1.%d.%d 80", v, v/250, v%250+1))
		for n := range 10 {
			id := v*10 + n
			lines = append(lines, fmt.Sprintf("add service s%d 10.%d.%d.%d TCP 80", id, 2+id/62500, id/250%250, id%250+1), fmt.Sprintf("bind lb vserver v%d s%d", v, id))
		}
	}
	c := schema.New()
	for _, l := range lines {
		op, err := grammar.Parse(l)
		if err == nil {
			err = op.Apply(c)
		}
		if err != nil {
			b.Fatal(l, err)
		}
	}
	data, err := XML(c)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(data)))
	b.Run("clean", func(b *testing.B) {
		for b.Loop() {
			if r := ReadXML(data, Options{Check: grammar.Check}); len(r.Problems) > 0 {
				b.Fatal(r.Problems[0])
			}
		}
	})
	b.Run("3 rows against the rules", func(b *testing.B) {
		bad := strings.Replace(string(data), "<ip-address>10.1.2.7</ip-address>", "<ip-address>10.1.2.8</ip-address>", 1)
		bad = strings.Replace(bad, "<ip-address>10.1.3.9</ip-address>", "<ip-address>10.1.3.10</ip-address>", 1)
		for b.Loop() {
			if r := ReadXML([]byte(bad), Options{Check: grammar.Check}); len(r.Problems) == 0 {
				b.Fatal("nothing is held back")
			}
		}
	})
	b.Run("save", func(b *testing.B) {
		for b.Loop() {
			if _, err := XML(c); err != nil {
				b.Fatal(err)
			}
		}
	})
}
