package shell

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"sluice/cli/grammar"
	"sluice/vendor-config/schema"
)

// patience is how long a test waits for what must come; a busy machine is no fault.
const patience = 30 * time.Second

// appliance is a backend that keeps its configuration in memory.
type appliance struct {
	mu      sync.Mutex
	config  *schema.Config
	ops     []*grammar.Op
	users   []string
	blocked chan struct{} // stat ns waits until it is closed
	saves   int
}

func newAppliance(lines ...string) *appliance {
	a := &appliance{config: schema.New(), blocked: make(chan struct{})}
	for _, l := range lines {
		op, err := grammar.Parse(l)
		if err == nil {
			err = op.Apply(a.config)
		}
		if err != nil {
			panic(l + ": " + err.Error())
		}
	}
	return a
}

func (a *appliance) Config() *schema.Config {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.config
}

func (a *appliance) Do(user string, op *grammar.Op) (string, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.ops, a.users = append(a.ops, op), append(a.users, user)
	switch {
	case op.Changes():
		if len(op.Key) > 0 && op.Key[0] == "slow" {
			a.mu.Unlock()
			<-a.blocked
			a.mu.Lock()
		}
		c := a.config.Clone()
		if err := op.Apply(c); err != nil {
			return "", err
		}
		a.config = c
	case op.Verb == "stat":
		a.mu.Unlock()
		<-a.blocked
		a.mu.Lock()
		return "late answer", nil
	case op.Verb == "save":
		a.saves++
	case op.Object.YANG == "ns-running-config":
		return strings.Join(grammar.Lines(a.config), "\n"), nil
	case op.Object.YANG == "hardware":
		var b strings.Builder
		for i := range 100 {
			fmt.Fprintf(&b, "row %d of the table\n", i)
		}
		return b.String(), nil
	case op.Object.YANG == "version":
		return "Sluice \x1b]0;owned\x07 1.0", nil
	case op.Verb == "show" && op.Object.Rows:
		var b strings.Builder
		for i, row := range a.config.Rows(op.Object) {
			fmt.Fprintf(&b, "%d)\t%s\n", i+1, grammar.RowName(op.Object, row))
		}
		return b.String(), nil
	}
	return "", nil
}

// receives waits until the backend has been given n commands.
func (a *appliance) receives(t *testing.T, n int) {
	t.Helper()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		a.mu.Lock()
		have := len(a.ops)
		a.mu.Unlock()
		if have >= n {
			return
		}
	}
	t.Fatalf("the backend was not given %d commands", n)
}

// screen is the operator's end of a terminal in memory.
type screen struct {
	t      *testing.T
	s      *Session
	keys   *io.PipeWriter
	exit   chan int
	cancel context.CancelFunc

	mu   sync.Mutex
	at   string // the keys below are typed while this text is being written, before whoever writes it goes on
	hit  string
	out  bytes.Buffer
	seen int // bytes of out that earlier expectations used up
}

type terminal struct {
	io.Reader
	io.Writer
}

func (c *screen) Write(b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.at != "" && bytes.Contains(b, []byte(c.at)) {
		c.at = ""
		if _, err := c.keys.Write([]byte(c.hit)); err != nil {
			return 0, err
		}
	}
	return c.out.Write(b)
}

// login starts a session on a terminal in memory.
func login(t *testing.T, b Backend, o Options) *screen {
	t.Helper()
	r, w := io.Pipe()
	ctx, cancel := context.WithCancel(t.Context())
	c := &screen{t: t, keys: w, exit: make(chan int, 1), cancel: cancel}
	if o.User == "" {
		o.User = "nsroot"
	}
	o.PTY = true
	c.s = New(terminal{r, c}, b, o)
	go func() { c.exit <- c.s.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		w.Close()
		r.Close()
	})
	return c
}

// types sends keys.
func (c *screen) types(keys string) {
	c.t.Helper()
	if _, err := c.keys.Write([]byte(keys)); err != nil {
		c.t.Fatalf("typing %q: %v", keys, err)
	}
}

// sees waits until the text is on the screen behind what earlier calls saw; it returns what was printed up to its end.
func (c *screen) sees(text string) string {
	c.t.Helper()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		c.mu.Lock()
		rest := c.out.String()[c.seen:]
		if i := strings.Index(rest, text); i >= 0 {
			c.seen += i + len(text)
			c.mu.Unlock()
			return rest[:i+len(text)]
		}
		c.mu.Unlock()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.t.Fatalf("waited for %q, the screen goes on with:\n%q", text, c.out.String()[c.seen:])
	return ""
}

// typesAt sends keys the very moment a text is printed.
func (c *screen) typesAt(text, keys string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at, c.hit = text, keys
}

// quiet tells that the text has not been printed behind what was seen.
func (c *screen) quiet(text string) {
	c.t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	if rest := c.out.String()[c.seen:]; strings.Contains(rest, text) {
		c.t.Fatalf("%q is on the screen: %q", text, rest)
	}
}

// ends waits for the exit code.
func (c *screen) ends() int {
	c.t.Helper()
	select {
	case code := <-c.exit:
		return code
	case <-time.After(patience):
		c.t.Fatal("the session did not end")
		return -1
	}
}
