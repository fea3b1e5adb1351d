package main

import (
	"strings"

	"sluice/cli/grammar"
	"sluice/mgmt/engine"
	"sluice/mgmt/sshd"
	"sluice/vendor-config/password"
	"sluice/vendor-config/schema"
)

// newPassword gives the user of a session the password that he has chosen because he had to. He may do so whatever his command
// policies say; nothing but his own password changes by it.
func (a *appliance) newPassword(l sshd.Login, plain string) error {
	who := engine.Author{User: l.User, Source: l.Source}
	err := a.setPassword(&who, l, plain)
	if err != nil {
		a.log.Warn("password not changed", "user", l.User, "source", l.Source, "result", "ERROR: "+err.Error())
		return flat(err)
	}
	a.log.Info("password changed", "user", l.User, "source", l.Source, "result", "Done")
	return nil
}

func (a *appliance) setPassword(who *engine.Author, l sshd.Login, plain string) error {
	if password.Is(plain) {
		return schema.Refuse(schema.BadValue, "password").Because("that is a hash")
	}
	if u := schema.Get[schema.SystemUser](a.engine.Config(), l.User); u != nil {
		if h, err := password.Parse(u.Password); err == nil && h.Fits(plain) {
			return schema.Refuse(schema.BadValue, "password").Because("it is the one that must be changed")
		}
	}
	op, err := grammar.Parse("set system user " + grammar.Quote(l.User) + " " + quoted(plain) + " -forcePasswordChange DISABLED")
	if err != nil {
		return err
	}
	o := &operator{appliance: a, login: l, source: l.Source}
	if err := o.lockedOut(op); err != nil {
		return err
	}
	op.At, who.Line = a.now(), op.Line
	_, err = a.engine.Commit(*who, op.Apply)
	return err
}

// quoted is a word that is a value whatever it begins with.
func quoted(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}
