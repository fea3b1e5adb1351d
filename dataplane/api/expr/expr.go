// Package expr is the policy language: it parses expressions in NetScaler's default syntax, checks their types and compiles them
// to programs that are evaluated without allocation. Management checks with it what an operator types, the packet path runs what
// it compiles; neither decides here what follows from an answer.
//
// Classic expressions (REQ.IP.SOURCEIP == 10.0.0.0 -netmask 255.0.0.0) are accepted too and written in the default syntax.
//
// An expression asks about facts of a packet. A packet may lack one, as a datagram lacks CLIENT.TCP.DSTPORT: then the comparison
// is false, whatever it is, NE as well; `!` in front of it makes that true as of anything that is false. (The reference product
// leaves the whole policy undefined, which for a policy that decides who takes a packet comes to the same unless it is negated.)
package expr

import "fmt"

// MaxLength is the longest expression in bytes, as the reference product has it.
const MaxLength = 1499

// Expr is an expression that is right in itself.
type Expr struct {
	root    *node
	classic bool
}

// Parse reads an expression. The error is an *Error.
func Parse(text string) (*Expr, error) {
	p, err := read(text, false)
	if err != nil {
		return nil, err
	}
	root, err := p.whole()
	if err != nil {
		return nil, err
	}
	return &Expr{root, p.classic != nil}, nil
}

// read cuts an expression into tokens; texts in quotes are some if they have a meaning in it.
func read(text string, quotes bool) (*parser, error) {
	if len(text) > MaxLength {
		return nil, &Error{MaxLength + 1, fmt.Sprintf("the expression has %d characters and %d are the most", len(text), MaxLength)}
	}
	p := &parser{text: text, quotes: quotes}
	return p, p.lex()
}

// Classic tells whether the expression was written in the classic syntax.
func (e *Expr) Classic() bool { return e.classic }

// String writes the expression in the default syntax.
func (e *Expr) String() string { return e.root.text(orLevel) }

// Error says what is wrong with an expression, where, and what would be right.
type Error struct {
	At   int // the character at fault, from 1
	Text string
}

func (e *Error) Error() string { return fmt.Sprintf("at character %d: %s", e.At, e.Text) }

// kind is what a node of an expression is.
type kind uint8

const (
	always kind = iota
	never
	is
	not
	and
	or
)

// node is a part of an expression.
type node struct {
	kind kind
	a, b *node // operands
	test test  // of is
}

// How strongly the place of a part binds: a part that binds less than its place stands in parentheses.
const (
	orLevel = iota
	andLevel
	notLevel
)

func (n *node) text(place int) string {
	level, s := notLevel, ""
	switch n.kind {
	case always:
		return "TRUE"
	case never:
		return "FALSE"
	case is:
		return n.test.String()
	case not:
		return "!" + n.a.text(notLevel)
	case and:
		level, s = andLevel, n.a.text(andLevel)+" && "+n.b.text(notLevel)
	case or:
		level, s = orLevel, n.a.text(orLevel)+" || "+n.b.text(andLevel)
	}
	if level < place {
		return "(" + s + ")"
	}
	return s
}
