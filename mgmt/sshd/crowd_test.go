package sshd

import (
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	gossh "golang.org/x/crypto/ssh"
)

// counted are the connections, and those of them that have not logged in.
func (d *door) counted() (all, waiting int) {
	d.doorman.mu.Lock()
	defer d.doorman.mu.Unlock()
	return d.doorman.all, d.doorman.waiting
}

// TestOneUserCannotTakeAllConnections: who holds as many as he can get does not keep others out.
func TestOneUserCannotTakeAllConnections(t *testing.T) {
	d := start(t, func(o *Options) { o.Limits.Connections = 40 })
	dial := func(user, password string) (*gossh.Client, error) {
		return gossh.Dial("tcp", d.addr, &gossh.ClientConfig{User: user, Auth: []gossh.AuthMethod{gossh.Password(password)},
			HostKeyCallback: gossh.InsecureIgnoreHostKey(), Timeout: 30 * time.Second})
	}
	held := 0
	for range 40 {
		c, err := dial("oper01", operPassword)
		if err != nil {
			continue
		}
		defer c.Close()
		if s, err := c.NewSession(); err == nil { // and none is asked for anything
			defer s.Close()
			held++
		}
	}
	if held != 20+connsBeyond {
		t.Errorf("one user holds %d connections", held)
	}
	d.expect("too many connections of this user", "user=oper01", "source=127.0.0.1")
	if out, _, code := run(t, d.login(), "show version", ""); code != 0 || out != " Done\n" {
		t.Errorf("nsroot is kept out: %q %d", out, code)
	}
}

// TestVariablesAreNotKept: a client cannot fill the memory with variables for a session that it never begins.
func TestVariablesAreNotKept(t *testing.T) {
	d := start(t, nil)
	ch, requests, err := d.login().OpenChannel("session", nil)
	if err != nil {
		t.Fatal(err)
	}
	go gossh.DiscardRequests(requests)
	for _, r := range []struct {
		kind string
		body any
		want bool
	}{{"env", struct{ Name, Value string }{"LANG", "C"}, false}, {"env", struct{ Name, Value string }{"LC_ALL", strings.Repeat("x", 30_000)}, false},
		{"exec", struct{ Line string }{"show version"}, true}} {
		if ok, err := ch.SendRequest(r.kind, true, gossh.Marshal(r.body)); ok != r.want || err != nil {
			t.Errorf("%s: %v %v", r.kind, ok, err)
		}
	}
	if out, err := io.ReadAll(ch); err != nil || string(out) != " Done\n" {
		t.Errorf("the command says %q %v", out, err)
	}
}

// TestTwoHundredLoginsAtOnce: as many as may are let in, the others are sent away and nobody is kept waiting, and afterwards the
// door is as it was.
func TestTwoHundredLoginsAtOnce(t *testing.T) {
	d := start(t, func(o *Options) { o.Limits.Failures = 1000 })
	var in, out atomic.Int32
	var all sync.WaitGroup
	for n := range 200 {
		all.Go(func() {
			password := rootPassword
			if n%4 == 3 {
				password = "wrong-secret"
			}
			c, err := gossh.Dial("tcp", d.addr, &gossh.ClientConfig{User: "nsroot", Auth: []gossh.AuthMethod{gossh.Password(password)},
				HostKeyCallback: gossh.InsecureIgnoreHostKey(), Timeout: 30 * time.Second})
			if err != nil {
				out.Add(1)
				return
			}
			defer c.Close()
			if password != rootPassword {
				t.Error("a wrong password opens the door in the crowd")
			}
			in.Add(1)
		})
	}
	all.Wait()
	if in.Load() == 0 || in.Load()+out.Load() != 200 {
		t.Errorf("%d in, %d out", in.Load(), out.Load())
	}
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		left, waiting := d.counted()
		if left == 0 && waiting == 0 {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("%d connections and %d strangers are still counted", left, waiting)
		}
	}
	if out, _, code := run(t, d.login(), "show version", ""); code != 0 || out != " Done\n" {
		t.Errorf("afterwards: %q %d", out, code)
	}
}

// TestStrangersOfSomeAddresses: those who take all places before the login and say nothing keep nobody out.
func TestStrangersOfSomeAddresses(t *testing.T) {
	d := start(t, func(o *Options) { o.Limits.Strangers, o.Limits.StrangersFrom = 6, 2 })
	for n := range 6 {
		from := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, byte(2+n/2))}}
		c, err := from.Dial("tcp", d.addr)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
	}
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		if _, waiting := d.counted(); waiting == 6 {
			break
		}
		if time.Now().After(end) {
			t.Fatal("the strangers are not counted")
		}
	}
	if out, _, code := run(t, d.login(), "show version", ""); code != 0 || out != " Done\n" {
		t.Errorf("nsroot is kept out: %q %d", out, code)
	}
	d.expect("connection closed for a newcomer", "source=127.0.0.2")
}
