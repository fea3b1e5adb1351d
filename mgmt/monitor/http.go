package monitor

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"sluice/mgmt/compile"
)

// CheckHTTP is a monitor of type HTTP: the server must answer the request with one of the expected status codes. A
// redirect is an answer like any other and is not followed.
func CheckHTTP(ctx context.Context, p *compile.Probe) Outcome {
	req, err := request(p.HTTPRequest, p.Target)
	if err != nil {
		return Outcome{Response: fmt.Sprintf("Failure - the probe could not be sent: %v.", err)}
	}
	c, err := dial(ctx, p)
	if err != nil {
		return Outcome{Response: failure(p, "TCP", err)}
	}
	defer c.Close()
	// A context that ends early (the monitor is removed) must end the wait for the answer, too.
	defer context.AfterFunc(ctx, func() { c.SetDeadline(time.Unix(1, 0)) })()
	if _, err := c.Write(req); err != nil {
		return Outcome{Response: httpFailure(p, err)}
	}
	code, err := finalStatus(c)
	if err != nil {
		return Outcome{Response: httpFailure(p, err)}
	}
	if !expected(p.RespCodes, code) {
		return Outcome{Response: fmt.Sprintf("Failure - HTTP response code %d received, expected %s.", code, codes(p.RespCodes))}
	}
	return Outcome{true, fmt.Sprintf("Success - HTTP response code %d received.", code)}
}

func httpFailure(p *compile.Probe, err error) string {
	var bad malformed
	var timeout net.Error
	switch {
	case errors.As(err, &bad):
		return fmt.Sprintf("Failure - no valid HTTP response: %v.", bad)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "Failure - connection closed by the server before the end of the HTTP response header."
	case errors.As(err, &timeout) && timeout.Timeout():
		return "Failure - HTTP response timed out."
	}
	return failure(p, "HTTP", err)
}

// request builds the probe from -httpRequest, a method and a path, e.g. "HEAD /".
func request(text string, target netip.AddrPort) ([]byte, error) {
	if text == "" {
		text = "HEAD /"
	}
	method, path, _ := strings.Cut(text, " ")
	path = strings.TrimSpace(path)
	for _, version := range []string{" HTTP/1.1", " HTTP/1.0"} { // typed by those who know the request line
		path = strings.TrimSuffix(path, version)
	}
	if path == "" {
		path = "/"
	}
	if !token(method) {
		return nil, fmt.Errorf("httpRequest %q does not begin with a method such as HEAD or GET", text)
	}
	if strings.ContainsFunc(path, func(r rune) bool { return r <= ' ' || r == 0x7f }) || path[0] != '/' && path != "*" {
		return nil, fmt.Errorf("httpRequest %q needs a path that begins with / and has no blanks, e.g. %q", text, method+" /")
	}
	host := target.Addr().Unmap().String()
	if target.Addr().Unmap().Is6() {
		host = "[" + host + "]"
	}
	if target.Port() != 80 { // RFC 9110 section 7.2: the default port is left out
		host += ":" + strconv.Itoa(int(target.Port()))
	}
	return fmt.Appendf(nil, "%s %s HTTP/1.1\r\nHost: %s\r\nUser-Agent: sluice-monitor\r\nAccept: */*\r\nConnection: close\r\n\r\n",
		method, path, host), nil
}

const (
	headMax    = 64 << 10 // bytes of response header before a server counts as insane
	lineMax    = 16 << 10 // bytes of one line of it; servers send long cookies
	interimMax = 5        // 1xx responses before the final one
)

// finalStatus reads the header of a response and returns its status code. Interim responses (1xx) are passed over.
func finalStatus(r io.Reader) (int, error) {
	b := bufio.NewReaderSize(&io.LimitedReader{R: r, N: headMax + 1}, lineMax)
	read := 0
	for range interimMax + 1 {
		code, n, err := head(b, headMax-read)
		if err != nil {
			return 0, err
		}
		read += n
		if code == 101 {
			return 0, malformed("status 101 though no other protocol was asked for")
		}
		if code >= 200 {
			return code, nil
		}
	}
	return 0, malformed("interim responses without end")
}

// malformed is what a server did against RFC 9112.
type malformed string

func (m malformed) Error() string { return string(m) }

// head reads one response header of at most room bytes: status line, fields, empty line.
func head(b *bufio.Reader, room int) (code, n int, err error) {
	for first := true; ; first = false {
		line, size, err := line(b)
		n += size
		if n > room {
			return 0, n, malformed(fmt.Sprintf("its header is longer than %d bytes", headMax))
		}
		if err != nil {
			return 0, n, err
		}
		switch {
		case first:
			if code, err = statusLine(line); err != nil {
				return 0, n, err
			}
		case line == "":
			return code, n, nil
		case line[0] == ' ' || line[0] == '\t': // a folded value (RFC 9112 section 5.2): old, but no fault
		default:
			if name, _, ok := strings.Cut(line, ":"); !ok || !token(name) {
				return 0, n, malformed(fmt.Sprintf("header line %.40q has no field name", line))
			}
		}
	}
}

// line reads up to CR LF (RFC 9112 section 2.2; a bare LF is not accepted). size counts the bytes read.
func line(b *bufio.Reader) (text string, size int, err error) {
	raw, err := b.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		return "", len(raw), malformed(fmt.Sprintf("a line is longer than %d bytes", lineMax))
	}
	if err != nil {
		return "", len(raw), err
	}
	text = string(raw)
	body, ok := strings.CutSuffix(text, "\r\n")
	if !ok {
		return "", len(raw), malformed(fmt.Sprintf("line %.40q does not end with CR LF", text))
	}
	if strings.ContainsFunc(body, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }) {
		return "", len(raw), malformed(fmt.Sprintf("line %.40q has control characters", body))
	}
	return body, len(raw), nil
}

// statusLine parses "HTTP/1.1 200 OK" (RFC 9112 section 4). The blank before an empty reason may be missing, as many
// servers have it.
func statusLine(s string) (int, error) {
	bad := malformed(fmt.Sprintf("it begins with %.40q in place of a status line", s))
	rest, ok := strings.CutPrefix(s, "HTTP/1.")
	if !ok || len(rest) < 5 || rest[0] != '0' && rest[0] != '1' || rest[1] != ' ' {
		return 0, bad
	}
	digits, reason := rest[2:5], rest[5:]
	if reason != "" && reason[0] != ' ' {
		return 0, bad
	}
	code := 0
	for _, d := range []byte(digits) {
		if d < '0' || d > '9' {
			return 0, bad
		}
		code = code*10 + int(d-'0')
	}
	if code < 100 || code > 599 { // RFC 9110 section 15
		return 0, bad
	}
	return code, nil
}

// token tells whether s is a token of RFC 9110 section 5.6.2: a method or a field name.
func token(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		alnum := r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z'
		return !alnum && !strings.ContainsRune("!#$%&'*+-.^_`|~", r)
	})
}

// expected tells whether code is in one of the ranges; without ranges 200 is expected.
func expected(ranges [][2]uint16, code int) bool {
	if len(ranges) == 0 {
		return code == 200
	}
	for _, r := range ranges {
		if code >= int(r[0]) && code <= int(r[1]) {
			return true
		}
	}
	return false
}

// codes writes the ranges as the operator typed them: "200 300-302".
func codes(ranges [][2]uint16) string {
	if len(ranges) == 0 {
		return "200"
	}
	words := make([]string, len(ranges))
	for i, r := range ranges {
		words[i] = strconv.Itoa(int(r[0]))
		if r[1] != r[0] {
			words[i] += "-" + strconv.Itoa(int(r[1]))
		}
	}
	return strings.Join(words, " ")
}
