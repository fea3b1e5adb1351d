package monitor

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"time"

	"sluice/mgmt/compile"
)

// answerMax is how much of what a server says is read in one probe, whatever the protocol: a server that never stops
// has failed.
const answerMax = 96 << 10

// session is a connection to a server for the time of one probe. Reading ends at the response timeout and after
// answerMax bytes.
type session struct {
	net.Conn
	in   *bufio.Reader
	left int // bytes that may still be read
	what string
	stop func() bool
}

// open connects for a probe, over TLS if that is asked for. what names the protocol for the operator.
func open(ctx context.Context, p *compile.Probe, what string) (*session, error) {
	c, err := dial(ctx, p)
	if err != nil {
		return nil, err
	}
	s := &session{Conn: c, left: answerMax, what: what}
	// A context that ends, early because the monitor is removed or at the response timeout, ends every wait.
	s.stop = context.AfterFunc(ctx, func() { c.SetDeadline(time.Unix(1, 0)) })
	if p.Secure {
		// Monitors look whether a server serves, not who it is: its certificate may be of any name and age.
		t := tls.Client(c, &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS10})
		if err := t.HandshakeContext(ctx); err != nil {
			s.Close()
			return nil, tlsFailure{err}
		}
		s.Conn = quiet{t, c}
	}
	s.in = bufio.NewReaderSize((*limited)(s), 4096)
	return s, nil
}

// Close ends the session.
func (s *session) Close() error {
	s.stop()
	return s.Conn.Close()
}

// quiet is TLS that ends without a word, like every connection of ours: the RST behind it would cut the word off.
type quiet struct {
	*tls.Conn
	under net.Conn
}

// Close ends the connection under the TLS.
func (q quiet) Close() error { return q.under.Close() }

// tlsFailure is a handshake of TLS that failed.
type tlsFailure struct{ error }

func (t tlsFailure) Unwrap() error { return t.error }

// malformed is what a server did against its protocol.
type malformed string

func (m malformed) Error() string { return string(m) }

func malformedf(format string, a ...any) malformed { return malformed(fmt.Sprintf(format, a...)) }

// endless is a server that says more than anybody needs to.
var endless = malformedf("it is longer than %d bytes", answerMax)

// limited reads of a session what may still be read.
type limited session

func (l *limited) Read(b []byte) (int, error) {
	if l.left == 0 {
		return 0, endless
	}
	n, err := l.Conn.Read(b[:min(len(b), l.left)])
	l.left -= n
	return n, err
}

// talk is a conversation with a server, in the words of one protocol. It ends in a sentence about what was found, or in an
// error that says why the server is not what it must be.
type talk func(s *session, p *compile.Probe) (found string, err error)

// stream is the type of monitor that connects and talks.
func stream(what string, t talk) Check {
	return func(ctx context.Context, p *compile.Probe) Outcome {
		s, err := open(ctx, p, what)
		if err != nil {
			return failure(p, "TCP", err)
		}
		defer s.Close()
		found, err := t(s, p)
		if err != nil {
			return s.failed(p, err)
		}
		return success("%s", found)
	}
}

// failed is the end of a probe that a session did not survive.
func (s *session) failed(p *compile.Probe, err error) Outcome { return answerFailure(p, s.what, err) }

// answerFailure says in a sentence what was wrong with an answer. what is the protocol.
func answerFailure(p *compile.Probe, what string, err error) Outcome {
	var bad malformed
	var timeout net.Error
	var no refused
	var cannot wrongAsk
	switch {
	case errors.As(err, &cannot):
		return unsent("the probe could not be sent: %s", string(cannot))
	case errors.As(err, &no):
		return Outcome{Response: "Failure - " + strings.TrimRight(string(no), ".") + "."} // a server's word may end in one
	case errors.As(err, &bad):
		return Outcome{Response: fmt.Sprintf("Failure - no valid %s response: %v.", what, bad)}
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return Outcome{Response: fmt.Sprintf("Failure - connection closed by the server before the end of the %s response.", what)}
	case errors.As(err, &timeout) && timeout.Timeout(), errors.Is(err, context.DeadlineExceeded):
		return Outcome{Response: fmt.Sprintf("Failure - %s response timed out.", what)}
	}
	return failure(p, what, err)
}

// refused is a valid answer of a server that is not the one that the monitor wants.
type refused string

func (r refused) Error() string { return string(r) }

// success is the end of a probe that found what it looked for.
func success(format string, a ...any) Outcome {
	return Outcome{OK: true, Response: "Success - " + fmt.Sprintf(format, a...) + "."}
}

func refusedf(format string, a ...any) refused { return refused(fmt.Sprintf(format, a...)) }

// wrongAsk is what a monitor asks and cannot be sent.
type wrongAsk string

func (w wrongAsk) Error() string { return string(w) }
