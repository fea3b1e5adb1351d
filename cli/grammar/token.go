package grammar

import (
	"strings"

	"sluice/vendor-config/schema"
)

// Token is one word of a command line.
type Token struct {
	Text    string // without quotes and escapes
	Start   int    // byte offset in the line
	End     int    // byte offset behind the word
	Quoted  bool   // began with a quote, so it is neither a keyword nor a comment
	Keyword bool   // began with `-`; Text keeps the dash
}

// qDelimiters open the quoting q/.../ in which nothing is escaped; each closes itself or has a partner.
const qDelimiters = "/{<|~$^+=&%@`?"

var qPartner = map[byte]byte{'{': '}', '<': '>'}

// Tokenize splits a line into words. A word that begins with # makes the rest a comment. open tells whether the line
// ends inside its last word, so that a cursor at the end is still on it.
func Tokenize(line string) (tokens []Token, open bool, err error) {
	l := lexer{line: line}
	for {
		for l.at < len(line) && isSpace(line[l.at]) {
			l.at++
		}
		if l.at == len(line) || line[l.at] == '#' {
			return tokens, false, nil
		}
		t, err := l.word()
		if err != nil {
			return append(tokens, t), true, err
		}
		tokens = append(tokens, t)
		if l.at == len(line) {
			return tokens, true, nil
		}
	}
}

type lexer struct {
	line string
	at   int
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

func (l *lexer) word() (Token, error) {
	t := Token{Start: l.at}
	rest := l.line[l.at:]
	var err error
	switch c := rest[0]; {
	case c == '"' || c == '\'':
		t.Quoted = true
		t.Text, err = l.quoted(c)
	case c == '-':
		t.Keyword = true
		end := strings.IndexFunc(rest, func(r rune) bool { return r < 0x80 && isSpace(byte(r)) })
		if end < 0 {
			end = len(rest)
		}
		t.Text = rest[:end]
		l.at += end
	case c == 'q' && len(rest) > 1 && strings.IndexByte(qDelimiters, rest[1]) >= 0:
		t.Quoted = true
		t.Text, err = l.raw(rest)
	default:
		t.Text, err = l.plain()
	}
	t.End = l.at
	return t, err
}

// quoted reads "..." or '...' from its opening quote on.
func (l *lexer) quoted(quote byte) (string, error) {
	start := l.at
	var b strings.Builder
	for l.at++; l.at < len(l.line); l.at++ {
		c := l.line[l.at]
		if c == quote {
			l.at++
			return b.String(), l.separated(start)
		}
		if c == '\\' && l.at+1 < len(l.line) {
			if e := strings.IndexByte(`tnr'"\`, l.line[l.at+1]); e >= 0 {
				b.WriteByte("\t\n\r'\"\\"[e])
				l.at++
				continue
			}
		}
		b.WriteByte(c)
	}
	return b.String(), unbalanced(l.line[start:], "the quote is not closed")
}

// raw reads q/.../ from its q on.
func (l *lexer) raw(rest string) (string, error) {
	closing := rest[1]
	if p, ok := qPartner[closing]; ok {
		closing = p
	}
	end := strings.IndexByte(rest[2:], closing)
	if end < 0 {
		l.at = len(l.line)
		return rest[2:], unbalanced(rest, "the quoting that q opens is not closed")
	}
	start := l.at
	l.at += 2 + end + 1
	return rest[2 : 2+end], l.separated(start)
}

// separated tells that a closing quote must end the word.
func (l *lexer) separated(start int) error {
	if l.at < len(l.line) && !isSpace(l.line[l.at]) {
		return unbalanced(l.line[start:], "a space must follow the closing quote")
	}
	return nil
}

// plain reads a word in which quotes and parentheses keep white space together and stay part of the word.
func (l *lexer) plain() (string, error) {
	start, depth := l.at, 0
	for ; l.at < len(l.line); l.at++ {
		switch c := l.line[l.at]; {
		case isSpace(c) && depth == 0:
			return l.line[start:l.at], nil
		case c == '(':
			depth++
		case c == ')':
			if depth--; depth < 0 {
				return l.line[start:l.at], unbalanced(l.line[start:], "the parenthesis ) was never opened")
			}
		case c == '"' || c == '\'':
			if !l.skipQuoted(c) {
				return l.line[start:], unbalanced(l.line[start:], "the quote is not closed")
			}
		}
	}
	if depth > 0 {
		return l.line[start:], unbalanced(l.line[start:], "the parenthesis ( is not closed")
	}
	return l.line[start:], nil
}

// skipQuoted moves to the closing quote of a quotation inside a word.
func (l *lexer) skipQuoted(quote byte) bool {
	for l.at++; l.at < len(l.line); l.at++ {
		switch l.line[l.at] {
		case '\\':
			l.at++
		case quote:
			return true
		}
	}
	l.at = len(l.line)
	return false
}

func unbalanced(word, why string) error {
	return schema.Refuse("Invalid syntax", shorten(word)).Because(why)
}

// shorten keeps an error on one line of a screen.
func shorten(s string) string {
	if r := []rune(s); len(r) > 40 {
		return string(r[:37]) + "..."
	}
	return s
}

// plain tells at once of most words that they need no quotes.
func plain(s string) bool {
	for i := range len(s) {
		if c := s[i]; (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && c != '_' && c != '.' && (c != '-' || i == 0) {
			return false
		}
	}
	return s != ""
}

// Quote writes a value as one word of a line; it adds quotes only if the word would be read differently without.
func Quote(s string) string {
	if plain(s) {
		return s
	}
	t, _, err := Tokenize(s)
	if err == nil && len(t) == 1 && t[0].Text == s && !t[0].Quoted && !t[0].Keyword && t[0].Start == 0 && t[0].End == len(s) {
		return s
	}
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(s) {
		switch c := s[i]; c {
		case '"', '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case '\t':
			b.WriteString(`\t`)
		case '\n':
			b.WriteString(`\n`)
		case '\r':
			b.WriteString(`\r`)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// Split cuts a line at the unquoted words `separator` stands for: ';' between commands or '|' before a filter. A ';'
// separates wherever it stands outside quotes and parentheses, a '|' only as a word of its own.
func Split(line string, separator byte) []string {
	var parts []string
	start := 0
	for at := 0; at < len(line); {
		c := line[at]
		l := lexer{line: line, at: at}
		begins := at == 0 || isSpace(line[at-1]) || line[at-1] == separator
		switch {
		case c == '#' && begins:
			return append(parts, line[start:at])
		case c == separator && (separator == ';' || begins && (at+1 == len(line) || isSpace(line[at+1]))):
			parts = append(parts, line[start:at])
			start, at = at+1, at+1
		case begins && c == 'q' && at+1 < len(line) && strings.IndexByte(qDelimiters, line[at+1]) >= 0:
			l.raw(line[at:])
			at = l.at
		case c == '"' || c == '\'':
			l.skipQuoted(c)
			at = l.at + 1
		case c == '(':
			at = closing(line, at) + 1
		default:
			at++
		}
	}
	return append(parts, line[min(start, len(line)):])
}

// closing is the offset of the parenthesis that closes the one at open, or open when there is none.
func closing(line string, open int) int {
	depth := 0
	l := lexer{line: line}
	for l.at = open; l.at < len(line); l.at++ {
		switch c := line[l.at]; c {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return l.at
			}
		case '"', '\'':
			l.skipQuoted(c)
		}
	}
	return open
}
