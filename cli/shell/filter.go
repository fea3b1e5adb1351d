package shell

import (
	"regexp"
	"strconv"
	"strings"

	"sluice/cli/grammar"
	"sluice/vendor-config/schema"
)

// filter is one `| grep` behind a command.
type filter struct {
	count, invert bool
	match         *regexp.Regexp
}

// parseFilter reads `grep [-c] [-E] [-i] [-v] [-w] [-x] <pattern>`.
func parseFilter(text string) (*filter, error) {
	tokens, _, err := grammar.Tokenize(text)
	if err != nil {
		return nil, err
	}
	if len(tokens) == 0 || !strings.EqualFold(tokens[0].Text, "grep") {
		return nil, schema.Refuse(schema.NoSuchCommand, strings.TrimSpace(text)).Because("only grep stands behind |")
	}
	f := &filter{}
	pattern, flags, extended, word, exact := "", "", false, false, false
	for i, t := range tokens[1:] {
		if !t.Keyword {
			if i != len(tokens)-2 {
				return nil, schema.Refuse(schema.NoSuchArg, tokens[i+2].Text)
			}
			pattern = t.Text
			break
		}
		switch t.Text {
		case "-c":
			f.count = true
		case "-v":
			f.invert = true
		case "-E":
			extended = true
		case "-i":
			flags = "(?i)"
		case "-w":
			word = true
		case "-x":
			exact = true
		default:
			return nil, schema.Refuse(schema.NoSuchArg, t.Text)
		}
	}
	if last := tokens[len(tokens)-1]; len(tokens) == 1 || last.Keyword {
		return nil, schema.Refuse(schema.Missing, "pattern")
	}
	expression := pattern
	if !extended {
		expression = basic(pattern)
	}
	if word {
		expression = `\b(?:` + expression + `)\b`
	}
	if exact {
		expression = `^(?:` + expression + `)$`
	}
	if f.match, err = regexp.Compile(flags + expression); err != nil {
		return nil, schema.Refuse(schema.BadValue, "pattern", pattern).Because("it is no regular expression")
	}
	return f, nil
}

// basic turns a POSIX basic expression into one of Go: + ? | ( ) { } stand for themselves.
func basic(pattern string) string {
	var b strings.Builder
	for i := 0; i < len(pattern); i++ {
		c := pattern[i]
		switch {
		case c == '\\' && i+1 < len(pattern) && strings.IndexByte("+?|(){}", pattern[i+1]) >= 0:
			i++
			b.WriteByte(pattern[i])
		case strings.IndexByte("+?|(){}", c) >= 0:
			b.WriteByte('\\')
			b.WriteByte(c)
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

func (f *filter) apply(text string) string {
	var kept []string
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if f.match.MatchString(line) != f.invert {
			kept = append(kept, line)
		}
	}
	if f.count {
		return strconv.Itoa(len(kept)) + "\n"
	}
	return whole(strings.Join(kept, "\n"))
}
