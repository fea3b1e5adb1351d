package grammar

import (
	"regexp"
	"slices"
	"strings"

	"sluice/vendor-config/schema"
)

// keptLine is the text of a row of ns line, which stands for itself.
func keptLine(l *schema.NSLine, hide bool) string {
	if hide {
		return DiscreetKept(l.Text)
	}
	return l.Text
}

// secretLike are arguments of the reference product that hold secrets, by their names: of a line that is not in the schema no more
// is known.
var secretLike = regexp.MustCompile(`(?i)^-.*(passw|passphrase|passcrypt|passplain|secret|psk|community|authkey|token|keyvalue|radkey|secureargs|(shared|secret|private|api|encryption)key)`)

// assigned are secrets within a word, such as an argument of a script or a header field of a request: all of it behind = or : goes.
var assigned = regexp.MustCompile(`(?i)((?:passw|passphrase|passcrypt|passplain|secret|psk|community|authorization|apikey|api[-_]key|token)[a-z0-9_-]*\s*[=:]\s*)[^;&"']+`)

// DiscreetText is a value that is no secret by itself without those that stand in it.
func DiscreetText(s string) string {
	return assigned.ReplaceAllString(s, "${1}"+schema.Hidden)
}

// DiscreetKept is a kept line without what may be a secret: the values of arguments that are called so, what is marked as
// encrypted, and passwords of accounts.
func DiscreetKept(line string) string {
	tokens, _, err := Tokenize(line)
	if err != nil {
		return Discreet(line)
	}
	secret := map[int]bool{}
	for i, t := range tokens {
		switch {
		case t.Keyword && secretLike.MatchString(t.Text):
			secret[i+1] = true
		case t.Keyword && strings.EqualFold(t.Text, "-encrypted"):
			secret[i-1] = true
		}
	}
	if len(tokens) > 4 && !tokens[4].Keyword && (strings.EqualFold(tokens[0].Text, "add") || strings.EqualFold(tokens[0].Text, "set")) &&
		strings.EqualFold(tokens[1].Text, "system") && strings.EqualFold(tokens[2].Text, "user") {
		secret[4] = true
	}
	if len(tokens) > 3 && strings.EqualFold(tokens[1].Text, "snmp") && strings.EqualFold(tokens[2].Text, "community") {
		secret[3] = true
	}
	for i, t := range slices.Backward(tokens) {
		if secret[i] && !t.Keyword && i > 2 {
			line = line[:t.Start] + schema.Hidden + line[t.End:]
		}
	}
	return Discreet(DiscreetText(line))
}

// DiscreetList is a text of commands separated by ; without what may be a secret in any of them.
func DiscreetList(line string) string {
	parts := Split(line, ';')
	for i := range parts {
		parts[i] = DiscreetKept(parts[i])
	}
	return strings.Join(parts, ";")
}

// keptWithin is the line that a command gives to be kept, `add ns line NUMBER "LINE"`, without its secrets.
func keptWithin(tokens []Token) (quoted string, ok bool) {
	if len(tokens) < 5 || len(tokens[2].Text) == 0 || !continues("line", tokens[2].Text) ||
		!strings.EqualFold(tokens[1].Text, "ns") {
		return "", false
	}
	return Quote(DiscreetKept(tokens[4].Text)), true
}
