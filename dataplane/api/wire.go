package api

import (
	"bufio"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"net"
	"time"
)

// The wire: gob values over a Unix socket. A connection begins with a hello and its answer. Then it carries either
// calls, each one request and one response, or events, from the dataplane only.

// wireVersion changes when a program could misread the other's values. Fields that are only added do not change it.
const wireVersion = 1

// maxMessage bounds one message, in bytes. A thousand vservers with ten services each take less than one MiB.
const maxMessage = 64 << 20

// wireMagic makes a stray client, which speaks something else, be refused with a sentence instead of a gob error.
const wireMagic = "sluice-dataplane"

const (
	kindCalls  uint8 = 1
	kindEvents uint8 = 2
)

const (
	callApply uint8 = 1
	callStats uint8 = 2
)

// hello is the first value in each direction. In the answer a Refusal says why the connection ends here.
type hello struct {
	Magic   string
	Version uint32
	Kind    uint8
	Refusal string
}

type request struct {
	Call   uint8
	Tables *Tables
}

// response answers a request. Refusal is the handler's error, empty if there was none.
type response struct {
	Refusal string
	Stats   *Stats
}

// RefusedError is the dataplane's own answer that it did not do what it was asked to: nothing has changed and the
// connection is still good.
type RefusedError struct{ Reason string }

func (e *RefusedError) Error() string { return e.Reason }

// ErrDisconnected tells that a Client has lost its connection and must be replaced by dialing again.
var ErrDisconnected = errors.New("the connection to the dataplane is lost")

var errTooLong = fmt.Errorf("a message is longer than %d MiB", maxMessage>>20)

// stream sends and receives gob values on one connection.
type stream struct {
	conn  net.Conn
	limit *limitReader
	dec   *gob.Decoder
	out   *bufio.Writer
	enc   *gob.Encoder
}

func newStream(conn net.Conn) *stream {
	s := &stream{conn: conn, limit: &limitReader{r: conn}, out: bufio.NewWriterSize(conn, 32<<10)}
	s.dec = gob.NewDecoder(bufio.NewReaderSize(s.limit, 32<<10))
	s.enc = gob.NewEncoder(s.out)
	return s
}

// receive decodes the next value into v. Gob checks lengths and types, but it is not hardened against an adversary: a
// run-time panic in it is an error of this connection only.
func (s *stream) receive(v any) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("a message cannot be decoded: %v", p)
		}
	}()
	s.limit.left = maxMessage
	return s.dec.Decode(v)
}

// send encodes v and pushes it out, within the given time if that is not zero.
func (s *stream) send(v any, within time.Duration) error {
	if within > 0 {
		if err := s.conn.SetWriteDeadline(time.Now().Add(within)); err != nil {
			return err
		}
	}
	if err := s.enc.Encode(v); err != nil {
		return err
	}
	return s.out.Flush()
}

// limitReader fails once a message has taken more bytes than are left.
type limitReader struct {
	r    io.Reader
	left int
}

func (l *limitReader) Read(p []byte) (int, error) {
	if l.left <= 0 {
		return 0, errTooLong
	}
	if len(p) > l.left {
		p = p[:l.left]
	}
	n, err := l.r.Read(p)
	l.left -= n
	return n, err
}
