package main

import (
	"strings"
	"testing"

	"sluice/mgmt/sshd"
)

// TestNewPassword: a user gives himself another password though no policy lets him change accounts, never the same one again, and
// then need not any more.
func TestNewPassword(t *testing.T) {
	d := newDesk(t, t.TempDir())
	d.is("add system user ann first-1 -forcePasswordChange ENABLED", "")
	d.is("show system user ann", "Force password change: ENABLED")
	l := sshd.Login{User: "ann", Source: "192.0.2.9"}
	for plain, want := range map[string]string{"first-1": "it is the one that must be changed", strings.Repeat("x", 128): "String length exceeds maximum", "a\x01b": "control character"} {
		if err := d.o.newPassword(l, plain); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", plain, err)
		}
	}
	if err := d.o.newPassword(l, `-se"cond \n 2`); err != nil {
		t.Fatal(err)
	}
	d.lacks("show system user ann", "Force password change")
	if err := d.o.newPassword(l, `-se"cond \n 2`); err == nil {
		t.Error("the same again is taken")
	}
	d.flush()
	d.is("show ns config -history", "set system user ann ********")
	if log := d.log.String(); strings.Contains(log, "cond") || !strings.Contains(log, `msg="password changed" user=ann source=192.0.2.9`) {
		t.Errorf("the log: %s", log)
	}
}
