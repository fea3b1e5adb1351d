package shell

import (
	"context"
	"io"
	"testing"

	"golang.org/x/term"
)

// TestCtrlCTypedAhead: one that comes behind a line, before its command has begun, ends that command and no later one.
func TestCtrlCTypedAhead(t *testing.T) {
	r, w := io.Pipe()
	defer w.Close()
	p := newPump(t.Context(), r, false)
	line := make([]byte, 64)
	if _, err := w.Write([]byte("ping\r\x03")); err != nil {
		t.Fatal(err)
	}
	if n, err := p.Read(line); err != nil || string(line[:n]) != "ping\r" {
		t.Fatalf("%q, %v", line[:n], err)
	}
	if !p.during(func(ctx context.Context) { <-ctx.Done() }) {
		t.Error("the command is not told that it was ended")
	}
	if p.during(func(ctx context.Context) {
		if ctx.Err() != nil {
			t.Error("the next command is ended as well")
		}
	}) {
		t.Error("the next command is told that it was ended")
	}
	// One that the line editor had is no command's.
	if _, err := w.Write([]byte("abc\x03")); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"abc", string(killLine)} {
		if n, err := p.Read(line); err != nil || string(line[:n]) != want {
			t.Fatalf("%q, %v, want %q", line[:n], err, want)
		}
	}
	if p.during(func(context.Context) {}) {
		t.Error("a Ctrl-C at the prompt ends the next command")
	}
}

// TestCtrlCOfAProgram: one that a program had, to which the terminal was lent, ends no command behind it.
func TestCtrlCOfAProgram(t *testing.T) {
	r, w := io.Pipe()
	defer w.Close()
	s := &Session{pump: newPump(t.Context(), r, false)}
	s.term.Store(term.NewTerminal(struct {
		io.Reader
		io.Writer
	}{s.pump, io.Discard}, ""))
	s.pump.during(func(context.Context) {
		if err := s.lend(func(lent *Terminal) error {
			if _, err := w.Write([]byte("sleep 9\r\x03")); err != nil {
				return err
			}
			keys := make([]byte, 64)
			n, err := lent.Keys.Read(keys)
			if string(keys[:n]) != "sleep 9\r\x03" {
				t.Errorf("the program has got %q", keys[:n])
			}
			return err
		}); err != nil {
			t.Error(err)
		}
	})
	if s.pump.during(func(context.Context) {}) {
		t.Error("the next command is ended")
	}
}
