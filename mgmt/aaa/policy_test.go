package aaa

import (
	"bytes"
	"log/slog"
	"reflect"
	"strings"
	"testing"
	"time"

	"sluice/cli/grammar"
	"sluice/tests/logins"
	"sluice/vendor-config/schema"
)

// configured are accounts of a configuration made by commands; run gives more of them.
func configured(t *testing.T, lines ...string) (a *Accounts, run func(string) error) {
	t.Helper()
	c := schema.New()
	run = func(line string) error {
		op, err := grammar.Parse(line)
		if err != nil {
			return err
		}
		next := c.Clone()
		if err := op.Apply(next); err != nil {
			return err
		}
		c = next
		return grammar.Check(c)
	}
	for _, l := range lines {
		if err := run(l); err != nil {
			t.Fatalf("%s: %v", l, err)
		}
	}
	a, err := New([]Account{{Name: "nsroot", PasswordHash: logins.Hash("root")}}, func() *schema.Config { return c }, slog.New(slog.NewTextHandler(&bytes.Buffer{}, nil)))
	if err != nil {
		t.Fatal(err)
	}
	return a, run
}

func (a *Accounts) allows(t *testing.T, p Person, line string) bool {
	t.Helper()
	op, err := grammar.Parse(line)
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	err = a.May(p, op)
	if err != nil && !strings.HasPrefix(err.Error(), NotAuthorized+" [") {
		t.Errorf("%s: %v", line, err)
	}
	return err == nil
}

// TestBuiltinRoles: what each role may have executed; a letter stands for a role: r(ead-only), o(perator), n(etwork), s(uperuser).
func TestBuiltinRoles(t *testing.T) {
	a, _ := configured(t, "add system user r pw", "add system user o pw", "add system user n pw", "add system user s pw", "add system user none pw",
		"bind system user r read-only 1", "bind system user o operator 1", "bind system user n network 1", "bind system user s superuser 1")
	for line, want := range map[string]string{
		"show lb vserver":        "rons",
		"shell":                  "s",
		"shell ls -l":            "s",
		"source x.conf":          "s",
		"batch -fileName x.conf": "s",
		"sh lb vs":               "rons",
		"show ns ip":             "rons",
		"stat lb vserver":        "rons",
		"show version":           "rons",
		"enable service s1":      "ons",
		"dis serv s1 30":         "", // ambiguous below
		"disable server s1":      "ons",
		"disable serviceGroup g": "ons",
		"add server s1 10.0.0.1": "ns",
		"rm lb vserver v":        "ns",
		"save ns config":         "ns",
		"add route 10.9.0.0 255.255.0.0 10.0.0.1": "ns",
		"show ns runningConfig":                   "s",
		"show run":                                "s",
		"show ns ns.conf":                         "s",
		"show ns config -version 3":               "s",
		"show ns config -history":                 "s",
		"show ns config -candidate":               "s",
		"show ns config":                          "rons",
		"show ns line":                            "s",
		"add ns line 3 \"show version\"":          "s",
		"show system user":                        "s",
		"sh sys u":                                "s",
		"show system session":                     "s",
		"kill system session 3":                   "s",
		"add system user x y":                     "s",
		"set system user r y":                     "s",
		"bind system user r superuser 0":          "s",
		"add authentication ldapAction l -serverIP 10.0.0.1 -ldapBase dc=x": "s",
		"bind system global p":        "s",
		"clear ns config -force full": "s",
	} {
		if want == "" {
			continue
		}
		got := ""
		for _, name := range []string{"r", "o", "n", "s"} {
			if a.allows(t, Person{Name: name}, line) {
				got += name
			}
		}
		if got != want {
			t.Errorf("%s: allowed to %q, want %q", line, got, want)
		}
		if a.allows(t, Person{Name: "none"}, line) {
			t.Errorf("%s: somebody without a policy may", line)
		}
		if !a.allows(t, Person{Name: "nsroot"}, line) {
			t.Errorf("%s: an account of the settings may not", line)
		}
		if a.allows(t, Person{Name: "nsroot", Remote: true}, line) {
			t.Errorf("%s: somebody whom a server calls nsroot may", line)
		}
		if a.allows(t, Person{Name: "gone"}, line) {
			t.Errorf("%s: an account that is gone may", line)
		}
	}
}

// TestPolicyOrder: the lowest priority that fits decides, the user's own first among equals.
func TestPolicyOrder(t *testing.T) {
	a, run := configured(t, "add system user u pw", "add system group g", "bind system group g -userName u",
		`add system cmdPolicy web ALLOW "^(add|rm|set) server web.*"`, `add system cmdPolicy norm DENY "^rm .*"`, `add system cmdPolicy all ALLOW .*`)
	p := Person{Name: "u"}
	step := func(line string, want map[string]bool) {
		t.Helper()
		if err := run(line); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		for command, may := range want {
			if a.allows(t, p, command) != may {
				t.Errorf("after %s: %s: %t", line, command, !may)
			}
		}
	}
	step("bind system user u web 10", map[string]bool{"add server web1 10.0.0.1": true, "rm server web1": true, "add server db1 10.0.0.1": false, "rm server db": false})
	step("bind system group g -policyName norm 20", map[string]bool{"rm server web1": true, "rm server db": false})
	step("unbind system group g -policyName norm", map[string]bool{"rm server web1": true})
	step("bind system group g -policyName norm 5", map[string]bool{"rm server web1": false, "add server web1 10.0.0.1": true})
	step("unbind system group g -policyName norm", nil)
	step("bind system group g -policyName norm 10", map[string]bool{"rm server web1": true})
	step("bind system user u norm 10", map[string]bool{"rm server web1": false}) // DENY before ALLOW
	step("bind system user u all 90", map[string]bool{"rm server web1": false, "show system user": true, "add server WEB 10.0.0.1": true})
	step("unbind system user u all", map[string]bool{"show system user": false})
	step("unbind system group g -userName u", map[string]bool{"add server web1 10.0.0.1": true})
	step("rm system user u", map[string]bool{"add server web1 10.0.0.1": false})
}

// TestAbbreviationsDoNotGetAroundAPolicy: whatever is typed, policies see full words.
func TestAbbreviationsDoNotGetAroundAPolicy(t *testing.T) {
	a, _ := configured(t, "add system user u pw", `add system cmdPolicy no DENY "^(RM LB VSERVER|set ns ip|disable server) .*"`,
		"bind system user u no 1", "bind system user u superuser 2")
	for _, line := range []string{"rm lb vserver v", "rm lb vs v", "rm vserver v", "RM LB VSERVER v", "rm  'lb' v v", "set ip 10.0.0.1 -mgmtAccess ENABLED",
		"rm lb vserver a b c", "rm lb vserver v[1-3]", "disa server \"a\\tb\"", "dis server s # comment"} {
		op, err := grammar.Parse(line)
		if err != nil {
			continue // not a command at all: nobody executes it
		}
		if err := a.May(Person{Name: "u"}, op); err == nil {
			t.Errorf("%s gets around the policy as %q", line, Command(op))
		}
	}
}

// TestGroupsOfAServer: whom a server knows need not be configured; the groups that it tells count if they are.
func TestGroupsOfAServer(t *testing.T) {
	a, _ := configured(t, "add system group net-admins -timeout 60 -promptString net", "bind system group net-admins -policyName network 1", "add system user u pw -timeout 77 -maxsession 2")
	p := Person{Name: "anybody", Remote: true, Groups: []string{"strangers", "net-admins"}}
	if !a.allows(t, p, "add server s 10.0.0.1") || a.allows(t, p, "show system user") {
		t.Error("the group does not count")
	}
	p.Groups = []string{"strangers"}
	if a.allows(t, p, "show version") {
		t.Error("no group of the configuration, and all the same")
	}
	p.Groups = []string{"net-admins"}
	if got := a.Preferences(p); got.Idle != time.Minute || got.Prompt != "net" || got.Sessions != 20 {
		t.Errorf("%+v", got)
	}
	if got := a.Preferences(Person{Name: "u", Groups: p.Groups}); got.Idle != 77*time.Second || got.Sessions != 2 {
		t.Errorf("%+v", got)
	}
	if got := a.Preferences(Person{Name: "nsroot"}); got.Idle != 900*time.Second {
		t.Errorf("%+v", got)
	}
}

// TestPatternWithoutEnd: a pattern that tries for ever is given up, and errs on the side of refusing.
func TestPatternWithoutEnd(t *testing.T) {
	a, run := configured(t, "add system user u pw", `add system cmdPolicy slow ALLOW "^(a+)+$|^((show|s.*)+)+ x$"`, `add system cmdPolicy slowdeny DENY "^((show|s.*)+)+ x$"`, "bind system user u slow 1")
	began := time.Now()
	line := "show server " + strings.Repeat("s", 100)
	if a.allows(t, Person{Name: "u"}, line) {
		t.Error("allowed")
	}
	if err := run("bind system user u superuser 9"); err != nil {
		t.Fatal(err)
	}
	if !a.allows(t, Person{Name: "u"}, line) {
		t.Error("what comes after is not asked")
	}
	if err := run("bind system user u slowdeny 0"); err != nil {
		t.Fatal(err)
	}
	if a.allows(t, Person{Name: "u"}, line) {
		t.Error("a DENY that is given up does not deny")
	}
	if took := time.Since(began); took > 30*time.Second {
		t.Errorf("it took %v", took)
	}
}

// TestPasswordsOfTheConfiguration: they count beside those of the settings, whose own they replace.
func TestPasswordsOfTheConfiguration(t *testing.T) {
	a, run := configured(t, "add system user u first", "add system user keyed")
	mine, line, _ := logins.Key(t)
	login := func(user, plain string) bool {
		p, ok := a.Password(t.Context(), user, plain)
		return ok && p.Name == user && !p.Remote
	}
	if !login("u", "first") || login("u", "second") || login("keyed", "") || !login("nsroot", "root") {
		t.Error("passwords as they were added")
	}
	for _, line := range []string{"set system user u second", "set system user u -password third", "add system user nsroot other"} {
		if err := run(line); err != nil {
			t.Fatal(err)
		}
	}
	if login("u", "first") || login("u", "second") || !login("u", "third") || login("nsroot", "root") || !login("nsroot", "other") {
		t.Error("passwords as they were changed")
	}
	if err := run(`bind system user keyed -publicKey "` + strings.TrimSpace(line) + ` a comment"`); err != nil {
		t.Fatal(err)
	}
	if _, ok, err := a.Key("keyed", mine.PublicKey()); !ok || err != nil {
		t.Error("the key does not fit", err)
	}
	if _, ok, _ := a.Key("u", mine.PublicKey()); ok {
		t.Error("the key fits another")
	}
	for _, line := range []string{"rm system user keyed", "rm system user nsroot", "unset system user u -password"} {
		if err := run(line); err != nil {
			t.Fatal(err)
		}
	}
	if _, ok, _ := a.Key("keyed", mine.PublicKey()); ok {
		t.Error("the key of a user that is gone")
	}
	if login("u", "third") || !login("nsroot", "root") {
		t.Error("passwords as they were removed")
	}
}

func reflectOf(row any) reflect.Value { return reflect.ValueOf(row).Elem() }

// TestShellIsForSuperusers: a shell knows no policies, so that nobody has one who is denied anything.
func TestShellIsForSuperusers(t *testing.T) {
	a, _ := configured(t, "add system cmdPolicy all ALLOW .*", `add system cmdPolicy noaccounts DENY "^\\S+ system .*"`, "add system group g", "bind system group g -policyName superuser 5",
		"add system user own pw", "bind system user own all 1", "add system user half pw", "bind system user half superuser 1", "bind system user half noaccounts 9",
		"add system user member pw", "bind system group g -userName member", "add system cmdPolicy noshell DENY ^shell", "add system user not pw", "bind system user not superuser 2", "bind system user not noshell 1")
	for _, row := range []struct {
		who  Person
		want string
	}{
		{Person{Name: "nsroot"}, ""},
		{Person{Name: "member"}, ""},
		{Person{Name: "far", Groups: []string{"g"}, Remote: true}, ""},
		{Person{Name: "nsroot", Remote: true}, "no command policy of nsroot allows it"},
		{Person{Name: "own"}, "only the role superuser opens a shell"},
		{Person{Name: "half"}, "command policy noaccounts denies some commands, and a shell would lead around it"},
		{Person{Name: "not"}, "command policy noshell denies it"},
		{Person{Name: "nobody"}, "the account is gone"},
	} {
		for _, line := range []string{"shell", "shell ls", `she "ls | wc"`} {
			op, err := grammar.Parse(line)
			if err != nil {
				t.Fatal(err)
			}
			err = a.May(row.who, op)
			if (err == nil) != (row.want == "") || err != nil && !strings.HasSuffix(err.Error(), "]: "+row.want) {
				t.Errorf("%v: %s: %v, want %q", row.who, line, err, row.want)
			}
		}
	}
}
