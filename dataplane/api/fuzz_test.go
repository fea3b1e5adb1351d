package api

import (
	"bytes"
	"context"
	"io"
	"net"
	"testing"
	"time"
)

// scripted is a connection whose client has already said everything it will say, and hangs up.
type scripted struct {
	in  *bytes.Reader
	out bytes.Buffer
}

func (s *scripted) Read(p []byte) (int, error)       { return s.in.Read(p) }
func (s *scripted) Write(p []byte) (int, error)      { return s.out.Write(p) }
func (s *scripted) Close() error                     { return nil }
func (s *scripted) LocalAddr() net.Addr              { return &net.UnixAddr{} }
func (s *scripted) RemoteAddr() net.Addr             { return &net.UnixAddr{} }
func (s *scripted) SetDeadline(time.Time) error      { return nil }
func (s *scripted) SetReadDeadline(time.Time) error  { return nil }
func (s *scripted) SetWriteDeadline(time.Time) error { return nil }

// recordClient returns the bytes that a client of calls sends for the requests.
func recordClient(t testing.TB, qs ...*request) []byte {
	t.Helper()
	conn := &scripted{in: bytes.NewReader(nil)}
	s := newStream(conn)
	if err := s.send(&hello{Magic: wireMagic, Version: wireVersion, Kind: kindCalls}, 0); err != nil {
		t.Fatal(err)
	}
	for _, q := range qs {
		if err := s.send(q, 0); err != nil {
			t.Fatal(err)
		}
	}
	return conn.out.Bytes()
}

// checked fails the test if the server lets something through that the contract excludes.
type checked struct {
	fake
	t *testing.T
}

func (c *checked) Apply(ctx context.Context, tables *Tables) error {
	if tables == nil {
		c.t.Error("Apply was called without tables")
	}
	return c.fake.Apply(ctx, tables)
}

func FuzzServerDecodesWhateverComes(f *testing.F) {
	good := recordClient(f, &request{Call: callApply, Tables: someTables()}, &request{Call: callStats}, &request{Call: 77})
	f.Add(good)
	f.Add(good[:len(good)/2])
	f.Add(recordClient(f, &request{Call: callApply}))
	f.Add([]byte("GET / HTTP/1.1\r\n\r\n"))
	f.Add([]byte{0xf8, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}) // a message of 2^63 bytes
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		conn := &scripted{in: bytes.NewReader(b)}
		serveConn(t.Context(), conn, &checked{t: t})
		// Whatever was said back must be readable by our own client.
		s := newStream(&scripted{in: bytes.NewReader(conn.out.Bytes())})
		if conn.out.Len() == 0 {
			return
		}
		var h hello
		if err := s.receive(&h); err != nil {
			t.Fatalf("the answer to the hello cannot be read: %v", err)
		}
		for {
			var r response
			if err := s.receive(&r); err == io.EOF {
				return
			} else if err != nil {
				t.Fatalf("an answer cannot be read: %v", err)
			}
		}
	})
}

func TestServerAnswersARecordedClient(t *testing.T) {
	conn := &scripted{in: bytes.NewReader(recordClient(t, &request{Call: callApply, Tables: someTables()}, &request{Call: callStats}))}
	d := &checked{t: t}
	serveConn(t.Context(), conn, d)
	s := newStream(&scripted{in: bytes.NewReader(conn.out.Bytes())})
	var h hello
	var applied, stats response
	for _, v := range []any{&h, &applied, &stats} {
		if err := s.receive(v); err != nil {
			t.Fatal(err)
		}
	}
	if h.Refusal != "" || applied.Refusal != "" || stats.Stats == nil || stats.Stats.ConfigVersion != 1 || len(d.applied) != 1 {
		t.Fatalf("hello %+v, apply %+v, stats %+v, %d applied", h, applied, stats, len(d.applied))
	}
}
