package sshd

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"runtime/debug"
	"slices"
	"sort"
	"time"

	"github.com/gliderlabs/ssh"

	"sluice/cli/grammar"
	"sluice/cli/shell"
	"sluice/mgmt/aaa"
	"sluice/vendor-config/schema"
)

// Login is a session that is going on.
type Login struct {
	ID     uint64
	User   string
	Person aaa.Person
	Source string // address
	Kind   string // shell, script, exec or the name of a subsystem
	Since  time.Time
}

type entry struct {
	Login
	ss     ssh.Session
	cancel context.CancelFunc
}

// end ends the session with a farewell; a client that does not read it is not waited for. The channel is closed when
// that has been done.
func (e *entry) end(why string) <-chan struct{} {
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer e.ss.Close()
		written := make(chan struct{})
		go func() {
			if e.Kind == "shell" {
				_, _ = io.WriteString(e.ss, "\r\nThe session ends: "+why+".\r\n")
			}
			close(written)
		}()
		select {
		case <-written:
		case <-time.After(200 * time.Millisecond):
		}
		e.cancel()
	}()
	return done
}

// Logins are the sessions that are going on, the oldest first.
func (s *Server) Logins() []Login {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]Login, 0, len(s.sessions))
	for _, e := range s.sessions {
		out = append(out, e.Login)
	}
	sort.Slice(out, func(i, j int) bool { return out[i].ID < out[j].ID })
	return out
}

// Kill ends a session; it tells whether there is one of that number.
func (s *Server) Kill(id uint64, why string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.sessions[id]
	if e != nil {
		e.end(why)
	}
	return e != nil
}

// enter counts a session in; nil means that there are too many, in all or of one user.
func (s *Server) enter(ss ssh.Session, kind string, most int, cancel context.CancelFunc) *entry {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, own := person(ss), 0
	for _, e := range s.sessions {
		if e.User == p.Name {
			own++
		}
	}
	if s.closed || len(s.sessions) >= s.opt.Limits.Sessions || own >= most {
		return nil
	}
	s.next++
	e := &entry{Login{s.next, p.Name, p, host(ss.RemoteAddr()), kind, time.Now()}, ss, cancel}
	s.sessions[e.ID] = e
	s.running.Add(1)
	return e
}

func (s *Server) leave(e *entry) {
	s.mu.Lock()
	delete(s.sessions, e.ID)
	s.mu.Unlock()
	s.running.Done()
}

// terminal is what a client said of its terminal before it asked for a session.
type terminal struct {
	first   ssh.Window
	kind    string            // what the client calls it
	resized <-chan ssh.Window // nil: it has none
}

// keep takes down the terminal of a session. The library writes new sizes into what Session.Pty returns, so it may be
// called only here, where requests are read.
func (s *Server) keep(ss ssh.Session) {
	if p, resized, ok := ss.Pty(); ok {
		s.pending.Store(ss, terminal{p.Window, p.Term, resized})
	}
}

// session serves one shell or exec request.
func (s *Server) session(ss ssh.Session) {
	pending, _ := s.pending.LoadAndDelete(ss)
	term, _ := pending.(terminal)
	hasPTY := term.resized != nil
	kind := "script"
	switch {
	case ss.RawCommand() != "":
		kind = "exec"
	case hasPTY:
		kind = "shell"
	}
	s.serve(ss, kind, func(ctx context.Context, cancel context.CancelFunc, e *entry, like aaa.Preferences, log *slog.Logger) int {
		b := &audited{s.opt.Backend(e.Login), log}
		if kind == "exec" {
			if hasPTY {
				go drain(term.resized)
			} else if r, ok := b.Backend.(shell.Receiver); ok {
				r.Receive(ss)
			}
			return s.exec(ctx, cancel, ss, b, hasPTY)
		}
		o := shell.Options{User: e.User, Host: s.opt.Host(), PTY: hasPTY, Stderr: ss.Stderr(), Idle: like.Idle, Prompt: like.Prompt}
		if s.opt.Limits.Idle > 0 {
			o.Idle = s.opt.Limits.Idle
		}
		if hasPTY {
			o.Banner = s.opt.Greeting
			o.Width, o.Height = size(term.first)
			o.Terminal = term.kind
			if like.NewPassword {
				o.Renew = func(plain string) error { return s.opt.NewPassword(e.Login, plain) }
			}
		}
		sh := shell.New(ss, b, o)
		if hasPTY {
			go func() {
				for w := range term.resized {
					sh.Resize(size(w))
				}
			}()
		}
		return sh.Run(ctx)
	})
}

// subsystem serves one request for a subsystem.
func (s *Server) subsystem(ss ssh.Session, name string, run Subsystem) {
	pending, _ := s.pending.LoadAndDelete(ss)
	if term, _ := pending.(terminal); term.resized != nil {
		go drain(term.resized)
	}
	s.serve(ss, name, func(ctx context.Context, _ context.CancelFunc, e *entry, _ aaa.Preferences, _ *slog.Logger) int {
		return run(ctx, e.Login, ss)
	})
}

// serve counts a session, writes down when it begins and ends, and keeps its faults to itself.
func (s *Server) serve(ss ssh.Session, kind string, run func(context.Context, context.CancelFunc, *entry, aaa.Preferences, *slog.Logger) int) {
	ctx, cancel := context.WithCancel(ss.Context())
	defer cancel()
	like := s.opt.Accounts.Preferences(person(ss))
	e := s.enter(ss, kind, like.Sessions, cancel)
	log := s.opt.Log.With("user", ss.Context().User(), "source", host(ss.RemoteAddr()))
	if e == nil {
		log.Warn("session refused, there are too many", "kind", kind)
		_, _ = io.WriteString(ss.Stderr(), "ERROR: Connection limit to CFE exceeded\r\n")
		_ = ss.Exit(1)
		return
	}
	defer s.leave(e)
	if like.NewPassword && (kind != "shell" || s.opt.NewPassword == nil) {
		log.Warn("session refused, the password must be changed first", "kind", kind)
		_, _ = io.WriteString(ss.Stderr(), "ERROR: "+mustChange+"\r\n")
		_ = ss.Exit(1)
		return
	}
	log = log.With("session", e.ID)
	log.Info("session begins", "kind", kind)
	code := 1
	defer func() {
		if fault := recover(); fault != nil { // one session's fault must not end the others, nor the engine
			log.Error("fault in a session", "fault", fault, "stack", string(debug.Stack()))
			_, _ = io.WriteString(ss.Stderr(), "ERROR: "+errFault.Error()+"\r\n")
		}
		log.Info("session ends", "code", code)
		_ = ss.Exit(code)
	}()
	code = run(ctx, cancel, e, like, log)
}

// exec runs the command of `ssh host command`.
func (s *Server) exec(ctx context.Context, cancel context.CancelFunc, ss ssh.Session, b shell.Backend, hasPTY bool) int {
	var out, errs io.Writer = ss, ss.Stderr()
	if hasPTY { // `ssh -t`: the client's terminal is raw
		out, errs = crlf{ss}, crlf{ss}
		go interrupt(ss, cancel)
	}
	b.(*audited).log.Info("exec", "line", line(grammar.DiscreetList(ss.RawCommand())))
	if legacy(ss.RawCommand()) {
		return refuseLegacy(ss)
	}
	return shell.Exec(ctx, b, ss.Context().User(), ss.RawCommand(), out, errs)
}

// interrupt cancels at Ctrl-C.
func interrupt(r io.Reader, cancel context.CancelFunc) {
	b := make([]byte, 256)
	for {
		n, err := r.Read(b)
		if bytes.IndexByte(b[:n], 3) >= 0 {
			cancel()
		}
		if err != nil {
			return
		}
	}
}

// drain takes window changes that nobody needs: the library stops at one that is not taken.
func drain(w <-chan ssh.Window) {
	for range w {
	}
}

// size is what a terminal tells of itself; expect and some CI systems say 0x0.
func size(w ssh.Window) (width, height int) {
	width, height = w.Width, w.Height
	if width <= 0 {
		width = 80
	}
	if height <= 0 {
		height = 24
	}
	return min(width, 1000), min(height, 1000)
}

// crlf turns line ends into those of a raw terminal.
type crlf struct{ w io.Writer }

func (c crlf) Write(b []byte) (int, error) {
	text := bytes.ReplaceAll(bytes.ReplaceAll(b, []byte("\r\n"), []byte("\n")), []byte("\n"), []byte("\r\n"))
	if _, err := c.w.Write(text); err != nil {
		return 0, err
	}
	return len(b), nil
}

// audited writes every command down with its outcome.
type audited struct {
	shell.Backend
	log *slog.Logger
}

// Do executes op and records it.
func (a *audited) Do(user string, op *grammar.Op) (text string, err error) {
	err = a.record(op, func() error {
		text, err = a.Backend.Do(user, op)
		return err
	})
	return text, err
}

// Stream executes op, whose text comes while it runs, and records it.
func (a *audited) Stream(ctx context.Context, user string, op *grammar.Op, out io.Writer, attended bool) error {
	s, ok := a.Backend.(shell.Streamer)
	if !ok {
		text, err := a.Do(user, op)
		_, _ = io.WriteString(out, text) // who has gone is noticed where it is read
		return err
	}
	return a.record(op, func() error { return s.Stream(ctx, user, op, out, attended) })
}

// record executes a command and writes it down. A fault of one command must not end the program.
func (a *audited) record(op *grammar.Op, do func() error) (err error) {
	defer func() {
		if fault := recover(); fault != nil {
			a.log.Error("fault in a command", "line", line(op.Line), "fault", fault, "stack", string(debug.Stack()))
			err = errFault
		}
	}()
	err = do()
	a.tell(op, err)
	return err
}

// tell writes down what came of a command.
func (a *audited) tell(op *grammar.Op, err error) {
	if err != nil {
		a.log.Warn("command refused", "line", line(op.Line), "result", "ERROR: "+err.Error())
	} else {
		a.log.Info("command", "line", line(op.Line), "result", "Done")
	}
}

// DoAll executes ops together if the backend can, and records each.
func (a *audited) DoAll(user string, ops []*grammar.Op) (all []shell.Outcome) {
	b, ok := a.Backend.(shell.Batcher)
	if !ok {
		for _, op := range ops {
			text, err := a.Do(user, op)
			all = append(all, shell.Outcome{Text: text, Err: err})
		}
		return all
	}
	defer func() {
		if fault := recover(); fault != nil {
			a.log.Error("fault in a command", "line", line(ops[0].Line), "more", len(ops)-1, "fault", fault, "stack", string(debug.Stack()))
			all = slices.Repeat([]shell.Outcome{{Err: errFault}}, len(ops))
		}
	}()
	all = b.DoAll(user, ops)
	for i, o := range all {
		a.tell(ops[i], o.Err)
	}
	return all
}

// Commands reads a file of commands if the backend can, and records that it was asked for.
func (a *audited) Commands(user string, op *grammar.Op) (text []byte, err error) {
	err = a.record(op, func() error {
		b, ok := a.Backend.(shell.Library)
		if !ok {
			return schema.Refuse(schema.NotSupported, op.Verb)
		}
		text, err = b.Commands(user, op)
		return err
	})
	return text, err
}

// System runs a shell of the system if the backend can, and records what was asked for and how it ended. What is typed in it is not
// recorded.
func (a *audited) System(ctx context.Context, user string, op *grammar.Op, t *shell.Terminal) (text string, err error) {
	err = a.record(op, func() error {
		b, ok := a.Backend.(shell.System)
		if !ok {
			return schema.Refuse(schema.NotSupported, op.Verb)
		}
		text, err = b.System(ctx, user, op, t)
		return err
	})
	return text, err
}

// Aliases are the user's, if the backend keeps any.
func (a *audited) Aliases(user string) (map[string]string, error) {
	if b, ok := a.Backend.(shell.Aliaser); ok {
		return b.Aliases(user)
	}
	return nil, nil
}

// Alias keeps one if the backend can, and records it.
func (a *audited) Alias(user, word, command string) error {
	b, ok := a.Backend.(shell.Aliaser)
	if !ok {
		return schema.Refuse(schema.NotSupported, "alias")
	}
	err := b.Alias(user, word, command)
	if err != nil {
		a.log.Warn("alias refused", "alias", word, "command", line(command), "result", "ERROR: "+err.Error())
	} else {
		a.log.Info("alias", "alias", word, "command", line(command), "result", "Done")
	}
	return err
}

// mustChange is what those read who come by another door than a terminal.
const mustChange = "The password of this account must be changed before anything else: log in with a terminal, which asks for the new one"

var errFault = errors.New("Internal error; the log says more")

// line bounds a command in the log.
func line(s string) string {
	const most = 2000
	if len(s) > most {
		return s[:most] + "..."
	}
	return s
}
