package expr

import "slices"

// Run cuts a field's number to the size of Facts by a mask.
var _ = [1]struct{}{}[fieldCount&(fieldCount-1)]

// Test is one step of a program: of a fact, the bits of Mask as a number from Lo to Hi or not, and which step is next then. 32
// bytes, without pointers, so that programs can lie in tables off the Go heap.
type Test struct {
	Mask, Lo, Hi uint64
	Field        Field
	_            uint8
	Yes, No      uint16 // the next step, which is always a later one; or Match, NoMatch
	_            uint16
}

// What a program ends with instead of a next step.
const (
	NoMatch = 0xfffe
	Match   = 0xffff
)

// Compile makes the program of an expression: tests in the order in which they are written, of which each leads to the next one
// that matters. There is no stack and no loop in it.
func (e *Expr) Compile() []Test {
	c := &compiler{}
	start := c.step(e.root, Match, NoMatch)
	if start >= NoMatch { // it asks nothing that matters
		c.tests = []Test{{Yes: start, No: start}}
		return c.tests
	}
	// Steps were made from the last one on, since each must know where it leads to; what was made after the first is never reached.
	c.tests = c.tests[:start+1]
	slices.Reverse(c.tests)
	last := uint16(len(c.tests) - 1)
	for i := range c.tests {
		for _, to := range []*uint16{&c.tests[i].Yes, &c.tests[i].No} {
			if *to < NoMatch {
				*to = last - *to
			}
		}
	}
	return c.tests
}

type compiler struct{ tests []Test }

// step makes the steps of n that lead to yes or no, and returns the first of them.
func (c *compiler) step(n *node, yes, no uint16) uint16 {
	switch n.kind {
	case always:
		return yes
	case never:
		return no
	case not:
		return c.step(n.a, no, yes)
	case and:
		return c.step(n.a, c.step(n.b, yes, no), no)
	case or:
		return c.step(n.a, yes, c.step(n.b, yes, no))
	}
	mask, shift := n.test.part()
	// Missing belongs to each mask, so that a fact that is not there is in no range.
	t := Test{Mask: mask | Missing, Lo: n.test.lo << shift, Hi: n.test.hi << shift, Field: n.test.field, Yes: yes, No: no}
	if !n.test.ne {
		return c.add(t)
	}
	t.Yes, t.No = no, yes
	other := c.add(t)
	return c.add(Test{Mask: Missing, Field: n.test.field, Yes: other, No: no}) // it must be there to be another one
}

func (c *compiler) add(t Test) uint16 {
	c.tests = append(c.tests, t)
	return uint16(len(c.tests) - 1)
}

// Run says whether the facts match a program that Compile has made. It allocates nothing and takes as many steps at most as the
// program has.
func Run(program []Test, f *Facts) bool {
	for i := uint16(0); ; {
		t := &program[i]
		if f[t.Field&(fieldCount-1)]&t.Mask-t.Lo <= t.Hi-t.Lo {
			i = t.Yes
		} else {
			i = t.No
		}
		if i >= NoMatch {
			return i == Match
		}
	}
}
