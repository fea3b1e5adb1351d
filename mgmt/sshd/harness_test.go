package sshd

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	gossh "golang.org/x/crypto/ssh"

	"sluice/cli/grammar"
	"sluice/cli/shell"
	"sluice/mgmt/aaa"
	"sluice/mgmt/osshell"
	"sluice/tests/logins"
	"sluice/vendor-config/schema"
)

// appliance is a backend with a configuration and no appliance behind it.
type appliance struct {
	mu     sync.Mutex
	config *schema.Config
	asked  []string // "user line" of every command
	gate   chan bool
	shells osshell.Shells
}

func (a *appliance) System(ctx context.Context, user string, op *grammar.Op, t *shell.Terminal) (string, error) {
	a.mu.Lock()
	a.asked = append(a.asked, user+" "+op.Line)
	a.mu.Unlock()
	return a.shells.Run(ctx, user, strings.Join(op.Key, ""), t)
}

func (a *appliance) Config() *schema.Config {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.config
}

func (a *appliance) Do(user string, op *grammar.Op) (string, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.asked = append(a.asked, user+" "+op.Line)
	switch {
	case strings.HasPrefix(op.Line, "show hardware"):
		panic("a fault in a command")
	case strings.HasPrefix(op.Line, "stat ns"): // takes for ever, until the test lets it go
		gate := a.gate
		a.mu.Unlock()
		<-gate
		a.mu.Lock()
		return "late\n", nil
	case strings.HasPrefix(op.Line, "show ns runningConfig"):
		return strings.Join(grammar.Lines(a.config), "\n") + "\n", nil
	case op.Changes():
		c := a.config.Clone()
		if err := op.Apply(c); err != nil {
			return "", err
		}
		a.config = c
	}
	return "", nil
}

func (a *appliance) lines() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return strings.Join(a.asked, "\n")
}

// door is a server on loopback with what it has written down.
type door struct {
	*Server
	t         *testing.T
	addr      string
	appliance *appliance
	mu        sync.Mutex
	log       bytes.Buffer
	backends  []string // "user source" of every session
}

func (d *door) Write(b []byte) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.log.Write(b)
}

func (d *door) logged() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.log.String()
}

// expect waits until the log holds all the texts in one line.
func (d *door) expect(texts ...string) {
	d.t.Helper()
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		for _, line := range strings.Split(d.logged(), "\n") {
			found := 0
			for _, x := range texts {
				if strings.Contains(line, x) {
					found++
				}
			}
			if found == len(texts) {
				return
			}
		}
	}
	d.t.Fatalf("the log has no line with %q:\n%s", texts, d.logged())
}

const (
	rootPassword = "root-secret-1"
	operPassword = "oper-secret-2"
)

// accountsOf are accounts of the settings, and those of the appliance's configuration.
func accountsOf(t *testing.T, a *appliance, list ...aaa.Account) *aaa.Accounts {
	t.Helper()
	accounts, err := aaa.New(list, a.Config, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return accounts
}

// start opens a door with the accounts nsroot and oper01; change may change the options.
func start(t *testing.T, change func(*Options)) *door {
	t.Helper()
	d := &door{t: t, appliance: &appliance{config: schema.New(), gate: make(chan bool)}}
	accounts := []aaa.Account{{Name: "nsroot", PasswordHash: logins.Hash(rootPassword)}, {Name: "oper01", PasswordHash: logins.Hash(operPassword)}}
	o := Options{
		HostKey: filepath.Join(t.TempDir(), "host_key"), Host: func() string { return "adc1" }, Banner: func() string { return "Authorized use only.\n" }, Greeting: "Welcome to adc1.\n",
		Log:    slog.New(slog.NewTextHandler(d, nil)),
		Limits: Limits{Delay: time.Millisecond},
		Backend: func(l Login) shell.Backend {
			d.mu.Lock()
			d.backends = append(d.backends, l.User+" "+l.Source)
			d.mu.Unlock()
			return d.appliance
		},
	}
	o.Accounts = accountsOf(t, d.appliance, accounts...)
	if change != nil {
		change(&o)
	}
	var err error
	if d.Server, err = New(o); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	d.addr = l.Addr().String()
	served := make(chan error, 1)
	go func() { served <- d.Serve(l) }()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		if err := d.Close(ctx); err != nil {
			t.Error(err)
		}
		if err := <-served; err != nil {
			t.Error(err)
		}
		for _, secret := range []string{rootPassword, operPassword, "wrong-secret", "argon2id"} {
			if strings.Contains(d.logged(), secret) {
				t.Errorf("the log holds the secret %s:\n%s", secret, d.logged())
			}
		}
	})
	return d
}

func clientConfig(user string, auth ...gossh.AuthMethod) *gossh.ClientConfig {
	return &gossh.ClientConfig{User: user, Auth: auth, HostKeyCallback: gossh.InsecureIgnoreHostKey(), Timeout: 30 * time.Second}
}

func (d *door) dial(user string, auth ...gossh.AuthMethod) (*gossh.Client, error) {
	return gossh.Dial("tcp", d.addr, clientConfig(user, auth...))
}

func (d *door) login() *gossh.Client {
	d.t.Helper()
	c, err := d.dial("nsroot", gossh.Password(rootPassword))
	if err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(func() { c.Close() })
	return c
}

// run executes a command in a session of its own.
func run(t *testing.T, c *gossh.Client, command, stdin string) (stdout, stderr string, code int) {
	t.Helper()
	s, err := c.NewSession()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var out, errs bytes.Buffer
	s.Stdout, s.Stderr, s.Stdin = &out, &errs, strings.NewReader(stdin)
	if command != "" {
		err = s.Run(command)
	} else if err = s.Shell(); err == nil {
		err = s.Wait()
	}
	var exit *gossh.ExitError
	if errors.As(err, &exit) {
		code = exit.ExitStatus()
	} else if err != nil {
		t.Fatalf("%q: %v\n%s%s", command, err, &out, &errs)
	}
	return out.String(), errs.String(), code
}
