package schema

import "strings"

// Refusal is why a command or a value is not accepted. Its text reads as operators of the reference product know it:
// a fixed sentence, the words at fault in square brackets, and, where it helps, the way out.
type Refusal struct {
	Text  string   // e.g. "No such resource"
	Words []string // the words at fault, e.g. "vserver", "vip_1"
	Hint  string   // what to do, or why
}

// Error is the whole sentence, on one line whatever the words contain.
func (r *Refusal) Error() string {
	var b strings.Builder
	b.WriteString(r.Text)
	if len(r.Words) > 0 {
		b.WriteString(" [" + strings.Join(r.Words, ", ") + "]")
	}
	if r.Hint != "" {
		b.WriteString(": " + r.Hint)
	}
	return strings.Map(func(c rune) rune {
		if c < ' ' || c == 0x7f {
			return ' '
		}
		return c
	}, b.String())
}

// Refuse makes a Refusal of a sentence and the words at fault.
func Refuse(text string, words ...string) *Refusal { return &Refusal{Text: text, Words: words} }

// Because adds the reason or the way out.
func (r *Refusal) Because(hint string) *Refusal {
	r.Hint = hint
	return r
}

// The sentences of the reference product that are used in more than one place.
const (
	NotSupported  = "Feature not supported in this release"
	NoSuchRow     = "No such resource"
	RowExists     = "Resource already exists"
	RowInUse      = "Resource is in use"
	NotPermitted  = "Operation not permitted"
	BadArgument   = "Invalid argument"
	BadValue      = "Invalid value"
	BadAddress    = "Invalid IP address"
	BadNumber     = "Expected a positive integer argument"
	OutOfRange    = "Argument value out of range"
	TooLong       = "String length exceeds maximum"
	Missing       = "Required argument missing"
	Conflict      = "Arguments exclude each other"
	NoPrereq      = "Argument pre-requisite missing"
	NoSuchCommand = "No such command"
	NoSuchArg     = "No such argument"
	NoGateway     = "The gateway is not directly reachable"
)
