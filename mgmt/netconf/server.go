// Package netconf serves NETCONF (RFC 6241) over anything that carries bytes in both directions; on the appliance that is a
// subsystem of the SSH door (RFC 6242). It keeps sessions, locks and who has to confirm a commit. Configurations belong to
// the appliance, which decides what is valid, what is in force, and who may do what.
package netconf

import (
	"context"
	"io"
	"log/slog"
	"sync"
	"time"

	"sluice/vendor-config/schema"
)

// Peer is who works in a session.
type Peer struct {
	ID     uint32 // of the session
	User   string
	Source string // address
	// May tells why who works here may not give a command, or nil.
	May func(command string) error
}

// Appliance is what sessions work on. Errors are sentences for the operator.
type Appliance interface {
	Running() *schema.Config
	Startup() (*schema.Config, error)
	Candidate() (c *schema.Config, modified bool) // running as long as nobody has changed it
	Check(c *schema.Config) error                 // whether c could be put in force

	// EditRunning changes what is in force, all or nothing and only to what passes Check. what is for the audit.
	EditRunning(who Peer, what string, change func(*schema.Config) error) error
	// EditCandidate changes the candidate, all or nothing; it need not be valid.
	EditCandidate(who Peer, what string, change func(*schema.Config) error) error
	Discard(who Peer)
	Commit(who Peer) error // and confirm the commit that waits
	CommitConfirmed(who Peer, within time.Duration) error
	Cancel(who Peer) error
	// Unconfirmed tells whether a commit waits to be confirmed; id names it.
	Unconfirmed() (id uint64, waits bool)
	Save(who Peer, c *schema.Config) error

	// Changes are the commands that make of one configuration another.
	Changes(from, to *schema.Config) []string
}

// Limits of what clients can make the server hold.
const (
	maxMessage = 32 << 20 // bytes of one message
	maxHeld    = 96 << 20 // bytes of all messages that are being read or worked on
	maxHello   = 64 << 10 // bytes of the first message
	maxParts   = 2000000  // elements of all messages that are being worked on: one takes a hundred bytes and more, however short it is
)

// Server is what all sessions have in common.
type Server struct {
	appliance Appliance
	log       *slog.Logger
	budget    budget
	parts     budget        // of elements
	patience  time.Duration // with a client that does not greet, or does not take an answer

	changing sync.Mutex // one operation that changes or locks something at a time

	mu       sync.Mutex
	sessions map[uint32]*session
	locks    map[string]Peer // by datastore
	waiting  waiting
}

// waiting is what a commit that is to be confirmed asks for.
type waiting struct {
	id      uint64 // Appliance.Unconfirmed
	session uint32 // that must confirm it, unless persist
	persist string // what confirms it from any session
}

// New returns a server without sessions.
func New(a Appliance, log *slog.Logger) *Server {
	return &Server{appliance: a, log: log, budget: budget{left: maxHeld}, parts: budget{left: maxParts}, patience: 2 * time.Minute, sessions: map[uint32]*session{}, locks: map[string]Peer{}}
}

// Serve is one session, from the greeting to its end. It returns when the client has said goodbye, has gone, has broken
// the protocol or has been sent away, or when ctx ends; if rw can be closed it is then.
func (s *Server) Serve(ctx context.Context, who Peer, rw io.ReadWriter) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ss := &session{server: s, who: who, began: time.Now(), in: newReader(rw, &s.budget), out: rw, end: cancel}
	s.mu.Lock()
	s.sessions[who.ID] = ss
	s.mu.Unlock()
	defer s.gone(ss)
	if c, ok := rw.(io.Closer); ok {
		stop := context.AfterFunc(ctx, func() { c.Close() })
		defer stop()
	}
	ss.run(ctx)
}

// gone undoes what must not outlive a session: its locks, with a locked candidate's changes, and a commit that only this
// session could have confirmed (RFC 6241 sections 7.5, 8.3.5.2, 8.4.1).
func (s *Server) gone(ss *session) {
	s.changing.Lock()
	defer s.changing.Unlock()
	s.mu.Lock()
	delete(s.sessions, ss.who.ID)
	discard := s.locks[candidate].ID == ss.who.ID && ss.who.ID != 0
	s.mu.Unlock()
	if discard { // while it is locked, or it could be somebody else's by then
		s.appliance.Discard(ss.who)
	}
	s.mu.Lock()
	for name, holder := range s.locks {
		if holder.ID == ss.who.ID {
			delete(s.locks, name)
		}
	}
	w := s.waiting
	s.mu.Unlock()
	ss.done()
	if id, waits := s.appliance.Unconfirmed(); waits && w.id == id && w.session == ss.who.ID && w.persist == "" {
		end := ss.who
		end.May = nil // whatever he may by now, the commit is his
		if err := s.appliance.Cancel(end); err != nil {
			s.log.Error("the commit of a session that has ended cannot be undone yet", "user", ss.who.User, "error", err)
		}
	}
}

// Holder tells who has locked a datastore: running, candidate or startup.
func (s *Server) Holder(datastore string) (who Peer, locked bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	who, locked = s.locks[datastore]
	return who, locked
}

// kill ends a session; it tells whether there is one of that number.
func (s *Server) kill(id uint32) bool {
	s.mu.Lock()
	ss := s.sessions[id]
	s.mu.Unlock()
	if ss == nil {
		return false
	}
	ss.end()
	return true
}

// budget bounds the bytes or elements that all sessions together hold.
type budget struct {
	mu   sync.Mutex
	left int
}

func (b *budget) take(n int) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if n > b.left {
		return false
	}
	b.left -= n
	return true
}

func (b *budget) give(n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.left += n
}
