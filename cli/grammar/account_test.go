package grammar

import (
	"strings"
	"testing"

	"sluice/vendor-config/password"
	"sluice/vendor-config/schema"
)

// TestPasswordsAreKeptAsHashes: whatever way a password is given, the hash alone is in the configuration and in its lines.
func TestPasswordsAreKeptAsHashes(t *testing.T) {
	c := configOf(t, "add system user a first-secret", "add system user b", "add system user p[1-2] pw[1-2]x -timeout 60")
	for _, line := range []string{"set system user a second-secret -timeout 99", "set system user b -password third-secret", "set system user a -timeout 100"} {
		var err error
		if c, err = do(c, line); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
	}
	for user, plain := range map[string]string{"a": "second-secret", "b": "third-secret", "p1": "pw[1-2]x", "p2": "pw[1-2]x"} {
		u := schema.Get[schema.SystemUser](c, user)
		h, err := password.Parse(u.Password)
		if err != nil || !h.Fits(plain) || !strings.HasPrefix(u.Password, "$argon2id$") {
			t.Errorf("%s: %v %v", user, u, err)
		}
	}
	if text := strings.Join(Lines(c), "\n"); strings.Contains(text, "secret") || !strings.Contains(text, "$argon2id$") {
		t.Errorf("lines: %s", text)
	}
	if text := strings.Join(Shown(c), "\n"); strings.Contains(text, "argon2id") || !strings.Contains(text, "add system user a ********") {
		t.Errorf("shown: %s", text)
	}
	readBack(t, c)
	// A device's own line: the hash is taken as it is, and what the device says about it means nothing more.
	device := "add system user dev 20a1b2c3d" + strings.Repeat("ab", 64) + " -encrypted -hashmethod SHA512 -timeout 900"
	if _, err := do(c, "add system user foreign 1f2e3d -encrypted -hashmethod SHA512"); err == nil || !strings.Contains(err.Error(), "not known") {
		t.Errorf("a hash of another kind is taken for a password: %v", err)
	}
	c = configOf(t, device, "set system user nsroot 20a1b2c3d"+strings.Repeat("cd", 64)+" -encrypted")
	if u := schema.Get[schema.SystemUser](c, "dev"); !strings.HasPrefix(u.Password, "20a1b2c3dabab") || u.Timeout != 900 {
		t.Errorf("%+v", u)
	}
	readBack(t, c)
}

// TestSealedOnce: an operation that is tried on several configurations gives each the same hash.
func TestSealedOnce(t *testing.T) {
	op, err := Parse("add system user a secret")
	if err != nil {
		t.Fatal(err)
	}
	one, two := schema.New(), schema.New()
	if err := op.Apply(one); err != nil {
		t.Fatal(err)
	}
	if err := op.Apply(two); err != nil || !one.Equal(two) {
		t.Error(err, Lines(one), Lines(two))
	}
}

// TestPlainPasswordInAFile: a file cannot bring one in.
func TestPlainPasswordInAFile(t *testing.T) {
	c := schema.New()
	u := schema.Of[schema.SystemUser]().Fresh().(*schema.SystemUser)
	u.Name, u.Password = "a", "secret"
	schema.Put(c, u)
	if err := Check(c); err == nil || strings.Contains(err.Error(), "secret") {
		t.Error(err)
	}
}

func TestStrongPasswords(t *testing.T) {
	c := configOf(t, "set system parameter -minpasswordlen 6")
	try := func(plain string, want bool) {
		t.Helper()
		_, err := do(c, "add system user a "+Quote(plain))
		if (err == nil) != want || err != nil && strings.Contains(err.Error(), plain) {
			t.Errorf("%q: %v", plain, err)
		}
	}
	try("aaaaa", false)
	try("aaaaaa", true)
	try("äöü", false) // characters, not bytes
	try(strings.Repeat("q", 127), true)
	try(strings.Repeat("q", 128), false)
	c, _ = do(c, "set system parameter -strongpassword enableall")
	try("Passw0rd", false)
	try("Pa0 rd!", false) // seven
	try("Passw0rd!", true)
	try("passw0rd!", false)
	try("PASSW0RD!", false)
	try("Password!", false)
}

// TestDiscreetAboutUsers: no password stands in what is logged, however the line is spelled or misspelled.
func TestDiscreetAboutUsers(t *testing.T) {
	const secret = "hunter2"
	for line, want := range map[string]string{
		"add system user bob hunter2":                                 "add system user bob ********",
		"add sys us bob hunter2 -timeout 60":                          "add sys us bob ******** -timeout 60",
		"add system user bob -timeout 60 hunter2":                     "add system user bob -timeout 60 ********",
		`add system user "b b" "hunter2 x" -timeout 60`:               `add system user "b b" ******** -timeout 60`,
		"set system user bob hunter2":                                 "set system user bob ********",
		"set system user bob -password hunter2":                       "set system user bob -password ********",
		"set system user bob -timeout 60 -pass hunter2":               "set system user bob -timeout 60 -pass ********",
		"add system usr bob hunter2":                                  "add system usr bob ********",
		"add system user bob -nosuch 1 hunter2":                       "add system user bob -nosuch ******** ********",
		"add system user bob hunter2 hunter2":                         "add system user bob ******** ********",
		"ad system user bob hunter2":                                  "ad system user bob ********",
		"addd system user bob hunter2":                                "addd system user bob ********",
		"add authentication radiusAction r -radKey hunter2":           "add authentication radiusAction r -radKey ********",
		"add authentication ldapAction l -ldapBindDnPassword hunter2": "add authentication ldapAction l -ldapBindDnPassword ********",
		"bind system user bob superuser 100":                          "bind system user bob superuser 100",
		"add server s1 10.0.0.1":                                      "add server s1 10.0.0.1",
		"add system cmdPolicy p ALLOW ^show":                          "add system cmdPolicy p ALLOW ^show",
	} {
		if got := Discreet(line); got != want {
			t.Errorf("%s:\ngot  %s\nwant %s", line, got, want)
		}
		if op, err := Parse(line); err == nil && strings.Contains(op.Line, secret) {
			t.Errorf("the operation keeps %q", op.Line)
		} else if err != nil && strings.Contains(err.Error(), secret) && !strings.Contains(line, "hunter2 hunter2") {
			t.Errorf("%s: the error repeats it: %v", line, err)
		}
	}
}

// TestWrongAccounts: each refusal is one line that names the word at fault, and nothing has changed.
func TestWrongAccounts(t *testing.T) {
	base := configOf(t, "add system user u pw", "add system group g", "add system cmdPolicy p ALLOW ^show", "bind system user u p 10",
		"bind system group g -userName u", "bind system group g -policyName p 5",
		"add authentication radiusAction rad -serverIP 10.0.0.1 -radKey k", "add authentication ldapAction dir -serverIP 10.0.0.2 -ldapBase dc=x",
		"add authentication radiusPolicy rp ns_true rad", "add authentication Policy lp -rule true -action dir", "bind system global rp -priority 3")
	before := strings.Join(Lines(base), "\n")
	for line, want := range map[string]string{
		"add system user":                                                  "Required argument missing [userName]",
		"add system user -u pw":                                            "No such argument [-u]",
		"add system user \"a b\" pw":                                       "Invalid value [userName, a b]: the name of a user is letters, digits and . _ - @ and does not begin with -",
		"add system user u pw":                                             "Resource already exists [userName, u]",
		"add system user x pw more":                                        "No such argument [more]",
		"add system user x pw -timeout 9":                                  "Argument value out of range [timeout, 10, 100000000]: 9 was given",
		"add system user x pw -maxsession 41":                              "Argument value out of range [maxsession, 1, 40]: 41 was given",
		"add system user x pw -logging ENABLED":                            "Feature not supported in this release [logging, ENABLED]",
		"set system user u pw -password pw":                                "Invalid argument [-password]: it is given twice",
		"set system user u":                                                "Required argument missing [-argument]: give at least one argument to set",
		"set system user nobody pw":                                        "No such resource [userName, nobody]",
		"bind system user u":                                               "Required argument missing [policyName, priority, -publicKey]",
		"bind system user u none 1":                                        "No such resource [policyName, none]",
		"bind system user nobody superuser 1":                              "No such resource [userName, nobody]",
		"bind system user u p 20":                                          "Resource already exists [userName, u p]",
		"bind system user u superuser 1000000000":                          "Argument value out of range [priority, 0, 999999999]: 1000000000 was given",
		"bind system user u -publicKey \"ssh-dss AAAA\"":                   "Invalid value [publicKey, ssh-dss AAAA]: it is a line of an OpenSSH public key file, e.g. \"ssh-ed25519 AAAA... name\"",
		"unbind system user u superuser":                                   "No such resource [policyName, superuser]: it is not bound to u",
		"bind system group g -userName nobody":                             "No such resource [userName, nobody]",
		"bind system group g -policyName none 5":                           "No such resource [policyName, none]",
		"bind system group none -userName u":                               "No such resource [groupName, none]",
		"bind system group g":                                              "Required argument missing [-userName, -policyName]",
		"add system cmdPolicy q ALLOW (":                                   "Invalid syntax [(]: ",
		"add system cmdPolicy q ALLOW \"(\"":                               "Invalid value [cmdSpec, (]: it is no regular expression: missing closing ) in `(`",
		"add system cmdPolicy q PERMIT .*":                                 "Invalid value [action, PERMIT]: it is one of ALLOW DENY",
		"add system cmdPolicy superuser DENY .*":                           "Resource already exists [policyName, superuser]: the command policy is built in and cannot be changed; add one of your own",
		"rm system cmdPolicy superuser":                                    "No such resource [policyName, superuser]",
		"rm system cmdPolicy p":                                            "Resource is in use [p]: it is bound to system user u",
		"kill system session 3 -all extra":                                 "No such argument [extra]",
		"kill system session 0":                                            "Argument value out of range [sid, 1, 18446744073709551615]: 0 was given",
		"set system parameter -strongpassword yes":                         "Invalid value [strongpassword, yes]: it is one of enableall enablelocal disabled",
		"set system parameter -forcePasswordChange ENABLED":                "Feature not supported in this release [forcePasswordChange, ENABLED]",
		"add authentication radiusAction x -serverIP 10.0.0.1":             "Required argument missing [radKey]",
		"add authentication ldapAction x -serverIP 10.0.0.1":               "Required argument missing [ldapBase]",
		"add authentication ldapAction rad -serverIP 10.0.0.1 -ldapBase x": "Resource already exists [name, rad]: it is authentication radiusAction rad",
		"add authentication radiusAction x -serverIP 10.0.0.1 -radKey k -passEncoding chap": "Feature not supported in this release [passEncoding, chap]",
		"add authentication radiusPolicy x \"REQ.IP.SOURCEIP == 1\" rad":                    "Invalid value [rule, REQ.IP.SOURCEIP == 1]: it is one of true ns_true",
		"add authentication radiusPolicy x ns_true dir":                                     "No such resource [reqAction, dir]",
		"rm authentication radiusAction rad":                                                "Resource is in use [rad]: it is that of authentication radiusPolicy rp",
		"rm authentication ldapAction dir":                                                  "Resource is in use [dir]: it is that of authentication Policy lp",
		"rm authentication radiusPolicy rp":                                                 "Resource is in use [rp]: it is that of system global ",
		"bind system global none -priority 1":                                               "No such resource [policyName, none]",
	} {
		after, err := do(base, line)
		if err == nil || !strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), "\n") || after != base || strings.Join(Lines(base), "\n") != before {
			t.Errorf("%s:\ngot  %v\nwant %s", line, err, want)
		}
	}
}

// TestClearKeepsAccounts: basic and extended leave who may do what, full does not.
func TestClearKeepsAccounts(t *testing.T) {
	base := configOf(t, "add system user u pw", "bind system user u superuser 1", "add server s 10.0.0.1", "set system parameter -timeout 60",
		"add authentication ldapAction dir -serverIP 10.0.0.2 -ldapBase dc=x")
	for level, want := range map[string]int{"basic": 4, "extended": 4, "full": 0} {
		c, err := do(base, "clear ns config -force "+level)
		if got := Lines(c); err != nil || len(got) != want {
			t.Errorf("%s leaves %q, %v", level, got, err)
		}
	}
}
