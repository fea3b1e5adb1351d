package sshd

import (
	"context"
	"io"
	"strings"
	"testing"
	"unsafe"

	"github.com/gliderlabs/ssh"
	gossh "golang.org/x/crypto/ssh"

	"sluice/mgmt/aaa"
	"sluice/tests/logins"
	"sluice/vendor-config/schema"
)

func windowOf(w, h int) ssh.Window { return ssh.Window{Width: w, Height: h} }

// shifting is a user name whose letters can be changed under way. The client library keeps the name as a string and
// sends it anew with every attempt to log in: that is all it takes to claim one user first and another one afterwards.
type shifting struct{ letters []byte }

func (s *shifting) name() string        { return unsafe.String(&s.letters[0], len(s.letters)) }
func (s *shifting) become(other string) { copy(s.letters, other) }

// switchUser logs in as nsroot with nothing but what belongs to oper01.
func switchUser(d *door, key gossh.Signer) (*gossh.Client, error) {
	u := &shifting{[]byte("oper01")}
	tries := 0
	wrongThenSwitch := gossh.RetryableAuthMethod(gossh.PasswordCallback(func() (string, error) {
		if tries++; tries == 1 {
			return "wrong-secret", nil
		}
		u.become("nsroot")
		if key != nil {
			return "wrong-secret", nil
		}
		return operPassword, nil
	}), 2)
	if key == nil {
		return d.dial(u.name(), wrongThenSwitch)
	}
	// The password attempt fails and nails the user to the connection; then the key is offered as another one.
	return d.dial(u.name(), wrongThenSwitch, gossh.PublicKeys(key))
}

// what tries to open a session of a kind; the error is the server's refusal.
var what = map[string]func(*gossh.Session) error{
	"exec":    func(s *gossh.Session) error { return s.Start("show version") },
	"shell":   func(s *gossh.Session) error { return s.Shell() },
	"netconf": func(s *gossh.Session) error { return s.RequestSubsystem("netconf") },
}

func attackedDoor(t *testing.T) (*door, gossh.Signer) {
	mine, line, _ := logins.Key(t)
	return start(t, func(o *Options) {
		o.Limits.Failures = 100
		o.Subsystems = map[string]Subsystem{"netconf": func(context.Context, Login, io.ReadWriter) int { return 0 }}
		o.Accounts = accountsOf(t, &appliance{config: schema.New()}, aaa.Account{Name: "nsroot", PasswordHash: logins.Hash(rootPassword)},
			aaa.Account{Name: "oper01", PasswordHash: logins.Hash(operPassword), AuthorizedKeys: logins.File(t, line, 0o600)})
	}), mine
}

// attack runs every form of the attack and returns the kinds of sessions that were opened.
func attack(t *testing.T, d *door, key gossh.Signer) (opened []string) {
	t.Helper()
	for by, k := range map[string]gossh.Signer{"password": nil, "key": key} {
		for kind, open := range what {
			c, err := switchUser(d, k)
			if err != nil {
				t.Fatalf("%s: the library does not let the connection in any more (%v): the attack is dead, and this test proves nothing", by, err)
			}
			if s, err := c.NewSession(); err == nil && open(s) == nil {
				opened = append(opened, by+" "+kind)
			}
			c.Close()
		}
	}
	return opened
}

func TestUserSwitchIsRefused(t *testing.T) {
	d, key := attackedDoor(t)
	if opened := attack(t, d, key); len(opened) > 0 {
		t.Errorf("opened: %v", opened)
	}
	d.expect(`msg="login under another name than first claimed"`, "user=nsroot", "first=oper01", "method=password")
	d.expect(`msg="login under another name than first claimed"`, "user=nsroot", "first=oper01", "method=publickey")
	for _, kind := range []string{"exec", "shell", "subsystem"} {
		d.expect(`msg="user switch refused"`, "user=oper01", "claimed=nsroot", "source=127.0.0.1", "request="+kind)
	}
	if strings.Contains(d.logged(), "msg=login ") {
		t.Errorf("the log says that somebody has logged in:\n%s", d.logged())
	}
	if got := d.appliance.lines(); got != "" || len(d.backends) > 0 {
		t.Errorf("commands came through: %q %v", got, d.backends)
	}
}

// Without the guard the attack opens sessions on a connection that bears the name nsroot: the test above can fail.
func TestUserSwitchWouldSucceedWithoutTheGuard(t *testing.T) {
	guard := sameUser
	t.Cleanup(func() { sameUser = guard })
	seen := make(chan string, 100)
	sameUser = func(ss ssh.Session) bool { seen <- ss.User(); return true }
	d, key := attackedDoor(t)
	opened := strings.Join(attack(t, d, key), ",")
	for _, kind := range []string{"password exec", "password shell", "password netconf", "key exec", "key shell", "key netconf"} {
		if !strings.Contains(opened, kind) {
			t.Errorf("%s was not opened: %s", kind, opened)
		}
	}
	close(seen)
	for user := range seen {
		if user != "nsroot" {
			t.Errorf("the connection bears the name %s", user)
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, b := range d.backends { // the second line of defence: sessions run as who has proved himself
		if !strings.HasPrefix(b, "oper01 ") {
			t.Errorf("a session works for %s", b)
		}
	}
}

// Who claims the other user first gets nowhere either: the first user is the one whose password is asked for.
func TestUserSwitchTheOtherWayRound(t *testing.T) {
	d, _ := attackedDoor(t)
	u := &shifting{[]byte("nsroot")}
	tries := 0
	c, err := d.dial(u.name(), gossh.RetryableAuthMethod(gossh.PasswordCallback(func() (string, error) {
		if tries++; tries > 1 {
			u.become("oper01")
		}
		return operPassword, nil
	}), 2))
	if err == nil {
		c.Close()
		t.Error("logged in")
	}
}
