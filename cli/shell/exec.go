package shell

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"sluice/cli/grammar"
	"sluice/vendor-config/schema"
)

// Exec runs one command line, or several separated by `;`, without a terminal and returns the exit code: 0, or 1 when a
// command failed. Output and ` Done` go to stdout, `ERROR: ...` to stderr. A failed command does not keep the next ones
// from running, as in a script.
func Exec(ctx context.Context, b Backend, user, line string, stdout, stderr io.Writer) int {
	r := &runner{backend: b, user: user, mode: defaultMode(), history: &history{}, live: stdout}
	commands := grammar.Split(line, ';')
	code := 0
	for i, c := range commands {
		where := ""
		if len(commands) > 1 {
			where = fmt.Sprintf("command %d: ", i+1)
		}
		again, failed := r.one(ctx, c, where, stdout, stderr)
		if failed {
			code = 1
		}
		if !again || ctx.Err() != nil {
			break
		}
	}
	return code
}

// maxLine is the greatest length of a line of a script in bytes.
const maxLine = 1 << 20

// script runs the lines of in, without prompt and echo. Like the reference product it goes on after an error.
func (r *runner) script(ctx context.Context, in io.Reader, stdout, stderr io.Writer) int {
	lines := bufio.NewReaderSize(in, 64<<10)
	r.live = stdout
	code := 0
	for n := 1; ; n++ {
		line, whole, err := readLine(lines)
		if err != nil && (line == "" || ctx.Err() != nil) {
			return r.ended(ctx, err, code, stderr)
		}
		if !whole {
			fmt.Fprintf(stderr, "ERROR: line %d: %s\n", n, sentence(schema.Refuse(schema.TooLong, "line", strconv.Itoa(maxLine))))
			code = 1
			continue
		}
		r.history.Add(line)
		if ops := r.gather(line, lines); len(ops) > 1 {
			if !r.several(ops, n, stdout, stderr) {
				code = 1
			}
			n += len(ops) - 1
			continue
		}
		again, failed := r.one(ctx, line, fmt.Sprintf("line %d: ", n), stdout, stderr)
		if failed {
			code = 1
		}
		if !again {
			return code
		}
	}
}

// gatherMost is how many lines of a script are executed at once.
const gatherMost = 1000

// gather takes from what has been read already the lines that change something, as long as one follows the other. The
// first is line, which is not to be taken. Nobody is kept waiting for lines that have not come yet.
func (r *runner) gather(line string, lines *bufio.Reader) (ops []*grammar.Op) {
	if _, ok := r.backend.(Batcher); !ok {
		return nil
	}
	for op := plainChange(line); op != nil; op = plainChange(line) {
		if len(ops) > 0 {
			r.history.Add(line)
			lines.Discard(len(line) + 1)
		}
		if ops = append(ops, op); len(ops) == gatherMost {
			break
		}
		ahead, _ := lines.Peek(lines.Buffered())
		end := bytes.IndexByte(ahead, '\n')
		if end < 0 {
			break
		}
		line = string(ahead[:end])
	}
	return ops
}

// plainChange is the operation of a line that changes the configuration and asks for nothing else; nil for any other.
func plainChange(line string) *grammar.Op {
	if strings.ContainsAny(line, "|\r") {
		return nil
	}
	op, err := grammar.Parse(line)
	if err != nil || op == nil || !op.Changes() || op.Verb == "clear" { // which may ask
		return nil
	}
	return op
}

// several executes changes that begin at line n and prints what came of each; ok tells that none failed.
func (r *runner) several(ops []*grammar.Op, n int, stdout, stderr io.Writer) (ok bool) {
	ok = true
	var text bytes.Buffer // one write for many lines, as far as errors do not come in between
	for i, o := range r.backend.(Batcher).DoAll(r.user, ops) {
		text.WriteString(clean(whole(o.Text)))
		if o.Err == nil {
			text.WriteString(" Done\n")
			continue
		}
		text.WriteTo(stdout)
		fmt.Fprintf(stderr, "ERROR: line %d: %s\n", n+i, sentence(o.Err))
		ok = false
	}
	text.WriteTo(stdout)
	return ok
}

// ended is the exit code of a script whose input has ended by err.
func (r *runner) ended(ctx context.Context, err error, code int, stderr io.Writer) int {
	if !errors.Is(err, io.EOF) && ctx.Err() == nil {
		fmt.Fprintf(stderr, "ERROR: %s\n", sentence(err))
		return 1
	}
	return code
}

// readLine reads a line without its end. Of one that is longer than maxLine (whole is false) it keeps the beginning and
// passes over the rest, so that the next line is read as such.
func readLine(in *bufio.Reader) (line string, whole bool, err error) {
	var b []byte
	whole = true
	for {
		part, err := in.ReadSlice('\n')
		if room := maxLine + 2 - len(b); len(part) > room {
			part, whole = part[:room], false
		}
		b = append(b, part...)
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		line = strings.TrimSuffix(strings.TrimSuffix(string(b), "\n"), "\r")
		return line, whole && len(line) <= maxLine, err
	}
}

// one runs a command and prints what came of it; where names the command among several.
func (r *runner) one(ctx context.Context, line, where string, stdout, stderr io.Writer) (again, failed bool) {
	text, done, err := r.run(ctx, line)
	if _, werr := io.WriteString(stdout, text); werr != nil {
		return false, true
	}
	switch {
	case errors.Is(err, errExit):
		return false, false
	case err != nil:
		fmt.Fprintf(stderr, "ERROR: %s%s\n", where, sentence(err))
		return true, true
	case done:
		io.WriteString(stdout, " Done\n")
	}
	return true, false
}
