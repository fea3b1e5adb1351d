package grammar

import (
	"errors"

	"sluice/vendor-config/schema"
)

var errNotYet = errors.New("No such command")

// Parse turns one line into an operation. A line that is empty or only a comment gives nil, nil. The error is one line
// in the words of the reference product and names the word at fault; nothing is changed by parsing.
func Parse(line string) (*Op, error) { return nil, errNotYet }

// Changes tells whether the operation changes the configuration (Apply has something to do).
func (op *Op) Changes() bool { return false }

// Apply executes a changing operation on c, which must be a private clone: after an error it must be thrown away.
func (op *Op) Apply(c *schema.Config) error { return errNotYet }

// Check tests the configuration as a whole: references, duplicate addresses, unreachable gateways.
func Check(c *schema.Config) error { return nil }

// Lines writes the configuration as commands that, parsed and applied in order, give an equal configuration.
func Lines(c *schema.Config) []string { return nil }

// Candidate is one word that may come next, with one line of help. The text `<cr>` means that the line may end here;
// a text in <> is a placeholder for a value.
type Candidate struct{ Text, Help string }

// Complete lists what may come next after head, the line up to the cursor. prefix is the begun word that the
// candidates continue, "" after a space.
func Complete(head string, c *schema.Config) (candidates []Candidate, prefix string) { return nil, "" }

// Usage is the synopsis of a command, e.g. "add lb vserver <name> <serviceType> [<IPAddress> <port>] [-lbMethod <lbMethod>]...".
func Usage(verb string, o *schema.Object) string { return "" }
