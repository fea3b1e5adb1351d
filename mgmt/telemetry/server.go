package telemetry

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"slices"
	"strconv"
	"sync"
	"time"
)

// Dial reaches a server, as net.Dialer.DialContext does.
type Dial func(ctx context.Context, network, address string) (net.Conn, error)

// Target is a syslog server and what it gets.
type Target struct {
	Name      string
	Server    string // address, or a domain name
	Port      uint16
	Transport string // UDP (RFC 5426), TCP (RFC 6587, octet counting), TLS (RFC 5425)
	Facility  int    // number of RFC 5424 section 6.2.1
	Wanted    uint8  // a bit for each severity
	CA        string // TLS: file of the authorities that vouch for the server; empty: those of the system
	CertName  string // TLS: name in the server's certificate; empty: Server
}

func (t *Target) wants(severity int) bool { return t.Wanted>>severity&1 != 0 }

// Status is how a server is doing.
type Status struct {
	Connected bool
	Problem   string // why it is not
	Sent      uint64 // messages; of those by UDP nobody knows whether they have come
	Lost      uint64 // messages that did not fit into what may wait
	Waiting   int
}

const (
	// mostWaiting is how many messages wait for a server at most, 4 MB of them.
	mostWaiting = 2000
	// patience is how long a server may take for a connection or a message.
	patience = 5 * time.Second
	// shortest and longestPause are the bounds of the pause between two attempts to reach a server.
	shortestPause, longestPause = 500 * time.Millisecond, 15 * time.Second
)

var errClosedByServer = errors.New("the server has closed the connection")

// server sends what waits to one target.
type server struct {
	target Target
	log    *slog.Logger // of this machine alone: what is wrong with a server is not told to it
	dial   Dial
	queue  chan entry
	cancel context.CancelFunc

	mu       sync.Mutex
	now      Status
	sequence uint32
	told     uint64 // losses that the server has been told of
	host     string // in the last message
}

func newServer(t Target, log *slog.Logger, dial Dial) *server {
	ctx, cancel := context.WithCancel(context.Background())
	s := &server{target: t, log: log.With("server", t.Name, "address", t.address(), "transport", t.Transport), dial: dial,
		queue: make(chan entry, mostWaiting), cancel: cancel}
	go s.run(ctx)
	return s
}

func (t *Target) address() string { return net.JoinHostPort(t.Server, strconv.Itoa(int(t.Port))) }

func (s *server) close() { s.cancel() }

// put lets a message wait, or counts it as lost.
func (s *server) put(e entry) {
	select {
	case s.queue <- e:
	default:
		s.mu.Lock()
		s.now.Lost++
		s.mu.Unlock()
	}
}

func (s *server) waiting() int { return len(s.queue) }

func (s *server) connected() bool { return s.status().Connected }

func (s *server) status() Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := s.now
	st.Waiting = len(s.queue)
	return st
}

// run sends until the server is closed. A message that could not be sent is sent again on the next connection.
func (s *server) run(ctx context.Context) {
	var unsent []entry
	pause := shortestPause
	for ctx.Err() == nil {
		conn, err := s.connect(ctx)
		if err == nil {
			s.note(nil)
			pause = shortestPause
			unsent, err = s.send(ctx, conn, unsent)
			conn.Close()
		}
		if ctx.Err() != nil {
			return
		}
		s.note(err)
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
		pause = min(2*pause, longestPause)
	}
}

// note keeps how the connection is, and logs when that changes.
func (s *server) note(err error) {
	s.mu.Lock()
	was := s.now.Problem
	s.now.Connected, s.now.Problem = err == nil, ""
	if err != nil {
		s.now.Problem = err.Error()
	}
	s.mu.Unlock()
	switch {
	case err != nil && was == "":
		s.log.Warn("a syslog server is not reached; messages wait", "problem", err)
	case err == nil && was != "":
		s.log.Info("a syslog server is reached again")
	}
}

func (s *server) connect(ctx context.Context) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	network := "tcp"
	if s.target.Transport == "UDP" {
		network = "udp"
	}
	conn, err := s.dial(ctx, network, s.target.address())
	if err != nil || s.target.Transport != "TLS" {
		return conn, err
	}
	conf := &tls.Config{ServerName: s.target.CertName, MinVersion: tls.VersionTLS12}
	if conf.ServerName == "" {
		conf.ServerName = s.target.Server
	}
	if s.target.CA != "" {
		if conf.RootCAs, err = authorities(s.target.CA); err != nil {
			conn.Close()
			return nil, err
		}
	}
	secure := tls.Client(conn, conf)
	if err := secure.HandshakeContext(ctx); err != nil {
		conn.Close()
		return nil, err
	}
	return secure, nil
}

// largestCA bounds what is read of a file of authorities.
const largestCA = 1 << 20

func authorities(file string) (*x509.CertPool, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, largestCA))
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("%s has no certificate in PEM form", file)
	}
	return pool, nil
}

// send sends unsent and then what comes, until the connection ends. It returns what may not have come: what a closed connection
// had taken last is sent again.
func (s *server) send(ctx context.Context, conn net.Conn, unsent []entry) ([]entry, error) {
	gone := make(chan error, 1)
	if s.target.Transport != "UDP" {
		go func() { // a syslog server says nothing: what can be read is the end
			_, err := io.Copy(io.Discard, conn)
			if err == nil {
				err = errClosedByServer
			}
			gone <- err
		}()
	}
	for {
		if len(unsent) == 0 {
			select {
			case <-ctx.Done():
				return nil, nil
			case err := <-gone:
				return nil, err
			case e := <-s.queue:
				unsent = append(s.loss(), e)
			}
		}
		for len(unsent) > 0 {
			if err := s.write(conn, &unsent[0]); err != nil {
				return unsent, err
			}
			unsent = slices.Delete(unsent, 0, 1)
		}
	}
}

// loss is a message about those that were lost, if there are any that the server has not been told of.
func (s *server) loss() []entry {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.now.Lost - s.told
	if n == 0 {
		return nil
	}
	s.told = s.now.Lost
	return []entry{{severity: 4, at: time.Now(), host: s.host, text: fmt.Sprintf("messages for this server were lost, since too many waited for it count=%d", n)}}
}

func (s *server) write(conn net.Conn, e *entry) error {
	s.mu.Lock()
	s.host = e.host
	s.sequence = s.sequence%0x7fffffff + 1 // RFC 5424 section 7.3.1: from 1 to 2147483647
	text := e.format(s.target.Facility, s.sequence)
	s.mu.Unlock()
	if s.target.Transport != "UDP" {
		text = append([]byte(strconv.Itoa(len(text))+" "), text...)
	}
	if err := conn.SetWriteDeadline(time.Now().Add(patience)); err != nil {
		return err
	}
	if _, err := conn.Write(text); err != nil {
		return err
	}
	s.mu.Lock()
	s.now.Sent++
	s.mu.Unlock()
	return nil
}
