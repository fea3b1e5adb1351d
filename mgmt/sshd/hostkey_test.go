package sshd

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sluice/tests/logins"
)

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
		"garbage":   {logins.File(t, "garbage", 0o600), "holds no SSH host key"},
		"empty":     {logins.File(t, "", 0o600), "holds no SSH host key"},
		"cut off":   {logins.File(t, string(text[:len(text)/2]), 0o600), "holds no SSH host key"},
		"readable":  {logins.File(t, string(text), 0o644), "chmod 600"},
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
