package shell

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"sluice/cli/grammar"
	"sluice/vendor-config/schema"
)

// Library is a Backend that keeps files of commands for source and batch.
type Library interface {
	// Commands is the text of the file that op, a source or batch, names, if user may have it executed.
	Commands(user string, op *grammar.Op) ([]byte, error)
}

const (
	sourceMost       = 20000    // lines of a file; more is a matter of import
	sourceOutputMost = 16 << 20 // bytes that the commands of a file may print
)

// source executes the lines of a file, each as if it were typed, up to the first that fails. A file cannot name another one, nor
// end the session: exit ends the file. batch shows each command before what came of it, as it is logged, without secrets.
func (r *runner) source(ctx context.Context, op *grammar.Op) (string, error) {
	name := op.Key[0]
	library, ok := r.backend.(Library)
	if !ok || r.sourcing {
		return "", schema.Refuse(schema.NotPermitted, op.Verb, name).Because("a file of commands cannot name another one")
	}
	text, err := library.Commands(r.user, op)
	if err != nil {
		return "", err
	}
	lines := strings.Split(string(text), "\n")
	if len(lines) > sourceMost {
		return "", schema.Refuse(schema.TooLong, name, fmt.Sprint(sourceMost)).Because("it has too many lines; import ns.conf takes longer files")
	}
	confirm := r.confirm
	r.sourcing, r.confirm = true, nil
	defer func() { r.sourcing, r.confirm = false, confirm }()
	var out strings.Builder
	for i, line := range lines {
		if ctx.Err() != nil {
			return out.String(), fmt.Errorf("interrupted before line %d of %s: those before it are executed", i+1, name)
		}
		printed, done, err := r.run(ctx, line)
		if errors.Is(err, errExit) {
			break
		}
		if op.Verb == "batch" && done {
			out.WriteString("exec: " + spoken(line) + "\n")
		}
		out.WriteString(printed)
		if err != nil {
			return out.String(), fmt.Errorf("line %d of %s: %s; those before it are executed", i+1, name, sentence(err)) // whatever err is, it ends the file only
		}
		if op.Verb == "batch" && done {
			out.WriteString(" Done\n")
		}
		if out.Len() > sourceOutputMost {
			return "", fmt.Errorf("line %d of %s: the commands print more than %d MiB; those up to it are executed", i+1, name, sourceOutputMost>>20)
		}
	}
	return out.String(), nil
}

// spoken is a line as it may be shown: without its secrets.
func spoken(line string) string {
	parts := grammar.Split(line, '|')
	if op, err := grammar.Parse(parts[0]); err == nil && op != nil {
		parts[0] = op.Line
	}
	return strings.TrimSpace(strings.Join(parts, "|"))
}
