package netconf

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// endOfMessage ends a message of NETCONF 1.0 (RFC 6242 section 4.3).
const endOfMessage = "]]>]]>"

// Faults of a client after which nothing it sends can be understood.
var (
	errTooBig  = errors.New("the message is longer than this server takes")
	errTooMuch = errors.New("the server holds too many long messages at the moment; try again")
	errChunk   = errors.New("the chunked framing is broken")
)

// reader reads messages.
type reader struct {
	r       *bufio.Reader
	budget  *budget
	held    int  // bytes of the budget that are ours
	limit   int  // bytes of a message
	chunked bool // RFC 6242 section 4.2; agreed upon by the greetings
}

func newReader(r io.Reader, b *budget) *reader {
	return &reader{r: bufio.NewReaderSize(r, 4096), budget: b, limit: maxHello}
}

// close gives back what was held.
func (r *reader) close() {
	r.budget.give(r.held)
	r.held = 0
}

// grow makes sure that a message of n bytes may be held.
func (r *reader) grow(n int) error {
	if n > r.limit {
		return errTooBig
	}
	const step = 64 << 10
	if need := (n + step - 1) / step * step; need > r.held {
		if !r.budget.take(need - r.held) {
			return errTooMuch
		}
		r.held = need
	}
	return nil
}

// next is the next message. io.EOF is the end between two messages.
func (r *reader) next() ([]byte, error) {
	r.close() // of the message before
	if r.chunked {
		return r.chunks()
	}
	var msg []byte
	for {
		part, err := r.r.ReadSlice('>')
		if e := r.grow(len(msg) + len(part)); e != nil {
			return nil, e
		}
		msg = append(msg, part...)
		switch {
		case bytes.HasSuffix(msg, []byte(endOfMessage)):
			return msg[:len(msg)-len(endOfMessage)], nil
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF) && len(bytes.TrimSpace(msg)) > 0:
			return nil, io.ErrUnexpectedEOF
		case err != nil:
			return nil, err
		}
	}
}

func (r *reader) chunks() ([]byte, error) {
	var msg []byte
	for {
		size, err := r.header()
		if err != nil {
			if errors.Is(err, io.EOF) && msg != nil {
				err = io.ErrUnexpectedEOF
			}
			return nil, err
		}
		if size == 0 {
			if msg == nil {
				return nil, errChunk // a message has one chunk at least
			}
			return msg, nil
		}
		from := len(msg)
		if size > r.limit-from {
			return nil, errTooBig
		}
		// Bytes are held as they come: a size alone costs nothing.
		for got := from; got < from+size; {
			n := min(from+size-got, 64<<10)
			if err := r.grow(got + n); err != nil {
				return nil, err
			}
			msg = append(msg, make([]byte, n)...)
			k, err := io.ReadFull(r.r, msg[got:got+n])
			if err != nil {
				return nil, io.ErrUnexpectedEOF
			}
			got += k
		}
	}
}

// header reads "\n#<size>\n" or, 0, "\n##\n". io.EOF comes before its first byte only.
func (r *reader) header() (size int, err error) {
	first, err := r.r.ReadByte()
	if err != nil {
		return 0, err
	}
	mark, err := r.r.ReadByte()
	if err != nil || first != '\n' || mark != '#' {
		return 0, errChunk
	}
	for digits := 0; ; digits++ {
		c, err := r.r.ReadByte()
		switch {
		case err != nil:
			return 0, errChunk
		case c == '\n' && digits > 0:
			return size, nil
		case c == '#' && digits == 0:
			if c, err := r.r.ReadByte(); err != nil || c != '\n' {
				return 0, errChunk
			}
			return 0, nil
		case c < '0' || c > '9' || c == '0' && digits == 0 || digits >= 10:
			return 0, errChunk
		}
		size = size*10 + int(c-'0')
	}
}

// send writes a message.
func send(w io.Writer, msg []byte, chunked bool) error {
	var frame []byte
	if chunked {
		frame = fmt.Appendf(make([]byte, 0, len(msg)+32), "\n#%d\n", len(msg))
		frame = append(append(frame, msg...), "\n##\n"...)
	} else {
		frame = append(append(make([]byte, 0, len(msg)+8), msg...), endOfMessage...)
	}
	_, err := w.Write(frame)
	return err
}
