package sshd

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/creack/pty"

	"sluice/mgmt/aaa"
	"sluice/tests/logins"
	"sluice/vendor-config/schema"
)

// openSSH is OpenSSH's client with a key of nsroot and its own list of known hosts.
type openSSH struct {
	*door
	dir string
}

// newOpenSSH starts a door that OpenSSH's client can log in to by key and by password.
func newOpenSSH(t *testing.T, change func(*Options)) *openSSH {
	t.Helper()
	for _, program := range []string{"ssh", "sshpass", "sftp"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Fatalf("%v: make deps installs openssh-client and sshpass", err)
		}
	}
	_, public, private := logins.Key(t)
	return newOpenSSHWith(t, private, func(o *Options) {
		o.Accounts = accountsOf(t, &appliance{config: schema.New()}, aaa.Account{Name: "nsroot", PasswordHash: logins.Hash(rootPassword), AuthorizedKeys: logins.File(t, public, 0o600)})
		if change != nil {
			change(o)
		}
	})
}

// newOpenSSHWith is the same with a key of the test's own and whatever accounts it gives.
func newOpenSSHWith(t *testing.T, private []byte, change func(*Options)) *openSSH {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "id"), private, 0o600); err != nil {
		t.Fatal(err)
	}
	return &openSSH{start(t, change), dir}
}

// command is `ssh nsroot@door more...`.
func (o *openSSH) command(more ...string) *exec.Cmd {
	host, port, _ := net.SplitHostPort(o.addr)
	args := []string{"-F", "none", "-p", port, "-i", filepath.Join(o.dir, "id"), "-o", "IdentitiesOnly=yes", "-o", "BatchMode=yes",
		"-o", "StrictHostKeyChecking=accept-new", "-o", "UserKnownHostsFile=" + filepath.Join(o.dir, "known_hosts"),
		"-o", "GlobalKnownHostsFile=none", "-o", "LogLevel=ERROR", "-l", "nsroot", host}
	c := exec.Command("ssh", append(args, more...)...)
	c.Env = append(os.Environ(), "SSH_AUTH_SOCK=")
	return c
}

// outcome runs a command to its end, within 20 s.
func outcome(t *testing.T, c *exec.Cmd, stdin string) (stdout, stderr string, code int) {
	t.Helper()
	var out, errs bytes.Buffer
	c.Stdin, c.Stdout, c.Stderr = strings.NewReader(stdin), &out, &errs
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	timer := time.AfterFunc(30*time.Second, func() { _ = c.Process.Kill() })
	defer timer.Stop()
	_ = c.Wait()
	return out.String(), errs.String(), c.ProcessState.ExitCode()
}

func TestOpenSSHExec(t *testing.T) {
	o := newOpenSSH(t, func(o *Options) { o.Banner = nil })
	for _, x := range []struct {
		args      []string
		stdin     string
		out, errs string
		code      int
	}{
		{[]string{"add", "server", "web1", "10.2.0.11"}, "", " Done\n", "", 0},
		{[]string{"show ns runningConfig"}, "", "add server web1 10.2.0.11\n Done\n", "", 0},
		{[]string{`add server "web1" 10.2.0.11`}, "", "", "ERROR: Resource already exists", 1},
		{[]string{"shwo version"}, "", "", "ERROR: No such command", 1},
		{[]string{"add server web2 10.2.0.12;add server web3 10.2.0.13"}, "", " Done\n Done\n", "", 0},
		{nil, "add server web4 10.2.0.14\n# a comment\n\nadd server web5 10.2.0.999\nshow version\n", " Done\n Done\n", "ERROR: line 4: Invalid IP address [IPAddress, 10.2.0.999]", 1},
		{nil, "show version\nexit\nnot reached\n", " Done\n", "", 0},
		{[]string{"-tt", "show version"}, "", " Done\r\n", "", 0},
	} {
		c := o.command(x.args...)
		if len(x.args) > 0 && x.args[0] == "-tt" {
			c = o.command(x.args[1:]...)
			c.Args = append([]string{"ssh", "-tt"}, c.Args[1:]...)
		}
		out, errs, code := outcome(t, c, x.stdin)
		if out != x.out || !strings.HasPrefix(errs, x.errs) || x.errs == "" && errs != "" || code != x.code {
			t.Errorf("%q %q:\nstdout %q\nstderr %q\ncode %d", x.args, x.stdin, out, errs, code)
		}
	}
	o.expect("msg=login", "user=nsroot", "method=publickey")
}

func TestOpenSSHPassword(t *testing.T) {
	o := newOpenSSH(t, nil)
	by := func(password string) (string, string, int) {
		c := o.command("show version")
		args := []string{"-e", "ssh", "-o", "PubkeyAuthentication=no", "-o", "NumberOfPasswordPrompts=1", "-o", "BatchMode=no", "-o", "LogLevel=INFO"}
		c = exec.Command("sshpass", append(args, c.Args[1:]...)...)
		c.Env = append(os.Environ(), "SSHPASS="+password)
		return outcome(t, c, "")
	}
	if out, errs, code := by(rootPassword); out != " Done\n" || code != 0 || !strings.Contains(errs, "Authorized use only.") {
		t.Errorf("%q %q %d", out, errs, code)
	}
	if out, _, code := by("wrong-secret"); out != "" || code == 0 {
		t.Errorf("a wrong password: %q, exit code %d", out, code)
	}
	o.expect(`msg="login failed"`, "user=nsroot", "method=password")
}

// The known_hosts of clients must fit after a restart.
func TestOpenSSHKnowsTheHostAgain(t *testing.T) {
	key := filepath.Join(t.TempDir(), "host_key")
	same := func(o *Options) { o.HostKey = key }
	first := newOpenSSH(t, same)
	if _, errs, code := outcome(t, first.command("show version"), ""); code != 0 {
		t.Fatal(errs)
	}
	known, err := os.ReadFile(filepath.Join(first.dir, "known_hosts"))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	if err := first.Close(ctx); err != nil {
		t.Fatal(err)
	}
	second := newOpenSSH(t, same)
	_, was, _ := net.SplitHostPort(first.addr)
	_, is, _ := net.SplitHostPort(second.addr)
	known = bytes.ReplaceAll(known, []byte("]:"+was), []byte("]:"+is))
	if err := os.WriteFile(filepath.Join(second.dir, "known_hosts"), known, 0o600); err != nil {
		t.Fatal(err)
	}
	c := second.command("show version")
	for i, a := range c.Args {
		c.Args[i] = strings.Replace(a, "accept-new", "yes", 1)
	}
	if _, errs, code := outcome(t, c, ""); code != 0 {
		t.Errorf("after a restart the client does not know the host again: %s", errs)
	}
}

func TestOpenSSHFileTransferIsRefused(t *testing.T) {
	o := newOpenSSH(t, nil)
	c := o.command("sftp")
	c.Args = append([]string{"ssh", "-s"}, c.Args[1:]...)
	if out, _, code := outcome(t, c, ""); code == 0 || out != "" {
		t.Errorf("%q %d", out, code)
	}
	o.expect("subsystem refused", "subsystem=sftp")
}

// screen is an operator's terminal with ssh in it.
type screen struct {
	t    *testing.T
	file *os.File
	cmd  *exec.Cmd
	mu   sync.Mutex
	text string // what has been shown and not been looked at
	done chan struct{}
}

func (o *openSSH) terminal(rows, cols uint16, more ...string) *screen {
	o.t.Helper()
	c := o.command()
	c.Args = append(append([]string{"ssh"}, more...), c.Args[1:]...)
	f, err := pty.StartWithSize(c, &pty.Winsize{Rows: rows, Cols: cols})
	if err != nil {
		o.t.Fatal(err)
	}
	term := &screen{t: o.t, file: f, cmd: c, done: make(chan struct{})}
	go func() {
		defer close(term.done)
		b := make([]byte, 4096)
		for {
			n, err := f.Read(b)
			term.mu.Lock()
			term.text += string(b[:n])
			term.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	o.t.Cleanup(func() {
		_ = c.Process.Kill()
		_ = c.Wait()
		f.Close()
		<-term.done
	})
	return term
}

func (x *screen) send(s string) {
	x.t.Helper()
	if _, err := x.file.WriteString(s); err != nil {
		x.t.Fatal(err)
	}
}

var escapes = regexp.MustCompile(`\x1b\[[0-9;?]*[a-zA-Z]`)

// expect waits for the text, takes it and what stood before it away, and returns what stood before it.
func (x *screen) expect(want string) string {
	x.t.Helper()
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		x.mu.Lock()
		shown := escapes.ReplaceAllString(x.text, "")
		before, after, ok := strings.Cut(shown, want)
		if ok {
			x.text = after
			x.mu.Unlock()
			return before
		}
		x.mu.Unlock()
		if time.Now().After(end) {
			x.t.Fatalf("%q does not appear; the screen shows\n%s", want, shown)
		}
	}
}

// code waits for the end of ssh.
func (x *screen) code() int {
	x.t.Helper()
	timer := time.AfterFunc(30*time.Second, func() { _ = x.cmd.Process.Kill() })
	defer timer.Stop()
	_ = x.cmd.Wait()
	return x.cmd.ProcessState.ExitCode()
}

func TestOpenSSHInteractive(t *testing.T) {
	o := newOpenSSH(t, nil)
	x := o.terminal(24, 80, "-o", "LogLevel=INFO") // else ssh does not show the banner
	x.expect("Authorized use only.")
	x.expect("Welcome to adc1.")
	x.expect("> ")

	x.send("add ser")
	x.send("?") // help, and the line is still there
	x.expect("server")
	x.expect("> add ser")
	x.send("\x15add serv\t\t")
	x.expect("service")
	x.expect("> ")
	x.send("\x15add server web1 10.2.0.11\r")
	x.expect("\n Done\r\n")
	x.expect("> ")

	x.send("sh\tns ru\t\r") // Tab completes words
	x.expect("show ns runningConfig")
	x.expect("add server web1 10.2.0.11\r\n Done\r\n")

	x.send("rm server w\t\r") // and live names
	x.expect("rm server web1")
	x.expect(" Done\r\n")

	x.send("rm server web1\r")
	x.expect("ERROR: No such resource")

	x.send("\x1b[A\x1b[A") // history: two up is the first rm, which Tab had completed
	x.expect("rm server web1")
	x.send("\x15whoami\r")
	x.expect("UserName: nsroot")

	x.send("add server half-typed")
	x.expect("half-typed")
	x.send("\x03") // Ctrl-C drops the line and stays
	x.expect("> ")
	x.send("whoami\r")
	x.expect("UserName: nsroot")
	if strings.Contains(o.appliance.lines(), "half-typed") {
		t.Error("a line that was dropped has been executed")
	}

	x.send("exit\r")
	if code := x.code(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	o.door.expect(`msg="session begins"`, "kind=shell")
	o.door.expect(`msg="session ends"`, "code=0")
}

func TestOpenSSHCtrlCStopsACommand(t *testing.T) {
	o := newOpenSSH(t, nil)
	defer close(o.appliance.gate)
	x := o.terminal(24, 80)
	x.expect("Welcome")
	x.expect("> ")
	x.send("stat ns\r")
	for end := time.Now().Add(30 * time.Second); !strings.Contains(o.appliance.lines(), "stat ns"); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the command has not reached the appliance")
		}
	}
	x.send("\x03")
	x.expect("^C")
	x.send("whoami\r")
	x.expect("UserName: nsroot")
	x.send("\x04") // Ctrl-D logs out
	if code := x.code(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

func TestOpenSSHPagingAndResize(t *testing.T) {
	o := newOpenSSH(t, nil)
	var script strings.Builder
	for n := range 60 {
		fmt.Fprintf(&script, "add server web%d 10.2.0.%d\n", n, n+1)
	}
	if _, errs, code := outcome(t, o.command(), script.String()); code != 0 {
		t.Fatal(errs)
	}
	x := o.terminal(12, 80)
	x.expect("Welcome")
	x.expect("> ")
	x.send("show ns runningConfig\r")
	x.expect("add server web59 10.2.0.60\r\n Done\r\n") // paging is off at first
	x.send("set cli mode -page ON\r")
	x.expect(" Done\r\n")
	x.send("show ns runningConfig\r")
	x.expect("> show ns runningConfig\r\n")
	page := strings.Count(x.expect("--More--"), "add server")
	if page < 8 || page > 12 {
		t.Errorf("the first page of 12 lines holds %d", page)
	}
	x.send(" ")
	if again := strings.Count(x.expect("--More--"), "add server"); again < page-1 || again > page+1 {
		t.Errorf("the second page holds %d", again)
	}
	x.send("\r") // one line
	if one := strings.Count(x.expect("--More--"), "add server"); one != 1 {
		t.Errorf("Enter shows %d lines", one)
	}
	if err := pty.Setsize(x.file, &pty.Winsize{Rows: 30, Cols: 100}); err != nil {
		t.Fatal(err)
	}
	time.Sleep(300 * time.Millisecond) // the client tells the server on a signal
	x.send(" ")
	if larger := strings.Count(x.expect("--More--"), "add server"); larger < 26 || larger > 30 {
		t.Errorf("after the terminal has grown to 30 lines a page holds %d", larger)
	}
	x.send("q")
	x.expect("> ")
	x.send("whoami\r")
	x.expect("UserName: nsroot")
	x.send("exit\r")
	x.code()
}

func TestOpenSSHIdle(t *testing.T) {
	o := newOpenSSH(t, func(o *Options) { o.Limits.Idle = 1500 * time.Millisecond })
	begin := time.Now()
	x := o.terminal(24, 80, "-o", "ServerAliveInterval=1")
	x.expect("Welcome")
	if code := x.code(); code != 255 || time.Since(begin) > 20*time.Second {
		t.Errorf("exit code %d after %v", code, time.Since(begin))
	}
}
