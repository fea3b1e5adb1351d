package show

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"sluice/vendor-config/schema"
)

// Login is a session that is going on.
type Login struct {
	ID                 uint64
	User, Source, Kind string
	Since              time.Time
	Own                bool // the one that asks
}

// bindings are policies as they are bound, in the order in which they are asked.
type binding struct {
	policy   string
	priority uint32
}

func (p *page) bindings(list []binding) {
	slices.SortStableFunc(list, func(x, y binding) int { return cmp.Compare(x.priority, y.priority) })
	for _, b := range list {
		p.f("\t\tCommand Policy: %s\tPriority: %d\n", b.policy, b.priority)
	}
}

func (p *page) setting(name, value string) {
	if value != "" && value != "0" {
		p.f("\t\t%s: %s\n", name, value)
	}
}

func showUser(p *page) error {
	rows, one, err := chosen[schema.SystemUser](p)
	if err != nil {
		return err
	}
	for i, u := range rows {
		p.number(i, one)
		with := "no password here"
		if u.Password != "" {
			with = "password"
		}
		p.f("User name: %s\tLogs in by: %s\tExternal Authentication: %s\n", u.Name, with, u.ExternalAuth)
		p.setting("Prompt", u.PromptString)
		if u.ForcePasswordChange == "ENABLED" {
			p.f("\t\tForce password change: ENABLED\n")
		}
		p.passwordAge(u)
		if u.Timeout > 0 {
			p.f("\t\tTimeout: %d sec\n", u.Timeout)
		}
		p.f("\t\tMax sessions: %d\n", u.MaxSession)
		var list []binding
		for _, b := range schema.All[schema.SystemUserPolicy](p.Config) {
			if b.User == u.Name {
				list = append(list, binding{b.Policy, b.Priority})
			}
		}
		p.bindings(list)
		for _, b := range schema.All[schema.SystemUserKey](p.Config) {
			if b.User == u.Name {
				p.f("\t\tPublic key: %s\n", b.Key)
			}
		}
		for _, b := range schema.All[schema.SystemGroupUser](p.Config) {
			if b.User == u.Name {
				p.f("\t\tGroup: %s\n", b.Group)
			}
		}
	}
	return nil
}

// passwordAge tells when the password was set, and when it must be changed.
func (p *page) passwordAge(u *schema.SystemUser) {
	switch ends := u.PasswordEnds(schema.Single[schema.SystemParameter](p.Config)); {
	case u.Password == "":
	case u.PasswordChanged == 0:
		p.f("\t\tPassword changed: not known\n")
	case ends.IsZero():
		p.f("\t\tPassword changed: %s\n", date(time.UnixMilli(int64(u.PasswordChanged)).In(p.Now.Location())))
	default:
		word := "expires"
		if !ends.After(p.Now) {
			word = "expired"
		}
		p.f("\t\tPassword changed: %s\t%s: %s\n", date(time.UnixMilli(int64(u.PasswordChanged)).In(p.Now.Location())), word, date(ends.In(p.Now.Location())))
	}
}

func showUserGroup(p *page) error {
	rows, one, err := chosen[schema.SystemGroup](p)
	if err != nil {
		return err
	}
	for i, g := range rows {
		p.number(i, one)
		p.f("Group name: %s\n", g.Name)
		p.setting("Prompt", g.PromptString)
		if g.Timeout > 0 {
			p.f("\t\tTimeout: %d sec\n", g.Timeout)
		}
		var list []binding
		for _, b := range schema.All[schema.SystemGroupPolicy](p.Config) {
			if b.Group == g.Name {
				list = append(list, binding{b.Policy, b.Priority})
			}
		}
		p.bindings(list)
		for _, b := range schema.All[schema.SystemGroupUser](p.Config) {
			if b.Group == g.Name {
				p.f("\t\tUser: %s\n", b.User)
			}
		}
	}
	return nil
}

// showCmdPolicy tells the built-in policies as well.
func showCmdPolicy(p *page) error {
	rows, one := slices.Concat(schema.BuiltinCmdPolicies, schema.All[schema.SystemCmdPolicy](p.Config)), len(p.op.Key) > 0
	if one {
		rows = slices.DeleteFunc(rows, func(r *schema.SystemCmdPolicy) bool { return r.Name != p.op.Key[0] })
		if len(rows) == 0 {
			return missing(p.op)
		}
	}
	for i, r := range rows {
		p.number(i, one)
		p.f("Command policy: %s\tAction: %s\n\t\tCmdSpec: %s\n", r.Name, r.Action, r.CmdSpec)
	}
	return nil
}

func showSystemParameter(p *page) error {
	r := schema.Single[schema.SystemParameter](p.Config)
	p.f("\tTimeout: %d sec\n\tLocal Authentication: %s\n\tMin password length: %d\n\tStrong password: %s\n",
		r.Timeout, r.LocalAuth, r.MinPasswordLen, r.StrongPassword)
	if r.DaysToExpire > 0 {
		p.f("\tPasswords expire after: %d days, with a warning %d days before\n", r.DaysToExpire, r.WarnPriorNDays)
	}
	if r.PromptString != "" {
		p.f("\tPrompt: %s\n", r.PromptString)
	}
	return nil
}

func showLogins(p *page) error {
	id, n := p.arg("sid"), 0
	for _, l := range p.Logins {
		if id != "" && id != text(l.ID) {
			continue
		}
		n++
		own := ""
		if l.Own {
			own = "\tthis one"
		}
		p.f("%d)\tSid: %d\tUser: %s\tFrom: %s\tClient: %s%s\n\tSince: %s\tFor: %s\n", n, l.ID, l.User, l.Source, strings.ToUpper(l.Kind), own,
			date(l.Since), p.ago(l.Since))
	}
	if id != "" && n == 0 {
		return schema.Refuse(schema.NoSuchRow, "sid", id)
	}
	return nil
}
