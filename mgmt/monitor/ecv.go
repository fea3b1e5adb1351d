package monitor

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http/httputil"
	"strconv"
	"strings"

	"sluice/mgmt/compile"
)

// patternRoom is how much of an answer is searched for what it must contain, in bytes, as the reference product does.
const patternRoom = 24 << 10

// CheckTCPECV is a monitor of type TCP-ECV: what the server says after `send` must contain `recv`. Without recv the
// handshake is enough, and send is still sent.
func CheckTCPECV(ctx context.Context, p *compile.Probe) Outcome {
	s, err := open(ctx, p, "TCP")
	if err != nil {
		return failure(p, "TCP", err)
	}
	defer s.Close()
	if _, err := s.Write(p.Ask.Send); err != nil {
		return s.failed(p, err)
	}
	if len(p.Ask.Recv) == 0 {
		return success("TCP syn+ack received")
	}
	return sought(p, s, s.in)
}

// CheckHTTPECV is a monitor of type HTTP-ECV: the body of the response to `send`, a method and a path and perhaps header
// fields in lines of their own, must contain `recv`, whatever the status. Without recv any response will do.
func CheckHTTPECV(ctx context.Context, p *compile.Probe) Outcome {
	asked := *p.Ask
	send := string(asked.Send)
	if send == "" {
		send = "GET /"
	}
	first, fields, _ := strings.Cut(send, "\n")
	asked.Headers = strings.TrimSuffix(fields, "\r\n") + "\r\n" + asked.Headers
	q := *p
	q.Ask = &asked
	h, s, o := exchange(ctx, &q, strings.TrimSuffix(first, "\r"))
	if s == nil {
		return o
	}
	defer s.Close()
	if len(p.Ask.Recv) == 0 {
		return success("HTTP response code %d received", h.code)
	}
	body := io.Reader(s.in)
	switch {
	case strings.HasPrefix(first, "HEAD "), h.code == 204, h.code == 304: // RFC 9112 section 6.3: no body
		body = strings.NewReader("")
	case h.chunked:
		body = httputil.NewChunkedReader(s.in)
	case h.length >= 0:
		body = io.LimitReader(s.in, h.length)
	}
	return sought(p, s, body)
}

// sought reads until what must be there has come, or cannot come any more.
func sought(p *compile.Probe, s *session, from io.Reader) Outcome {
	found, n, err := search(from, p.Ask.Recv)
	switch {
	case found:
		return success("Pattern found in response")
	case err == nil || errors.Is(err, io.EOF) || errors.As(err, new(malformed)):
		return failuref("Pattern not found in response of %d bytes", n)
	}
	o := s.failed(p, err)
	o.Response = strings.TrimSuffix(o.Response, ".") + ", pattern not found in the " + count(n) + " before."
	return o
}

// search reads at most patternRoom bytes and tells whether the pattern is among them. It does not read on when it is.
func search(from io.Reader, pattern []byte) (found bool, n int, err error) {
	seen := make([]byte, 0, patternRoom)
	for len(seen) < patternRoom {
		k, err := from.Read(seen[len(seen):patternRoom])
		last := max(0, len(seen)-len(pattern)+1)
		seen = seen[:len(seen)+k]
		if bytes.Contains(seen[last:], pattern) {
			return true, len(seen), nil
		}
		if err != nil {
			return false, len(seen), err
		}
	}
	return false, len(seen), nil
}

func count(n int) string {
	if n == 1 {
		return "1 byte"
	}
	return strconv.Itoa(n) + " bytes"
}
