package expr

import (
	"bytes"
	"fmt"
	"math/bits"
	"slices"
	"strconv"
	"strings"
)

// A token is an expression that gives part of a packet instead of saying true or false: what the method TOKEN hashes. It is an
// address or the client's port, or text of a datagram:
//
//	CLIENT.IP.SRC.SUBNET(24)
//	CLIENT.UDP.PAYLOAD(200).AFTER_STR("id=").BEFORE_STR("&").SUBSTR(0, 8)

// Token is a token that is right in itself.
type Token struct {
	fact  test // what a test would be about, which is not compared
	steps []Cut
}

// Cut is a step of a token of a datagram: what it leaves of the text. It has no pointers, so that it can lie in tables off the Go heap.
type Cut struct {
	kind uint8
	n    uint8  // bytes of text
	a, b uint16 // where it begins, how long it is
	text [MaxText]byte
}

// MaxText is the longest text that a token looks for, and MaxCuts how many steps it has.
const (
	MaxText = 32
	MaxCuts = 8
)

// Kinds of Cut.
const (
	payloadCut uint8 = iota // the first bytes of a datagram, or of what is left of it
	afterCut                // what follows a text; nothing where that is not
	beforeCut               // what precedes it; nothing where that is not
	substrCut
)

// tokenFields are the facts that a token may be.
var tokenFields = []Field{SourceIP, DestIP, TCPSource, UDPSource}

// cutNames are the methods of text.
var cutNames = []string{payloadCut: "PAYLOAD", afterCut: "AFTER_STR", beforeCut: "BEFORE_STR", substrCut: "SUBSTR"}

const payloadName = "CLIENT.UDP.PAYLOAD"

// tokenKnown lists what a token may be.
const tokenKnown = "CLIENT.IP.SRC, CLIENT.IP.DST, CLIENT.TCP.SRCPORT, CLIENT.UDP.SRCPORT, CLIENT.UDP.PAYLOAD"

// ParseToken reads a token. The error is an *Error.
func ParseToken(text string) (*Token, error) {
	p, err := read(text, true)
	if err != nil {
		return nil, err
	}
	k, err := p.token()
	if err != nil {
		return nil, err
	}
	if t := p.peek(); t.kind != end {
		return nil, fault(t, "%s cannot follow a token: it is one part of a packet", t.said())
	}
	return k, nil
}

func (p *parser) token() (*Token, error) {
	t := p.next()
	if t.kind != name {
		return nil, fault(t, "%s stands where a token must: one of %s", t.said(), tokenKnown)
	}
	said := strings.ToUpper(t.text)
	if said == payloadName {
		return p.payload(t)
	}
	for _, f := range tokenFields {
		rest, ok := strings.CutPrefix(said, fields[f].name)
		switch {
		case !ok || rest != "" && rest[0] != '.':
		case rest == "":
			return &Token{fact: test{field: f, subnet: 32}}, nil
		case rest == ".SUBNET" && fields[f].typ == address:
			k := &Token{fact: test{field: f}}
			return k, p.subnet(&k.fact, t)
		case fields[f].typ == address:
			return nil, fault(t, "%s is no part of an address: a token takes SUBNET", rest[1:])
		default:
			return nil, fault(t, "%s is no part of a port", rest[1:])
		}
	}
	if strings.HasPrefix(said, "HTTP.") || strings.HasPrefix(said, "SSL.") || strings.HasPrefix(said, "CLIENT.TCP.PAYLOAD") {
		return nil, fault(t, "%s is not known when a connection is balanced, which is before anything was sent: a token is one of %s", t.text, tokenKnown)
	}
	return nil, fault(t, "%s is no token: it is one of %s", t.text, tokenKnown)
}

// payload reads the steps behind CLIENT.UDP.PAYLOAD.
func (p *parser) payload(at token) (*Token, error) {
	k := &Token{}
	for kind := payloadCut; ; {
		if len(k.steps) == MaxCuts {
			return nil, fault(at, "a token has %d steps at most", MaxCuts)
		}
		c, err := p.cut(kind, at)
		if err != nil {
			return nil, err
		}
		k.steps = append(k.steps, c)
		if at = p.peek(); at.kind != name || at.text[0] != '.' {
			return k, nil
		}
		p.next()
		methods := cutNames[afterCut:]
		i := slices.Index(methods, strings.ToUpper(at.text[1:]))
		if i < 0 {
			return nil, fault(at, "%s is no part of a payload: it takes %s", at.text[1:], strings.Join(methods, ", "))
		}
		kind = afterCut + uint8(i)
	}
}

// cut reads the arguments of a step.
func (p *parser) cut(kind uint8, at token) (c Cut, err error) {
	n := 1
	if kind == substrCut {
		n = 2
	}
	args, err := p.arguments(cutNames[kind], at, n)
	if err != nil {
		return c, err
	}
	c.kind = kind
	if kind == afterCut || kind == beforeCut {
		s, ok := unquote(args[0])
		if !ok || len(s) < 1 || len(s) > MaxText {
			return c, fault(args[0], "%s is no text of 1 to %d bytes in quotes", args[0].said(), MaxText)
		}
		c.n = uint8(copy(c.text[:], s))
		return c, nil
	}
	for i, to := range []*uint16{&c.a, &c.b}[2-len(args):] {
		least := uint64(0) // of where it begins; it is 1 long at least
		if to == &c.b {
			least = 1
		}
		v, err := strconv.ParseUint(args[i].text, 10, 16)
		if err != nil || v < least {
			return c, fault(args[i], "%s is no number of bytes from %d to 65535", args[i].said(), least)
		}
		*to = uint16(v)
	}
	return c, nil
}

// unquote is the text that a token of the line stands for: \r \n \t \xHH are bytes, and a backslash before anything else gives that.
func unquote(t token) (string, bool) {
	if len(t.text) < 2 || t.kind != literal || t.text[0] != '"' {
		return "", false
	}
	var b strings.Builder
	for s := t.text[1 : len(t.text)-1]; s != ""; s = s[1:] {
		if s[0] != '\\' || len(s) < 2 {
			b.WriteByte(s[0])
			continue
		}
		s = s[1:]
		n, err := uint64(0), strconv.ErrSyntax
		if s[0] == 'x' && len(s) > 2 {
			n, err = strconv.ParseUint(s[1:3], 16, 8)
		}
		at := strings.IndexByte("rnt", s[0])
		switch {
		case err == nil:
			b.WriteByte(byte(n))
			s = s[2:]
		case at >= 0:
			b.WriteByte("\r\n\t"[at])
		default:
			b.WriteByte(s[0])
		}
	}
	return b.String(), true
}

// quote writes a text.
func quote(s []byte) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, c := range s {
		switch at := strings.IndexByte("\r\n\t\"\\", c); {
		case at >= 0:
			b.WriteByte('\\')
			b.WriteByte(`rnt"\`[at])
		case c < ' ' || c >= 0x7f:
			fmt.Fprintf(&b, `\x%02x`, c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// String writes the token.
func (k *Token) String() string {
	if k.steps == nil {
		return k.fact.said()
	}
	var b strings.Builder
	b.WriteString("CLIENT.UDP")
	for i := range k.steps {
		c := &k.steps[i]
		b.WriteString("." + cutNames[c.kind])
		switch c.kind {
		case payloadCut:
			fmt.Fprintf(&b, "(%d)", c.b)
		case substrCut:
			fmt.Fprintf(&b, "(%d, %d)", c.a, c.b)
		default:
			b.WriteString("(" + quote(c.text[:c.n]) + ")")
		}
	}
	return b.String()
}

// Protocol is the IP protocol whose packets have the token, 0 for any.
func (k *Token) Protocol() uint8 {
	switch {
	case k.steps != nil || k.fact.field == UDPSource:
		return 17
	case k.fact.field == TCPSource:
		return 6
	}
	return 0
}

// Key are the bits of a packet's addresses, as they lie in it with the source in the lower half, and of its source port that the
// token is; none of either if it is part of a datagram.
func (k *Token) Key() (addresses uint64, port uint16) {
	if k.steps != nil {
		return 0, 0
	}
	part, _ := k.fact.part()
	mask := uint64(bits.ReverseBytes32(uint32(part)))
	switch k.fact.field {
	case SourceIP:
		return mask, 0
	case DestIP:
		return mask << 32, 0
	}
	return 0, 1<<16 - 1
}

// Cuts are the steps of a token that is part of a datagram; nil for others.
func (k *Token) Cuts() []Cut { return k.steps }

// Apply is what the steps leave of a payload, which may be nothing. It allocates nothing and takes a time that is linear in the
// payload for each step.
func Apply(steps []Cut, payload []byte) []byte {
	for i := range steps {
		c := &steps[i]
		switch c.kind {
		case afterCut, beforeCut:
			at := bytes.Index(payload, c.text[:c.n])
			switch {
			case at < 0:
				return nil
			case c.kind == afterCut:
				payload = payload[at+int(c.n):]
			default:
				payload = payload[:at]
			}
		default:
			payload = payload[min(int(c.a), len(payload)):]
			payload = payload[:min(int(c.b), len(payload))]
		}
	}
	return payload
}
