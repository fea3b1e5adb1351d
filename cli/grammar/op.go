// Package grammar turns command lines into operations on the configuration and back: parsing, abbreviations,
// completion, help and the reading and writing of ns.conf, all from the schema. It executes nothing.
package grammar

import (
	"slices"
	"time"

	"sluice/vendor-config/schema"
)

// Op is one parsed command.
type Op struct {
	Verb   string         // canonical, e.g. "add"
	Object *schema.Object // nil for a word of the session such as exit; its other words are then in Key
	Key    []string       // values of the key fields that were given, in key order
	Args   []Arg          // other arguments, in the order typed
	Also   []*Op          // further operations that the same line asks for, e.g. rm of several names
	Line   string         // as typed, without secrets
	At     time.Time      // when it is executed; zero: now
}

// Arg is one argument; for the verb unset Value is "".
type Arg struct {
	Field *schema.Field
	Value string
}

// Arg finds an argument by its keyword; given tells whether it is there.
func (op *Op) Arg(cli string) (value string, given bool) {
	for _, a := range op.Args {
		if a.Field.CLI == cli {
			return a.Value, true
		}
	}
	return "", false
}

// changing are the verbs that change configuration rows.
var changing = []string{"add", "set", "unset", "rm", "bind", "unbind", "enable", "disable", "rename", "link", "unlink"}

// Changes tells whether the operation changes the configuration, so that Apply has something to do.
func (op *Op) Changes() bool {
	if op.Object == nil {
		return false
	}
	switch op.Object {
	case schema.Of[schema.NSConfig]():
		return op.Verb == "clear" || op.Verb == "set"
	case schema.Of[schema.NSFeature](), schema.Of[schema.NSMode]():
		return op.Verb == "enable"
	case schema.Of[schema.MonitorSwitch](),
		schema.Of[schema.NSPBRs](), schema.Of[schema.NSACLs](), schema.Of[schema.VRIDAll]():
		return true
	}
	return op.Object.Rows && slices.Contains(changing, op.Verb)
}

// Warnings are what the operator must hear although the operation is accepted: that the function of an object is not built.
func (op *Op) Warnings() []string {
	if op.Verb == "rm" || op.Verb == "unbind" || op.Verb == "unlink" { // it goes
		return nil
	}
	var out []string
	for _, o := range append([]*Op{op}, op.Also...) {
		if o.Object == nil || !o.Object.Stored || !o.Changes() {
			continue
		}
		name := o.Object.Name()
		if parent := schema.Find(name); parent != nil && !parent.Stored { // but for this binding it is built
			name += " -" + o.Object.Keys()[1].CLI
		}
		if w := "[" + name + "] is stored, but its function is not built in this release"; !slices.Contains(out, w) {
			out = append(out, w)
		}
	}
	return out
}
