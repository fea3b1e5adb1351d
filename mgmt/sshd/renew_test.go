package sshd

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"sluice/mgmt/aaa"
	"sluice/tests/logins"
	"sluice/vendor-config/schema"
)

// TestOpenSSHPasswordMustBeChanged: who must choose another password does nothing else before, by whatever door.
func TestOpenSSHPasswordMustBeChanged(t *testing.T) {
	c := schema.New()
	schema.Put(c, &schema.SystemUser{Name: "nsroot", MaxSession: 20, ForcePasswordChange: "ENABLED"})
	a := &appliance{config: c}
	_, public, private := logins.Key(t)
	var got []string
	o := newOpenSSHWith(t, private, func(o *Options) {
		o.Accounts = accountsOf(t, a, aaa.Account{Name: "nsroot", AuthorizedKeys: logins.File(t, public, 0o600)})
		o.Subsystems = map[string]Subsystem{"netconf": func(context.Context, Login, io.ReadWriter) int { t.Error("served"); return 0 }}
		o.NewPassword = func(l Login, plain string) error {
			if got = append(got, plain); len(got) == 1 {
				return errors.New("too short")
			}
			next := c.Clone()
			schema.Put(next, &schema.SystemUser{Name: "nsroot", MaxSession: 20, ForcePasswordChange: "DISABLED"})
			a.mu.Lock()
			defer a.mu.Unlock()
			a.config = next
			return nil
		}
	})
	exec := o.command("show version")
	script := o.command()
	subsystem := o.command("netconf")
	subsystem.Args = append([]string{"ssh", "-s"}, subsystem.Args[1:]...)
	for _, c := range []struct {
		name string
		out  func() (string, string, int)
	}{
		{"exec", func() (string, string, int) { return outcome(t, exec, "") }},
		{"script", func() (string, string, int) { return outcome(t, script, "show version\n") }},
		{"subsystem", func() (string, string, int) { return outcome(t, subsystem, "") }},
	} {
		if out, errs, code := c.out(); out != "" || code != 1 || strings.TrimSpace(errs) != "ERROR: "+mustChange {
			t.Errorf("%s: %q %q %d", c.name, out, errs, code)
		}
	}
	x := o.terminal(24, 80)
	x.expect("New password: ")
	x.send("short\r")
	x.expect("again: ")
	x.send("short\r")
	x.expect("ERROR: too short")
	x.expect("New password: ")
	x.send("\x03")
	x.expect("not changed: session closed")
	x.code()
	x = o.terminal(24, 80)
	x.expect("New password: ")
	x.send("New-secret1\r")
	x.expect("again: ")
	x.send("New-secret2\r")
	x.expect("ERROR: The two are not the same")
	x.expect("New password: ")
	x.send("New-secret1\r")
	x.expect("again: ")
	x.send("New-secret1\r")
	if shown := x.expect("Welcome to adc1."); strings.Contains(shown, "secret1") {
		t.Errorf("the password is shown: %q", shown)
	}
	x.expect("> ")
	x.send("exit\r")
	x.code()
	if out, errs, code := outcome(t, o.command("show version"), ""); out != " Done\n" || code != 0 {
		t.Errorf("afterwards: %q %q %d", out, errs, code)
	}
	if want := []string{"short", "New-secret1"}; strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("%q", got)
	}
	if strings.Contains(o.logged(), "New-secret1") || o.appliance.lines() != "nsroot show version" {
		t.Errorf("log %s, commands %s", o.logged(), o.appliance.lines())
	}
}
