package render

import (
	"fmt"
	"slices"
	"strings"

	"sluice/vendor-config/schema"
)

// maxChecks bounds the number of times that a whole configuration is checked while bad rows are searched for.
const maxChecks = 1000

// settle makes a configuration of the rows: those that exist already, that point to nothing or that the check refuses
// are held back.
func (r *findings) settle(check func(*schema.Config) error) {
	rows := r.checked(r.referring(r.first(r.rows)), check)
	c := r.base.Clone()
	for _, w := range rows {
		c.Put(w.object, w.value)
		if w.again {
			r.report(Problem{Line: r.line(w.at), Object: w.title(), Reason: inForceAgain})
		}
	}
	r.Config = c
}

// first leaves out rows whose key has been seen. They are not held: a save writes the first one only.
func (r *findings) first(rows []*row) []*row {
	c := schema.New()
	return slices.DeleteFunc(rows, func(w *row) bool {
		if _, ok := c.Row(w.object, w.text.key); ok {
			r.problem(w.at, w.title(), fmt.Sprintf("Resource already exists [%s]; the first one is in force", strings.TrimPrefix(w.title(), w.object.Name()+" ")))
			return true
		}
		c.Put(w.object, w.value)
		return false
	})
}

// referring holds back rows that name what does not exist, and then those that name these.
func (r *findings) referring(rows []*row) []*row {
	c := r.base.Clone()
	for _, w := range rows {
		c.Put(w.object, w.value)
	}
	for again := true; again; {
		again = false
		rows = slices.DeleteFunc(rows, func(w *row) bool {
			why := dangling(c, w)
			if why == "" {
				return false
			}
			again = true
			c.Delete(w.object, w.text.key)
			if row, ok := r.base.Row(w.object, w.text.key); ok {
				c.Put(w.object, row)
			}
			r.holdRow(w, why)
			return true
		})
	}
	return rows
}

func (r *findings) holdRow(w *row, why string) {
	h := w.text
	h.reason = why
	r.hold(h, w.at, w.title(), w.again)
}

// checked holds back the rows that the check refuses. It halves what is refused until single rows are left. A row may
// need one that comes later, so those that were refused get a second chance.
func (r *findings) checked(rows []*row, check func(*schema.Config) error) []*row {
	if check == nil || check(r.base) != nil { // a check that refuses what was there before says nothing about rows
		return rows
	}
	objects := schema.Objects()
	place := map[*schema.Object]int{}
	for i, o := range objects {
		place[o] = i
	}
	ordered := slices.Clone(rows)
	slices.SortStableFunc(ordered, func(a, b *row) int { return place[a.object] - place[b.object] })
	s := sieve{check: check, good: r.base.Clone(), left: maxChecks}
	s.add(ordered)
	refused := s.refused
	s.refused = nil
	for _, x := range refused {
		if s.left <= 0 {
			s.refused = append(s.refused, x)
			continue
		}
		s.add([]*row{x.row})
	}
	bad := map[*row]string{}
	for _, x := range s.refused {
		bad[x.row] = x.why
	}
	return slices.DeleteFunc(rows, func(w *row) bool {
		why, ok := bad[w]
		if ok {
			r.holdRow(w, why)
		}
		return ok
	})
}

// sieve finds the rows with which a configuration is no longer right.
type sieve struct {
	check   func(*schema.Config) error
	good    *schema.Config
	left    int // checks that may still be made
	refused []refusal
}

type refusal struct {
	row *row
	why string
}

func (s *sieve) add(rows []*row) {
	if len(rows) == 0 {
		return
	}
	try := s.good.Clone()
	for _, w := range rows {
		try.Put(w.object, w.value)
	}
	rows = slices.DeleteFunc(slices.Clone(rows), func(w *row) bool { // what needs a row that was refused
		why := dangling(try, w)
		if why != "" {
			try.Delete(w.object, w.text.key)
			if row, ok := s.good.Row(w.object, w.text.key); ok {
				try.Put(w.object, row)
			}
			s.refused = append(s.refused, refusal{w, why})
		}
		return why != ""
	})
	err := s.check(try)
	if err == nil {
		s.good = try
		return
	}
	if s.left--; len(rows) <= 1 || s.left <= 0 {
		for _, w := range rows {
			s.refused = append(s.refused, refusal{w, err.Error()})
		}
		return
	}
	s.add(rows[:len(rows)/2])
	s.add(rows[len(rows)/2:])
}

// dangling names the reference of a row that leads nowhere, or is "".
func dangling(c *schema.Config, w *row) string {
	if f, name := w.object.Dangling(c, w.value); f != nil {
		return fmt.Sprintf("No such resource [%s, %s]", f.CLI, name)
	}
	return ""
}
