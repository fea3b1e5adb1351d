package shell

import (
	"context"
	"io"
)

// Options describe the session.
type Options struct {
	User   string
	Host   string    // for the prompt codes
	Banner string    // printed once when the session is interactive
	Width  int       // of the terminal in cells; 0 means 80
	Height int       // 0 means 24
	PTY    bool      // interactive; false: commands are read line by line without echo and prompt
	Stderr io.Writer // where errors of a session without terminal go; nil: the same as output
}

// Session is one interactive or scripted login.
type Session struct {
	rw io.ReadWriter
	b  Backend
	o  Options
}

// New prepares a session on rw. The reader is owned by the session until Run returns; the caller then closes it.
func New(rw io.ReadWriter, b Backend, o Options) *Session { return &Session{rw: rw, b: b, o: o} }

// Run serves the session until exit, end of input, idle timeout or the end of ctx. It returns the exit code.
func (s *Session) Run(ctx context.Context) int { return 0 }

// Resize tells the new size of the terminal. It may be called at any time from any goroutine.
func (s *Session) Resize(width, height int) {}

// Exec runs one command line (or several separated by `;`) without a terminal and returns the exit code: 0, or 1 when
// a command failed. Output and ` Done` go to stdout, `ERROR: ...` to stderr.
func Exec(ctx context.Context, b Backend, user, line string, stdout, stderr io.Writer) int { return 0 }
