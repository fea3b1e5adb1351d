package shell

import (
	"context"
	"fmt"
	"regexp"
	"regexp/syntax"
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

// Bounds of what an operator can have done by filters: each line of a text takes as many steps as its characters times the steps
// of the pattern, and a pattern of a few bytes can have a million.
const (
	filtersMost = 16
	patternMost = 1000  // bytes
	stepsMost   = 10000 // of a pattern
)

// parseFilters reads what stands behind a command.
func parseFilters(parts []string) ([]*filter, error) {
	if len(parts) > filtersMost {
		return nil, schema.Refuse(schema.NotPermitted, "grep").Because(fmt.Sprintf("%d of them at most stand behind a command", filtersMost))
	}
	var all []*filter
	for _, p := range parts {
		f, err := parseFilter(p)
		if err != nil {
			return nil, err
		}
		all = append(all, f)
	}
	return all, nil
}

// grepOptions are the options of grep that there are, each a letter; several may stand behind one hyphen.
const grepOptions = "cEivwx"

// parseFilter reads `grep [-c] [-E] [-i] [-v] [-w] [-x] <pattern>`.
func parseFilter(text string) (*filter, error) {
	tokens, _, err := grammar.Tokenize(text)
	if err != nil {
		return nil, err
	}
	if len(tokens) == 0 || !strings.EqualFold(tokens[0].Text, "grep") {
		return nil, schema.Refuse(schema.NoSuchCommand, strings.TrimSpace(text)).Because("only grep stands behind |")
	}
	pattern, options := "", ""
	for i, t := range tokens[1:] {
		if !t.Keyword {
			if i != len(tokens)-2 {
				return nil, schema.Refuse(schema.NoSuchArg, tokens[i+2].Text)
			}
			pattern = t.Text
			break
		}
		if t.Text == "-" || strings.Trim(t.Text[1:], grepOptions) != "" {
			return nil, schema.Refuse(schema.NoSuchArg, t.Text).Because("grep has -" + strings.Join(strings.Split(grepOptions, ""), " -"))
		}
		options += t.Text[1:]
	}
	if last := tokens[len(tokens)-1]; len(tokens) == 1 || last.Keyword {
		return nil, schema.Refuse(schema.Missing, "pattern")
	}
	has := func(option string) bool { return strings.Contains(options, option) }
	f, expression := &filter{count: has("c"), invert: has("v")}, pattern
	if !has("E") {
		expression = basic(pattern)
	}
	if has("w") {
		expression = `\b(?:` + expression + `)\b`
	}
	if has("x") {
		expression = `^(?:` + expression + `)$`
	}
	if has("i") {
		expression = "(?i)" + expression
	}
	if f.match, err = compile(expression, pattern); err != nil {
		return nil, err
	}
	return f, nil
}

// compile compiles an expression that was made of the pattern, if it has not too many steps.
func compile(expression, pattern string) (*regexp.Regexp, error) {
	if len(pattern) > patternMost {
		return nil, schema.Refuse(schema.TooLong, "pattern", strconv.Itoa(patternMost))
	}
	tree, err := syntax.Parse(expression, syntax.Perl)
	if err != nil {
		return nil, schema.Refuse(schema.BadValue, "pattern", pattern).Because("it is no regular expression")
	}
	if steps, err := syntax.Compile(tree.Simplify()); err != nil || len(steps.Inst) > stepsMost {
		return nil, schema.Refuse(schema.BadValue, "pattern", pattern).Because("it repeats too much")
	}
	return regexp.Compile(expression)
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

// filtered is the text that filters leave of another one. It ends early with ctx.
func filtered(ctx context.Context, text string, filters []*filter) (string, error) {
	for _, f := range filters {
		text = f.apply(ctx, text)
		if ctx.Err() != nil {
			return "", errCancelled
		}
	}
	return text, nil
}

func (f *filter) apply(ctx context.Context, text string) string {
	var kept []string
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if ctx.Err() != nil {
			return ""
		}
		if f.match.MatchString(line) != f.invert {
			kept = append(kept, line)
		}
	}
	if f.count {
		return strconv.Itoa(len(kept)) + "\n"
	}
	return whole(strings.Join(kept, "\n"))
}
