package monitor

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"sluice/mgmt/compile"
)

// listen serves every connection on a loopback address with serve and returns the address.
func listen(t *testing.T, serve func(net.Conn)) netip.AddrPort {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.11:0")
	if err != nil {
		t.Fatal(err)
	}
	var open sync.WaitGroup
	open.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			open.Go(func() { defer c.Close(); serve(c) })
		}
	})
	t.Cleanup(func() { l.Close(); open.Wait() })
	return l.Addr().(*net.TCPAddr).AddrPort()
}

// drain reads until the peer closes or aborts.
func drain(c net.Conn) error {
	c.SetReadDeadline(time.Now().Add(30 * time.Second))
	b := make([]byte, 4096)
	for {
		if _, err := c.Read(b); err != nil {
			return err
		}
	}
}

func say(text string) func(net.Conn) {
	return func(c net.Conn) {
		bufio.NewReader(c).ReadString('\n')
		c.Write([]byte(text))
	}
}

type checkRow struct {
	name, kind string
	target     netip.AddrPort
	codes      [][2]uint16
	ok         bool
	response   string
}

// checkRows are servers of every kind of sickness and what a monitor must say of them.
func checkRows(t *testing.T) []checkRow {
	nobody := func() netip.AddrPort { // an address where nobody listens
		l, err := net.Listen("tcp4", "127.0.0.11:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		return l.Addr().(*net.TCPAddr).AddrPort()
	}()
	silent := func(c net.Conn) { drain(c) }
	huge := "HTTP/1.1 200 OK\r\n" + strings.Repeat("X-Pad: "+strings.Repeat("x", 500)+"\r\n", 1000) + "\r\n"
	trickle := func(c net.Conn) {
		for i := 0; i < 100; i++ {
			if _, err := c.Write([]byte("H")); err != nil {
				return
			}
			time.Sleep(20 * time.Millisecond)
		}
	}
	hangUp := func(c net.Conn) {
		bufio.NewReader(c).ReadString('\n')
		c.(*net.TCPConn).SetLinger(0)
	}
	return []checkRow{
		{"up", "TCP", listen(t, silent), nil, true, "Success - TCP syn+ack received."},
		{"refused", "TCP", nobody, nil, false, "Failure - TCP connection refused by the server."},
		{"no port", "TCP", netip.AddrPortFrom(nobody.Addr(), 0), nil, false, "Failure - TCP: the service has no port, and the monitor no destPort."},
		{"up", "HTTP", listen(t, say("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")), nil, true, "Success - HTTP response code 200 received."},
		{"redirect is not followed", "HTTP", listen(t, say("HTTP/1.1 302 Found\r\nLocation: http://192.0.2.1/\r\n\r\n")),
			[][2]uint16{{200, 200}, {300, 399}}, true, "Success - HTTP response code 302 received."},
		{"error", "HTTP", listen(t, say("HTTP/1.1 500 Oops\r\n\r\n")), [][2]uint16{{200, 200}, {204, 206}}, false,
			"Failure - HTTP response code 500 received, expected 200 204-206."},
		{"refused", "HTTP", nobody, nil, false, "Failure - TCP connection refused by the server."},
		{"silent", "HTTP", listen(t, silent), nil, false, "Failure - HTTP response timed out."},
		{"one byte at a time", "HTTP", listen(t, trickle), nil, false, "Failure - HTTP response timed out."},
		{"closes", "HTTP", listen(t, say("")), nil, false,
			"Failure - connection closed by the server before the end of the HTTP response."},
		{"resets", "HTTP", listen(t, hangUp), nil, false, "Failure - HTTP connection reset by the server."},
		{"garbage", "HTTP", listen(t, say("220 mail ready\r\n")), nil, false,
			`Failure - no valid HTTP response: it begins with "220 mail ready" in place of a status line.`},
		{"huge header", "HTTP", listen(t, say(huge)), nil, false,
			"Failure - no valid HTTP response: its header is longer than 65536 bytes."},
		{"endless body", "HTTP", listen(t, func(c net.Conn) {
			say("HTTP/1.1 200 OK\r\n\r\n")(c)
			for {
				if _, err := c.Write(make([]byte, 65536)); err != nil {
					return
				}
			}
		}), nil, true, "Success - HTTP response code 200 received."},
	}
}

func TestLoopbackChecks(t *testing.T) {
	noLeaks(t)
	for _, row := range checkRows(t) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		p := compile.Probe{Type: row.kind, Target: row.target, Source: netip.MustParseAddr("127.0.0.5"), Ask: &compile.Ask{RespCodes: row.codes}}
		begun := time.Now()
		o := map[string]Check{"TCP": CheckTCP, "HTTP": CheckHTTP}[row.kind](ctx, &p)
		cancel()
		if o.OK != row.ok || o.Response != row.response {
			t.Errorf("%s %s: %v %q", row.kind, row.name, o.OK, o.Response)
		}
		if took := time.Since(begun); took > 5*time.Second {
			t.Errorf("%s %s took %v", row.kind, row.name, took)
		}
	}
}

// TestWhatTheServerSees: the SNIP as source, a whole request, and an end that leaves nothing half open.
func TestWhatTheServerSees(t *testing.T) {
	noLeaks(t)
	from, ends, heads := make(chan string, 2), make(chan error, 2), make(chan string, 2)
	target := listen(t, func(c net.Conn) {
		from <- c.RemoteAddr().(*net.TCPAddr).IP.String()
		c.SetReadDeadline(time.Now().Add(30 * time.Second))
		b := make([]byte, 4096)
		n, err := c.Read(b)
		if err == nil {
			heads <- string(b[:n])
			c.Write([]byte("HTTP/1.1 200 OK\r\n\r\n"))
			err = drain(c)
		}
		ends <- err
	})
	p := compile.Probe{Target: target, Source: netip.MustParseAddr("127.0.0.5"), Ask: &compile.Ask{HTTPRequest: "GET /alive"}}
	for _, check := range []Check{CheckTCP, CheckHTTP} {
		if o := check(t.Context(), &p); !o.OK {
			t.Fatal(o)
		}
		if got := <-from; got != "127.0.0.5" {
			t.Errorf("source %s, want the SNIP", got)
		}
		var timeout net.Error
		if err := <-ends; errors.As(err, &timeout) && timeout.Timeout() {
			t.Error("the connection was left open")
		}
	}
	wantHead := fmt.Sprintf("GET /alive HTTP/1.1\r\nHost: %s\r\nUser-Agent: sluice-monitor\r\nAccept: */*\r\nConnection: close\r\n\r\n", target)
	if got := <-heads; got != wantHead {
		t.Errorf("request %q", got)
	}
	p.Source = netip.MustParseAddr("192.0.2.77")
	if o := CheckTCP(t.Context(), &p); o.OK || !strings.Contains(o.Response, "source 192.0.2.77 is not up on this appliance") {
		t.Error(o)
	}
}

// TestFullBacklog: a server that takes no connection any more (its backlog is full) is silent to TCP.
func TestFullBacklog(t *testing.T) {
	noLeaks(t)
	target, fill := fullBacklog(t)
	defer fill()
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if o := CheckTCP(ctx, &compile.Probe{Target: target}); o.OK || o.Response != "Failure - TCP connection timed out." {
		t.Error(o)
	}
}

// TestProberOverLoopback runs the real prober against a flapping server with all three types of monitors, with
// retries and down time, and looks at what is reported and what is left over.
func TestProberOverLoopback(t *testing.T) {
	noLeaks(t)
	var sick atomic.Bool
	target := listen(t, func(c net.Conn) {
		if sick.Load() {
			say("HTTP/1.1 503 Sick\r\n\r\n")(c)
		} else {
			say("HTTP/1.1 200 OK\r\n\r\n")(c)
		}
	})
	reports := make(chan Report, 1000)
	p := New(func(rs []Report) {
		for _, r := range rs {
			if r.Changed {
				reports <- r
			}
		}
	}, Options{})
	defer p.Close()
	var probes []compile.Probe
	for _, kind := range []string{"PING", "TCP", "HTTP"} {
		probes = append(probes, compile.Probe{
			Service: "web", Monitor: kind, Type: kind, Target: target, Source: netip.MustParseAddr("127.0.0.5"), Ask: &compile.Ask{},
			Interval: 50 * time.Millisecond, RespTimeout: time.Second, DownTime: 80 * time.Millisecond, Retries: 3, SuccessRetries: 2,
		})
	}
	p.Set(probes)
	up := map[string]bool{}
	for len(up) < 3 {
		r := next(t, reports)
		if !r.Result.Up || r.Result.Probes < 2 || !strings.HasPrefix(r.Result.Response, "Success - ") {
			t.Fatalf("%+v", r)
		}
		up[r.Monitor] = true
	}
	for range 3 {
		sick.Store(true)
		r := next(t, reports)
		if r.Monitor != "HTTP" || r.Result.Up || r.Result.FailedNow != 3 ||
			r.Result.Response != "Failure - HTTP response code 503 received, expected 200." {
			t.Fatalf("%+v", r)
		}
		sick.Store(false)
		if r := next(t, reports); r.Monitor != "HTTP" || !r.Result.Up || r.Result.FailedNow != 0 {
			t.Fatalf("%+v", r)
		}
	}
}

func next(t *testing.T, c chan Report) Report {
	t.Helper()
	select {
	case r := <-c:
		return r
	case <-time.After(30 * time.Second):
		t.Fatal("no verdict in 30 s")
		return Report{}
	}
}
