package show

import (
	"fmt"
	"strings"
	"time"

	"sluice/cli/grammar"
	"sluice/mgmt/candidate"
	"sluice/mgmt/store"
	"sluice/vendor-config/schema"
)

// History is the table of the versions of the running configuration, the newest first.
func History(all []store.Version) string {
	if len(all) == 0 {
		return "No changes yet.\n"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%-8s %-20s %-12s %-18s %s\n", "Version", "Time (UTC)", "User", "Source", "Command")
	for _, v := range all {
		for i, c := range v.Changes {
			number, at := "", ""
			if i == 0 {
				number, at = fmt.Sprint(v.Number), v.At.UTC().Format("2006-01-02 15:04:05")
			}
			line := c.Line
			if !strings.Contains(line, c.Comment) { // it is none that was typed
				line += "  # " + c.Comment
			}
			fmt.Fprintf(&b, "%-8s %-20s %-12s %-18s %s\n", number, at, c.User, c.Source, line)
		}
		if v.More > 0 {
			fmt.Fprintf(&b, "%-8s and %d more commands\n", "", v.More)
		}
	}
	return b.String()
}

// Candidate is what is being prepared and what waits to be confirmed.
func Candidate(s candidate.State) string {
	var b strings.Builder
	if s.Unconfirmed {
		fmt.Fprintf(&b, "# %s\n", Unconfirmed(s))
	}
	if !s.Begun {
		b.WriteString("# There is no candidate: it would begin as the running configuration.\n")
		return b.String()
	}
	fmt.Fprintf(&b, "# Begun from version %d by %s, %s\n", s.Version, s.By, date(s.At))
	if s.Moved {
		b.WriteString("# The running configuration has changed since: give rebase or discard before commit.\n")
	}
	for _, l := range grammar.Shown(s.Config) {
		b.WriteString(l + "\n")
	}
	return b.String()
}

// Unconfirmed tells of the commit that waits to be confirmed.
func Unconfirmed(s candidate.State) string {
	return fmt.Sprintf("A commit of %s waits to be confirmed: in %s version %d comes back, unless commit is given.", s.Committed, s.Left.Round(time.Second), s.Undo)
}

// Diff are the commands that make of one configuration the other, secrets hidden.
func Diff(from, to *schema.Config) string {
	lines, rest := grammar.Diff(from, to)
	var b strings.Builder
	for _, l := range lines {
		b.WriteString(grammar.DiscreetKept(l) + "\n")
	}
	for _, l := range rest {
		b.WriteString("# no command does this: " + grammar.DiscreetKept(l) + "\n")
	}
	return b.String()
}

// Lines are a configuration as commands, secrets hidden.
func Lines(c *schema.Config) string {
	var b strings.Builder
	for _, l := range grammar.Shown(c) {
		b.WriteString(l + "\n")
	}
	return b.String()
}
