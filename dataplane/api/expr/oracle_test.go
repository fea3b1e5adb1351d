package expr

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"strings"
	"testing"
)

// flow is a packet as the oracle knows it: -1 is what it does not have.
type flow struct {
	src, dst       netip.Addr
	proto          int
	tcpSrc, tcpDst int
	udpSrc, udpDst int
	vlan           int
}

func (p *flow) facts() *Facts {
	n := func(v int) uint64 {
		if v < 0 {
			return Missing
		}
		return uint64(v)
	}
	return &Facts{ip4(p.src), ip4(p.dst), n(p.proto), n(p.tcpSrc), n(p.tcpDst), n(p.udpSrc), n(p.udpDst), n(p.vlan)}
}

// oracle makes expressions at random together with what they mean, which is said in Go and not by the parser.
type oracle struct {
	r *rand.Rand
}

type meaning func(*flow) bool

func (o *oracle) one(of ...string) string { return of[o.r.IntN(len(of))] }

// spaced writes a text with letters of any case, and perhaps a space on both sides.
func (o *oracle) spaced(s string) string {
	if o.r.IntN(3) == 0 {
		s = strings.ToLower(s)
	}
	return o.one("", "", " ") + s + o.one("", "", " ")
}

func (o *oracle) expression(depth int) (string, meaning) {
	if depth == 0 {
		return o.test()
	}
	a, am := o.expression(depth - 1)
	switch o.r.IntN(6) {
	case 0:
		b, bm := o.expression(depth - 1)
		return "(" + a + ")" + o.spaced("&&") + "(" + b + ")", func(p *flow) bool { return am(p) && bm(p) }
	case 1:
		b, bm := o.expression(depth - 1)
		return "(" + a + ")" + o.spaced("||") + "(" + b + ")", func(p *flow) bool { return am(p) || bm(p) }
	case 2:
		return "!" + o.one("", " ") + "(" + a + ")", func(p *flow) bool { return !am(p) }
	case 3: // without parentheses: && binds more than ||, ! more than both
		b, bm := o.test()
		c, cm := o.test()
		d, dm := o.test()
		return b + " || !" + c + " && " + d, func(p *flow) bool { return bm(p) || (!cm(p) && dm(p)) }
	case 4:
		b, bm := o.test()
		return b + " || " + a, func(p *flow) bool { return bm(p) || am(p) } // || goes on to the end of a
	}
	return "(" + a + ")", am
}

func (o *oracle) test() (string, meaning) {
	switch o.r.IntN(5) {
	case 0, 1:
		return o.address()
	case 2:
		return o.spaced(o.one("TRUE", "TRUE ")), func(*flow) bool { return true }
	}
	return o.number()
}

// address tests an address.
func (o *oracle) address() (string, meaning) {
	name, of := o.spaced("CLIENT.IP.SRC"), func(p *flow) netip.Addr { return p.src }
	if o.r.IntN(2) == 0 {
		name, of = o.spaced("CLIENT.IP.DST"), func(p *flow) netip.Addr { return p.dst }
	}
	name = strings.TrimRight(name, " ")
	a, bits := o.host(), 1+o.r.IntN(32)
	sub := netip.PrefixFrom(a, bits).Masked()
	switch o.r.IntN(6) {
	case 0:
		return fmt.Sprintf("%s.EQ(%v)", name, a), func(p *flow) bool { return of(p) == a }
	case 1:
		return fmt.Sprintf("%s.NE(%v)", name, a), func(p *flow) bool { return of(p) != a }
	case 2:
		return fmt.Sprintf("%s.IN_SUBNET(%v)", name, sub), func(p *flow) bool { return sub.Contains(of(p)) }
	case 3:
		return fmt.Sprintf("%s.SUBNET(%d).EQ(%v)", name, bits, sub.Addr()), func(p *flow) bool { return sub.Contains(of(p)) }
	case 4:
		i, v := o.r.IntN(4), o.r.IntN(256)
		return fmt.Sprintf("%s.GET%d <= %d", name, i+1, v), func(p *flow) bool { return int(of(p).As4()[i]) <= v }
	}
	b := o.host()
	if b.Less(a) {
		a, b = b, a
	}
	return fmt.Sprintf("%s.BETWEEN(%v,%v)", name, a, b), func(p *flow) bool { return !of(p).Less(a) && !b.Less(of(p)) }
}

func (o *oracle) host() netip.Addr {
	return netip.AddrFrom4([4]byte{10, byte(o.r.IntN(2)), byte(o.r.IntN(3)), byte(o.r.IntN(4))})
}

// number tests a port, a VLAN or the protocol.
func (o *oracle) number() (string, meaning) {
	i := o.r.IntN(6)
	name := []string{"CLIENT.TCP.SRCPORT", "CLIENT.TCP.DSTPORT", "CLIENT.UDP.SRCPORT", "CLIENT.UDP.DSTPORT", "CLIENT.VLAN.ID", "CLIENT.IP.PROTOCOL"}[i]
	of := func(p *flow) int { return []int{p.tcpSrc, p.tcpDst, p.udpSrc, p.udpDst, p.vlan, p.proto}[i] }
	v := 1 + o.r.IntN(8)
	if i == 5 {
		v = []int{6, 17, 47}[o.r.IntN(3)]
		if o.r.IntN(2) == 0 {
			return fmt.Sprintf("%s.NE(%d)", name, v), func(p *flow) bool { return of(p) != v }
		}
		return fmt.Sprintf("%s == %s", name, map[int]string{6: "TCP", 17: "udp", 47: "GRE"}[v]), func(p *flow) bool { return of(p) == v }
	}
	k := o.r.IntN(6)
	sign := []string{"==", "!=", "<", "<=", ">", ">="}[k]
	m := func(p *flow) bool {
		n := of(p)
		return n >= 0 && []bool{n == v, n != v, n < v, n <= v, n > v, n >= v}[k]
	}
	switch o.r.IntN(3) {
	case 0:
		return fmt.Sprintf("%s%s%d", name, o.spaced(sign), v), m
	case 1:
		return fmt.Sprintf("%d%s%s", v, o.spaced([]string{"==", "!=", ">", ">=", "<", "<="}[k]), name), m
	}
	return fmt.Sprintf("%s.%s(%d)", name, []string{"EQ", "NE", "LT", "LE", "GT", "GE"}[k], v), m
}

func (o *oracle) packet() *flow {
	p := &flow{o.host(), o.host(), []int{6, 17, 47}[o.r.IntN(3)], -1, -1, -1, -1, o.r.IntN(10)}
	switch p.proto {
	case 6:
		p.tcpSrc, p.tcpDst = o.r.IntN(10), o.r.IntN(10)
	case 17:
		p.udpSrc, p.udpDst = o.r.IntN(10), o.r.IntN(10)
	}
	return p
}

// TestOracle compares programs with what random expressions mean, as they were written and as they are written back.
func TestOracle(t *testing.T) {
	o := &oracle{rand.New(rand.NewPCG(10, 4))}
	yes, n := 0, 0
	for range 4000 {
		text, means := o.expression(o.r.IntN(4))
		if len(text) > MaxLength {
			continue
		}
		e, err := Parse(text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		again, err := Parse(e.String())
		if err != nil || again.String() != e.String() {
			t.Fatalf("%s is written %s, which is %v, %v", text, e, again, err)
		}
		program, other := e.Compile(), again.Compile()
		for range 20 {
			p := o.packet()
			want, f := means(p), p.facts()
			if Run(program, f) != want || Run(other, f) != want {
				t.Fatalf("%s\nof %+v is %v, of what is written back %v, want %v", text, p, Run(program, f), Run(other, f), want)
			}
			if n++; want {
				yes++
			}
		}
	}
	if yes < n/5 || yes > n*4/5 {
		t.Errorf("%d of %d are true: the test has lost its point", yes, n)
	}
}
