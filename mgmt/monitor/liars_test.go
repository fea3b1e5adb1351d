package monitor

import (
	"context"
	"net"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"sluice/mgmt/compile"
)

// allChecks are all types, as the product has them.
var allChecks = checks(&Pinger{}, NewScripts(""))

// probeOnce sends one probe with a response timeout of 400 ms.
func probeOnce(t *testing.T, p *compile.Probe) (Outcome, time.Duration) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 400*time.Millisecond)
	defer cancel()
	begun := time.Now()
	return allChecks[p.Type](ctx, p), time.Since(begun)
}

// probeAtLength sends one probe with a response timeout of 10 s.
func probeAtLength(t *testing.T, p *compile.Probe) Outcome {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	return allChecks[p.Type](ctx, p)
}

// streams are the types that talk over TCP, each with what it asks.
func streams() map[string]*compile.Ask {
	all := map[string]*compile.Ask{"HTTP": {}, "TCP-ECV": {Send: []byte("x"), Recv: []byte("\x01never")}, "HTTP-ECV": {Recv: []byte("\x01never")}}
	for kind := range talks {
		all[kind] = &compile.Ask{UserName: "probe", Password: "secret", SQLQuery: "SELECT 1", Query: "a.example", BaseDN: "dc=example"}
	}
	return all
}

// TestLiars: servers that say too much, too slowly, or nothing that makes sense, to every type of monitor that speaks over
// TCP. Each is down, in time, and with a bounded number of bytes read.
func TestLiars(t *testing.T) {
	noLeaks(t)
	forever := func(text string, pause time.Duration) liar {
		return func(c net.Conn, said *atomic.Int64) {
			for {
				n, err := c.Write([]byte(text))
				if said.Add(int64(n)); err != nil {
					return
				}
				time.Sleep(pause)
			}
		}
	}
	liars := map[string]liar{
		"endless banner":       forever(strings.Repeat("220-welcome\r\n", 1000), time.Millisecond),
		"endless line":         forever(strings.Repeat("+OK 220 x", 1000), time.Millisecond),
		"zeros":                forever(string(make([]byte, 8192)), time.Millisecond),
		"ones":                 forever(strings.Repeat("\xff", 8192), time.Millisecond),
		"huge BER length":      forever("\x30\x84\x7f\xff\xff\xff", time.Millisecond),
		"huge packet of MySQL": forever("\xff\xff\xff\x00\x0a", time.Millisecond),
		"a byte at a time":     forever("2", 20*time.Millisecond),
		"lines without end":    forever("220-\r\n", 5*time.Millisecond),
		"silent":               func(c net.Conn, _ *atomic.Int64) { drain(c) },
		"hangs up":             func(c net.Conn, _ *atomic.Int64) {},
		"resets":               func(c net.Conn, _ *atomic.Int64) { c.(*net.TCPConn).SetLinger(0) },
	}
	for kind, ask := range streams() {
		var probes sync.WaitGroup // of one type at a time
		for name, serve := range liars {
			for _, secure := range []bool{false, true} {
				var said atomic.Int64
				target := listen(t, func(c net.Conn) { serve(c, &said) })
				p := compile.Probe{Type: kind, Target: target, Source: netip.MustParseAddr("127.0.0.5"), Ask: ask, Secure: secure}
				probes.Go(func() { lied(t, &p, name, &said) })
			}
		}
		probes.Wait()
	}
}

// liar is what a server does on a connection, and how much it could say.
type liar func(c net.Conn, said *atomic.Int64)

func lied(t *testing.T, p *compile.Probe, name string, said *atomic.Int64) {
	o, took := probeOnce(t, p)
	if o.OK || !strings.HasPrefix(o.Response, "Failure - ") || !strings.HasSuffix(o.Response, ".") || len(o.Response) > 300 {
		t.Errorf("%s, %s: %v %q", p.Type, name, o.OK, o.Response)
	}
	if took > 30*time.Second {
		t.Errorf("%s, %s: took %v", p.Type, name, took)
	}
	if n := said.Load(); n > 16<<20 { // what the kernel's buffers take, not what we read
		t.Errorf("%s, %s: the server could say %d bytes", p.Type, name, n)
	}
}
