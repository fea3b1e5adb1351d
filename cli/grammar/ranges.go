package grammar

import (
	"reflect"
	"regexp"
	"strconv"
	"strings"

	"sluice/vendor-config/schema"
)

// rangeLimit is how many rows one line may name by a range.
const rangeLimit = 256

// rangePattern is the part of a name or address that stands for several: 10.0.0.[1-9], vip[1-3].
var rangePattern = regexp.MustCompile(`\[([0-9]{1,9})-([0-9]{1,9})\]`)

// spread makes several lines of words out of one whose positionals hold ranges: the first of each range, the second of
// each, and so on. Ranges on one line must be equally long. Where names may be listed, a range is just a longer list.
func spread(f *form, tokens []Token) ([][]Token, error) {
	if !f.objs[0].Rows {
		return [][]Token{tokens}, nil
	}
	if f.many && f.verb == "rm" {
		var list []Token
		for _, t := range tokens {
			texts, err := expand(t)
			if err != nil {
				return nil, err
			}
			for _, text := range texts {
				t.Text = text
				list = append(list, t)
			}
		}
		return [][]Token{list}, nil
	}
	lines := [][]Token{tokens}
	for i, t := range tokens {
		if t.Keyword {
			break
		}
		if i < len(f.pos) && (f.pos[i].Secret || f.pos[i].Syntax == "pattern" || freeText(f.objs[0], f.pos[i])) {
			continue // where brackets mean something else
		}
		texts, err := expand(t)
		switch {
		case err != nil:
			return nil, err
		case len(texts) == 1:
			continue
		case len(lines) > 1 && len(lines) != len(texts):
			return nil, schema.Refuse(schema.BadValue, t.Text).Because("ranges of one command must be equally long")
		}
		for len(lines) < len(texts) {
			lines = append(lines, tokens)
		}
		for n := range lines {
			lines[n] = append([]Token(nil), lines[n]...)
			lines[n][i].Text = texts[n]
		}
	}
	return lines, nil
}

// freeText tells whether the field takes any text, such as an expression, in which [1-3] is no range.
func freeText(o *schema.Object, f *schema.Field) bool {
	return o.Stored && f.Type.Kind() == reflect.String && f.Syntax == "" && len(f.Enum) == 0 && (f.Key == 0 || f.Ref == "")
}

// expand gives the texts that a word with a range stands for; a word without is its own.
func expand(t Token) ([]string, error) {
	at := rangePattern.FindStringSubmatchIndex(t.Text)
	if at == nil || t.Quoted || t.Keyword {
		return []string{t.Text}, nil
	}
	low, _ := strconv.Atoi(t.Text[at[2]:at[3]])
	high, _ := strconv.Atoi(t.Text[at[4]:at[5]])
	if low > high || high-low >= rangeLimit {
		return nil, schema.Refuse(schema.BadValue, t.Text).Because("a range goes up and has at most " + strconv.Itoa(rangeLimit) + " members")
	}
	var out []string
	for n := low; n <= high; n++ {
		out = append(out, t.Text[:at[0]]+strconv.Itoa(n)+t.Text[at[1]:])
	}
	if strings.ContainsAny(t.Text[at[1]:], "[]") {
		return nil, schema.Refuse(schema.BadValue, t.Text).Because("a word has one range at most")
	}
	return out, nil
}
