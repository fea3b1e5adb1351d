// Package sshd is the SSH door of the appliance: it knows who may come in, keeps out who may not, writes down who came,
// and gives everybody inside a shell. What a command means is the shell's and the backend's business.
package sshd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gliderlabs/ssh"
	gossh "golang.org/x/crypto/ssh"

	"sluice/cli/shell"
	"sluice/mgmt/aaa"
)

// Accounts know who may log in.
type Accounts interface {
	// Password tells who it is whose name and password these are; ok is false when they fit nobody.
	Password(ctx context.Context, user, password string) (p aaa.Person, ok bool)
	// Key is the same for a public key. The error says why a key was not regarded.
	Key(user string, k gossh.PublicKey) (p aaa.Person, ok bool, err error)
	Preferences(aaa.Person) aaa.Preferences
}

// Subsystem serves a session that asked for it by name, e.g. "netconf", until it returns the exit code.
type Subsystem func(ctx context.Context, l Login, rw io.ReadWriter) int

// Options are what the door needs.
type Options struct {
	Accounts   Accounts
	HostKey    string                    // file; it is made at the first start
	Backend    func(Login) shell.Backend // what a session works on
	Subsystems map[string]Subsystem
	// NewPassword gives the user of a session another password; nil: nobody can change his, and who must has no session.
	NewPassword func(l Login, plain string) error
	Host        func() string // name of the appliance, for the prompt
	Banner      func() string // shown before the login; nil: nothing is
	Greeting    string        // shown after it, in an interactive session
	Log         *slog.Logger  // audit: logins, failures, commands
	Limits      Limits
}

// Server is the SSH door.
type Server struct {
	opt     Options
	ssh     *ssh.Server
	doorman *doorman

	mu       sync.Mutex
	conns    map[*conn]struct{}
	sessions map[uint64]*entry
	next     uint64
	closed   bool
	running  sync.WaitGroup // sessions
	pending  sync.Map       // ssh.Session to terminal, from the request until the session begins
}

// conn is a connection from its first byte to its last.
type conn struct {
	net.Conn
	server   *Server
	since    time.Time
	loggedIn atomic.Bool
	first    sync.Once // logged in, or gone before
	last     sync.Once
	channels atomic.Int32
	user     string // who has logged in; of Server.mu
}

// Keys of what is kept in a connection's context.
type contextKey int

const (
	connKey   contextKey = iota
	personKey            // aaa.Person, who has proved himself last
)

// connsBeyond is how many connections a user may have open beyond his sessions: some that are told so, and some that have none for
// the moment. Without a bound one user would take all of Limits.Connections, and nobody else could log in.
const connsBeyond = 10

// channelsPerConn is how many sessions one connection may have open, as OpenSSH's MaxSessions.
const channelsPerConn = 10

// New prepares the door. It reads the host key, or makes one.
func New(o Options) (*Server, error) {
	if o.Accounts == nil || o.Backend == nil || o.Log == nil {
		return nil, errors.New("sshd: Accounts, Backend and Log are needed")
	}
	o.Limits = o.Limits.withDefaults()
	signer, made, err := hostKey(o.HostKey)
	if err != nil {
		return nil, err
	}
	if made {
		o.Log.Info("a new SSH host key was made", "file", o.HostKey, "fingerprint", gossh.FingerprintSHA256(signer.PublicKey()))
	}
	s := &Server{opt: o, doorman: newDoorman(o.Limits, time.Now), conns: map[*conn]struct{}{}, sessions: map[uint64]*entry{}}
	s.ssh = &ssh.Server{
		Version:                "Sluice",
		BannerHandler:          s.banner,
		HostSigners:            []ssh.Signer{signer},
		ConnCallback:           s.arrival,
		ServerConfigCallback:   s.config,
		PasswordHandler:        s.password,
		PublicKeyHandler:       s.publicKey,
		SessionRequestCallback: s.request,
		Handler:                s.session,
		ChannelHandlers:        map[string]ssh.ChannelHandler{"session": s.channel},
		RequestHandlers:        map[string]ssh.RequestHandler{}, // no port forwarding
		SubsystemHandlers:      map[string]ssh.SubsystemHandler{},
	}
	for name, serve := range o.Subsystems {
		s.ssh.SubsystemHandlers[name] = func(ss ssh.Session) { s.subsystem(ss, name, serve) }
	}
	return s, nil
}

// Serve lets clients in that arrive on l, until Close. It then returns nil.
func (s *Server) Serve(l net.Listener) error {
	err := s.ssh.Serve(l)
	if errors.Is(err, ssh.ErrServerClosed) {
		return nil
	}
	return fmt.Errorf("no more SSH logins on %s: %w", l.Addr(), err)
}

// Close shuts the door and ends every session. It waits for them until ctx ends.
func (s *Server) Close(ctx context.Context) error {
	s.mu.Lock()
	s.closed = true
	var ends []<-chan struct{}
	for _, e := range s.sessions {
		ends = append(ends, e.end("the management program stops"))
	}
	s.mu.Unlock()
	for _, end := range ends {
		<-end
	}
	err := s.ssh.Close()
	done := make(chan struct{})
	go func() { s.running.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(500 * time.Millisecond): // who is slow to read the farewell is cut off
	case <-ctx.Done():
	}
	s.mu.Lock()
	left := len(s.conns)
	for c := range s.conns {
		go c.Close()
	}
	s.mu.Unlock()
	if left > 0 {
		select {
		case <-done:
		case <-ctx.Done():
			return fmt.Errorf("SSH sessions are still running: %w", ctx.Err())
		}
	}
	return err
}

// arrival counts a new connection, or sends it away.
func (s *Server) arrival(ctx ssh.Context, nc net.Conn) net.Conn {
	ip := origin(nc.RemoteAddr())
	leaves, why := s.doorman.admit(ip)
	if why != "" {
		s.opt.Log.Warn("connection refused", "source", host(nc.RemoteAddr()), "reason", why)
		return nil
	}
	if leaves.IsValid() {
		s.dismiss(leaves)
	}
	c := &conn{Conn: nc, server: s, since: time.Now()}
	s.mu.Lock()
	closed := s.closed
	s.conns[c] = struct{}{}
	s.mu.Unlock()
	ctx.SetValue(connKey, c)
	time.AfterFunc(s.opt.Limits.Handshake, func() { // the library knows no limit for the handshake
		if !c.loggedIn.Load() {
			c.Close()
		}
	})
	if closed {
		c.Close()
	}
	return c
}

// dismiss closes the oldest connection of an address that has not logged in.
func (s *Server) dismiss(ip netip.Addr) {
	var oldest *conn
	s.mu.Lock()
	for c := range s.conns {
		if !c.loggedIn.Load() && origin(c.RemoteAddr()) == ip && (oldest == nil || c.since.Before(oldest.since)) {
			oldest = c
		}
	}
	s.mu.Unlock()
	if oldest != nil { // else it has just logged in or gone, and its place is free
		s.opt.Log.Warn("connection closed for a newcomer", "source", host(oldest.RemoteAddr()), "reason", strangersRefused)
		oldest.Close()
	}
}

// enter tells that the client has logged in.
func (c *conn) enter() {
	c.loggedIn.Store(true)
	c.first.Do(func() { c.server.doorman.known(origin(c.RemoteAddr())) })
}

// Close ends the connection and its counting.
func (c *conn) Close() error {
	err := c.Conn.Close()
	c.first.Do(func() { c.server.doorman.known(origin(c.RemoteAddr())) })
	c.last.Do(func() {
		c.server.doorman.gone()
		c.server.mu.Lock()
		delete(c.server.conns, c)
		c.server.mu.Unlock()
	})
	return err
}

// config is the SSH library's part for one connection.
func (s *Server) config(ctx ssh.Context) *gossh.ServerConfig {
	return &gossh.ServerConfig{
		MaxAuthTries: 3,
		AuthLogCallback: func(m gossh.ConnMetadata, method string, err error) {
			log := s.opt.Log.With("user", clip(m.User()), "source", host(m.RemoteAddr()), "method", method)
			switch {
			case err == nil && ctx.User() != m.User():
				log.Warn("login under another name than first claimed", "first", clip(ctx.User()))
			case err == nil:
				log.Info("login")
			case method == "none" || errors.Is(err, gossh.ErrNoAuth):
			default:
				log.Warn("login failed")
			}
			if c, ok := ctx.Value(connKey).(*conn); ok && err == nil {
				c.enter()
				if p, ok := ctx.Value(personKey).(aaa.Person); ok && !s.roomFor(c, p) {
					log.Warn("connection refused", "reason", "too many connections of this user")
					c.Close()
				}
			}
		},
	}
}

// roomFor counts the connection of a user who has logged in, or tells that he has too many.
func (s *Server) roomFor(c *conn, p aaa.Person) bool {
	most := s.opt.Accounts.Preferences(p).Sessions + connsBeyond
	s.mu.Lock()
	defer s.mu.Unlock()
	own := 0
	for other := range s.conns {
		if other.user == p.Name {
			own++
		}
	}
	c.user = p.Name
	return own < most
}

// password decides on a password. Its user is the first that the connection has claimed; see request.
func (s *Server) password(ctx ssh.Context, password string) bool {
	ip := origin(ctx.RemoteAddr())
	if s.doorman.blocked(ip) {
		return false
	}
	if p, ok := s.opt.Accounts.Password(ctx, ctx.User(), password); ok {
		ctx.SetValue(personKey, p)
		return true
	}
	wait, shut := s.doorman.failed(ip)
	if shut {
		s.opt.Log.Warn("too many failed logins, the address is shut out", "source", host(ctx.RemoteAddr()), "for", s.opt.Limits.Block)
	}
	select {
	case <-time.After(wait):
	case <-ctx.Done():
	}
	return false
}

// publicKey decides on a key; the library asks the client for the proof that it has the private half.
func (s *Server) publicKey(ctx ssh.Context, key ssh.PublicKey) bool {
	if s.doorman.blocked(origin(ctx.RemoteAddr())) {
		return false
	}
	p, ok, err := s.opt.Accounts.Key(ctx.User(), key)
	if err != nil {
		s.opt.Log.Warn("public key", "user", clip(ctx.User()), "source", host(ctx.RemoteAddr()), "error", err)
	}
	if ok {
		ctx.SetValue(personKey, p)
	}
	return ok
}

// person is who has logged in on the connection of a session.
func person(ss ssh.Session) aaa.Person {
	p, _ := ss.Context().Value(personKey).(aaa.Person)
	return p
}

// bannerMost bounds the banner in bytes.
const bannerMost = 8 << 10

// banner is what everybody reads before the login.
func (s *Server) banner(ssh.Context) string {
	if s.opt.Banner == nil {
		return ""
	}
	text := s.opt.Banner()
	return text[:min(len(text), bannerMost)]
}

// request decides on every shell, exec and subsystem. The library keeps the user of the first login attempt and hands
// that one to password and publicKey, while the connection bears the name of the last one: who has any account could
// claim it first and be another user afterwards. So both must be the same.
func (s *Server) request(ss ssh.Session, kind string) bool {
	if !sameUser(ss) {
		s.opt.Log.Warn("user switch refused", "user", clip(ss.Context().User()), "claimed", clip(ss.User()),
			"source", host(ss.RemoteAddr()), "request", kind)
		if c, ok := ss.Context().Value(connKey).(*conn); ok {
			time.AfterFunc(100*time.Millisecond, func() { c.Close() }) // after the refusal has been sent
		}
		return false
	}
	if person(ss).Name != ss.Context().User() { // who offers a key need not be who proves to have it
		s.opt.Log.Warn("session refused, nobody has proved to be its user", "user", clip(ss.Context().User()), "source", host(ss.RemoteAddr()))
		return false
	}
	if kind == "subsystem" && s.opt.Subsystems[ss.Subsystem()] == nil {
		s.opt.Log.Warn("subsystem refused, there is none of that name", "user", ss.Context().User(), "source", host(ss.RemoteAddr()),
			"subsystem", clip(ss.Subsystem()))
		return false
	}
	s.keep(ss)
	return true
}

// sameUser is the guard itself; a test takes it away to see that the attack would succeed.
var sameUser = func(ss ssh.Session) bool { return ss.User() == ss.Context().User() }

// channel bounds the sessions that one connection has open.
func (s *Server) channel(srv *ssh.Server, sc *gossh.ServerConn, nc gossh.NewChannel, ctx ssh.Context) {
	if c, ok := ctx.Value(connKey).(*conn); ok {
		defer c.channels.Add(-1)
		if c.channels.Add(1) > channelsPerConn {
			_ = nc.Reject(gossh.ResourceShortage, "too many sessions on this connection")
			return
		}
	}
	ssh.DefaultSessionHandler(srv, sc, withoutEnv{nc}, ctx)
}

// withoutEnv is a channel whose client can set no variables of the environment: nothing here has one, and the library would keep
// them without a bound.
type withoutEnv struct{ gossh.NewChannel }

// Accept answers the requests for variables itself, as OpenSSH's server does to those that it does not accept.
func (n withoutEnv) Accept() (gossh.Channel, <-chan *gossh.Request, error) {
	ch, all, err := n.NewChannel.Accept()
	if err != nil {
		return nil, nil, err
	}
	rest := make(chan *gossh.Request)
	go func() {
		defer close(rest)
		for r := range all {
			if r.Type != "env" {
				rest <- r
				continue
			}
			_ = r.Reply(false, nil) // it fails only if the connection has gone, which ends the loop
		}
	}()
	return ch, rest, nil
}

// host is the address without the port.
func host(a net.Addr) string {
	if a == nil {
		return ""
	}
	h, _, err := net.SplitHostPort(a.String())
	if err != nil {
		return a.String()
	}
	return h
}

// clip bounds what a stranger can write into the log.
func clip(s string) string {
	const most = 64
	if len(s) > most {
		return s[:most] + "..."
	}
	return s
}
