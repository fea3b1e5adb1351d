// Package grammar turns command lines into operations on the configuration and back: parsing, abbreviations,
// completion, help and the reading and writing of ns.conf, all from the schema. It executes nothing.
package grammar

import "sluice/vendor-config/schema"

// Op is one parsed command.
type Op struct {
	Verb   string // canonical, e.g. "add"
	Object *schema.Object
	Key    []string // values of the key fields that were given, in key order
	Args   []Arg    // other arguments, in the order typed
	Line   string   // as typed
}

// Arg is one argument; for the verb unset Value is "".
type Arg struct {
	Field *schema.Field
	Value string
}
