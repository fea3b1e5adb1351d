package osshell

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"sluice/cli/shell"
)

// alive tells whether the process whose number is in a file is there, as soon as the file is.
func alive(t *testing.T, file string) bool {
	t.Helper()
	pid := 0
	until(t, "a number in "+file, func() bool {
		b, _ := os.ReadFile(file)
		pid, _ = strconv.Atoi(strings.TrimSpace(string(b)))
		return pid > 0
	})
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err == nil && syscall.Kill(pid, 0) == nil && !strings.Contains(string(stat), ") Z ")
}

func until(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); !is(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("not within 30 s: " + what)
		}
	}
}

func TestCommandWithoutATerminal(t *testing.T) {
	t.Setenv("SLUICE_SECRET", "of management")
	var s Shells
	for _, row := range []struct{ command, text, err string }{
		{"echo out; echo err >&2", "out\nerr\n", ""},
		{"echo $SLUICE_OPERATOR $SLUICE_SECRET; cat", "ann\n", ""},
		{"echo before; exit 7", "before\n", "the command has ended with exit status 7"},
		{"kill -9 $$", "", "the command has ended with signal: killed"},
		{"[ -t 0 ] || [ -t 1 ] || echo none", "none\n", ""},
	} {
		text, err := s.Run(t.Context(), "ann", row.command, nil)
		if said := ""; err != nil {
			said = err.Error()
			if said != row.err {
				t.Errorf("%s: %v", row.command, err)
			}
		} else if row.err != said {
			t.Errorf("%s: no error", row.command)
		}
		if text != row.text {
			t.Errorf("%s: %q, want %q", row.command, text, row.text)
		}
	}
}

// TestFlood: a command that prints without end is ended.
func TestFlood(t *testing.T) {
	var s Shells
	text, err := s.Run(t.Context(), "ann", "yes", nil)
	if err == nil || !strings.Contains(err.Error(), "prints more than 16 MiB") || len(text) > outputMost {
		t.Errorf("%d bytes, %v", len(text), err)
	}
}

// TestNothingIsLeftBehind: what a command has begun in the background ends with it, also what ignores a hang-up or is stopped.
func TestNothingIsLeftBehind(t *testing.T) {
	var s Shells
	dir := t.TempDir()
	if _, err := s.Run(t.Context(), "ann", "cd "+dir+"; (trap '' HUP; echo $BASHPID > a; while :; do sleep 1; done) & sleep 1000 & echo $! > b; kill -STOP $!; until [ -s a ]; do :; done", nil); err != nil {
		t.Error(err)
	}
	for _, name := range []string{"a", "b"} {
		if alive(t, filepath.Join(dir, name)) {
			t.Errorf("process %s lives on", name)
		}
	}
}

// TestEndOfTheSession: a command ends when the operator's session does.
func TestEndOfTheSession(t *testing.T) {
	var s Shells
	ctx, cancel := context.WithCancel(t.Context())
	file := filepath.Join(t.TempDir(), "pid")
	done := make(chan error, 1)
	go func() {
		_, err := s.Run(ctx, "ann", "trap '' HUP; echo $$ > "+file+"; while :; do sleep 1; done", nil)
		done <- err
	}()
	if !alive(t, file) {
		t.Fatal("it has not begun")
	}
	cancel()
	if err := <-done; err == nil {
		t.Error("no error")
	}
	if alive(t, file) {
		t.Error("it lives on")
	}
}

func TestNoMoreThanEight(t *testing.T) {
	var s Shells
	ctx, cancel := context.WithCancel(t.Context())
	dir := t.TempDir()
	var all sync.WaitGroup
	for i := range most {
		file := filepath.Join(dir, strconv.Itoa(i))
		all.Go(func() { _, _ = s.Run(ctx, "ann", "echo $$ > "+file+"; sleep 1000", nil) })
		alive(t, file)
	}
	if _, err := s.Run(ctx, "ann", "true", nil); err == nil || !strings.Contains(err.Error(), "8 are going on") {
		t.Error(err)
	}
	cancel()
	all.Wait()
	if _, err := s.Run(t.Context(), "ann", "true", nil); err != nil {
		t.Error(err)
	}
}

// keyboard hands out keys until it is closed.
type keyboard struct {
	*io.PipeReader
}

// shown is what is on the screen.
type shown struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *shown) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(b)
}

func (s *shown) has(text string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Contains(s.b.String(), text)
}

func TestOnATerminal(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	var s Shells
	in, keys := io.Pipe()
	var out shown
	resize := make(chan func(int, int), 8)
	done := make(chan error, 1)
	go func() {
		_, err := s.Run(t.Context(), "ann", "", &shell.Terminal{Keys: keyboard{in}, Out: &out, Kind: "x\ny", Sized: func(f func(int, int)) {
			if f != nil {
				f(91, 33)
			}
			resize <- f
		}})
		done <- err
	}()
	set := <-resize
	type row struct{ keys, want string }
	for _, r := range []row{
		{"stty size\r", "33 91"}, {"echo $TERM-$SLUICE_OPERATOR\r", "dumb-ann"}, {"sh -c 'echo be${X}gun; exec sleep 1000'\r", "begun"}, {"\x03", "^C"}, {"echo st''ill\r", "still"},
	} {
		io.WriteString(keys, r.keys)
		until(t, r.want, func() bool { return out.has(r.want) })
	}
	set(100, 40)
	io.WriteString(keys, "stty size\r")
	until(t, "the new size", func() bool { return out.has("40 100") })
	io.WriteString(keys, "false\rexit\r")
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// TestKeysEnd: an operator who is gone, or has typed nothing for too long, ends the shell.
func TestKeysEnd(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	var s Shells
	in, keys := io.Pipe()
	var out shown
	file := filepath.Join(t.TempDir(), "pid")
	done := make(chan error, 1)
	go func() {
		_, err := s.Run(t.Context(), "ann", "", &shell.Terminal{Keys: keyboard{in}, Out: &out, Kind: "xterm", Sized: func(func(int, int)) {}})
		done <- err
	}()
	io.WriteString(keys, "trap '' HUP; (trap '' HUP; echo $BASHPID > "+file+"; sleep 1000)\r")
	if !alive(t, file) {
		t.Fatal("it has not begun")
	}
	keys.Close()
	<-done
	if alive(t, file) {
		t.Error("it lives on")
	}
}
