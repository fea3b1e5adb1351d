package schema

import (
	"reflect"
	"regexp"
	"strings"
	"testing"
)

// secretSounding are words in names and help of arguments that hold secrets.
var secretSounding = regexp.MustCompile(`(?i)passw|passphrase|passplain|passcrypt|secret|key|communit|token|credential|psk|\bpin\b|authorization|private|hash`)

// noSecrets are arguments that sound so and hold none, each for a reason that somebody has looked at.
var noSecrets = map[string]string{
	"system user publicKey":       "the public half",
	"ssl certKey key":             "name of a file",
	"ssl certKey fipsKey":         "name of a key in a module",
	"ssl certKey hsmKey":          "name of a key in a module",
	"ssl certKey linkCertKeyName": "name of a row",
	"ssl certKey certkeyName":     "name of a row",
	"policy stringmap key":        "a text that is looked up",
	"inat privateIP":              "an address",
}

// TestSecretsAreMarked: every argument whose name or help speaks of a secret is one, or somebody has said why it is not.
func TestSecretsAreMarked(t *testing.T) {
	secrets, seen := 0, map[string]bool{}
	for _, o := range Objects() {
		for _, f := range o.Fields {
			if f.Secret {
				secrets++
				continue
			}
			name := o.Name() + " " + f.CLI
			if o.Rows && f.Ref == "" && secretSounding.MatchString(f.CLI) && len(f.Enum) == 0 && f.Type.Kind() == reflect.String {
				if seen[name] = true; noSecrets[name] == "" {
					t.Errorf("%s (%s): is it a secret? mark it, or say in noSecrets why not", name, f.Help)
				}
			}
		}
	}
	for name := range noSecrets {
		if !seen[name] {
			t.Errorf("%s is no argument any more, or is a secret", name)
		}
	}
	if secrets < 12 {
		t.Errorf("only %d arguments are secrets", secrets)
	}
}

// TestMasks: what is shown of a secret tells nothing about it, and of a key at least which row is meant.
func TestMasks(t *testing.T) {
	o := Of[SNMPCommunity]()
	key := o.Keys()[0]
	a, b := key.Mask("public"), key.Mask("s3cret")
	if a == b || !Masked(a) || !Masked(b) || strings.Contains(b, "s3") || key.Mask(a) != a || key.Mask("") != "" {
		t.Errorf("masks of a key: %s, %s", a, b)
	}
	c := New()
	Put(c, &SNMPCommunity{"public", "GET"})
	Put(c, &SNMPCommunity{"s3cret", "ALL"})
	if got := c.Unmask(o, key, b); got != "s3cret" {
		t.Errorf("%s stands for %s", b, got)
	}
	for _, text := range []string{"********", "********-00000000"} {
		if err := key.Set(reflect.New(o.Type).Elem(), text); err == nil || c.Unmask(o, key, text) != text {
			t.Errorf("%s is taken for a community", text)
		}
	}
	if f := Of[LBMonitor]().Field("password"); f.Mask("x") != Hidden || f.Mask("") != "" || Of[Server]().Keys()[0].Mask("x") != "x" {
		t.Error("other fields are masked otherwise")
	}
}
