package api

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"reflect"
	"slices"
	"time"
)

// The wire: messages over a Unix socket, each behind its length in four bytes, low byte first, and written by the codec of
// its type. A connection begins with a hello and its answer. Then it carries either calls, each one request and one
// response, or events, from the dataplane only.

// wireVersion is what the messages look like. Two programs that differ in any field refuse each other, as those of two
// releases do: nothing is ever misread. The hello itself never changes.
var wireVersion = fingerprint(reflect.TypeFor[request](), reflect.TypeFor[response](), reflect.TypeFor[Event]())

// codecs are those of everything that is sent.
var codecs = map[reflect.Type]*codec{
	reflect.TypeFor[hello]():    codecOf(reflect.TypeFor[hello]()),
	reflect.TypeFor[request]():  codecOf(reflect.TypeFor[request]()),
	reflect.TypeFor[response](): codecOf(reflect.TypeFor[response]()),
	reflect.TypeFor[Event]():    codecOf(reflect.TypeFor[Event]()),
}

// maxMessage bounds one message, in bytes. A thousand vservers with ten services each take less than one MiB.
const maxMessage = 64 << 20

// maxHello bounds the first message of a connection, from whoever that is.
const maxHello = 4 << 10

// wireMagic makes a stray client, which speaks something else, be refused with a sentence.
const wireMagic = "sluice-dataplane"

const (
	kindCalls  uint8 = 1
	kindEvents uint8 = 2
)

const (
	callApply    uint8 = 1
	callStats    uint8 = 2
	callWhere    uint8 = 3
	callTrace    uint8 = 4
	callSessions uint8 = 5
	callCapture  uint8 = 6
	callLease    uint8 = 7
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
	Flow   *Tuple
	Trace  *TraceOrder

	Sessions *SessionOrder
	Capture  *CaptureOrder
	Lease    *Lease
}

// response answers a request. Refusal is the handler's error, empty if there was none.
type response struct {
	Refusal string
	Stats   *Stats
	Where   *Where
	Trace   *Trace

	Sessions *Sessions
	Capture  *Capture
}

// RefusedError is the dataplane's own answer that it did not do what it was asked to: nothing has changed and the
// connection is still good.
type RefusedError struct{ Reason string }

func (e *RefusedError) Error() string { return e.Reason }

// ErrDisconnected tells that a Client has lost its connection and must be replaced by dialing again.
var ErrDisconnected = errors.New("the connection to the dataplane is lost")

var errTooLong = fmt.Errorf("a message is longer than %d MiB", maxMessage>>20)

// stream sends and receives messages on one connection.
type stream struct {
	conn net.Conn
	in   *bufio.Reader
	most int    // bytes of the next message
	data []byte // of the last message that was received
	out  []byte // of the last message that was sent
}

func newStream(conn net.Conn) *stream {
	return &stream{conn: conn, in: bufio.NewReaderSize(conn, 32<<10), most: maxHello}
}

// Buffers are kept from message to message up to keepBuffer bytes, and grow by growBuffer while a message comes in, so
// that a length alone takes no memory.
const (
	keepBuffer = 4 << 20
	growBuffer = 1 << 20
)

// receive reads the next message into what v points to. An error is the end of this connection only.
func (s *stream) receive(v any) error {
	var head [4]byte
	if _, err := io.ReadFull(s.in, head[:]); err != nil {
		return err
	}
	n := int(binary.LittleEndian.Uint32(head[:]))
	if n > s.most {
		return errTooLong
	}
	data := s.data[:0]
	for len(data) < n {
		had, more := len(data), min(growBuffer, n-len(data))
		data = slices.Grow(data, more)[:had+more]
		if _, err := io.ReadFull(s.in, data[had:]); err != nil {
			return fmt.Errorf("a message is cut off: %w", err)
		}
	}
	if s.data = data; cap(data) > keepBuffer {
		s.data = nil
	}
	s.most = maxMessage
	return decode(data, v)
}

// send writes what v points to, within the given time if that is not zero.
func (s *stream) send(v any, within time.Duration) error {
	if within > 0 {
		if err := s.conn.SetWriteDeadline(time.Now().Add(within)); err != nil {
			return err
		}
	}
	b := encode(append(s.out[:0], 0, 0, 0, 0), v)
	if len(b)-4 > maxMessage {
		return errTooLong
	}
	binary.LittleEndian.PutUint32(b, uint32(len(b)-4))
	if s.out = b; cap(b) > keepBuffer {
		s.out = nil
	}
	_, err := s.conn.Write(b)
	return err
}
