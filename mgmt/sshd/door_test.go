package sshd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
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
	"sluice/vendor-config/schema"
)

// appliance is a backend with a configuration and no appliance behind it.
type appliance struct {
	mu     sync.Mutex
	config *schema.Config
	asked  []string // "user line" of every command
	gate   chan bool
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
	for end := time.Now().Add(5 * time.Second); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
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

// start opens a door with the accounts nsroot and oper01; change may change the options.
func start(t *testing.T, change func(*Options)) *door {
	t.Helper()
	d := &door{t: t, appliance: &appliance{config: schema.New(), gate: make(chan bool)}}
	accounts := []Account{{Name: "nsroot", PasswordHash: cheap(rootPassword)}, {Name: "oper01", PasswordHash: cheap(operPassword)}}
	o := Options{
		HostKey: filepath.Join(t.TempDir(), "host_key"), Host: "adc1", Banner: "Authorized use only.\n", Greeting: "Welcome to adc1.\n",
		Log:    slog.New(slog.NewTextHandler(d, nil)),
		Limits: Limits{Delay: time.Millisecond},
		Backend: func(user, source string) shell.Backend {
			d.mu.Lock()
			d.backends = append(d.backends, user+" "+source)
			d.mu.Unlock()
			return d.appliance
		},
	}
	a, err := NewAccounts(accounts)
	if err != nil {
		t.Fatal(err)
	}
	o.Accounts = a
	if change != nil {
		change(&o)
	}
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
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
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
	return &gossh.ClientConfig{User: user, Auth: auth, HostKeyCallback: gossh.InsecureIgnoreHostKey(), Timeout: 5 * time.Second}
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

func TestPasswordLogin(t *testing.T) {
	d := start(t, nil)
	out, errs, code := run(t, d.login(), "show version", "")
	if out != " Done\n" || errs != "" || code != 0 {
		t.Errorf("%q %q %d", out, errs, code)
	}
	d.expect("msg=login", "user=nsroot", "source=127.0.0.1", "method=password")
	d.expect("msg=exec", "user=nsroot", `line="show version"`)
	d.expect("msg=command", "user=nsroot", "source=127.0.0.1", `line="show version"`)
	d.expect(`msg="session ends"`, "code=0")
	if got := strings.Join(d.backends, ","); got != "nsroot 127.0.0.1" {
		t.Errorf("backends for %q", got)
	}
}

func TestWrongLogins(t *testing.T) {
	d := start(t, func(o *Options) { o.Limits.Failures = 100 })
	for _, x := range [][2]string{{"nsroot", "wrong-secret"}, {"nsroot", ""}, {"nobody", rootPassword}, {"", rootPassword}, {"oper01", rootPassword},
		{strings.Repeat("x", 5000), "wrong-secret"}, {"ns\nroot level=ERROR", "wrong-secret"}} {
		if c, err := d.dial(x[0], gossh.Password(x[1])); err == nil {
			c.Close()
			t.Errorf("%q comes in with %q", x[0], x[1])
		}
	}
	d.expect(`msg="login failed"`, "user=nsroot", "source=127.0.0.1", "method=password")
	d.expect(`msg="login failed"`, "user=nobody")
	d.expect(`user="ns\nroot level=ERROR"`)
	if strings.Contains(d.logged(), strings.Repeat("x", 100)) {
		t.Error("a stranger writes as much into the log as he likes")
	}
	if c, err := d.dial("nsroot"); err == nil {
		c.Close()
		t.Error("somebody comes in with no password and no key")
	}
}

func TestPublicKeyLogin(t *testing.T) {
	mine, line := newKey(t)
	other, _ := newKey(t)
	d := start(t, func(o *Options) {
		a, err := NewAccounts([]Account{{Name: "oper01", AuthorizedKeys: file(t, line, 0o600)}, {Name: "nsroot", PasswordHash: cheap(rootPassword)}})
		if err != nil {
			t.Fatal(err)
		}
		o.Accounts = a
	})
	c, err := d.dial("oper01", gossh.PublicKeys(mine))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, _, code := run(t, c, "whoami", ""); code != 0 {
		t.Error(code)
	}
	d.expect("msg=login", "user=oper01", "method=publickey")
	for user, key := range map[string]gossh.Signer{"oper01": other, "nsroot": mine, "nobody": mine} {
		if c, err := d.dial(user, gossh.PublicKeys(key)); err == nil {
			c.Close()
			t.Errorf("%s comes in with a key that is not theirs", user)
		}
	}
}

func TestThreeTries(t *testing.T) {
	d := start(t, nil)
	tries := 0
	_, err := d.dial("nsroot", gossh.RetryableAuthMethod(gossh.PasswordCallback(func() (string, error) {
		tries++
		return "wrong-secret", nil
	}), 10))
	if err == nil || tries != 3 {
		t.Errorf("%d tries, %v", tries, err)
	}
}

func TestAddressIsShutOut(t *testing.T) {
	d := start(t, nil)
	for range 4 {
		_, _ = d.dial("nsroot", gossh.RetryableAuthMethod(gossh.Password("wrong-secret"), 3))
	}
	d.expect("too many failed logins, the address is shut out", "source=127.0.0.1")
	if c, err := d.dial("nsroot", gossh.Password(rootPassword)); err == nil {
		c.Close()
		t.Error("the address is not shut out")
	}
	d.expect(`msg="connection refused"`, "too many failed logins")
}

func TestAnswersToWrongPasswordsAreHeldBack(t *testing.T) {
	d := start(t, func(o *Options) { o.Limits.Delay = 100 * time.Millisecond })
	begin := time.Now()
	_, _ = d.dial("nsroot", gossh.RetryableAuthMethod(gossh.Password("wrong-secret"), 3))
	if took := time.Since(begin); took < 500*time.Millisecond { // 100 + 200 + 300, less what is forgotten meanwhile
		t.Errorf("three failures took %v", took)
	}
}

func TestHandshakeEndsInTime(t *testing.T) {
	d := start(t, func(o *Options) { o.Limits.Handshake = 300 * time.Millisecond })
	c, err := net.Dial("tcp", d.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_ = c.SetReadDeadline(time.Now().Add(5 * time.Second))
	begin := time.Now()
	for b := make([]byte, 1024); err == nil; {
		_, err = c.Read(b)
	}
	if took := time.Since(begin); took < 250*time.Millisecond || took > 3*time.Second {
		t.Errorf("a client that says nothing was sent away after %v: %v", took, err)
	}
	logged := d.login() // and one that has logged in stays
	time.Sleep(400 * time.Millisecond)
	if _, _, code := run(t, logged, "show version", ""); code != 0 {
		t.Error("a client that has logged in was sent away")
	}
}

func TestStrangersAreBounded(t *testing.T) {
	d := start(t, func(o *Options) { o.Limits.StrangersFrom = 2 })
	in := d.login() // does not count: it has logged in
	var held []net.Conn
	for range 2 {
		c, err := net.Dial("tcp", d.addr)
		if err != nil {
			t.Fatal(err)
		}
		held = append(held, c)
		if _, err := c.Read(make([]byte, 8)); err != nil {
			t.Fatal(err)
		}
	}
	if c, err := d.dial("nsroot", gossh.Password(rootPassword)); err == nil {
		c.Close()
		t.Error("a third connection before login")
	}
	d.expect(`msg="connection refused"`, "have not logged in")
	for _, c := range held {
		c.Close()
	}
	for end := time.Now().Add(5 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		c, err := d.dial("nsroot", gossh.Password(rootPassword))
		if err == nil {
			c.Close()
			break
		}
		if time.Now().After(end) {
			t.Fatal("closed connections are still counted")
		}
	}
	if _, _, code := run(t, in, "show version", ""); code != 0 {
		t.Error(code)
	}
}

func TestExecCodesAndStreams(t *testing.T) {
	d := start(t, nil)
	c := d.login()
	for _, x := range []struct {
		command, stdin, out, errs string
		code                      int
	}{
		{"add server web1 10.2.0.11", "", " Done\n", "", 0},
		{"add server web1 10.2.0.11", "", "", "ERROR: ", 1},
		{"no such thing", "", "", "ERROR: No such command", 1},
		{"show ns runningConfig", "", "add server web1 10.2.0.11\n Done\n", "", 0},
		{"add server web2 10.2.0.12; add server web3 10.2.0.13", "", " Done\n Done\n", "", 0},
		{"", "add server web4 10.2.0.14\nadd server web4 10.2.0.14\n", " Done\n", "ERROR: line 2: ", 1},
		{"", "", "", "", 0},
		{"show hardware", "", "", "ERROR: Internal error", 1},
	} {
		out, errs, code := run(t, c, x.command, x.stdin)
		if out != x.out || !strings.HasPrefix(errs, x.errs) || x.errs == "" && errs != "" || code != x.code {
			t.Errorf("%q %q:\nstdout %q\nstderr %q\ncode %d", x.command, x.stdin, out, errs, code)
		}
	}
	d.expect(`msg="command refused"`, "user=nsroot", `line="add server web1 10.2.0.11"`)
	d.expect(`msg="fault in a command"`, "stack=")
}

func TestTooManySessions(t *testing.T) {
	d := start(t, func(o *Options) { o.Limits.Sessions = 2 })
	c := d.login()
	for range 2 {
		s, err := c.NewSession()
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		in, err := s.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		defer in.Close()
		if err := s.Shell(); err != nil {
			t.Fatal(err)
		}
	}
	d.expect(`msg="session begins"`, "session=2")
	out, errs, code := run(t, c, "show version", "")
	if out != "" || !strings.Contains(errs, "ERROR: Connection limit to CFE exceeded") || code != 1 {
		t.Errorf("%q %q %d", out, errs, code)
	}
	if got := d.Logins(); len(got) != 2 || got[0].User != "nsroot" || got[0].Source != "127.0.0.1" || got[0].Kind != "script" {
		t.Errorf("%+v", got)
	}
	if !d.Kill(1, "a test says so") || d.Kill(99, "") {
		t.Error("kill")
	}
	d.expect(`msg="session ends"`, "session=1")
	if _, _, code := run(t, c, "show version", ""); code != 0 {
		t.Error("a session that was killed is still counted")
	}
}

func TestTooManySessionsOnOneConnection(t *testing.T) {
	d := start(t, nil)
	c := d.login()
	for n := range channelsPerConn {
		s, err := c.NewSession()
		if err != nil {
			t.Fatalf("session %d: %v", n, err)
		}
		defer s.Close()
	}
	if s, err := c.NewSession(); err == nil {
		s.Close()
		t.Error("an eleventh session")
	}
}

func TestWhatIsNotOffered(t *testing.T) {
	d := start(t, nil)
	c := d.login()
	for _, name := range []string{"sftp", "netconf", "x"} {
		s, err := c.NewSession()
		if err != nil {
			t.Fatal(err)
		}
		if err := s.RequestSubsystem(name); err == nil {
			t.Errorf("subsystem %s is answered", name)
		}
		s.Close()
	}
	d.expect(`msg="subsystem refused, it is not built yet"`, "user=nsroot", "subsystem=netconf")
	if _, err := c.Dial("tcp", d.addr); err == nil {
		t.Error("a port is forwarded")
	}
	if _, err := c.Listen("tcp", "127.0.0.1:0"); err == nil {
		t.Error("a port is listened on")
	}
}

func TestCloseEndsSessions(t *testing.T) {
	d := start(t, nil)
	c := d.login()
	s, err := c.NewSession()
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	s.Stdout = &out
	in, err := s.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	if err := s.RequestPty("xterm", 24, 80, nil); err != nil {
		t.Fatal(err)
	}
	if err := s.Shell(); err != nil {
		t.Fatal(err)
	}
	d.expect(`msg="session begins"`, "kind=shell")
	idle, err := net.Dial("tcp", d.addr) // one that has not logged in
	if err != nil {
		t.Fatal(err)
	}
	defer idle.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if err := d.Close(ctx); err != nil {
		t.Fatal(err)
	}
	_ = s.Wait()
	if !strings.Contains(out.String(), "The session ends: the management program stops.") {
		t.Errorf("the operator reads %q", out.String())
	}
	if len(d.Logins()) != 0 {
		t.Errorf("%+v", d.Logins())
	}
	if _, err := d.dial("nsroot", gossh.Password(rootPassword)); err == nil {
		t.Error("the door is open after Close")
	}
}

func TestKeystrokeIdleIsNotDefeatedByKeepalives(t *testing.T) {
	d := start(t, func(o *Options) { o.Limits.Idle = 400 * time.Millisecond })
	c := d.login()
	s, err := c.NewSession()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	in, err := s.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	if err := s.RequestPty("xterm", 24, 80, nil); err != nil {
		t.Fatal(err)
	}
	if err := s.Shell(); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- s.Wait() }()
	for end := time.Now().Add(5 * time.Second); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		_, _, _ = c.SendRequest("keepalive@openssh.com", true, nil)
		select {
		case err := <-done:
			var exit *gossh.ExitError
			if !errors.As(err, &exit) || exit.ExitStatus() != 255 {
				t.Error(err)
			}
			return
		default:
		}
	}
	t.Error("keepalives keep a session open at which nobody types")
}

func TestBannerIsShownBeforeLogin(t *testing.T) {
	d := start(t, nil)
	var banner string
	cc := clientConfig("nobody", gossh.Password("wrong-secret"))
	cc.BannerCallback = func(m string) error { banner = m; return nil }
	if c, err := gossh.Dial("tcp", d.addr, cc); err == nil {
		c.Close()
	}
	if banner != "Authorized use only.\n" {
		t.Errorf("banner %q", banner)
	}
}

func TestNewRefusesABadHostKey(t *testing.T) {
	a, _ := NewAccounts(nil)
	_, err := New(Options{Accounts: a, HostKey: file(t, "x", 0o600), Log: slog.New(slog.DiscardHandler), Backend: func(string, string) shell.Backend { return nil }})
	if err == nil || strings.Contains(err.Error(), "\n") {
		t.Error(err)
	}
	if _, err := New(Options{}); err == nil {
		t.Error("a door without accounts")
	}
}

func TestWindowSizes(t *testing.T) {
	for _, x := range [][4]int{{0, 0, 80, 24}, {132, 50, 132, 50}, {-1, 5, 80, 5}, {1 << 30, 1 << 30, 1000, 1000}} {
		w, h := size(windowOf(x[0], x[1]))
		if w != x[2] || h != x[3] {
			t.Errorf("%v: %s", x, fmt.Sprint(w, h))
		}
	}
}
