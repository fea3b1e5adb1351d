package netconf

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"sluice/cli/grammar"
	"sluice/vendor-config/schema"
)

// fake is an appliance without anything to carry out what it is told.
type fake struct {
	mu                          sync.Mutex
	running, candidate, startup *schema.Config
	undo                        *schema.Config
	undoID                      uint64
	alarm                       *time.Timer
	may                         func(user, command string) error
}

func newFake() *fake {
	return &fake{running: schema.New(), startup: schema.New()}
}

func (f *fake) Running() *schema.Config {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.running
}

func (f *fake) Startup() (*schema.Config, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.startup, nil
}

func (f *fake) Candidate() (*schema.Config, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.candidate == nil {
		return f.running, false
	}
	return f.candidate, true
}

func (f *fake) Check(c *schema.Config) error { return grammar.Check(c) }

func (f *fake) EditRunning(who Peer, what string, change func(*schema.Config) error) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	c := f.running.Clone()
	err := change(c)
	if err == nil {
		err = grammar.Check(c)
	}
	if err == nil {
		f.running = c
	}
	return err
}

func (f *fake) EditCandidate(who Peer, what string, change func(*schema.Config) error) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	c := f.candidate
	if c == nil {
		c = f.running
	}
	c = c.Clone()
	err := change(c)
	if err == nil {
		f.candidate = c
	}
	return err
}

func (f *fake) Discard(Peer) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.candidate = nil
}

func (f *fake) Commit(Peer) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.commit(true)
}

func (f *fake) commit(confirm bool) error {
	if f.candidate != nil {
		if err := grammar.Check(f.candidate); err != nil {
			return err
		}
		f.running, f.candidate = f.candidate, nil
	}
	if confirm && f.undo != nil {
		f.undo = nil
		f.alarm.Stop()
	}
	return nil
}

func (f *fake) CommitConfirmed(_ Peer, within time.Duration) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	before := f.running
	if err := f.commit(false); err != nil {
		return err
	}
	if f.undo == nil {
		f.undo = before
		f.undoID++
	} else {
		f.alarm.Stop()
	}
	f.alarm = time.AfterFunc(within, func() { _ = f.Cancel(Peer{}) })
	return nil
}

func (f *fake) Cancel(Peer) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.undo == nil {
		return errors.New("no commit waits")
	}
	f.alarm.Stop()
	f.running, f.undo = f.undo, nil
	return nil
}

func (f *fake) Unconfirmed() (uint64, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.undoID, f.undo != nil
}

func (f *fake) Save(_ Peer, c *schema.Config) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.startup = c
	return nil
}

func (f *fake) Changes(from, to *schema.Config) []string {
	if from.Equal(to) {
		return nil
	}
	return []string{"set anything"}
}

// peer is who works in a session.
func (f *fake) peer(id uint32, user string) Peer {
	return Peer{ID: id, User: user, Source: "192.0.2.7", May: func(command string) error {
		if f.may == nil {
			return nil
		}
		return f.may(user, command)
	}}
}

func names(c *schema.Config) string {
	var out []string
	for _, s := range schema.All[schema.Server](c) {
		out = append(out, s.Name)
	}
	return strings.Join(out, " ")
}

// bench is a server with its sessions.
type bench struct {
	t       testing.TB
	fake    *fake
	server  *Server
	log     *bytes.Buffer
	clients int
	running sync.WaitGroup
}

func newBench(t testing.TB) *bench {
	b := &bench{t: t, fake: newFake(), log: &bytes.Buffer{}}
	var mu sync.Mutex
	b.server = New(b.fake, slog.New(slog.NewTextHandler(writerFunc(func(p []byte) (int, error) {
		mu.Lock()
		defer mu.Unlock()
		return b.log.Write(p)
	}), nil)))
	t.Cleanup(b.running.Wait)
	return b
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }

// client is a session seen from the other end.
type client struct {
	t    testing.TB
	id   uint32
	conn net.Conn
	in   *reader
	n    int
}

// dial begins a session without greeting the server.
func (b *bench) dial(user string) *client {
	b.clients++
	ours, theirs := net.Pipe()
	c := &client{t: b.t, id: uint32(b.clients), conn: ours, in: newReader(ours, &budget{left: maxHeld})}
	c.in.limit = maxMessage
	b.running.Go(func() {
		defer theirs.Close()
		b.server.Serve(context.Background(), b.fake.peer(c.id, user), theirs)
	})
	b.t.Cleanup(func() { ours.Close() })
	return c
}

func hello(versions ...string) string {
	text := `<hello xmlns="` + baseNS + `"><capabilities>`
	for _, v := range versions {
		text += "<capability>" + v + "</capability>"
	}
	return text + "</capabilities></hello>"
}

// login begins a session of NETCONF 1.1.
func (b *bench) login(user string) *client {
	b.t.Helper()
	c := b.dial(user)
	c.write(hello(base10, base11) + endOfMessage)
	if got := c.read(); !strings.Contains(got, fmt.Sprintf("<session-id>%d</session-id>", c.id)) || !strings.Contains(got, base11) {
		b.t.Fatalf("greeting: %s", got)
	}
	c.in.chunked = true
	return c
}

func (c *client) write(s string) {
	c.t.Helper()
	c.conn.SetWriteDeadline(time.Now().Add(30 * time.Second))
	if _, err := io.WriteString(c.conn, s); err != nil {
		c.t.Fatal(err)
	}
}

func (c *client) read() string {
	c.t.Helper()
	c.conn.SetReadDeadline(time.Now().Add(30 * time.Second))
	msg, err := c.in.next()
	if err != nil {
		c.t.Fatal(err)
	}
	return string(msg)
}

// ask sends an operation and returns the reply.
func (c *client) ask(operation string) string {
	c.t.Helper()
	c.n++
	rpc := fmt.Sprintf(`<rpc xmlns="%s" message-id="%d">%s</rpc>`, baseNS, c.n, operation)
	c.write(fmt.Sprintf("\n#%d\n%s\n##\n", len(rpc), rpc))
	got := c.read()
	if want := fmt.Sprintf(`message-id="%d"`, c.n); !strings.Contains(got, want) {
		c.t.Fatalf("%s is no answer to %s", got, rpc)
	}
	return got
}

// ok asks for what must succeed without data.
func (c *client) ok(operation string) {
	c.t.Helper()
	if got := c.ask(operation); !strings.Contains(got, "<ok/>") {
		c.t.Fatalf("%s\n%s", operation, got)
	}
}

// fails asks for what must fail with all of these texts in the answer.
func (c *client) fails(operation string, want ...string) {
	c.t.Helper()
	got := c.ask(operation)
	for _, w := range append(want, "<rpc-error>") {
		if !strings.Contains(got, w) {
			c.t.Errorf("%s\n%s\nlacks %s", operation, got, w)
		}
	}
}

func editing(target, rows string, more ...string) string {
	return `<edit-config><target><` + target + `/></target>` + strings.Join(more, "") + `<config xmlns:nc="` + baseNS + `"><sluice xmlns="` + ownNS + `">` +
		rows + `</sluice></config></edit-config>`
}

func server(name string, more ...string) string {
	return "<server><name>" + name + "</name><ip-address>" + address(name) + "</ip-address>" + strings.Join(more, "") + "</server>"
}

// address is a different one for each name.
func address(name string) string { return fmt.Sprintf("10.2.0.%d", name[0]) }
