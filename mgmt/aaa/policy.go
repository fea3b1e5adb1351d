package aaa

import (
	"cmp"
	"slices"
	"strings"

	"github.com/dlclark/regexp2"

	"sluice/cli/grammar"
	"sluice/vendor-config/schema"
)

// NotAuthorized is the sentence for a command that no policy allows.
const NotAuthorized = "Not authorized to execute this command"

// bound is a command policy as it counts for somebody.
type bound struct {
	policy   *schema.SystemCmdPolicy
	priority uint32
	group    bool
}

// pattern is the compiled form of a policy.
type pattern struct {
	re  *regexp2.Regexp
	err error
}

// May tells why the person may not have op executed, or nil. It is asked at each command, so that a change of accounts and
// policies counts for sessions that are going on.
func (a *Accounts) May(p Person, op *grammar.Op) error {
	if err := a.MayDo(p, Command(op)); err != nil {
		return err
	}
	if op.Object == nil && op.Verb == "shell" {
		return a.mayLeave(p, Command(op))
	}
	for _, also := range op.Also {
		if err := a.MayDo(p, Command(also)); err != nil {
			return err
		}
	}
	return nil
}

// mayLeave tells why the person may not have the system's shell though a policy allows it. That shell knows no policies: who is
// denied anything by one would get around it there, so that only the role superuser opens it, and only to who has no DENY.
func (a *Accounts) mayLeave(p Person, command string) error {
	if _, root := a.settings[p.Name]; !p.Remote && (root || p.Name == schema.RootUser) {
		return nil
	}
	refused, super := schema.Refuse(NotAuthorized, short(command)), false
	for _, b := range a.policies(a.config(), p) {
		if b.policy.Action != "ALLOW" {
			return refused.Because("command policy " + b.policy.Name + " denies some commands, and a shell would lead around it")
		}
		super = super || b.policy.Name == schema.SuperuserRole
	}
	if !super {
		return refused.Because("only the role " + schema.SuperuserRole + " opens a shell")
	}
	return nil
}

// MayDo is May for a command in full words, as Command gives it.
//
// Policies are held against the command in full words whatever was typed, or abbreviations would get around them. Of all
// policies of the person and of his groups the one with the lowest priority that fits decides; among equals his own come first,
// and what denies before what allows. A DENY ignores case and an ALLOW does not: both err on the side of refusing.
func (a *Accounts) MayDo(p Person, command string) error {
	c := a.config()
	if _, root := a.settings[p.Name]; root && !p.Remote {
		return nil
	}
	refused := schema.Refuse(NotAuthorized, short(grammar.Discreet(command))) // which may come from a difference, with its secrets
	if !p.Remote && schema.Get[schema.SystemUser](c, p.Name) == nil {
		return refused.Because("the account is gone")
	}
	if !p.Remote && p.Name == schema.RootUser {
		return nil
	}
	for _, b := range a.policies(c, p) {
		if !a.fits(b.policy, command) {
			continue
		}
		if b.policy.Action == "ALLOW" {
			return nil
		}
		return refused.Because("command policy " + b.policy.Name + " denies it")
	}
	return refused.Because("no command policy of " + p.Name + " allows it")
}

// policies are those that count for the person, in the order in which they are asked.
func (a *Accounts) policies(c *schema.Config, p Person) []bound {
	var all []bound
	add := func(name string, priority uint32, group bool) {
		if policy := schema.CmdPolicyNamed(c, name); policy != nil {
			all = append(all, bound{policy, priority, group})
		}
	}
	for _, b := range schema.All[schema.SystemUserPolicy](c) {
		if b.User == p.Name {
			add(b.Policy, b.Priority, false)
		}
	}
	groups := a.groups(c, p)
	for _, b := range schema.All[schema.SystemGroupPolicy](c) {
		if slices.Contains(groups, b.Group) {
			add(b.Policy, b.Priority, true)
		}
	}
	rank := func(yes bool) int {
		if yes {
			return 1
		}
		return 0
	}
	slices.SortStableFunc(all, func(x, y bound) int {
		return cmp.Or(cmp.Compare(x.priority, y.priority), rank(x.group)-rank(y.group), rank(x.policy.Action == "ALLOW")-rank(y.policy.Action == "ALLOW"))
	})
	return all
}

// fits holds a command against a policy. One that takes too long, or cannot be compiled, fits if it denies.
func (a *Accounts) fits(p *schema.SystemCmdPolicy, command string) bool {
	deny := p.Action != "ALLOW"
	kept, ok := a.patterns.Load(p) // rows of a configuration never change: the address stands for what is in it
	if !ok {
		re, err := schema.Pattern(p.CmdSpec, deny)
		kept = &pattern{re, err}
		a.forgetPatterns()
		a.patterns.Store(p, kept)
	}
	x := kept.(*pattern)
	if x.err != nil {
		return deny
	}
	yes, err := x.re.MatchString(command)
	if err != nil {
		a.log.Warn("command policy", "policy", p.Name, "error", "the pattern takes too long")
		return deny
	}
	return yes
}

// mostPatterns bounds what is kept of policies, among them those of versions that are gone.
const mostPatterns = 1000

func (a *Accounts) forgetPatterns() {
	n := 0
	a.patterns.Range(func(any, any) bool { n++; return n < mostPatterns })
	if n >= mostPatterns {
		a.patterns.Clear()
	}
}

// Command is an operation in full words, which command policies are about: the verb, the object with the group word that may
// be left out, and the arguments in the order typed. Secrets are not in it.
func Command(op *grammar.Op) string {
	words := []string{op.Verb}
	if op.Object == nil {
		return oneLine(append(words, op.Key...))
	}
	words[0] = op.Object.Command(op.Verb)
	for i, key := range op.Key {
		if f := op.Object.Keys()[i]; f.Keyword {
			words = append(words, "-"+f.CLI)
		}
		if op.Object.Keys()[i].Secret {
			key = schema.Hidden
		}
		words = append(words, grammar.Quote(key))
	}
	for _, a := range op.Args {
		value := grammar.Quote(a.Value)
		if a.Field.Secret {
			value = schema.Hidden
		}
		if a.Field.Pos == 0 {
			words = append(words, "-"+a.Field.CLI)
			if a.Field.Flag || op.Verb == "unset" {
				continue
			}
		}
		words = append(words, value)
	}
	return oneLine(words)
}

// oneLine joins words; no character of them ends a line, at which a pattern could end.
func oneLine(words []string) string {
	return strings.Map(func(c rune) rune {
		if c < ' ' || c == 0x7f || c == 0x85 || c == 0x2028 || c == 0x2029 {
			return ' '
		}
		return c
	}, strings.Join(words, " "))
}

// short bounds a command in an error.
func short(s string) string {
	const most = 80
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "..."
	}
	return s
}
