package monitor

import (
	"bufio"
	"net/netip"
	"strings"
	"testing"
)

func TestFinalStatus(t *testing.T) {
	rows := []struct {
		name, response string
		code           int
		err            string // part of it
	}{
		{"plain", "HTTP/1.1 200 OK\r\nServer: x\r\n\r\nbody", 200, ""},
		{"1.0", "HTTP/1.0 404 Not Found\r\n\r\n", 404, ""},
		{"no reason", "HTTP/1.1 204 \r\n\r\n", 204, ""},
		{"no blank before no reason", "HTTP/1.1 204\r\n\r\n", 204, ""},
		{"reason in UTF-8", "HTTP/1.1 200 schön\r\n\r\n", 200, ""},
		{"interim", "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 301 Moved\r\nLocation: /\r\n\r\n", 301, ""},
		{"folded value", "HTTP/1.1 200 OK\r\nX: a\r\n b\r\n\r\n", 200, ""},
		{"empty value", "HTTP/1.1 200 OK\r\nX:\r\n\r\n", 200, ""},
		{"switching", "HTTP/1.1 101 Switching\r\n\r\n", 0, "status 101"},
		{"interim for ever", strings.Repeat("HTTP/1.1 100 Continue\r\n\r\n", 100), 0, "interim"},
		{"nothing", "", 0, "EOF"},
		{"half a line", "HTTP/1.1 200 O", 0, "EOF"},
		{"half a header", "HTTP/1.1 200 OK\r\nServer: x\r\n", 0, "EOF"},
		{"SSH", "SSH-2.0-OpenSSH_9.2\r\n", 0, "in place of a status line"},
		{"HTTP/2", "HTTP/2 200\r\n\r\n", 0, "in place of a status line"},
		{"HTTP/1.2", "HTTP/1.2 200 OK\r\n\r\n", 0, "in place of a status line"},
		{"HTTP/0.9", "<html>\r\n", 0, "in place of a status line"},
		{"lower case", "http/1.1 200 OK\r\n\r\n", 0, "in place of a status line"},
		{"two digits", "HTTP/1.1 20 OK\r\n\r\n", 0, "in place of a status line"},
		{"four digits", "HTTP/1.1 2000 OK\r\n\r\n", 0, "in place of a status line"},
		{"no digits", "HTTP/1.1 abc OK\r\n\r\n", 0, "in place of a status line"},
		{"sign", "HTTP/1.1 +20 OK\r\n\r\n", 0, "in place of a status line"},
		{"099", "HTTP/1.1 099 OK\r\n\r\n", 0, "in place of a status line"},
		{"600", "HTTP/1.1 600 OK\r\n\r\n", 0, "in place of a status line"},
		{"two blanks", "HTTP/1.1  200 OK\r\n\r\n", 0, "in place of a status line"},
		{"leading blank line", "\r\nHTTP/1.1 200 OK\r\n\r\n", 0, "in place of a status line"},
		{"bare LF", "HTTP/1.1 200 OK\n\n", 0, "does not end with CR LF"},
		{"bare LF later", "HTTP/1.1 200 OK\r\nA: b\n\r\n", 0, "does not end with CR LF"},
		{"NUL", "HTTP/1.1 200 OK\x00\r\n\r\n", 0, "control characters"},
		{"CR inside", "HTTP/1.1 200 OK\rX: y\r\n\r\n", 0, "control characters"},
		{"no field name", "HTTP/1.1 200 OK\r\ngarbage\r\n\r\n", 0, "no field name"},
		{"blank in name", "HTTP/1.1 200 OK\r\nA b: c\r\n\r\n", 0, "no field name"},
		{"blank before colon", "HTTP/1.1 200 OK\r\nA : c\r\n\r\n", 0, "no field name"},
		{"long line", "HTTP/1.1 200 OK\r\nA: " + strings.Repeat("x", lineMax) + "\r\n\r\n", 0, "a line is longer"},
		{"long header", "HTTP/1.1 200 OK\r\n" + strings.Repeat("A: "+strings.Repeat("x", 1000)+"\r\n", 70) + "\r\n", 0, "header is longer"},
		{"header at the limit", limitHead(headMax), 200, ""},
		{"header past the limit", limitHead(headMax + 1), 0, "header is longer"},
		{"endless garbage", strings.Repeat("\xff", 1<<20), 0, "a line is longer"},
	}
	for _, row := range rows {
		code, err := finalStatus(row.response)
		if code != row.code || (err == nil) != (row.err == "") || err != nil && !strings.Contains(err.Error(), row.err) {
			t.Errorf("%s: %d, %v; want %d, %q", row.name, code, err, row.code, row.err)
		}
	}
}

func finalStatus(text string) (int, error) {
	h, err := finalHead(bufio.NewReaderSize(strings.NewReader(text), 4096))
	if err != nil {
		return 0, err
	}
	return h.code, nil
}

// limitHead is a good header of exactly n bytes.
func limitHead(n int) string {
	b := "HTTP/1.1 200 OK\r\n"
	for len(b)+1000 < n-10 {
		b += "A: " + strings.Repeat("x", 995) + "\r\n"
	}
	return b + "B: " + strings.Repeat("y", n-len(b)-7) + "\r\n\r\n"
}

func TestRequest(t *testing.T) {
	target := netip.MustParseAddrPort("10.2.0.11:80")
	rows := []struct{ text, target, line, host, err string }{
		{"", "", "HEAD / HTTP/1.1", "10.2.0.11", ""},
		{"HEAD /", "", "HEAD / HTTP/1.1", "10.2.0.11", ""},
		{"GET /health?deep=1", "10.2.0.11:8080", "GET /health?deep=1 HTTP/1.1", "10.2.0.11:8080", ""},
		{"GET /x HTTP/1.1", "", "GET /x HTTP/1.1", "10.2.0.11", ""},
		{"GET", "", "GET / HTTP/1.1", "10.2.0.11", ""},
		{"OPTIONS *", "[2001:db8::1]:80", "OPTIONS * HTTP/1.1", "[2001:db8::1]", ""},
		{"GET x", "", "", "", "begins with /"},
		{"GET /a b", "", "", "", "no blanks"},
		{"GET /\r\nX: y", "", "", "", "no blanks"},
		{"GE\tT /", "", "", "", "method"},
		{" /", "", "", "", "method"},
	}
	for _, row := range rows {
		at := target
		if row.target != "" {
			at = netip.MustParseAddrPort(row.target)
		}
		b, err := request(row.text, "", at, false)
		if row.err != "" {
			if err == nil || !strings.Contains(err.Error(), row.err) {
				t.Errorf("%q: %v, want %q", row.text, err, row.err)
			}
			continue
		}
		if err != nil || !strings.HasPrefix(string(b), row.line+"\r\nHost: "+row.host+"\r\n") ||
			!strings.HasSuffix(string(b), "Connection: close\r\n\r\n") {
			t.Errorf("%q: %q, %v", row.text, b, err)
		}
	}
}

func TestRequestFields(t *testing.T) {
	target := netip.MustParseAddrPort("10.2.0.11:443")
	rows := []struct{ fields, want, err string }{
		{"", "Host: 10.2.0.11|User-Agent: sluice-monitor|Accept: */*|Connection: close||", ""},
		{"Host: www.example.com\r\n", "Host: www.example.com|User-Agent: sluice-monitor|Accept: */*|Connection: close||", ""},
		{"X-A:1\nhost: b\r\n\r\nX-C:  d ", "X-A: 1|host: b|X-C: d|User-Agent: sluice-monitor|Accept: */*|Connection: close||", ""},
		{"no field", "", "is not of the form"},
		{"A b: c", "", "is not of the form"},
		{"A: b\rC: d", "", "is not of the form"},
	}
	for _, row := range rows {
		b, err := request("GET /", row.fields, target, true)
		if got := strings.ReplaceAll(strings.TrimPrefix(string(b), "GET / HTTP/1.1\r\n"), "\r\n", "|"); got != row.want {
			t.Errorf("%q: %q", row.fields, got)
		}
		if (err == nil) != (row.err == "") || err != nil && !strings.Contains(err.Error(), row.err) {
			t.Errorf("%q: %v", row.fields, err)
		}
	}
}

func TestExpected(t *testing.T) {
	ranges := [][2]uint16{{200, 200}, {300, 302}}
	for code, want := range map[int]bool{199: false, 200: true, 201: false, 299: false, 300: true, 302: true, 303: false} {
		if expected(ranges, code) != want {
			t.Errorf("%d expected: %v", code, !want)
		}
	}
	if !expected(nil, 200) || expected(nil, 204) || codes(nil) != "200" || codes(ranges) != "200 300-302" {
		t.Error("defaults")
	}
}

func FuzzFinalStatus(f *testing.F) {
	for _, s := range []string{"HTTP/1.1 200 OK\r\nA: b\r\n\r\n", "HTTP/1.1 100 C\r\n\r\nHTTP/1.0 500\r\n\r\n", "\r\n", "HTTP/1.1 200 OK\nA: b\n\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		code, err := finalStatus(s)
		if err != nil {
			return
		}
		if code < 200 || code > 599 || !strings.HasPrefix(s, "HTTP/1.") || !strings.Contains(s, "\r\n\r\n") {
			t.Errorf("%q: %d", s, code)
		}
	})
}
