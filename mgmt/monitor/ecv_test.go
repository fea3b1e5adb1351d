package monitor

import (
	"bufio"
	"bytes"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"testing/iotest"

	"sluice/mgmt/compile"
)

// answers is a server that waits for a line or a datagram and answers it with text.
func answers(t *testing.T, text string) netip.AddrPort { return listen(t, say(text)) }

func TestTCPECV(t *testing.T) {
	noLeaks(t)
	ask := func(send, recv string) *compile.Ask { return &compile.Ask{Send: []byte(send), Recv: []byte(recv)} }
	judge(t, []judged{
		{"found", "TCP-ECV", answers(t, "220 ready\r\n"), ask("hello\n", "ready"), true, "Success - Pattern found in response."},
		{"binary", "TCP-ECV", answers(t, "\x00\xff\x01"), ask("\x00\n", "\xff\x01"), true, "Success - Pattern found in response."},
		{"without a word from us", "TCP-ECV", listen(t, func(c net.Conn) { c.Write([]byte("hi")); drain(c) }), ask("", "hi"), true, "Success - Pattern found in response."},
		{"other words", "TCP-ECV", answers(t, "busy\r\n"), ask("hello\n", "ready"), false, "Failure - Pattern not found in response of 6 bytes."},
		{"silent", "TCP-ECV", listen(t, func(c net.Conn) { drain(c) }), ask("hello\n", "ready"), false,
			"Failure - TCP response timed out, pattern not found in the 0 bytes before."},
		{"nothing looked for", "TCP-ECV", listen(t, func(c net.Conn) { drain(c) }), ask("hello\n", ""), true, "Success - TCP syn+ack received."},
	})
}

func TestHTTPECV(t *testing.T) {
	noLeaks(t)
	var seen atomic.Pointer[http.Request]
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen.Store(r)
		switch r.URL.Path {
		case "/chunked": // the word is split over two chunks
			io.WriteString(w, "all is w")
			w.(http.Flusher).Flush()
			io.WriteString(w, "ell")
		case "/far":
			w.Write(bytes.Repeat([]byte("x"), patternRoom-3))
			io.WriteString(w, "well")
		case "/sick":
			w.WriteHeader(500)
			io.WriteString(w, "all is well")
		case "/header":
			w.Header().Set("X-State", "well")
		default:
			io.WriteString(w, "all is well")
		}
	})
	plain, secure := httptest.NewServer(handler), httptest.NewTLSServer(handler)
	defer plain.Close()
	defer secure.Close()
	at := plain.Listener.Addr().(*net.TCPAddr).AddrPort()
	ask := func(send, recv string) *compile.Ask { return &compile.Ask{Send: []byte(send), Recv: []byte(recv)} }
	judge(t, []judged{
		{"found", "HTTP-ECV", at, ask("GET /x", "well"), true, "Success - Pattern found in response."},
		{"default request", "HTTP-ECV", at, ask("", "well"), true, "Success - Pattern found in response."},
		{"over chunks", "HTTP-ECV", at, ask("GET /chunked", "is well"), true, "Success - Pattern found in response."},
		{"too far", "HTTP-ECV", at, ask("GET /far", "well"), false, "Failure - Pattern not found in response of 24576 bytes."},
		{"status does not matter", "HTTP-ECV", at, ask("GET /sick", "well"), true, "Success - Pattern found in response."},
		{"no pattern", "HTTP-ECV", at, ask("GET /sick", ""), true, "Success - HTTP response code 500 received."},
		{"header does not count", "HTTP-ECV", at, ask("GET /header", "well"), false, "Failure - Pattern not found in response of 0 bytes."},
		{"HEAD has no body", "HTTP-ECV", at, ask("HEAD /x", "well"), false, "Failure - Pattern not found in response of 0 bytes."},
		{"no HTTP", "HTTP-ECV", answers(t, "220 all is well\r\n"), ask("GET /", "well"), false,
			`Failure - no valid HTTP response: it begins with "220 all is well" in place of a status line.`},
		{"bad request", "HTTP-ECV", at, ask("well?", "well"), false,
			`Failure - the probe could not be sent: httpRequest "well?" does not begin with a method such as HEAD or GET.`},
	})
	p := compile.Probe{Type: "HTTP-ECV", Target: secure.Listener.Addr().(*net.TCPAddr).AddrPort(), Secure: true,
		Ask: &compile.Ask{Send: []byte("GET /y HTTP/1.1\r\nHost: www.example.com\r\nX-A: 1\r\n\r\n"), Recv: []byte("well"), Headers: "X-B: 2\r\n"}}
	if o := CheckHTTPECV(t.Context(), &p); !o.OK {
		t.Error(o)
	}
	r := seen.Load()
	if r.TLS == nil || r.Host != "www.example.com" || r.Header.Get("X-A") != "1" || r.Header.Get("X-B") != "2" || r.URL.Path != "/y" {
		t.Errorf("the server saw %+v", r)
	}
	for _, check := range []Check{CheckTCP, CheckHTTP, CheckTCPECV} { // each over TLS
		q := p
		q.Ask = &compile.Ask{Send: []byte("GET / HTTP/1.0\r\n\r\n"), Recv: []byte("200 OK"), HTTPRequest: "GET /"}
		if o := check(t.Context(), &q); !o.OK {
			t.Error(o)
		}
	}
	p.Target = at
	if o := CheckTCP(t.Context(), &p); o.OK || !strings.HasPrefix(o.Response, "Failure - TLS: ") {
		t.Error(o)
	}
}

// datagrams answers each datagram with those given.
func datagrams(t *testing.T, words ...string) netip.AddrPort {
	t.Helper()
	var says [][]byte
	for _, w := range words {
		says = append(says, []byte(w))
	}
	return asked(t, func([]byte) [][]byte { return says })
}

func TestUDPECV(t *testing.T) {
	noLeaks(t)
	nobody := func() netip.AddrPort {
		c, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 11)})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		return c.LocalAddr().(*net.UDPAddr).AddrPort()
	}()
	ask := func(recv string) *compile.Ask { return &compile.Ask{Send: []byte("hello"), Recv: []byte(recv)} }
	judge(t, []judged{
		{"found", "UDP-ECV", datagrams(t, "ready"), ask("ready"), true, "Success - Pattern found in response."},
		{"found in the second", "UDP-ECV", datagrams(t, "busy", "ready"), ask("ready"), true, "Success - Pattern found in response."},
		{"other words", "UDP-ECV", datagrams(t, "busy"), ask("ready"), false, "Failure - Pattern not found in 1 datagrams received."},
		{"a flood of other words", "UDP-ECV", datagrams(t, strings.Split(strings.Repeat("busy ", 100), " ")...), ask("ready"), false,
			"Failure - Pattern not found in 64 datagrams received."},
		{"silent", "UDP-ECV", datagrams(t), ask("ready"), false, "Failure - UDP response timed out."},
		{"refused", "UDP-ECV", nobody, ask("ready"), false, "Failure - UDP connection refused by the server."},
		{"refused and nothing looked for", "UDP-ECV", nobody, ask(""), false, "Failure - UDP connection refused by the server."},
		{"silent and nothing looked for", "UDP-ECV", datagrams(t), ask(""), true, "Success - No ICMP error received."},
		{"answers and nothing looked for", "UDP-ECV", datagrams(t, "x"), ask(""), true, "Success - UDP response received."},
	})
}

// judged is a server and what a monitor must say of it.
type judged struct {
	name, kind string
	target     netip.AddrPort
	ask        *compile.Ask
	ok         bool
	response   string
}

// judge probes each server with a short timeout, and with a long one where that comes out wrong: those that say nothing are found
// out by the first, and on a busy machine the others need the second.
func judge(t *testing.T, rows []judged) {
	t.Helper()
	for _, row := range rows {
		p := compile.Probe{Type: row.kind, Target: row.target, Source: netip.MustParseAddr("127.0.0.5"), Ask: row.ask}
		o, _ := probeOnce(t, &p)
		if o.OK != row.ok || o.Response != row.response {
			o = probeAtLength(t, &p)
		}
		if o.OK != row.ok || o.Response != row.response {
			t.Errorf("%s %s: %v %q", row.kind, row.name, o.OK, o.Response)
		}
	}
}

// FuzzSearch: the pattern is found exactly when it is in the first bytes, however the answer comes in.
func FuzzSearch(f *testing.F) {
	f.Add([]byte("all is well"), []byte("well"))
	f.Add([]byte(""), []byte("x"))
	f.Add([]byte("aaab"), []byte("aab"))
	f.Fuzz(func(t *testing.T, answer, pattern []byte) {
		if len(pattern) == 0 {
			return
		}
		want := bytes.Contains(answer[:min(len(answer), patternRoom)], pattern)
		for _, r := range []io.Reader{bytes.NewReader(answer), iotest.OneByteReader(bytes.NewReader(answer)), iotest.HalfReader(bufio.NewReader(bytes.NewReader(answer)))} {
			if found, n, _ := search(r, pattern); found != want || n > patternRoom {
				t.Errorf("%q in %q: %v after %d bytes", pattern, answer, found, n)
			}
		}
	})
}
