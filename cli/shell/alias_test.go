package shell

import (
	"bytes"
	"maps"
	"testing"
)

// wordy is an appliance that keeps aliases.
type wordy struct {
	*appliance
	of map[string]map[string]string
}

func (w wordy) Aliases(user string) (map[string]string, error) { return maps.Clone(w.of[user]), nil }

func (w wordy) Alias(user, word, command string) error {
	if w.of[user] == nil {
		w.of[user] = map[string]string{}
	}
	delete(w.of[user], word)
	if command != "" {
		w.of[user][word] = command
	}
	return nil
}

// TestAlias: a user's word stands for a command in all his sessions, and in nobody else's.
func TestAlias(t *testing.T) {
	w := wordy{newAppliance("add server a 10.0.0.1", "add server b 10.0.0.2"), map[string]map[string]string{}}
	for _, row := range []struct{ user, line, out, err string }{
		{"ann", `alias servers "show server"`, " Done\n", ""},
		{"ann", "servers", "1)\ta\n2)\tb\n Done\n", ""},
		{"ann", "servers | grep -c .", "2\n Done\n", ""},
		{"ann", `alias count "show server | grep -c ."; count`, " Done\n2\n Done\n", ""},
		{"ann", "alias srv add server", " Done\n", ""},
		{"ann", "srv c 10.0.0.3 -comment \"x | y\"; count", " Done\n3\n Done\n", ""},
		{"ann", "alias", "1)\tcount (show server | grep -c .)\n2)\tservers (show server)\n3)\tsrv (add server)\n Done\n", ""},
		{"ann", "alias srv", "1)\tsrv (add server)\n Done\n", ""},
		{"ann", "alias again count; again", " Done\n", "ERROR: command 2: No such command [count]\n"},
		{"ann", `"count"`, "", "ERROR: No such command [count]\n"},
		{"bob", "count", "", "ERROR: No such command [count]\n"},
		{"bob", "alias count", "", "ERROR: No such resource [pattern, count]\n"},
		{"ann", "unalias count; count", " Done\n", "ERROR: command 2: No such command [count]\n"},
		{"ann", "unalias count", "", "ERROR: No such resource [pattern, count]\n"},
		{"ann", "alias gone whoami; gone", " Done\nUserName: ann\n Done\n", ""},
	} {
		var out, errs bytes.Buffer
		if Exec(t.Context(), w, row.user, row.line, &out, &errs); out.String() != row.out || errs.String() != row.err {
			t.Errorf("%s: %q: %q, %q; want %q, %q", row.user, row.line, out.String(), errs.String(), row.out, row.err)
		}
	}
	w.of["ann"]["show"] = "rm server a" // by hand: a command stays what it is
	var out, errs bytes.Buffer
	if Exec(t.Context(), w, "ann", "show server | grep -c .", &out, &errs); out.String() != "3\n Done\n" {
		t.Errorf("%q %q", out.String(), errs.String())
	}
	errs.Reset()
	if Exec(t.Context(), newAppliance(), "ann", "alias x whoami", &out, &errs); errs.String() != "ERROR: Feature not supported in this release [alias]\n" {
		t.Errorf("%q", errs.String())
	}
}

// TestAliasIsCompleted: Tab knows the words, and what may stand behind them.
func TestAliasIsCompleted(t *testing.T) {
	w := wordy{newAppliance("add server web1 10.0.0.1"), map[string]map[string]string{"ann": {"myweb": "show server"}}}
	c := login(t, w, Options{User: "ann"})
	c.sees("> ")
	c.types("myw\tw\t\r")
	c.sees("myweb web1")
	c.sees("Done\r\n> ")
	c.types("exit\r")
	c.ends()
}
