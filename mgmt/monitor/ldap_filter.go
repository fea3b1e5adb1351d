package monitor

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Tags of filters (RFC 4511 section 4.5.1.7).
const (
	filterAnd       = 0xa0
	filterOr        = 0xa1
	filterNot       = 0xa2
	filterEqual     = 0xa3
	filterSubstring = 0xa4
	filterGreater   = 0xa5
	filterLess      = 0xa6
	filterPresent   = 0x87
	filterApprox    = 0xa8
)

// filterDepth is how deep filters may be nested.
const filterDepth = 16

// ldapFilter parses a filter (RFC 4515), e.g. (&(objectClass=person)(uid=a*)); extensible matches are not among those that
// are understood. The outer parentheses may be missing, as most tools allow; "" holds for every entry.
func ldapFilter(text string) ([]byte, error) {
	switch {
	case text == "":
		text = "(objectClass=*)"
	case text[0] != '(':
		text = "(" + text + ")"
	}
	f := filterParser{text: text}
	out, err := f.filter(0)
	if err == nil && f.at != len(text) {
		err = f.fault("nothing may follow its last parenthesis")
	}
	return out, err
}

type filterParser struct {
	text string
	at   int
}

func (f *filterParser) fault(why string) error {
	return fmt.Errorf("filter %.60q is wrong at its character %d: %s", f.text, f.at+1, why)
}

func (f *filterParser) filter(depth int) ([]byte, error) {
	if depth > filterDepth {
		return nil, f.fault("it is nested too deeply")
	}
	if !f.take('(') {
		return nil, f.fault("a parenthesis must open here")
	}
	out, err := f.inner(depth)
	if err == nil && !f.take(')') {
		err = f.fault("a parenthesis must close here")
	}
	return out, err
}

func (f *filterParser) take(c byte) bool {
	if f.at < len(f.text) && f.text[f.at] == c {
		f.at++
		return true
	}
	return false
}

func (f *filterParser) inner(depth int) ([]byte, error) {
	switch {
	case f.take('&'):
		return f.several(filterAnd, depth)
	case f.take('|'):
		return f.several(filterOr, depth)
	case f.take('!'):
		one, err := f.filter(depth + 1)
		return ber(filterNot, one), err
	}
	return f.comparison()
}

func (f *filterParser) several(tag byte, depth int) ([]byte, error) {
	var all [][]byte
	for f.at < len(f.text) && f.text[f.at] == '(' {
		one, err := f.filter(depth + 1)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return ber(tag, all...), nil
}

func (f *filterParser) comparison() ([]byte, error) {
	end := strings.IndexByte(f.text[f.at:], ')')
	if end < 0 {
		return nil, f.fault("the parenthesis is not closed")
	}
	name, value, ok := strings.Cut(f.text[f.at:f.at+end], "=")
	tag := byte(filterEqual)
	if ok && name != "" {
		if t, special := map[byte]byte{'>': filterGreater, '<': filterLess, '~': filterApprox}[name[len(name)-1]]; special {
			tag, name = t, name[:len(name)-1]
		}
	}
	if !ok || name == "" || strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-.;") != "" {
		return nil, f.fault("it needs an attribute, = and a value")
	}
	out, err := assertion(tag, name, value)
	if err != nil {
		return nil, f.fault(err.Error())
	}
	f.at += end
	return out, nil
}

// assertion writes what is compared with what.
func assertion(tag byte, name, value string) ([]byte, error) {
	if value == "*" && tag == filterEqual {
		return berText(filterPresent, name), nil
	}
	parts := strings.Split(value, "*")
	if len(parts) == 1 || tag != filterEqual {
		v, err := unescaped(value)
		return ber(tag, berText(berOctets, name), ber(berOctets, v)), err
	}
	var pieces [][]byte
	for i, part := range parts {
		v, err := unescaped(part)
		if err != nil {
			return nil, err
		}
		switch {
		case part == "":
		case i == 0:
			pieces = append(pieces, ber(0x80, v)) // what it begins with
		case i == len(parts)-1:
			pieces = append(pieces, ber(0x82, v)) // what it ends with
		default:
			pieces = append(pieces, ber(0x81, v))
		}
	}
	if len(pieces) == 0 {
		return berText(filterPresent, name), nil
	}
	return ber(filterSubstring, berText(berOctets, name), ber(berSequence, pieces...)), nil
}

// unescaped resolves \HH.
func unescaped(s string) ([]byte, error) {
	var b []byte
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' {
			b = append(b, s[i])
			continue
		}
		n, err := strconv.ParseUint(s[min(i+1, len(s)):min(i+3, len(s))], 16, 8)
		if err != nil || i+3 > len(s) {
			return nil, errors.New(`a backslash is followed by two hexadecimal digits, e.g. \2a for *`)
		}
		b = append(b, byte(n))
		i += 2
	}
	return b, nil
}
