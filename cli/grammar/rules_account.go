package grammar

import (
	"strconv"
	"strings"
	"unicode"

	"sluice/vendor-config/password"
	"sluice/vendor-config/schema"
)

// policyRules: the roles that are built in are always there and stay as they are.
func policyRules() rules {
	return rules{
		check: typed(func(_ *schema.Config, p *schema.SystemCmdPolicy) error {
			if schema.Of[schema.SystemCmdPolicy]().Builtin(p.Name) {
				return schema.Refuse(schema.RowExists, "policyName", p.Name).Because("the command policy is built in and cannot be changed; add one of your own")
			}
			return nil
		}),
		inUse: typed(policyInUse),
	}
}

// policyInUse: a policy that is taken from under a user could leave him with more rights than before, if it denied something.
func policyInUse(c *schema.Config, p *schema.SystemCmdPolicy) error {
	for _, b := range schema.All[schema.SystemUserPolicy](c) {
		if b.Policy == p.Name {
			return schema.Refuse(schema.RowInUse, p.Name).Because("it is bound to system user " + b.User)
		}
	}
	for _, b := range schema.All[schema.SystemGroupPolicy](c) {
		if b.Policy == p.Name {
			return schema.Refuse(schema.RowInUse, p.Name).Because("it is bound to system group " + b.Group)
		}
	}
	return nil
}

// used refuses the removal of a server of accounts, or of its policy, that others name.
func used[T any](c *schema.Config, name string, what func(*T) (refers, self string)) error {
	for _, row := range schema.All[T](c) {
		if refers, self := what(row); refers == name {
			return schema.Refuse(schema.RowInUse, name).Because("it is that of " + schema.Of[T]().Name() + " " + self)
		}
	}
	return nil
}

func serverInUse(c *schema.Config, name string) error {
	if err := used(c, name, func(p *schema.RadiusPolicy) (string, string) { return p.Action, p.Name }); err != nil {
		return err
	}
	if err := used(c, name, func(p *schema.LDAPPolicy) (string, string) { return p.Action, p.Name }); err != nil {
		return err
	}
	return used(c, name, func(p *schema.AuthenticationPolicy) (string, string) { return p.Action, p.Name })
}

func globalInUse(c *schema.Config, name string) error {
	return used(c, name, func(p *schema.SystemGlobal) (string, string) { return p.Policy, "" })
}

// otherNamed: servers of accounts share names, and so do their policies, since they are referred to by name alone.
func otherNamed(c *schema.Config, name string, self *schema.Object, among ...*schema.Object) error {
	for _, o := range among {
		if _, there := c.Row(o, name); there && o != self {
			return schema.Refuse(schema.RowExists, "name", name).Because("it is " + o.Name() + " " + name)
		}
	}
	return nil
}

func serverNamed[T any](nameOf func(*T) string) rules {
	return rules{
		check: typed(func(c *schema.Config, row *T) error {
			return otherNamed(c, nameOf(row), schema.Of[T](), schema.Of[schema.RadiusAction](), schema.Of[schema.LDAPAction]())
		}),
		inUse: typed(func(c *schema.Config, row *T) error { return serverInUse(c, nameOf(row)) }),
	}
}

func serverPolicy[T any](nameOf func(*T) string) rules {
	return rules{
		check: typed(func(c *schema.Config, row *T) error {
			return otherNamed(c, nameOf(row), schema.Of[T](), schema.Of[schema.RadiusPolicy](), schema.Of[schema.LDAPPolicy](), schema.Of[schema.AuthenticationPolicy](), schema.Of[schema.AuditSyslogPolicy]())
		}),
		inUse: typed(func(c *schema.Config, row *T) error { return globalInUse(c, nameOf(row)) }),
	}
}

// seal puts the hash in the place of each password that the operation was given in the clear. It is done once: the operation
// may be tried on several configurations.
func (op *Op) seal(c *schema.Config) error {
	for i, a := range op.Args {
		if !a.Field.Sealed || a.Value == "" || password.Is(a.Value) {
			continue
		}
		if err := strong(c, a.Field.CLI, a.Value); err != nil {
			return err
		}
		h, err := password.Make(a.Value)
		if err != nil {
			return err
		}
		op.Args[i].Value = h
	}
	return nil
}

// stamp notes when a password was set. Commands of files have no time: how old their passwords are is not known.
func (op *Op) stamp(row any) {
	u, ok := row.(*schema.SystemUser)
	if _, given := op.Arg("password"); ok && given && op.Verb != "unset" {
		u.PasswordChanged = 0
		if !op.At.IsZero() {
			u.PasswordChanged = uint64(max(op.At.UnixMilli(), 1))
		}
	}
}

// strong tells what a new password lacks, without repeating it.
func strong(c *schema.Config, name, plain string) error {
	p := schema.Single[schema.SystemParameter](c)
	const most = 127 // of the reference product
	least := int(p.MinPasswordLen)
	if p.StrongPassword != "disabled" {
		least = max(least, 8)
	}
	switch {
	case len(plain) > most:
		return schema.Refuse(schema.TooLong, name, strconv.Itoa(most))
	case len([]rune(plain)) < least:
		return schema.Refuse(schema.BadValue, name).Because("a password has at least " + strconv.Itoa(least) + " characters: see show system parameter")
	case p.StrongPassword == "disabled":
		return nil
	}
	for _, is := range []func(rune) bool{unicode.IsLower, unicode.IsUpper, unicode.IsDigit, func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsDigit(c) }} {
		if !strings.ContainsFunc(plain, is) {
			return schema.Refuse(schema.BadValue, name).Because("a password has a small and a capital letter, a digit and another character: see show system parameter")
		}
	}
	return nil
}

// sealed tells whether what a row keeps of a password is its hash, as it must be in files too.
func sealed(f *schema.Field, text string) error {
	if !f.Sealed || text == "" || password.Is(text) {
		return nil
	}
	return schema.Refuse(schema.BadValue, f.CLI, schema.Hidden).Because("only the hash of a password is kept: make one with sluice-mgmt -hash-password")
}
