package sshd

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/rsa"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	gossh "golang.org/x/crypto/ssh"
)

// cheap is a hash that costs a test nothing.
func cheap(password string) string {
	h := newHash()
	h.memory, h.time = 8, 1
	h.sum = h.of(password)
	return h.String()
}

func newKey(t *testing.T) (gossh.Signer, string) {
	t.Helper()
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	signer, err := gossh.NewSignerFromKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return signer, string(gossh.MarshalAuthorizedKey(signer.PublicKey()))
}

func file(t *testing.T, text string, mode os.FileMode) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "keys")
	if err := os.WriteFile(name, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(name, mode); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestAccountsThatAreRefused(t *testing.T) {
	for _, x := range []struct {
		list []Account
		want string
	}{
		{[]Account{{Name: "a", PasswordHash: cheap("x")}, {Name: "a", PasswordHash: cheap("x")}}, `there are two accounts named "a"`},
		{[]Account{{Name: "", PasswordHash: cheap("x")}}, "cannot be named"},
		{[]Account{{Name: "a b", PasswordHash: cheap("x")}}, "cannot be named"},
		{[]Account{{Name: "-a", PasswordHash: cheap("x")}}, "cannot be named"},
		{[]Account{{Name: "a"}}, "account a has neither a password-hash nor authorized-keys"},
		{[]Account{{Name: "a", PasswordHash: "hunter2"}}, "account a: the password hash is not of the form"},
	} {
		_, err := NewAccounts(x.list)
		if err == nil || !strings.Contains(err.Error(), x.want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%v: %v", x.list, err)
		}
	}
}

func TestPasswordOfAnAccount(t *testing.T) {
	a, err := NewAccounts([]Account{{Name: "nsroot", PasswordHash: cheap("right")}, {Name: "void", PasswordHash: cheap("")}, {Name: "keyonly", AuthorizedKeys: "x"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		user, password string
		want           bool
	}{{"nsroot", "right", true}, {"nsroot", "wrong", false}, {"nsroot", "", false}, {"NSROOT", "right", false}, {"nobody", "right", false},
		{"keyonly", "", false}, {"void", "", false}, {"void", strings.Repeat("x", maxPassword+1), false}, {"", "", false}} {
		if a.password(x.user, x.password) != x.want {
			t.Errorf("%q %q: %v", x.user, x.password, !x.want)
		}
	}
}

// An unknown user's password must cost what a known one's does: else the clock tells who has an account.
func TestUnknownUserCostsAsMuch(t *testing.T) {
	dear := newHash()
	dear.memory, dear.time = 64*1024, 3
	dear.sum = dear.of("right")
	a, err := NewAccounts([]Account{{Name: "nsroot", PasswordHash: dear.String()}})
	if err != nil {
		t.Fatal(err)
	}
	if a.dummy.memory != dear.memory || a.dummy.time != dear.time {
		t.Fatalf("the dummy hash costs %d KiB and %d passes", a.dummy.memory, a.dummy.time)
	}
	start := time.Now()
	a.password("nobody", "x")
	if took := time.Since(start); took < 5*time.Millisecond {
		t.Fatalf("an unknown user is refused after %v: nothing was computed", took)
	}
}

func TestKeysOfAnAccount(t *testing.T) {
	mine, line := newKey(t)
	other, otherLine := newKey(t)
	weak, err := rsa.GenerateKey(rand.Reader, 1024)
	if err != nil {
		t.Fatal(err)
	}
	weakKey, err := gossh.NewPublicKey(&weak.PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	for name, x := range map[string]struct {
		path string
		key  gossh.PublicKey
		want bool
		says string
	}{
		"mine":            {file(t, "# a comment\n\n"+otherLine+line, 0o600), mine.PublicKey(), true, ""},
		"not mine":        {file(t, line, 0o644), other.PublicKey(), false, ""},
		"harmless option": {file(t, "no-port-forwarding,no-X11-forwarding "+line, 0o600), mine.PublicKey(), true, ""},
		"option":          {file(t, `command="show version" `+line, 0o600), mine.PublicKey(), false, "line 1 has an option"},
		"from":            {file(t, "\n"+`from="10.0.0.1" `+line, 0o600), mine.PublicKey(), false, "line 2 has an option"},
		"broken line":     {file(t, "ssh-ed25519 AAAA\n"+line, 0o600), mine.PublicKey(), true, ""},
		"only broken":     {file(t, "\x00\xff", 0o600), mine.PublicKey(), false, "line 1 is no public key"},
		"others write":    {file(t, line, 0o666), mine.PublicKey(), false, "others may write"},
		"missing":         {filepath.Join(t.TempDir(), "none"), mine.PublicKey(), false, "cannot be read"},
		"weak RSA":        {file(t, string(gossh.MarshalAuthorizedKey(weakKey)), 0o600), weakKey, false, "less than 2048"},
		"large":           {file(t, strings.Repeat("#\n", 1<<20)+line, 0o600), mine.PublicKey(), false, "larger than 1 MiB"},
	} {
		a, err := NewAccounts([]Account{{Name: "u", AuthorizedKeys: x.path}})
		if err != nil {
			t.Fatal(err)
		}
		got, err := a.key("u", x.key)
		if got != x.want || x.says == "" && err != nil || x.says != "" && (err == nil || !strings.Contains(err.Error(), x.says)) {
			t.Errorf("%s: %v %v", name, got, err)
		}
		if ok, _ := a.key("nobody", x.key); ok {
			t.Errorf("%s: an unknown user comes in", name)
		}
	}
}

func TestKeyTakenAwayNoLongerFits(t *testing.T) {
	mine, line := newKey(t)
	path := file(t, line, 0o600)
	a, err := NewAccounts([]Account{{Name: "u", AuthorizedKeys: path}})
	if err != nil {
		t.Fatal(err)
	}
	if ok, _ := a.key("u", mine.PublicKey()); !ok {
		t.Fatal("the key does not fit")
	}
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if ok, _ := a.key("u", mine.PublicKey()); ok {
		t.Fatal("the key still fits")
	}
}

func TestHostKeyIsMadeOnceAndKept(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "host_key")
	first, made, err := hostKey(path)
	if err != nil || !made || first.PublicKey().Type() != "ssh-ed25519" {
		t.Fatal(made, err)
	}
	if fi, _ := os.Stat(path); fi.Mode().Perm() != 0o600 {
		t.Errorf("mode %v", fi.Mode())
	}
	second, made, err := hostKey(path)
	if err != nil || made || string(second.PublicKey().Marshal()) != string(first.PublicKey().Marshal()) {
		t.Error("the appliance has another key after its second start", made, err)
	}
	if left, _ := os.ReadDir(filepath.Dir(path)); len(left) != 1 {
		t.Errorf("left behind: %v", left)
	}
	// Two starts at once end with the same key.
	if err := makeHostKey(path); err != nil {
		t.Error(err)
	}
	if third, _, err := hostKey(path); err != nil || string(third.PublicKey().Marshal()) != string(first.PublicKey().Marshal()) {
		t.Error("a key that was there has been replaced", err)
	}
}

func TestHostKeyThatCannotBeUsed(t *testing.T) {
	good := filepath.Join(t.TempDir(), "k")
	if _, _, err := hostKey(good); err != nil {
		t.Fatal(err)
	}
	text, _ := os.ReadFile(good)
	for name, x := range map[string][2]string{
		"garbage":   {file(t, "garbage", 0o600), "holds no SSH host key"},
		"empty":     {file(t, "", 0o600), "holds no SSH host key"},
		"cut off":   {file(t, string(text[:len(text)/2]), 0o600), "holds no SSH host key"},
		"readable":  {file(t, string(text), 0o644), "chmod 600"},
		"directory": {t.TempDir(), "cannot be read"},
		"no place":  {filepath.Join(good, "x"), "host key"},
	} {
		before, _ := os.ReadFile(x[0])
		_, _, err := hostKey(x[0])
		if err == nil || !strings.Contains(err.Error(), x[1]) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", name, err)
		}
		if after, _ := os.ReadFile(x[0]); string(after) != string(before) {
			t.Errorf("%s: the file has been changed", name)
		}
	}
}
