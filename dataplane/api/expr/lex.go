package expr

import (
	"fmt"
	"strings"
)

// tokenKind tells what a token is.
type tokenKind uint8

const (
	end     tokenKind = iota
	name              // CLIENT.IP.SRC, .EQ, TRUE, -netmask
	literal           // 80, 10.0.0.0/8, 80-90, 0x50
	sign              // ( ) , ! && || == != <= >= < >
)

type token struct {
	kind tokenKind
	text string
	at   int // its first character, from 1
}

// signs are the operators, longer ones before those that they begin with.
var signs = []string{"&&", "||", "==", "!=", "<=", ">=", "(", ")", ",", "!", "<", ">"}

const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"
const digits = "0123456789"

// lex cuts the text into tokens.
func (p *parser) lex() error {
	s := p.text
	for i := 0; i < len(s); {
		at, rest := i+1, s[i:]
		if c := s[i]; c == ' ' || c == '\t' {
			i++
			continue
		}
		t, ok := cut(rest)
		if !ok && p.quotes && rest[0] == '"' {
			if t, ok = cutQuoted(rest); !ok {
				return &Error{at, "the text that begins here does not end: write \" behind it"}
			}
		}
		if !ok {
			return &Error{at, fmt.Sprintf("%q has no meaning here: write names, numbers, addresses, ( ) ! && || == != < <= > >=", first(rest))}
		}
		t.at = at
		p.tokens = append(p.tokens, t)
		i += len(t.text)
	}
	p.tokens = append(p.tokens, token{end, "", len(s) + 1})
	return nil
}

// cutQuoted takes the text in quotes that s begins with; a backslash makes the next byte stand for itself.
func cutQuoted(s string) (t token, ok bool) {
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '"':
			return token{kind: literal, text: s[:i+1]}, true
		}
	}
	return t, false
}

// first is the first character of s.
func first(s string) string {
	for _, c := range s {
		return string(c)
	}
	return ""
}

// cut takes the token that s begins with.
func cut(s string) (t token, ok bool) {
	for _, sign2 := range signs {
		if strings.HasPrefix(s, sign2) {
			return token{kind: sign, text: sign2}, true
		}
	}
	span := func(from int, chars string) string {
		return s[:from+len(s[from:])-len(strings.TrimLeft(s[from:], chars))]
	}
	switch {
	case strings.Contains(digits, s[:1]):
		return token{kind: literal, text: span(0, letters+digits+"./:-")}, true
	case strings.Contains(letters, s[:1]):
		return token{kind: name, text: span(0, letters+digits+".")}, true
	case len(s) > 1 && (s[0] == '.' || s[0] == '-') && strings.Contains(letters, s[1:2]):
		return token{kind: name, text: span(1, letters+digits+".")}, true
	}
	return t, false
}
