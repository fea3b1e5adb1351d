package main

import (
	"strings"
	"testing"
	"time"

	"sluice/mgmt/aaa"
	"sluice/mgmt/expiry"
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

// TestPasswordsExpire: the age counts from the command that set it, is warned of, ends in a forced change, and begins anew with it.
// Where it is not known nothing expires.
func TestPasswordsExpire(t *testing.T) {
	d := newDesk(t, t.TempDir())
	old := time.Now().Add(-27 * 24 * time.Hour)
	d.o.now = func() time.Time { return old }
	d.is("add system user ann first-1", "")
	d.is("add system user key", "")
	d.lacks("show system user ann", "expire")
	d.is("show system user ann", "Password changed: ")
	d.lacks("show system user key", "Password changed")
	d.is("set system parameter -daysToExpire 30 -warnPriorNDays 5", "")
	d.is("show system parameter", "Passwords expire after: 30 days, with a warning 5 days before")
	d.o.now = time.Now
	d.is("set system user ann -maxsession 7", "") // says nothing of the password
	d.is("show system user ann", "expires: ")
	accounts, err := aaa.New(nil, d.o.Config, d.o.log)
	if err != nil {
		t.Fatal(err)
	}
	forced := func(remote bool) bool {
		return accounts.Preferences(aaa.Person{Name: "ann", Remote: remote}).NewPassword
	}
	alarms := &expiry.Alarms{Log: d.o.log}
	alarms.Raise(d.o.expiries(d.o.Config()), d.o.now())
	if log := d.log.String(); !strings.Contains(log, `msg="password ends soon: renew it" name=ann ends=`) || strings.Contains(log, "name=key") || forced(false) {
		t.Errorf("3 days before: forced %v, the log:\n%s", forced(false), log)
	}
	if all := d.o.expiryMetrics(d.o.Config()); len(all) != 1 || all[0].Kind != "password" || all[0].Name != "ann" || !all[0].At.Equal(old.Truncate(time.Millisecond).Add(30*24*time.Hour)) {
		t.Errorf("metrics: %+v", all)
	}

	old = time.Now().Add(-31 * 24 * time.Hour)
	d.o.now = func() time.Time { return old }
	d.is("set system user ann second-1", "")
	d.o.now = time.Now
	alarms.Raise(d.o.expiries(d.o.Config()), d.o.now())
	if log := d.log.String(); !strings.Contains(log, `msg="password has ended: renew it" name=ann ends=`) || !forced(false) || forced(true) {
		t.Errorf("a day after: forced %v, of a server's account %v, the log:\n%s", forced(false), forced(true), log)
	}
	d.is("show system user ann", "expired: ")
	if err := d.o.newPassword(sshd.Login{User: "ann"}, "second-1"); err == nil {
		t.Error("the same again is taken")
	}
	if err := d.o.newPassword(sshd.Login{User: "ann"}, "third-1"); err != nil || forced(false) {
		t.Errorf("changed: %v, forced %v", err, forced(false))
	}
	d.is("show system user ann", "expires: ")
	d.is("unset system parameter -daysToExpire", "")
	d.lacks("show system user ann", "expire")
}
