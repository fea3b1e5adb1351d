package sshd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"runtime"
	"strings"
	"testing"
	"time"

	gossh "golang.org/x/crypto/ssh"

	"sluice/cli/shell"
	"sluice/tests/logins"
	"sluice/vendor-config/schema"
)

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
	d.expect(`msg="subsystem refused, there is none of that name"`, "user=nsroot", "subsystem=netconf")
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
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
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
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
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
	a := accountsOf(t, &appliance{config: schema.New()})
	_, err := New(Options{Accounts: a, HostKey: logins.File(t, "x", 0o600), Log: slog.New(slog.DiscardHandler), Backend: func(Login) shell.Backend { return nil }})
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

// Every session, however it ends, gives back what it took.
func TestSessionsLeaveNothingBehind(t *testing.T) {
	d := start(t, nil)
	d.login().Close()
	before := runtime.NumGoroutine()
	for n := range 20 {
		c := d.login()
		run(t, c, "show version", "")
		s, err := c.NewSession()
		if err != nil {
			t.Fatal(err)
		}
		if err := s.RequestPty("xterm", 24, 80, nil); err != nil {
			t.Fatal(err)
		}
		if n%2 == 0 {
			err = s.Shell()
		} else {
			err = s.Start("stat ns") // it is still running when the client vanishes
		}
		if err != nil {
			t.Fatal(err)
		}
		for w := range 5 {
			_ = s.WindowChange(20+w, 80)
		}
		c.Close()
	}
	close(d.appliance.gate)
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		now := runtime.NumGoroutine()
		if now <= before+2 && len(d.Logins()) == 0 {
			break
		}
		if time.Now().After(end) {
			stacks := make([]byte, 1<<16)
			t.Fatalf("%d goroutines before, %d after, sessions %v\n%s", before, now, d.Logins(), stacks[:runtime.Stack(stacks, true)])
		}
	}
	d.doorman.mu.Lock()
	defer d.doorman.mu.Unlock()
	if d.doorman.all != 0 || d.doorman.waiting != 0 || len(d.doorman.strangers) != 0 {
		t.Errorf("%d connections and %d strangers are still counted", d.doorman.all, d.doorman.waiting)
	}
}

func TestCtrlCStopsAnExecWithTerminal(t *testing.T) {
	d := start(t, nil)
	defer close(d.appliance.gate)
	s, err := d.login().NewSession()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	in, err := s.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.RequestPty("xterm", 24, 80, nil); err != nil {
		t.Fatal(err)
	}
	if err := s.Start("stat ns"); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(30 * time.Second); !strings.Contains(d.appliance.lines(), "stat ns"); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the command has not reached the appliance")
		}
	}
	if _, err := in.Write([]byte{3}); err != nil {
		t.Fatal(err)
	}
	var exit *gossh.ExitError
	if err := s.Wait(); !errors.As(err, &exit) || exit.ExitStatus() != 1 {
		t.Error(err)
	}
}
