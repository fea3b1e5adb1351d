package shell

import (
	"fmt"
	"strings"

	"sluice/cli/grammar"
	"sluice/vendor-config/schema"
)

// help is the text of `help [command]`.
func help(words []string, c *schema.Config) (string, error) {
	if len(words) == 0 || words[0] == "-all" {
		list, _ := grammar.Complete("", c)
		return "Commands begin with one of these words; Tab and ? show what comes next.\n" + listing(list, 0), nil
	}
	head := strings.Join(words, " ")
	for {
		if text, err := grammar.Help(head); text != "" || err != nil {
			return text, err
		}
		list, _ := grammar.Complete(head+" ", c)
		if len(list) != 1 {
			return listing(list, 0), nil
		}
		head += " " + list[0].Text // load, ns, config: a list of one word would be no help
	}
}

// listing shows candidates one a line; at most limit of them unless it is 0. What several say alike, as the values of an argument do,
// stands once above them.
func listing(list []grammar.Candidate, limit int) string {
	width := 12
	for _, c := range list {
		width = min(max(width, len(c.Text)), 32)
	}
	var b strings.Builder
	for i, c := range list {
		if limit > 0 && i == limit {
			fmt.Fprintf(&b, "  ... and %d more; begin the word to see fewer\n", len(list)-limit)
			break
		}
		help := c.Help
		above, below := i > 0 && list[i-1].Help == help, i+1 < len(list) && list[i+1].Help == help
		if help != "" && below && !above {
			b.WriteString("  " + help + ":\n")
		}
		if above || below {
			help = ""
		}
		b.WriteString(strings.TrimRight(fmt.Sprintf("  %-*s  %s", width, c.Text, help), " ") + "\n")
	}
	return b.String()
}
