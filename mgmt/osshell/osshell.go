// Package osshell runs the shell of the system for an operator, and ends all that it has begun when it ends or the operator goes.
package osshell

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/user"
	"regexp"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/creack/pty"

	"sluice/cli/shell"
	"sluice/vendor-config/schema"
)

const (
	most       = 8                // at once, of all operators
	outputMost = 16 << 20         // bytes of a command without a terminal
	grace      = time.Second      // between the hang-up and the kill
	drained    = 10 * time.Second // for an operator's client to take what a program has printed last
)

// Shells are those that are going on.
type Shells struct{ running atomic.Int32 }

// ErrExit is how a command has ended that was not successful.
type ErrExit struct{ *exec.ExitError }

func (e ErrExit) Error() string { return "the command has ended with " + e.ExitError.Error() }

// Run runs a command of the system's shell, or a shell without one, for the operator: on his terminal, or else without input, and then
// the text is what it has printed. It returns when the command has ended, or has been ended because ctx has or his keys have.
func (s *Shells) Run(ctx context.Context, operator, command string, t *shell.Terminal) (text string, err error) {
	defer s.running.Add(-1)
	if s.running.Add(1) > most {
		return "", schema.Refuse(schema.NotPermitted, "shell").Because(fmt.Sprintf("%d are going on, which is all that there may be", most))
	}
	c := program(operator, command)
	if t != nil {
		c.Env = append(c.Env, "TERM="+kind(t.Kind))
		err = onTerminal(ctx, c, t)
	} else {
		text, err = captured(ctx, c)
	}
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit) && command == "": // the status of the last command that was typed
		err = nil
	case errors.As(err, &exit):
		err = ErrExit{exit}
	}
	return text, err
}

// program is the shell. Nothing of management's own environment is in it.
func program(operator, command string) *exec.Cmd {
	path := "/bin/sh"
	if _, err := os.Stat("/bin/bash"); err == nil {
		path = "/bin/bash"
	}
	var args []string
	if command != "" {
		args = []string{"-c", command}
	}
	c := exec.Command(path, args...)
	name, home := "root", "/"
	if u, err := user.Current(); err == nil {
		name, home = u.Username, u.HomeDir
	}
	if h := os.Getenv("HOME"); h != "" {
		home = h
	}
	c.Dir = "/"
	if info, err := os.Stat(home); err == nil && info.IsDir() {
		c.Dir = home
	}
	c.Env = []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME=" + home, "USER=" + name, "LOGNAME=" + name,
		"SHELL=" + path, "LANG=C.UTF-8", "HISTFILE=/dev/null", "SLUICE_OPERATOR=" + operator}
	return c
}

// kind is the name of a terminal, if it is one.
func kind(name string) string {
	if len(name) > 64 || !terminals.MatchString(name) {
		return "dumb"
	}
	return name
}

var terminals = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._+-]*$`)

// onTerminal runs c on a terminal of its own, whose other end is the operator's.
func onTerminal(ctx context.Context, c *exec.Cmd, t *shell.Terminal) error {
	f, err := pty.Start(c)
	if err != nil {
		return fmt.Errorf("the shell cannot be started: %w", err)
	}
	spare(c.Process.Pid)
	t.Sized(func(width, height int) {
		_ = pty.Setsize(f, &pty.Winsize{Rows: uint16(height), Cols: uint16(width)})
	})
	defer t.Sized(nil)
	gone, shown := make(chan struct{}), make(chan struct{})
	go func() { defer close(gone); _, _ = io.Copy(f, t.Keys) }() // it ends with the operator, or with t.Keys.Close
	go func() { defer close(shown); _, _ = io.Copy(t.Out, f) }() // and this with the terminal
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	select {
	case err = <-ended:
	case <-gone:
		err = hangUp(c.Process.Pid, ended)
	case <-ctx.Done():
		err = hangUp(c.Process.Pid, ended)
	}
	end(c.Process.Pid)
	select {
	case <-shown:
	case <-time.After(drained):
	case <-ctx.Done():
	}
	t.Keys.Close()
	f.Close()
	<-gone
	return err
}

// hangUp tells the session's leader that its terminal is gone, and kills it when it does not end.
func hangUp(leader int, ended <-chan error) error {
	_ = syscall.Kill(leader, syscall.SIGHUP)
	select {
	case err := <-ended:
		return err
	case <-time.After(grace):
	}
	_ = syscall.Kill(leader, syscall.SIGKILL)
	return <-ended
}

// captured runs c without input and keeps what it prints.
func captured(ctx context.Context, c *exec.Cmd) (string, error) {
	out := &bounded{most: outputMost, full: make(chan struct{})}
	c.Stdout, c.Stderr = out, out
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	c.WaitDelay = grace // for what it leaves behind that holds its output open
	if err := c.Start(); err != nil {
		return "", fmt.Errorf("the command cannot be started: %w", err)
	}
	spare(c.Process.Pid)
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	var err error
	select {
	case err = <-ended:
	case <-out.full:
		_ = hangUp(c.Process.Pid, ended)
		err = fmt.Errorf("the command prints more than %d MiB and was ended", outputMost>>20)
	case <-ctx.Done():
		_ = hangUp(c.Process.Pid, ended)
		err = errors.New("the command was ended with its session")
	}
	end(c.Process.Pid)
	if errors.Is(err, exec.ErrWaitDelay) {
		err = nil
	}
	return out.text(), err
}

// spare has the kernel end the operator's programs before the appliance's when memory runs out.
func spare(pid int) {
	_ = os.WriteFile("/proc/"+strconv.Itoa(pid)+"/oom_score_adj", []byte("1000"), 0)
}

// bounded keeps what is written up to a size.
type bounded struct {
	b    bytes.Buffer
	most int
	full chan struct{}
	told bool
}

// Write is called by one goroutine at a time, as exec.Cmd promises for one writer that is both outputs.
func (w *bounded) Write(b []byte) (int, error) {
	if room := w.most - w.b.Len(); len(b) > room {
		w.b.Write(b[:room])
		if !w.told {
			w.told = true
			close(w.full)
		}
		return len(b), nil
	}
	return w.b.Write(b)
}

// text is what was written, after the program's end.
func (w *bounded) text() string { return w.b.String() }
