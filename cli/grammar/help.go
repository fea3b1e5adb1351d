package grammar

import (
	"fmt"
	"slices"
	"strings"

	"sluice/vendor-config/schema"
)

// Help explains the command whose words are in head: its synopsis and each argument. The text is "" when the words do
// not name a whole command yet.
func Help(head string) (string, error) {
	tokens, _, err := Tokenize(head)
	if err != nil {
		return "", err
	}
	verb, objs, _, next, err := resolve(tokens)
	switch {
	case err != nil:
		return "", err
	case objs == nil && next != nil:
		return "", nil
	case objs == nil:
		i := slices.IndexFunc(sessionWords, func(c Candidate) bool { return c.Text == verb })
		return verb + "\n    " + sessionWords[i].Help + "\n", nil
	}
	return explain(formOf(verb, objs)), nil
}

func explain(f *form) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n    %s\n", usage(f), f.objs[0].Help)
	f.arguments(func(name string, field *schema.Field) {
		fmt.Fprintf(&b, "\n  %s\n    %s\n", name, describe(field))
		if len(field.Enum) > 0 && f.verb != "unset" {
			fmt.Fprintf(&b, "    One of: %s\n", strings.Join(field.Enum, " "))
		}
	})
	return b.String()
}
