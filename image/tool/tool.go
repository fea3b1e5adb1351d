// Package tool runs the programs of the build machine that images are made with, each time with the same clock, language
// and time zone, so that what they write does not depend on when and where they run.
package tool

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// Box is what programs are run with.
type Box struct {
	Epoch time.Time // the date of everything that is made
	Log   io.Writer // what is being done, a line each
}

// tail is how much of a failed program's own words an error repeats, in bytes.
const tail = 2000

// Run runs a program and returns when it has ended.
func (b Box) Run(ctx context.Context, name string, args ...string) error {
	return b.Pipe(ctx, nil, nil, name, args...)
}

// Output is Run for programs whose standard output is what is wanted.
func (b Box) Output(ctx context.Context, name string, args ...string) (string, error) {
	var out bytes.Buffer
	err := b.Pipe(ctx, nil, &out, name, args...)
	return out.String(), err
}

// Pipe is Run with standard input and output; nil is nothing. Without an output what the program says there belongs to
// its error.
func (b Box) Pipe(ctx context.Context, in io.Reader, out io.Writer, name string, args ...string) error {
	cmd := b.Command(ctx, name, args...)
	var said bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in, out, &said
	if out == nil {
		cmd.Stdout = &said
	}
	return explain(name, cmd.Run(), said.String())
}

// Command is a program before it is started, with the environment of all of them.
func (b Box) Command(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = append(os.Environ(), "LC_ALL=C", "TZ=UTC", "SOURCE_DATE_EPOCH="+b.Seconds(), "E2FSPROGS_FAKE_TIME="+b.Seconds())
	return cmd
}

// Seconds is the epoch in seconds since 1970, as programs take it.
func (b Box) Seconds() string { return strconv.FormatInt(b.Epoch.Unix(), 10) }

// Say writes a line to the log.
func (b Box) Say(format string, args ...any) { fmt.Fprintf(b.Log, format+"\n", args...) }

func explain(name string, err error, said string) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, exec.ErrNotFound):
		return fmt.Errorf("there is no program %s on this machine: `make deps` installs it", name)
	}
	said = strings.TrimSpace(said)
	if len(said) > tail {
		said = "... " + said[len(said)-tail:]
	}
	return fmt.Errorf("%s failed: %w\n%s", name, err, said)
}
