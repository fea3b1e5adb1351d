package shell

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/term"

	"sluice/cli/grammar"
)

// Options describe the session.
type Options struct {
	User   string
	Host   string        // for the prompt code %h
	Banner string        // printed once when the session is interactive
	Width  int           // of the terminal in cells; 0 means 80
	Height int           // 0 means 24
	PTY    bool          // interactive; false: commands are read line by line without echo and prompt
	Stderr io.Writer     // where errors of a session without terminal go; nil: the same as output
	Idle   time.Duration // greatest time between two keys; 0 means DefaultIdle
	Prompt string        // as `set cli prompt` takes it

	Renew func(password string) error // the user must choose another password first, which this gives him; nil: he need not

	Terminal string // what the client calls its terminal, e.g. xterm, for programs of the system
}

// Session is one interactive or scripted login.
type Session struct {
	rw            io.ReadWriter
	o             Options
	runner        *runner
	width, height atomic.Int32
	idle          atomic.Int64 // nanoseconds
	term          atomic.Pointer[term.Terminal]
	pump          *pump
	sized         atomic.Pointer[func(width, height int)] // of a program that has the terminal
}

// New prepares a session on rw. The reader is owned by the session until Run returns; the caller then closes it.
func New(rw io.ReadWriter, b Backend, o Options) *Session {
	s := &Session{rw: rw, o: o, runner: &runner{backend: b, user: o.User, mode: defaultMode(), history: &history{}}}
	if o.Idle > 0 {
		s.runner.mode.idle = o.Idle
	}
	s.runner.mode.prompt = o.Prompt
	s.Resize(o.Width, o.Height)
	return s
}

// Resize tells the new size of the terminal. It may be called at any time from any goroutine. Clients without a real
// terminal say 0 by 0: then 80 by 24 is taken.
func (s *Session) Resize(width, height int) {
	if width <= 0 || width > 10000 {
		width = 80
	}
	if height <= 0 || height > 10000 {
		height = 24
	}
	s.width.Store(int32(width))
	s.height.Store(int32(height))
	if t := s.term.Load(); t != nil {
		_ = t.SetSize(width, height) // it fails only if the connection does, and then reading fails as well
	}
	if f := s.sized.Load(); f != nil {
		(*f)(width, height)
	}
}

func (s *Session) size() (width, height int) { return int(s.width.Load()), int(s.height.Load()) }

// Run serves the session until exit, end of input, idle timeout or the end of ctx. It returns the exit code: 0; 1 when a
// line of a script failed; 255 after an idle timeout.
func (s *Session) Run(ctx context.Context) int {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s.pump = newPump(ctx, s.rw, !s.o.PTY)
	s.idle.Store(int64(s.runner.mode.idle))
	idle := func() time.Duration { return time.Duration(s.idle.Load()) }
	s.pump.idle.Store(&idle)
	if !s.o.PTY {
		stderr := s.o.Stderr
		if stderr == nil {
			stderr = s.rw
		}
		return s.runner.script(ctx, scriptReader{s.pump}, s.rw, stderr)
	}
	return s.interactive()
}

// scriptReader gives the bytes as they come, Ctrl-C as any other, and all that have come already.
type scriptReader struct{ p *pump }

func (r scriptReader) Read(b []byte) (n int, err error) {
	if err := r.p.fill(); err != nil {
		return 0, err
	}
	for {
		k := copy(b[n:], r.p.buf)
		n, r.p.buf = n+k, r.p.buf[k:]
		if n == len(b) {
			return n, nil
		}
		select {
		case r.p.buf = <-r.p.in: // nil at the end, which fill tells next time
			if r.p.buf == nil {
				return n, nil
			}
		default:
			return n, nil
		}
	}
}

func (s *Session) interactive() int {
	t := term.NewTerminal(struct {
		io.Reader
		io.Writer
	}{s.pump, s.rw}, "> ")
	t.History = s.runner.history
	t.AutoCompleteCallback = s.complete
	s.term.Store(t)
	s.Resize(s.size())
	s.runner.confirm, s.runner.live, s.runner.lend = s.confirm, t, s.lend
	t.SetBracketedPasteMode(true)
	defer t.SetBracketedPasteMode(false)
	if s.o.Renew != nil && !s.renew(t) {
		return 1
	}
	// The first prompt, like any other, begins a line: tools look for it there, and the terminal has been told things before.
	s.print(clean(whole(s.o.Banner)) + " Done\n")
	for {
		t.SetPrompt(s.runner.mode.promptText(s.o.User, s.o.Host, s.runner.history.next(), time.Now()))
		line, err := t.ReadLine()
		if err != nil && !errors.Is(err, term.ErrPasteIndicator) {
			return s.end(err)
		}
		if !s.line(strings.TrimSpace(line)) {
			s.print(" Bye!\n")
			return 0
		}
		s.idle.Store(int64(s.runner.mode.idle))
	}
}

// end says why reading ended.
func (s *Session) end(err error) int {
	switch {
	case errors.Is(err, errIdle):
		s.print(fmt.Sprintf("\nNo key for %s: session closed\n", time.Duration(s.idle.Load())))
		return 255
	case errors.Is(err, io.EOF):
		s.print("\n Bye!\n")
	}
	return 0
}

// line executes one line and prints what came of it; false ends the session.
func (s *Session) line(line string) bool {
	if strings.EqualFold(line, "cls") {
		s.print("\x1b[2J\x1b[H")
		return true
	}
	var text string
	var done bool
	var err error
	s.pump.during(func(ctx context.Context) { text, done, err = s.runner.run(ctx, line) })
	switch {
	case errors.Is(err, errExit):
		return false
	case errors.Is(err, errDeclined):
		return true
	case errors.Is(err, errCancelled):
		s.print("^C\n")
		return true
	case err != nil:
		text += s.red("ERROR: "+sentence(err)) + "\n"
	case done:
		text += " Done\n"
	}
	cancelled := s.pump.during(func(ctx context.Context) {
		p := pager{w: s.rw, keys: s.pump.Key, size: s.size, paging: s.runner.mode.page}
		p.write(ctx, text)
	})
	if cancelled {
		s.print("^C\n")
	}
	return true
}

// confirm asks a question; anything but Y is no.
func (s *Session) confirm(question string) bool {
	s.print(question)
	key, err := s.pump.Key()
	yes := err == nil && (key == 'y' || key == 'Y')
	if yes {
		s.print("Y\n")
	} else {
		s.print("N\n")
	}
	if len(s.pump.buf) > 0 && (s.pump.buf[0] == '\r' || s.pump.buf[0] == '\n') {
		s.pump.buf = s.pump.buf[1:] // the Enter behind the answer is no empty line
	}
	return yes
}

func (s *Session) red(text string) string {
	if !s.runner.mode.color {
		return text
	}
	return "\x1b[31m" + text + "\x1b[0m"
}

// print writes to the terminal. An error means that the connection is gone, which reading will tell as well.
func (s *Session) print(text string) { _, _ = io.WriteString(s.term.Load(), text) }

// listLimit is how many candidates are listed at once.
const listLimit = 100

// complete is called for each key: Tab completes the word before the cursor or lists what may come; ? lists always.
func (s *Session) complete(line string, pos int, key rune) (string, int, bool) {
	if key != '\t' && key != '?' {
		return "", 0, false
	}
	head := line[:pos]
	if _, _, err := grammar.Tokenize(head); err != nil {
		if key == '?' {
			return "", 0, false // inside quotes it is a character like any other
		}
		return line, pos, true
	}
	list, prefix := s.runner.complete(head)
	if key == '\t' {
		if longer, ok := extend(list, prefix); ok {
			head = head[:len(head)-len(prefix)] + longer
			return head + line[pos:], len(head), true
		}
	}
	text := listing(list, listLimit)
	if len(list) == 0 {
		text = "  " + why(s.runner.unfold(head)) + "\n"
	}
	s.print(clean(text))
	return line, pos, true
}

// why explains that nothing can come next.
func why(head string) string {
	if _, err := grammar.Parse(head); err != nil {
		return sentence(err)
	}
	return grammar.Enter
}

// extend is what all candidates have in common beyond the prefix, with a space behind it when there is only one.
func extend(list []grammar.Candidate, prefix string) (string, bool) {
	common, n := "", 0
	for _, c := range list {
		if strings.HasPrefix(c.Text, "<") {
			continue
		}
		if n++; n == 1 {
			common = c.Text
			continue
		}
		for len(c.Text) < len(common) || !strings.EqualFold(c.Text[:len(common)], common) {
			common = common[:len(common)-1]
		}
	}
	if n == 1 {
		return common + " ", true
	}
	return common, len(common) > len(prefix)
}
