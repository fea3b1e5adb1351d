// Package shell is an operator's session: line editing, history, completion, paging and output. It knows the appliance
// only as a Backend and never touches configuration or packets itself.
package shell

import (
	"context"
	"io"

	"sluice/cli/grammar"
	"sluice/vendor-config/schema"
)

// Backend executes operations for the shell.
type Backend interface {
	// Do executes op for user. The text is what the operator reads before ` Done`; an error is read after `ERROR: `.
	Do(user string, op *grammar.Op) (text string, err error)
	// Config is the running configuration, for completion with live names.
	Config() *schema.Config
}

// Batcher is a Backend that executes changes which follow each other, as in a script, for less than one by one. The
// outcomes are the same as of Do for each in turn.
type Batcher interface {
	DoAll(user string, ops []*grammar.Op) []Outcome
}

// Receiver is a Backend that can read what a client sends along with one command, as ssh host "load config -" < FILE does.
type Receiver interface {
	Receive(in io.Reader)
}

// Streamer is a Backend that executes commands whose text comes while they run, see Streams, until ctx ends: that is how an
// operator ends them. attended tells that there is one who can.
type Streamer interface {
	Stream(ctx context.Context, user string, op *grammar.Op, out io.Writer, attended bool) error
}

// Streams tells whether the text of a command comes while it runs.
func Streams(op *grammar.Op) bool {
	return op.Object == schema.Of[schema.Ping]() || op.Object == schema.Of[schema.Traceroute]() || op.Object == schema.Of[schema.Image]() && op.Verb == "install"
}

// Outcome is what Do returns for one operation.
type Outcome struct {
	Text string
	Err  error
}
