package shell

import (
	"bufio"
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
	r := &runner{backend: b, user: user, mode: defaultMode(), history: &history{}}
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
	lines := bufio.NewReader(in)
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
		again, failed := r.one(ctx, line, fmt.Sprintf("line %d: ", n), stdout, stderr)
		if failed {
			code = 1
		}
		if !again {
			return code
		}
	}
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
