package monitor

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"strings"

	"sluice/mgmt/compile"
)

// CheckHTTP is a monitor of type HTTP: the server must answer the request with one of the expected status codes. A
// redirect is an answer like any other and is not followed.
func CheckHTTP(ctx context.Context, p *compile.Probe) Outcome {
	h, s, o := exchange(ctx, p, p.Ask.HTTPRequest)
	if s == nil {
		return o
	}
	defer s.Close()
	if !expected(p.Ask.RespCodes, h.code) {
		return failuref("HTTP response code %d received, expected %s", h.code, codes(p.Ask.RespCodes))
	}
	return success("HTTP response code %d received", h.code)
}

// exchange sends an HTTP request and reads the header of the response. Without a session the outcome says why.
func exchange(ctx context.Context, p *compile.Probe, text string) (response, *session, Outcome) {
	req, err := request(text, p.Ask.Headers, p.Target, p.Secure)
	if err != nil {
		return response{}, nil, unsent("the probe could not be sent: %v", err)
	}
	s, err := open(ctx, p, "HTTP")
	if err != nil {
		return response{}, nil, failure(p, "TCP", err)
	}
	h, err := response{}, error(nil)
	if _, err = s.Write(req); err == nil {
		h, err = finalHead(s.in)
	}
	if err != nil {
		s.Close()
		return h, nil, s.failed(p, err)
	}
	return h, s, Outcome{}
}

// request builds the probe from a method and a path, e.g. "HEAD /", and from further header fields.
func request(text, fields string, target netip.AddrPort, secure bool) ([]byte, error) {
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
	if usual := map[bool]uint16{false: 80, true: 443}[secure]; target.Port() != usual { // RFC 9110 section 7.2: the default port is left out
		host += ":" + strconv.Itoa(int(target.Port()))
	}
	head := fmt.Appendf(nil, "%s %s HTTP/1.1\r\n", method, path)
	given := map[string]bool{}
	for field := range strings.SplitSeq(strings.ReplaceAll(fields, "\r\n", "\n"), "\n") {
		name, value, ok := strings.Cut(field, ":")
		switch {
		case field == "":
			continue
		case !ok || !token(name) || strings.ContainsFunc(value, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }):
			return nil, fmt.Errorf(`header field %q is not of the form "Name: value", with \r\n between two fields`, field)
		}
		given[strings.ToLower(name)] = true
		head = fmt.Appendf(head, "%s: %s\r\n", name, strings.TrimSpace(value))
	}
	for _, own := range [][2]string{{"Host", host}, {"User-Agent", "sluice-monitor"}, {"Accept", "*/*"}, {"Connection", "close"}} {
		if !given[strings.ToLower(own[0])] {
			head = fmt.Appendf(head, "%s: %s\r\n", own[0], own[1])
		}
	}
	return append(head, "\r\n"...), nil
}

const (
	headMax    = 64 << 10 // bytes of response header before a server counts as insane
	lineMax    = 16 << 10 // bytes of one line of it; servers send long cookies
	interimMax = 5        // 1xx responses before the final one
)

// response is what the header of a response says.
type response struct {
	code    int
	chunked bool
	length  int64 // of the body; -1 when it ends with the connection
}

// finalHead reads the header of a response. Interim responses (1xx) are passed over.
func finalHead(b *bufio.Reader) (response, error) {
	read := 0
	for range interimMax + 1 {
		h, n, err := head(b, headMax-read)
		if err != nil {
			return h, err
		}
		read += n
		if h.code == 101 {
			return h, malformed("status 101 though no other protocol was asked for")
		}
		if h.code >= 200 {
			return h, nil
		}
	}
	return response{}, malformed("interim responses without end")
}

// head reads one response header of at most room bytes: status line, fields, empty line.
func head(b *bufio.Reader, room int) (h response, n int, err error) {
	h.length = -1
	for first := true; ; first = false {
		line, size, err := line(b)
		n += size
		if n > room {
			return h, n, malformedf("its header is longer than %d bytes", headMax)
		}
		if err != nil {
			return h, n, err
		}
		switch {
		case first:
			if h.code, err = statusLine(line); err != nil {
				return h, n, err
			}
		case line == "":
			return h, n, nil
		case line[0] == ' ' || line[0] == '\t': // a folded value (RFC 9112 section 5.2): old, but no fault
		default:
			name, value, ok := strings.Cut(line, ":")
			if !ok || !token(name) {
				return h, n, malformedf("header line %.40q has no field name", line)
			}
			h.framing(name, strings.TrimSpace(value))
		}
	}
}

// framing notes how long the body is (RFC 9112 section 6).
func (h *response) framing(name, value string) {
	switch {
	case strings.EqualFold(name, "Transfer-Encoding"):
		h.chunked = strings.HasSuffix(strings.ToLower(value), "chunked")
	case strings.EqualFold(name, "Content-Length"):
		if n, err := strconv.ParseInt(value, 10, 64); err == nil && n >= 0 {
			h.length = n
		}
	}
}

// line reads up to CR LF (RFC 9112 section 2.2; a bare LF is not accepted). size counts the bytes read.
func line(b *bufio.Reader) (text string, size int, err error) {
	var raw []byte
	for {
		part, err := b.ReadSlice('\n')
		raw = append(raw, part...)
		if len(raw) > lineMax {
			return "", len(raw), malformedf("a line is longer than %d bytes", lineMax)
		}
		if err == nil {
			break
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return "", len(raw), err
		}
	}
	text = string(raw)
	body, ok := strings.CutSuffix(text, "\r\n")
	if !ok {
		return "", len(raw), malformedf("line %.40q does not end with CR LF", text)
	}
	if strings.ContainsFunc(body, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }) {
		return "", len(raw), malformedf("line %.40q has control characters", body)
	}
	return body, len(raw), nil
}

// statusLine parses "HTTP/1.1 200 OK" (RFC 9112 section 4). The blank before an empty reason may be missing, as many
// servers have it.
func statusLine(s string) (int, error) {
	bad := malformedf("it begins with %.40q in place of a status line", s)
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
