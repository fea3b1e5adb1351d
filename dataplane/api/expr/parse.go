package expr

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"
)

// maxDepth bounds how deep an expression may be nested, so that none can use up the stack.
const maxDepth = 64

// parser reads tokens by recursive descent: or, and, not, then a test or parentheses.
type parser struct {
	text    string
	tokens  []token
	depth   int
	classic *token // the first name of the classic syntax
	modern  *token // the first name of the default syntax
	quotes  bool   // texts in quotes have a meaning
}

func (p *parser) peek() token { return p.tokens[0] }

func (p *parser) next() token {
	t := p.tokens[0]
	if t.kind != end {
		p.tokens = p.tokens[1:]
	}
	return t
}

// takes takes the sign if it is next.
func (p *parser) takes(text string) bool {
	if t := p.peek(); t.kind == sign && t.text == text {
		p.next()
		return true
	}
	return false
}

func fault(t token, format string, a ...any) error {
	return &Error{t.at, fmt.Sprintf(format, a...)}
}

// said is a token in a sentence.
func (t token) said() string {
	if t.kind == end {
		return "the end"
	}
	return t.text
}

func (p *parser) whole() (*node, error) {
	if t := p.peek(); t.kind == end {
		return nil, fault(t, "the expression is empty: write one like CLIENT.TCP.DSTPORT.EQ(80)")
	}
	n, err := p.or()
	if err != nil {
		return nil, err
	}
	if t := p.peek(); t.kind != end {
		if t.kind == sign && t.text == ")" {
			return nil, fault(t, ") closes nothing: remove it, or open ( before")
		}
		return nil, fault(t, "%s cannot follow here: join two tests by && or ||", t.text)
	}
	if p.classic != nil && p.modern != nil {
		return nil, fault(*p.classic, "%s is of the classic syntax and %s of the default syntax: use names of one of them only", p.classic.text, p.modern.text)
	}
	return n, nil
}

func (p *parser) or() (*node, error) { return p.chain("||", or, p.and) }

func (p *parser) and() (*node, error) { return p.chain("&&", and, p.not) }

// chain reads operands that a sign joins.
func (p *parser) chain(joint string, k kind, operand func() (*node, error)) (*node, error) {
	n, err := operand()
	for err == nil && p.takes(joint) {
		var b *node
		if b, err = operand(); err == nil {
			n = &node{kind: k, a: n, b: b}
		}
	}
	if err != nil {
		return nil, err
	}
	return n, nil
}

func (p *parser) not() (*node, error) {
	t := p.peek()
	if p.depth++; p.depth > maxDepth {
		return nil, fault(t, "the expression is nested deeper than %d levels: write it flatter", maxDepth)
	}
	defer func() { p.depth-- }()
	switch {
	case p.takes("!"):
		a, err := p.not()
		if err != nil {
			return nil, err
		}
		return &node{kind: not, a: a}, nil
	case p.takes("("):
		n, err := p.or()
		if err != nil {
			return nil, err
		}
		if !p.takes(")") {
			return nil, fault(p.peek(), "%s stands where ) must close the ( at character %d", p.peek().said(), t.at)
		}
		return n, nil
	}
	return p.comparison()
}

// constants are the expressions that ask nothing; those with ns_ are the classic ones.
var constants = map[string]kind{"TRUE": always, "FALSE": never, "NS_TRUE": always, "NS_FALSE": never}

// mirror is a comparison with its sides exchanged.
var mirror = map[string]string{"==": "==", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}

func (p *parser) comparison() (*node, error) {
	t := p.next()
	switch {
	case t.kind == literal:
		return p.mirrored(t)
	case t.kind != name:
		return nil, fault(t, "%s stands where a test must, like CLIENT.IP.SRC.IN_SUBNET(10.0.0.0/8)", t.said())
	}
	if k, ok := constants[strings.ToUpper(t.text)]; ok {
		p.note(t, strings.HasPrefix(strings.ToUpper(t.text), "NS_"))
		return &node{kind: k}, nil
	}
	if f, classic, ok := find(t.text); ok && classic {
		p.note(t, true)
		return p.classicTest(f)
	}
	x, method, at, err := p.fact(t)
	if err != nil {
		return nil, err
	}
	if method == "" {
		return p.operator(x, at)
	}
	return p.method(x, method, at)
}

// note remembers which syntax a name is of.
func (p *parser) note(t token, classic bool) {
	switch {
	case classic && p.classic == nil:
		p.classic = &t
	case !classic && p.modern == nil:
		p.modern = &t
	}
}

// mirrored is a test that begins with its constant: 80 == CLIENT.TCP.DSTPORT.
func (p *parser) mirrored(c token) (*node, error) {
	op := p.next()
	turned, ok := mirror[op.text]
	if op.kind != sign || !ok {
		return nil, fault(c, "%s is not compared with anything: write a test like CLIENT.TCP.DSTPORT.EQ(80)", c.text)
	}
	t := p.next()
	if t.kind != name {
		return nil, fault(t, "%s stands where a name must, like CLIENT.TCP.DSTPORT", t.said())
	}
	x, method, at, err := p.fact(t)
	if err != nil {
		return nil, err
	}
	if method != "" {
		return nil, fault(at, "%s says true or false, which is not compared with %s", method, c.text)
	}
	return x.compare(turned, op, c)
}

// fact reads what a test is about: a name, perhaps of a part (SUBNET, GET1), and the method behind it, "" if there is none.
func (p *parser) fact(t token) (x *test, method string, at token, err error) {
	path := strings.Split(strings.ToUpper(t.text), ".")
	if len(path) < 3 {
		return nil, "", t, fault(t, "%s is not known: known are %s", t.text, names())
	}
	f, classic, ok := find(strings.Join(path[:3], "."))
	if !ok || classic {
		if path[0] == "HTTP" || path[0] == "SSL" || path[0] == "SERVER" {
			return nil, "", t, fault(t, "%s is not known when a packet is taken, which is before anything was read: known are %s", t.text, names())
		}
		return nil, "", t, fault(t, "%s is not known: known are %s", t.text, names())
	}
	p.note(t, false)
	x = &test{field: f, subnet: 32}
	at = t
	at.at += len(strings.Join(path[:3], ".")) // of the dot before the method
	path = path[3:]
	for {
		for len(path) > 0 && x.octet == 0 && fields[f].typ == address && strings.HasPrefix(path[0], "GET") && len(path[0]) == 4 && path[0][3] >= '1' && path[0][3] <= '4' {
			x.octet, at.at, path = path[0][3]-'0', at.at+5, path[1:]
		}
		switch {
		case len(path) == 0:
			return x, "", at, nil
		case path[0] == "":
			return nil, "", at, fault(at, "nothing follows the dot: %s takes %s", x.said(), x.methods())
		case len(path) > 1:
			return nil, "", at, fault(at, "%s stands before .%s and gives nothing to ask: %s takes %s", path[0], path[1], x.said(), x.methods())
		case path[0] != "SUBNET" || x.octet > 0 || x.subnet != 32 || fields[f].typ != address:
			return x, path[0], at, nil
		}
		if err := p.subnet(x, at); err != nil {
			return nil, "", at, err
		}
		more := p.peek()
		if more.kind != name || more.text[0] != '.' {
			return x, "", more, nil
		}
		p.next()
		at, path = more, strings.Split(strings.ToUpper(more.text[1:]), ".")
	}
}

// said is what a test is about, in a sentence.
func (t *test) said() string {
	s := fields[t.field].name
	if t.octet > 0 {
		s += fmt.Sprintf(".GET%d", t.octet)
	} else if t.subnet != 32 {
		s += fmt.Sprintf(".SUBNET(%d)", t.subnet)
	}
	return s
}

// methods lists what may be asked.
func (t *test) methods() string {
	typ, _ := t.typ()
	if typ == address && t.subnet != 32 {
		return "EQ, NE"
	}
	return typ.methods()
}

// subnet reads the argument of SUBNET.
func (p *parser) subnet(x *test, at token) error {
	args, err := p.arguments("SUBNET", at, 1)
	if err != nil {
		return err
	}
	n, err := strconv.ParseUint(args[0].text, 10, 8)
	if err != nil || n < 1 || n > 32 {
		return fault(args[0], "%s is no length of a subnet: it is 1 to 32", args[0].text)
	}
	x.subnet = uint8(n)
	return nil
}

// arguments reads n constants in parentheses.
func (p *parser) arguments(method string, at token, n int) ([]token, error) {
	if !p.takes("(") {
		return nil, fault(p.peek(), "%s stands where ( and the argument of %s must", p.peek().said(), method)
	}
	var list []token
	for {
		t := p.next()
		if t.kind != literal && t.kind != name {
			return nil, fault(t, "%s stands where an argument of %s must", t.said(), method)
		}
		list = append(list, t)
		if !p.takes(",") {
			break
		}
	}
	if !p.takes(")") {
		return nil, fault(p.peek(), "%s stands where ) must end the arguments of %s", p.peek().said(), method)
	}
	if len(list) != n {
		return nil, fault(at, "%s has %d arguments, not %d", method, n, len(list))
	}
	return list, nil
}

// operators are the methods that are written as signs too.
var operators = map[string]string{"EQ": "==", "NE": "!=", "GT": ">", "GE": ">=", "LT": "<", "LE": "<="}

// method reads a test that is written as a method.
func (p *parser) method(x *test, method string, at token) (*node, error) {
	typ, most := x.typ()
	unknown := func() error { return fault(at, "%s has no %s: it takes %s", x.said(), method, x.methods()) }
	if op, ok := operators[method]; ok {
		if typ != number && op != "==" && op != "!=" {
			return nil, unknown()
		}
		args, err := p.arguments(method, at, 1)
		if err != nil {
			return nil, err
		}
		return x.compare(op, at, args[0])
	}
	plain := x.subnet == 32
	switch {
	case method == "IN_SUBNET" && typ == address && plain:
		args, err := p.arguments(method, at, 1)
		if err != nil {
			return nil, err
		}
		return x.within(args[0])
	case method == "BETWEEN" && typ != protocol && plain:
		args, err := p.arguments(method, at, 2)
		if err != nil {
			return nil, err
		}
		var v [2]uint64
		for i, a := range args {
			n, why := typ.value(a.text, most)
			if why != "" {
				return nil, fault(a, "%s %s", a.text, why)
			}
			v[i] = n
		}
		if v[0] > v[1] {
			return nil, fault(args[0], "nothing lies between %s and %s: write the lower one first", args[0].text, args[1].text)
		}
		x.lo, x.hi = v[0], v[1]
		return &node{kind: is, test: *x}, nil
	}
	return nil, unknown()
}

// within is IN_SUBNET.
func (x *test) within(a token) (*node, error) {
	n, err := netip.ParsePrefix(a.text)
	switch {
	case err != nil || !n.Addr().Is4():
		return nil, fault(a, "%s is no IPv4 subnet, like 10.0.0.0/8", a.text)
	case n.Masked() != n:
		return nil, fault(a, "%s has bits behind its length: write %s, or %s/32", a.text, n.Masked(), n.Addr())
	}
	x.in, x.subnet, x.lo, x.hi = true, uint8(n.Bits()), ip4(n.Addr()), ip4(n.Addr())
	return &node{kind: is, test: *x}, nil
}

// operator reads a test that is written as a sign.
func (p *parser) operator(x *test, at token) (*node, error) {
	op := p.next()
	if _, ok := mirror[op.text]; op.kind != sign || !ok {
		return nil, fault(at, "%s is not compared with anything: it takes %s", x.said(), x.methods())
	}
	c := p.next()
	if c.kind != literal && c.kind != name {
		return nil, fault(c, "%s stands where a value must", c.said())
	}
	return x.compare(op.text, op, c)
}

// compare makes the test of x by an operator and a constant.
func (x *test) compare(op string, at, c token) (*node, error) {
	typ, most := x.typ()
	if typ != number && op != "==" && op != "!=" {
		return nil, fault(at, "%s has no order: it takes %s", x.said(), x.methods())
	}
	v, why := typ.value(c.text, most)
	if why != "" {
		return nil, fault(c, "%s %s", c.text, why)
	}
	x.lo, x.hi = v, v
	switch op {
	case "!=":
		x.ne = true
	case "<", ">":
		if op == "<" && v == 0 || op == ">" && v == most {
			return nil, fault(c, "nothing is %s %s there: %s is 0 to %d", op, c.text, x.said(), most)
		}
		if op == "<" {
			x.lo, x.hi = 0, v-1
		} else {
			x.lo, x.hi = v+1, most
		}
	case "<=":
		x.lo = 0
	case ">=":
		x.hi = most
	}
	if mask, _ := x.part(); typ == address && v&^mask != 0 {
		return nil, fault(c, "%s has bits behind the %d that count: write %s", c.text, x.subnet, addr4(v&mask))
	}
	return &node{kind: is, test: *x}, nil
}
