package sshd

import (
	"net"
	"strings"
	"testing"
	"time"

	gossh "golang.org/x/crypto/ssh"

	"sluice/mgmt/aaa"
	"sluice/tests/logins"
	"sluice/vendor-config/schema"
)

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
	mine, line, _ := logins.Key(t)
	other, _, _ := logins.Key(t)
	d := start(t, func(o *Options) {
		o.Accounts = accountsOf(t, &appliance{config: schema.New()}, aaa.Account{Name: "oper01", AuthorizedKeys: logins.File(t, line, 0o600)}, aaa.Account{Name: "nsroot", PasswordHash: logins.Hash(rootPassword)})
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
	d := start(t, func(o *Options) { o.Limits.Handshake = 3 * time.Second })
	c, err := net.Dial("tcp", d.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_ = c.SetReadDeadline(time.Now().Add(30 * time.Second))
	begin := time.Now()
	for b := make([]byte, 1024); err == nil; {
		_, err = c.Read(b)
	}
	if took := time.Since(begin); took < 2*time.Second || took > 20*time.Second {
		t.Errorf("a client that says nothing was sent away after %v: %v", took, err)
	}
	logged := d.login() // and one that has logged in stays
	time.Sleep(3500 * time.Millisecond)
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
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(10 * time.Millisecond) {
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
