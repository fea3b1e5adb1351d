package schema

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestAttempt: what fails leaves the configuration as it was, whatever was done in between, and what does not fail stays.
func TestAttempt(t *testing.T) {
	o := Of[Server]()
	r := rand.New(rand.NewPCG(11, 1))
	claim := func(row any) string { return row.(*Server).Comment }
	c, clones := New(), []*Config{}
	var want []Server
	for step := range 4000 {
		now := slices.Clone(want)
		fails := r.IntN(2) == 0
		err := c.Attempt(func(c *Config) error {
			for range r.IntN(30) {
				name := string(rune('a' + r.IntN(40)))
				at := slices.IndexFunc(now, func(s Server) bool { return s.Name == name })
				switch k := r.IntN(40); {
				case k == 0:
					clones = append(clones, c.Clone())
				case k == 1:
					c.Replace(New())
					now = nil
				case k < 18 && at >= 0:
					c.Delete(o, name)
					now = slices.Delete(now, at, at+1)
				case k < 18:
				case k < 20 && at >= 0:
					row := now[at]
					row.Name = string(rune('a' + r.IntN(40)))
					if !slices.ContainsFunc(now, func(s Server) bool { return s.Name == row.Name }) {
						c.Rename(o, name, &row)
						now[at] = row
					}
				case k < 24:
					text := string(rune('A' + r.IntN(26)))
					if row := c.Claimant(o, claim, text); row != nil && row.(*Server).Comment != text {
						t.Fatalf("step %d: %v claims %s", step, row, text)
					}
				default:
					row := Server{Name: name, Comment: string(rune('A' + r.IntN(26)))}
					if Put(c, &row); at >= 0 {
						now[at] = row
					} else {
						now = append(now, row)
					}
				}
			}
			if fails {
				return errors.New("no")
			}
			return nil
		})
		if (err != nil) != fails {
			t.Fatalf("step %d: %v", step, err)
		}
		if !fails {
			want = now
		}
		var got []Server
		for _, s := range All[Server](c) {
			got = append(got, *s)
			if Get[Server](c, s.Name) != s {
				t.Fatalf("step %d: Get does not find %s", step, s.Name)
			}
		}
		if !slices.Equal(got, want) || c.Len(o) != len(want) {
			t.Fatalf("step %d, fails %t: it holds %v, want %v", step, fails, got, want)
		}
	}
	if len(clones) == 0 {
		t.Error("nothing was cloned in an attempt")
	}
}
