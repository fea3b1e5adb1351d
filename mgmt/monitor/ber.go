package monitor

import (
	"bufio"
	"io"
)

// Tags of BER (ITU-T X.690) that LDAP and SNMP use.
const (
	berInteger    = 0x02
	berOctets     = 0x04
	berNull       = 0x05
	berOID        = 0x06
	berEnumerated = 0x0a
	berSequence   = 0x30
	berSet        = 0x31
)

// berMax is the longest message that is read, in bytes.
const berMax = 64 << 10

// ber writes one element.
func ber(tag byte, parts ...[]byte) []byte {
	n := 0
	for _, p := range parts {
		n += len(p)
	}
	b := []byte{tag}
	switch {
	case n < 0x80:
		b = append(b, byte(n))
	case n < 0x100:
		b = append(b, 0x81, byte(n))
	case n < 0x10000:
		b = append(b, 0x82, byte(n>>8), byte(n))
	default:
		b = append(b, 0x83, byte(n>>16), byte(n>>8), byte(n))
	}
	for _, p := range parts {
		b = append(b, p...)
	}
	return b
}

func berText(tag byte, s string) []byte { return ber(tag, []byte(s)) }

// berNumber writes a number that is not negative.
func berNumber(tag byte, n uint32) []byte {
	b := []byte{byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)}
	for len(b) > 1 && b[0] == 0 && b[1] < 0x80 {
		b = b[1:]
	}
	if b[0] >= 0x80 {
		b = append([]byte{0}, b...)
	}
	return ber(tag, b)
}

// element is one element that was read.
type element struct {
	tag  byte
	body []byte
}

// berLength reads a length from its octets: definite, of at most four octets. used is how many there are; 0 is a fault.
func berLength(b []byte) (n, used int) {
	switch {
	case len(b) == 0:
		return 0, 0
	case b[0] < 0x80:
		return int(b[0]), 1
	case b[0] == 0x80 || b[0] > 0x84 || len(b) < 1+int(b[0]&0x7f):
		return 0, 0
	}
	for _, c := range b[1 : 1+b[0]&0x7f] {
		n = n<<8 | int(c)
	}
	return n, 1 + int(b[0]&0x7f)
}

// berNext takes the first element off b.
func berNext(b []byte) (e element, rest []byte, err error) {
	if len(b) < 2 || b[0]&0x1f == 0x1f {
		return e, nil, malformed("an element of its BER is cut off")
	}
	n, used := berLength(b[1:])
	if used == 0 || n > len(b)-1-used {
		return e, nil, malformed("an element of its BER has no possible length")
	}
	end := 1 + used + n
	return element{b[0], b[1+used : end]}, b[end:], nil
}

// berTake takes the first element off b, which must have the tag.
func berTake(b []byte, tag byte) (body, rest []byte, err error) {
	e, rest, err := berNext(b)
	if err == nil && e.tag != tag {
		return nil, nil, malformedf("it has an element of type 0x%02x where 0x%02x is due", e.tag, tag)
	}
	return e.body, rest, err
}

// berValue is the number in the body of an element: at most eight octets and a sign, saturated.
func berValue(body []byte) (int64, error) {
	if len(body) == 0 || len(body) > 9 {
		return 0, malformed("a number of its BER has no possible length")
	}
	n := int64(int8(body[0]))
	if len(body) == 9 {
		if body[0] != 0 || body[1] >= 0x80 {
			return 1<<63 - 1, nil // a Counter64 beyond what can be compared
		}
	}
	for _, c := range body[1:] {
		n = n<<8 | int64(c)
	}
	return n, nil
}

// berInt takes a number with the tag off b.
func berInt(b []byte, tag byte) (n int64, rest []byte, err error) {
	body, rest, err := berTake(b, tag)
	if err != nil {
		return 0, nil, err
	}
	n, err = berValue(body)
	return n, rest, err
}

// readBER reads one element from a stream.
func readBER(r *bufio.Reader) (element, error) {
	head, err := r.Peek(2)
	if err != nil {
		return element{}, berEnd(head, err)
	}
	size := 2
	if head[1] > 0x80 && head[1] <= 0x84 {
		size += int(head[1] & 0x7f)
	}
	if head, err = r.Peek(size); err != nil {
		return element{}, berEnd(head, err)
	}
	n, used := berLength(head[1:])
	if used == 0 || head[0]&0x1f == 0x1f {
		return element{}, malformed("it is no BER")
	}
	if n > berMax {
		return element{}, malformedf("a message is longer than %d bytes", berMax)
	}
	e := element{tag: head[0]}
	r.Discard(size)
	e.body = make([]byte, n)
	_, err = io.ReadFull(r, e.body)
	return e, err
}

// berEnd is the error of a stream that ends within the head of an element.
func berEnd(seen []byte, err error) error {
	if err == io.EOF && len(seen) > 0 {
		return io.ErrUnexpectedEOF
	}
	return err
}
