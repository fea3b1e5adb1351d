package shell

import (
	"fmt"
	"strings"

	"sluice/cli/grammar"
)

// historyDepth is how many lines of a session are remembered.
const historyDepth = 500

// historyLine is the greatest length in bytes of a line that is remembered, which is what the line editor takes: a script's are
// longer, and 500 of those would be half a gigabyte.
const historyLine = 4096

// history remembers the lines of a session, oldest first. The line editor asks it for the arrow keys.
type history struct {
	lines []string
	first int // number of the oldest line that is still remembered, counted from 1
}

// Add remembers a line without the secrets in it, unless it is empty, too long or the last one again.
func (h *history) Add(line string) {
	if len(line) > historyLine {
		return
	}
	line = grammar.Discreet(strings.TrimSpace(line))
	if line == "" || len(h.lines) > 0 && h.lines[len(h.lines)-1] == line {
		return
	}
	h.lines = append(h.lines, line)
	if len(h.lines) > historyDepth {
		h.lines = h.lines[1:]
		h.first++
	}
}

// Len is the number of remembered lines.
func (h *history) Len() int { return len(h.lines) }

// At counts from the newest line, which is 0.
func (h *history) At(i int) string { return h.lines[len(h.lines)-1-i] }

// next is the number that the next line gets.
func (h *history) next() int { return h.first + len(h.lines) + 1 }

func (h *history) text() string {
	var b strings.Builder
	for i, l := range h.lines {
		fmt.Fprintf(&b, "%5d  %s\n", h.first+i+1, l)
	}
	return b.String()
}
