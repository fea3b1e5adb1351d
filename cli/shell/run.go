package shell

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"

	"sluice/cli/grammar"
	"sluice/vendor-config/schema"
)

// errExit ends the session.
var errExit = errors.New("exit")

// errCancelled: the operator did not want to wait.
var errCancelled = errors.New("cancelled")

// errDeclined: the operator was asked and said no.
var errDeclined = errors.New("declined")

// runner executes lines for one user, with or without a terminal.
type runner struct {
	backend Backend
	user    string
	mode    mode
	history *history
	confirm func(question string) bool // nil: there is nobody to ask
	live    io.Writer                  // where text goes that comes while a command runs

	sourcing bool // the lines of a file are executed

	lend func(func(*Terminal) error) error // gives the operator's terminal to a program; nil: there is none
}

// run executes one line. done tells whether ` Done` follows the text: an empty line gives nothing.
func (r *runner) run(ctx context.Context, line string) (text string, done bool, err error) {
	parts := grammar.Split(r.unfold(line), '|')
	filters, err := parseFilters(parts[1:])
	if err != nil {
		return "", false, err
	}
	op, err := grammar.Parse(parts[0])
	if err != nil {
		return "", false, err
	}
	if op == nil {
		return "", false, nil
	}
	if s, ok := r.backend.(Streamer); ok && Streams(op) {
		return r.stream(ctx, s, op, filters)
	}
	if op.Object == nil && op.Verb == "shell" {
		text, err = r.system(ctx, op, len(filters) > 0)
	} else {
		text, err = r.execute(ctx, op)
	}
	if !reads(op) {
		ctx = context.WithoutCancel(ctx)
	}
	text, cancelled := filtered(ctx, text, filters)
	if err == nil {
		err = cancelled
	}
	return clean(whole(text)), err == nil, err
}

// reads tells whether a command changes nothing, so that nobody needs to learn what became of it.
func reads(op *grammar.Op) bool { return op.Verb == "show" || op.Verb == "stat" }

// stream executes a command whose text is printed as it comes, unless filters must see the whole of it first. One that was
// ended by the operator has done what it should.
func (r *runner) stream(ctx context.Context, s Streamer, op *grammar.Op, filters []*filter) (text string, done bool, err error) {
	if len(filters) == 0 && r.live != nil && !r.sourcing {
		err = s.Stream(ctx, r.user, op, cleaner{r.live}, r.confirm != nil)
		return "", err == nil, err
	}
	var all bytes.Buffer
	err = s.Stream(ctx, r.user, op, &all, r.confirm != nil)
	text, _ = filtered(context.WithoutCancel(ctx), all.String(), filters)
	return clean(whole(text)), err == nil, err
}

// cleaner keeps control characters from a terminal.
type cleaner struct{ out io.Writer }

func (c cleaner) Write(b []byte) (int, error) {
	if _, err := io.WriteString(c.out, clean(string(b))); err != nil {
		return 0, err
	}
	return len(b), nil
}

func (r *runner) execute(ctx context.Context, op *grammar.Op) (string, error) {
	switch {
	case op.Object == nil:
		if op.Verb == "source" || op.Verb == "batch" {
			return r.source(ctx, op)
		}
		return r.session(op)
	case op.Object == schema.Of[schema.CLIMode](), op.Object == schema.Of[schema.CLIPrompt]():
		return r.mode.change(op)
	case op.Object == schema.Of[schema.NSConfig]() && op.Verb == "clear":
		if err := r.mayClear(op); err != nil {
			return "", err
		}
	case op.Object == schema.Of[schema.Reboot](), op.Object == schema.Of[schema.Shutdown]():
		if err := r.mayEnd(op); err != nil {
			return "", err
		}
	}
	return r.do(ctx, op)
}

// mayClear asks before the configuration goes.
func (r *runner) mayClear(op *grammar.Op) error {
	return r.sure(op, "force", "clear ns config", "Are you sure you want to clear the configuration (Y/N)? [N]: ")
}

// mayEnd asks before the machine goes down.
func (r *runner) mayEnd(op *grammar.Op) error {
	what := "shut down"
	if op.Verb == "reboot" {
		what = "restart"
	}
	return r.sure(op, "f", op.Verb, "Are you sure you want to "+what+" the appliance? What is not saved is lost (Y/N)? [N]: ")
}

// sure asks before a command is executed, unless it bears the argument that spares the question.
func (r *runner) sure(op *grammar.Op, spared, command, question string) error {
	if _, force := op.Arg(spared); force {
		return nil
	}
	if r.confirm == nil {
		return schema.Refuse(schema.NotPermitted, command).Because("nobody can be asked here; give -" + spared)
	}
	if !r.confirm(question) {
		return errDeclined
	}
	return nil
}

// do lets the backend execute op. A command that only reads is left behind when ctx ends; one that changes something is
// waited for, since the operator must learn what became of it.
func (r *runner) do(ctx context.Context, op *grammar.Op) (string, error) {
	type result struct {
		text string
		err  error
	}
	finished := make(chan result, 1)
	go func() {
		text, err := r.backend.Do(r.user, op)
		finished <- result{text, err}
	}()
	if !reads(op) {
		ctx = context.WithoutCancel(ctx)
	}
	select {
	case f := <-finished:
		return f.text, f.err
	case <-ctx.Done():
		return "", errCancelled
	}
}

// session executes a word of the session.
func (r *runner) session(op *grammar.Op) (string, error) {
	switch op.Verb {
	case "exit", "quit":
		return "", errExit
	case "help", "man":
		return help(op.Key, r.backend.Config())
	case "alias", "unalias":
		return r.alias(op)
	case "history":
		return r.history.text(), nil
	case "whoami":
		return "UserName: " + r.user + "\n", nil
	case "cls":
		return "", nil // the session clears the screen
	}
	return "", schema.Refuse(schema.NoSuchCommand, op.Verb)
}

// sentence is an error on one line.
func sentence(err error) string {
	return strings.Join(strings.Fields(clean(strings.ReplaceAll(err.Error(), "\n", " "))), " ")
}
