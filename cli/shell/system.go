package shell

import (
	"context"
	"io"

	"sluice/cli/grammar"
	"sluice/vendor-config/schema"
)

// System is a Backend that can run the shell of the system beneath the appliance.
type System interface {
	// System runs the command of op, or a shell if it has none, until it ends or ctx does: on the terminal, or else without input. The
	// text is what it has printed when there is no terminal.
	System(ctx context.Context, user string, op *grammar.Op, t *Terminal) (text string, err error)
}

// Terminal is an operator's, lent to a program.
type Terminal struct {
	Keys io.ReadCloser // as they come; Close makes a Read that waits return, and loses no key
	Out  io.Writer
	Kind string // what the client says of it, e.g. xterm
	// Sized calls f with the width and height of the terminal, now and each time that they change, until f is nil.
	Sized func(f func(width, height int))
}

// system executes shell. What goes through a filter or comes of a file has no terminal.
func (r *runner) system(ctx context.Context, op *grammar.Op, filtered bool) (text string, err error) {
	b, ok := r.backend.(System)
	switch {
	case !ok:
		return "", schema.Refuse(schema.NotSupported, "shell")
	case r.lend != nil && !filtered && !r.sourcing:
		err = r.lend(func(t *Terminal) (err error) {
			text, err = b.System(ctx, r.user, op, t)
			return err
		})
		return text, err
	case len(op.Key) == 0:
		return "", schema.Refuse(schema.NotPermitted, "shell").Because("it needs a terminal: log in and give it there, or give it a command")
	}
	return b.System(ctx, r.user, op, nil)
}

// lend gives the terminal to a program for as long as run takes. Keys go to it as they come, Ctrl-C as any other.
func (s *Session) lend(run func(*Terminal) error) error {
	p := s.pump
	stop, wasRaw, was := p.cancel.Swap(nil), p.raw, p.run
	ctx, closed := context.WithCancel(p.ctx)
	p.raw, p.run = true, ctx
	t := s.term.Load()
	t.SetBracketedPasteMode(false)
	defer func() {
		closed()
		s.sized.Store(nil)
		p.raw, p.run = wasRaw, was
		p.cancel.Store(stop)
		t.SetBracketedPasteMode(true)
	}()
	return run(&Terminal{Keys: keys{p, closed}, Out: s.rw, Kind: s.o.Terminal, Sized: func(f func(width, height int)) {
		if f == nil {
			s.sized.Store(nil)
			return
		}
		s.sized.Store(&f)
		f(s.size())
	}})
}

// keys are those of a terminal that is lent.
type keys struct {
	p     *pump
	close context.CancelFunc
}

func (k keys) Read(b []byte) (int, error) {
	if err := k.p.fill(); err != nil {
		return 0, err
	}
	return copy(b, k.p.take(min(len(b), len(k.p.buf)))), nil
}

func (k keys) Close() error {
	k.close()
	return nil
}
