package expr

import (
	"math/bits"
	"net/netip"
	"strings"
)

// classicTest reads the rest of a test in the classic syntax: an operator, a value or a range of ports, and for an address
// perhaps -netmask.
func (p *parser) classicTest(f Field) (*node, error) {
	x := &test{field: f, subnet: 32}
	op := p.next()
	if _, ok := mirror[op.text]; op.kind != sign || !ok {
		return nil, fault(op, "%s stands where == or another comparison must follow %s", op.said(), fields[f].classic)
	}
	c := p.next()
	if c.kind != literal && c.kind != name {
		return nil, fault(c, "%s stands where a value must", c.said())
	}
	typ, _ := x.typ()
	if low, high, ok := strings.Cut(c.text, "-"); ok && typ == number {
		return p.classicRange(x, op, c, low, high)
	}
	mask := p.peek()
	if mask.kind != name || !strings.EqualFold(mask.text, "-netmask") {
		return x.compare(op.text, op, c)
	}
	p.next()
	if typ != address || op.text != "==" && op.text != "!=" {
		return nil, fault(mask, "-netmask belongs to an address that is compared by == or !=")
	}
	n := p.next()
	m, err := netip.ParseAddr(n.text)
	if err != nil || !m.Is4() || bits.OnesCount32(^uint32(ip4(m))+1) > 1 {
		return nil, fault(n, "%s is no netmask, like 255.255.255.0", n.said())
	}
	v, why := address.value(c.text, 0)
	if why != "" {
		return nil, fault(c, "%s %s", c.text, why)
	}
	// The reference product ignores the bits of the address behind the mask.
	x.in, x.subnet = true, uint8(bits.OnesCount32(uint32(ip4(m))))
	x.lo = v & ip4(m)
	x.hi = x.lo
	return negated(op.text == "!=", &node{kind: is, test: *x}), nil
}

// classicRange is a test of a range of numbers: 80-90.
func (p *parser) classicRange(x *test, op, c token, low, high string) (*node, error) {
	if op.text != "==" && op.text != "!=" {
		return nil, fault(op, "a range is compared by == or !=")
	}
	typ, most := x.typ()
	lo, why := typ.value(low, most)
	hi, whyHigh := typ.value(high, most)
	if why != "" || whyHigh != "" || lo > hi {
		return nil, fault(c, "%s is no range of numbers from 0 to %d that goes up", c.text, most)
	}
	x.lo, x.hi = lo, hi
	return negated(op.text == "!=", &node{kind: is, test: *x}), nil
}

func negated(yes bool, n *node) *node {
	if yes {
		return &node{kind: not, a: n}
	}
	return n
}
