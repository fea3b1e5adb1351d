package aaa

import (
	"crypto/rand"
	"crypto/rsa"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	gossh "golang.org/x/crypto/ssh"

	"sluice/tests/logins"
	"sluice/vendor-config/password"
	"sluice/vendor-config/schema"
)

// accounts are those of the settings alone.
func accounts(list []Account) (*Accounts, error) {
	return New(list, schema.New, slog.New(slog.DiscardHandler))
}

func TestAccountsThatAreRefused(t *testing.T) {
	for _, x := range []struct {
		list []Account
		want string
	}{
		{[]Account{{Name: "a", PasswordHash: logins.Hash("x")}, {Name: "a", PasswordHash: logins.Hash("x")}}, `there are two accounts named "a"`},
		{[]Account{{Name: "", PasswordHash: logins.Hash("x")}}, "cannot be named"},
		{[]Account{{Name: "a b", PasswordHash: logins.Hash("x")}}, "cannot be named"},
		{[]Account{{Name: "-a", PasswordHash: logins.Hash("x")}}, "cannot be named"},
		{[]Account{{Name: "a"}}, "account a has neither a password-hash nor authorized-keys"},
		{[]Account{{Name: "a", PasswordHash: "hunter2"}}, "account a: the password hash is not of the form"},
	} {
		_, err := accounts(x.list)
		if err == nil || !strings.Contains(err.Error(), x.want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%v: %v", x.list, err)
		}
	}
}

func TestPasswordOfAnAccount(t *testing.T) {
	a, err := accounts([]Account{{Name: "nsroot", PasswordHash: logins.Hash("right")}, {Name: "void", PasswordHash: logins.Hash("")}, {Name: "keyonly", AuthorizedKeys: "x"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		user, password string
		want           bool
	}{{"nsroot", "right", true}, {"nsroot", "wrong", false}, {"nsroot", "", false}, {"NSROOT", "right", false}, {"nobody", "right", false},
		{"keyonly", "", false}, {"void", "", false}, {"void", strings.Repeat("x", password.Max+1), false}, {"", "", false}} {
		if p, ok := a.Password(t.Context(), x.user, x.password); ok != x.want || ok && p.Name != x.user {
			t.Errorf("%q %q: %v", x.user, x.password, !x.want)
		}
	}
}

// An unknown user's password must cost what a known one's does: else the clock tells who has an account.
func TestUnknownUserCostsAsMuch(t *testing.T) {
	// 64 MiB and three passes, of the password "right"
	dear, err := password.Parse("$argon2id$v=19$m=65536,t=3,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc")
	if err != nil {
		t.Fatal(err)
	}
	a, err := accounts([]Account{{Name: "nsroot", PasswordHash: dear.String()}})
	if err != nil {
		t.Fatal(err)
	}
	if dear.Dearer(a.dummy) || a.dummy.Dearer(dear) {
		t.Fatalf("the dummy hash costs %+v", a.dummy)
	}
	start := time.Now()
	a.Password(t.Context(), "nobody", "x")
	if took := time.Since(start); took < 5*time.Millisecond {
		t.Fatalf("an unknown user is refused after %v: nothing was computed", took)
	}
}

func TestKeysOfAnAccount(t *testing.T) {
	mine, line, _ := logins.Key(t)
	other, otherLine, _ := logins.Key(t)
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
		"mine":            {logins.File(t, "# a comment\n\n"+otherLine+line, 0o600), mine.PublicKey(), true, ""},
		"not mine":        {logins.File(t, line, 0o644), other.PublicKey(), false, ""},
		"harmless option": {logins.File(t, "no-port-forwarding,no-X11-forwarding "+line, 0o600), mine.PublicKey(), true, ""},
		"option":          {logins.File(t, `command="show version" `+line, 0o600), mine.PublicKey(), false, "line 1 has an option"},
		"from":            {logins.File(t, "\n"+`from="10.0.0.1" `+line, 0o600), mine.PublicKey(), false, "line 2 has an option"},
		"broken line":     {logins.File(t, "ssh-ed25519 AAAA\n"+line, 0o600), mine.PublicKey(), true, ""},
		"only broken":     {logins.File(t, "\x00\xff", 0o600), mine.PublicKey(), false, "line 1 is no public key"},
		"others write":    {logins.File(t, line, 0o666), mine.PublicKey(), false, "others may write"},
		"missing":         {filepath.Join(t.TempDir(), "none"), mine.PublicKey(), false, "cannot be read"},
		"weak RSA":        {logins.File(t, string(gossh.MarshalAuthorizedKey(weakKey)), 0o600), weakKey, false, "less than 2048"},
		"large":           {logins.File(t, strings.Repeat("#\n", 1<<20)+line, 0o600), mine.PublicKey(), false, "larger than 1 MiB"},
	} {
		a, err := accounts([]Account{{Name: "u", AuthorizedKeys: x.path}})
		if err != nil {
			t.Fatal(err)
		}
		_, got, err := a.Key("u", x.key)
		if got != x.want || x.says == "" && err != nil || x.says != "" && (err == nil || !strings.Contains(err.Error(), x.says)) {
			t.Errorf("%s: %v %v", name, got, err)
		}
		if _, ok, _ := a.Key("nobody", x.key); ok {
			t.Errorf("%s: an unknown user comes in", name)
		}
	}
}

func TestKeyTakenAwayNoLongerFits(t *testing.T) {
	mine, line, _ := logins.Key(t)
	path := logins.File(t, line, 0o600)
	a, err := accounts([]Account{{Name: "u", AuthorizedKeys: path}})
	if err != nil {
		t.Fatal(err)
	}
	if _, ok, _ := a.Key("u", mine.PublicKey()); !ok {
		t.Fatal("the key does not fit")
	}
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, ok, _ := a.Key("u", mine.PublicKey()); ok {
		t.Fatal("the key still fits")
	}
}
