package grammar

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestTokenize(t *testing.T) {
	for _, row := range []struct {
		line string
		want []string
		open bool
	}{
		{"", nil, false},
		{"   ", nil, false},
		{"# nothing", nil, false},
		{"add lb\tvserver", []string{"add", "lb", "vserver"}, true},
		{"add lb ", []string{"add", "lb"}, false},
		{"show # rest", []string{"show"}, false},
		{"name#1 x", []string{"name#1", "x"}, true},
		{`"a b" 'c d'`, []string{"a b", "c d"}, true},
		{`"a\tb\n\r\'\"\\\x"`, []string{"a\tb\n\r'\"\\\\x"}, true},
		{`'it"s'`, []string{`it"s`}, true},
		{`"it's"`, []string{"it's"}, true},
		{`HTTP.REQ.HEADER("Host").EQ("a b") x`, []string{`HTTP.REQ.HEADER("Host").EQ("a b")`, "x"}, true},
		{`f(a b (c d)) e`, []string{`f(a b (c d))`, "e"}, true},
		{`f("(" x) e`, []string{`f("(" x)`, "e"}, true},
		{`q/a "b' c/ d`, []string{`a "b' c`, "d"}, true},
		{`q{a /b\} c`, []string{`a /b\`, "c"}, true},
		{`q<a> q|b| q~c~ q?d?`, []string{"a", "b", "c", "d"}, true},
		{`quit`, []string{"quit"}, true},
		{`-comment "-x"`, []string{"-comment", "-x"}, true},
		{`-a"b c`, []string{`-a"b`, "c"}, true},
		{`""`, []string{""}, true},
	} {
		tokens, open, err := Tokenize(row.line)
		var got []string
		for _, k := range tokens {
			got = append(got, k.Text)
		}
		if err != nil || !slices.Equal(got, row.want) || open != row.open {
			t.Errorf("%q: %q open=%v err=%v, want %q open=%v", row.line, got, open, err, row.want, row.open)
		}
	}
}

func TestTokenizeFaults(t *testing.T) {
	for _, row := range []struct{ line, want string }{
		{`add "lb`, `Invalid syntax ["lb]: the quote is not closed`},
		{`add 'lb`, `Invalid syntax ['lb]: the quote is not closed`},
		{`a"b c`, `Invalid syntax [a"b c]: the quote is not closed`},
		{`"a"b`, `Invalid syntax ["a"b]: a space must follow the closing quote`},
		{`q/a/b`, `Invalid syntax [q/a/b]: a space must follow the closing quote`},
		{`q{a`, `Invalid syntax [q{a]: the quoting that q opens is not closed`},
		{`a) b`, `Invalid syntax [a) b]: the parenthesis ) was never opened`},
		{`f(a b`, `Invalid syntax [f(a b]: the parenthesis ( is not closed`},
		{`a"b\`, `Invalid syntax [a"b\]: the quote is not closed`},
	} {
		if _, _, err := Tokenize(row.line); err == nil || err.Error() != row.want {
			t.Errorf("%q: %v, want %s", row.line, err, row.want)
		}
	}
}

func TestQuote(t *testing.T) {
	for _, row := range [][2]string{
		{"plain", "plain"}, {"a b", `"a b"`}, {"", `""`}, {"-x", `"-x"`}, {"#x", `"#x"`}, {"x#", "x#"}, {`a"b`, `"a\"b"`}, {`a\b`, `a\b`},
		{`a \b`, `"a \\b"`}, {"q/x/", `"q/x/"`}, {"quick", "quick"}, {"f(a b)", "f(a b)"}, {"f(a", `"f(a"`}, {"a)", `"a)"`}, {"'x'", `"'x'"`}, {"a\tb", `"a\tb"`},
	} {
		if got := Quote(row[0]); got != row[1] {
			t.Errorf("Quote(%q) = %s, want %s", row[0], got, row[1])
		}
	}
}

func TestSplit(t *testing.T) {
	for _, row := range []struct {
		line string
		by   byte
		want []string
	}{
		{"a; b", ';', []string{"a", " b"}},
		{"a;b;", ';', []string{"a", "b", ""}},
		{`a "x;y"; b`, ';', []string{`a "x;y"`, " b"}},
		{`a f(x;y); b`, ';', []string{`a f(x;y)`, " b"}},
		{`a q/;/; b`, ';', []string{`a q/;/`, " b"}},
		{"a # ; b", ';', []string{"a "}},
		{"show x | grep y", '|', []string{"show x ", " grep y"}},
		{"show x a||b | grep y", '|', []string{"show x a||b ", " grep y"}},
		{`show "|" | grep '|'`, '|', []string{`show "|" `, " grep '|'"}},
		{"", ';', []string{""}},
		{`a "open; b`, ';', []string{`a "open; b`}},
	} {
		if got := Split(row.line, row.by); !slices.Equal(got, row.want) {
			t.Errorf("Split(%q, %c) = %q, want %q", row.line, row.by, got, row.want)
		}
	}
}

// FuzzTokenize: the lexer never fails hard, its offsets are right, and what it reads can be written and read again.
func FuzzTokenize(f *testing.F) {
	for _, s := range []string{"add lb vserver v HTTP 10.0.0.1 80", `"a\"b" 'c'`, "q/x/ q{y}", "f(a (b) \"c)\") # d", "-x \"-y\"", "a\"b\\", "q", "\\", "(", ")"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, line string) {
		tokens, _, err := Tokenize(line)
		end := 0
		for _, k := range tokens {
			if k.Start < end || k.End < k.Start || k.End > len(line) {
				t.Fatalf("offsets of %+v in %q", k, line)
			}
			end = k.End
		}
		for _, by := range []byte{';', '|'} {
			if n := len(strings.Join(Split(line, by), string(by))); n > len(line) {
				t.Fatalf("Split by %c makes %q longer", by, line)
			}
		}
		if err != nil {
			return
		}
		for _, k := range tokens {
			if k.Keyword {
				continue
			}
			again, _, err := Tokenize("x " + Quote(k.Text) + " y")
			if err != nil || len(again) != 3 || again[1].Text != k.Text {
				t.Fatalf("%q written as %s is read as %+v, %v", k.Text, Quote(k.Text), again, err)
			}
		}
	})
}

// FuzzParse: no line makes the parser fail hard; an error is one line; what parses can be applied or is refused, and
// what was applied can be written and read again.
func FuzzParse(f *testing.F) {
	for _, l := range labLines {
		f.Add(l)
	}
	for _, w := range wrong {
		f.Add(w.line)
	}
	base := configOf(f, labLines...)
	f.Fuzz(func(t *testing.T, line string) {
		Complete(line, base)
		op, err := Parse(line)
		if err != nil {
			if s := err.Error(); strings.ContainsAny(s, "\r\n") || s == "" {
				t.Fatalf("error of %q is %q", line, s)
			}
			return
		}
		if op == nil || !op.Changes() {
			return
		}
		c := base.Clone()
		before := Lines(base)
		err = op.Apply(c)
		if !slices.Equal(before, Lines(base)) {
			t.Fatalf("%q changed the version it was cloned from", line)
		}
		if err != nil {
			return
		}
		if err := Check(c); err != nil {
			t.Fatalf("%q was accepted and then: %v", line, err)
		}
		if utf8.ValidString(line) {
			readBack(t, c)
		}
	})
}
