package show

import (
	"fmt"
	"strings"

	"sluice/cli/grammar"
	"sluice/vendor-config/schema"
)

// importLines is how many lines of each fate are told one by one.
const importLines = 1000

// Import tells what became of a file of commands: every line that is not in force, then how many lines there are.
func Import(im *grammar.Imported) string {
	var b strings.Builder
	var told [grammar.Rejected + 1]int
	for _, v := range im.Lines {
		if v.Fate == grammar.Applied {
			continue
		}
		if told[v.Fate]++; told[v.Fate] <= importLines {
			text := v.Shown()
			if text != "" {
				text = beginning(text) + ": "
			}
			fmt.Fprintf(&b, "line %d: %s: %s%s\n", v.Number, v.Fate, text, v.Reason)
		}
	}
	for _, f := range []grammar.Fate{grammar.Stored, grammar.Rejected} {
		if n := told[f] - importLines; n > 0 {
			fmt.Fprintf(&b, "and %d more lines are %s\n", n, f)
		}
	}
	fmt.Fprintf(&b, "%s: %d applied, %d stored, %d rejected\n", count(len(im.Lines), "line"),
		im.Count[grammar.Applied], im.Count[grammar.Stored], im.Count[grammar.Rejected])
	if n := im.Count[grammar.Stored]; n > 0 {
		fmt.Fprintf(&b, "Warning: %s not in force, since what is asked for is not built in this release; it is kept and written back\n", are(n))
	}
	return b.String()
}

// Rejected is the error of an import of which some lines were wrong, or nil.
func Rejected(im *grammar.Imported) error {
	n := im.Count[grammar.Rejected]
	if n == 0 {
		return nil
	}
	return schema.Refuse("Lines rejected", fmt.Sprintf("%d of %d", n, len(im.Lines))).Because("the others are taken over; put these right and import the file again")
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func are(n int) string {
	if n == 1 {
		return "1 line is"
	}
	return fmt.Sprintf("%d lines are", n)
}

// beginning is a line as far as it fits a screen.
func beginning(line string) string {
	if r := []rune(line); len(r) > 200 {
		return string(r[:197]) + "..."
	}
	return line
}

func showLines(p *page) error {
	rows, _, err := chosen[schema.NSLine](p)
	if err != nil {
		return err
	}
	for _, l := range rows {
		p.f("%d)\t%s\n\tNot in force: %s\n", l.Number, grammar.DiscreetKept(l.Text), l.Reason)
	}
	return nil
}
