package shell

import (
	"bytes"
	"context"
	"errors"
	"io"
	"sync/atomic"
	"time"
	"unicode/utf8"
)

const ctrlC = 3

// killLine is what the line editor reads for Ctrl-C: end of a paste, cursor to the end, kill to the start, enter. Given
// the key itself it would end the session.
var killLine = []byte("\x1b[201~\x05\x15\r")

var errIdle = errors.New("idle timeout")

// pump sits between the connection and whoever reads keys. It hands out one line at a time, so that keys typed ahead
// are still there for the pager, and it sees Ctrl-C while a command runs.
type pump struct {
	in     chan []byte
	ctx    context.Context
	raw    bool // hand out the bytes as they come: a script, not a terminal
	buf    []byte
	broken []byte                               // begin of a UTF-8 character whose rest has not arrived
	sawCR  bool                                 // the last byte handed out was CR: a LF behind it belongs to it
	run    context.Context                      // of the running command, nil between commands
	cancel atomic.Pointer[func()]               // of the running command; nil while it waits for a key
	ahead  atomic.Int64                         // Ctrl-Cs that have come and were not handed out
	began  time.Time                            // as time.Now gives it: a wall clock that is set moves no time since then
	key    atomic.Int64                         // time of the last key since began, in nanoseconds
	idle   atomic.Pointer[func() time.Duration] // greatest time between two keys; 0 is for ever
}

// newPump starts to read r. The reading goroutine ends when r does, or, after ctx, with the next byte of r.
func newPump(ctx context.Context, r io.Reader, raw bool) *pump {
	p := &pump{in: make(chan []byte, 256), ctx: ctx, raw: raw, began: time.Now()}
	go p.read(r)
	return p
}

func (p *pump) read(r io.Reader) {
	defer close(p.in)
	for {
		b := make([]byte, 1024)
		n, err := r.Read(b)
		b = b[:n]
		if n > 0 {
			p.key.Store(int64(time.Since(p.began)))
		}
		if i := bytes.LastIndexByte(b, ctrlC); i >= 0 {
			p.ahead.Add(ctrlCs(b)) // before one looks for a command, which looks here once it runs
			if cancel := p.cancel.Load(); cancel != nil {
				(*cancel)()
				p.ahead.Add(-ctrlCs(b))
				b = b[i+1:]
			}
		}
		if len(b) > 0 {
			select {
			case p.in <- b:
			case <-p.ctx.Done():
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// fill waits until there is something to hand out.
func (p *pump) fill() error {
	for len(p.buf) == 0 {
		var timeout <-chan time.Time
		if idle := p.idle.Load(); idle != nil && (*idle)() > 0 {
			left := time.Duration(p.key.Load()) + (*idle)() - time.Since(p.began)
			if left <= 0 {
				return errIdle
			}
			t := time.NewTimer(left)
			defer t.Stop()
			timeout = t.C
		}
		select {
		case b, ok := <-p.in:
			if !ok {
				return io.EOF
			}
			if p.buf = b; !p.raw {
				p.buf = p.text(b)
			}
		case <-timeout:
		case <-p.cancelled():
			return errCancelled
		case <-p.ctx.Done():
			return p.ctx.Err()
		}
	}
	return nil
}

// cancelled is closed by Ctrl-C while a command runs.
func (p *pump) cancelled() <-chan struct{} {
	if p.run == nil {
		return nil
	}
	return p.run.Done()
}

// text drops what is not UTF-8 and the LF of a CR LF; the begin of a character waits for its rest.
func (p *pump) text(b []byte) []byte {
	b = append(p.broken, b...)
	p.broken = nil
	out := make([]byte, 0, len(b))
	for len(b) > 0 {
		if !utf8.FullRune(b) {
			p.broken = bytes.Clone(b)
			break
		}
		r, n := utf8.DecodeRune(b)
		if !(r == utf8.RuneError && n == 1) && !(r == '\n' && p.sawCR) {
			out = append(out, b[:n]...)
		}
		p.sawCR = r == '\r'
		b = b[n:]
	}
	return out
}

// Read hands out at most one line, for the line editor.
func (p *pump) Read(b []byte) (int, error) {
	if len(b) < len(killLine) {
		return 0, io.EOF // the editor's buffer is full of one endless key sequence
	}
	if err := p.fill(); err != nil {
		return 0, err
	}
	end := min(len(p.buf), len(b))
	for i, c := range p.buf[:end] {
		if c == ctrlC && i == 0 {
			p.take(1)
			return copy(b, killLine), nil
		}
		if c == ctrlC {
			end = i
			break
		}
		if c == '\r' || c == '\n' {
			end = i + 1
			break
		}
	}
	return copy(b, p.take(end)), nil
}

// Key hands out one byte, for the pager and for questions. While it waits Ctrl-C is a key like any other. One that came
// between the text that asks for a key and the waiting has cancelled the command: it is the key all the same.
func (p *pump) Key() (byte, error) {
	cancel := p.cancel.Swap(nil)
	defer p.cancel.Store(cancel)
	err := p.fill()
	if p.run != nil && p.run.Err() != nil && p.ctx.Err() == nil {
		p.flush()
		p.run = nil
		return ctrlC, nil
	}
	if err != nil {
		return 0, err
	}
	return p.take(1)[0], nil
}

// take hands out the next n bytes.
func (p *pump) take(n int) []byte {
	b := p.buf[:n]
	p.buf = p.buf[n:]
	p.ahead.Add(-ctrlCs(b))
	return b
}

func ctrlCs(b []byte) int64 { return int64(bytes.Count(b, []byte{ctrlC})) }

// flush forgets keys that were typed ahead.
func (p *pump) flush() {
	p.take(len(p.buf))
	for {
		select {
		case b, ok := <-p.in:
			if !ok {
				return
			}
			p.ahead.Add(-ctrlCs(b))
		default:
			return
		}
	}
}

// during runs f with a context that Ctrl-C cancels; it tells whether it was. A Ctrl-C that Key handed out does not count, one that
// was typed between a line's Enter and here does.
func (p *pump) during(f func(context.Context)) (cancelled bool) {
	ctx, cancel := context.WithCancel(p.ctx)
	defer cancel()
	stop := func() { cancel() }
	p.run = ctx
	p.cancel.Store(&stop)
	if !p.raw && p.ahead.Load() > 0 {
		cancel()
	}
	f(ctx)
	p.cancel.Store(nil)
	cancelled = p.run != nil && ctx.Err() != nil && p.ctx.Err() == nil
	p.run = nil
	if cancelled {
		p.flush()
	}
	return cancelled
}
