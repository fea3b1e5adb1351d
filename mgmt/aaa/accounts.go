// Package aaa tells who may log in and what each may do: by the accounts of the settings and of the configuration, by servers
// of accounts, and by command policies. It lets nobody in itself.
package aaa

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"sluice/vendor-config/password"
	"sluice/vendor-config/schema"
)

// Account is one of the settings: who may log in and do everything whatever the configuration says, so that nobody can lock
// himself out.
type Account struct {
	Name           string
	PasswordHash   string // of package password; "": no password fits
	AuthorizedKeys string // file in the form of OpenSSH's authorized_keys; "": no key fits
}

// Person is who has logged in.
type Person struct {
	Name   string
	Groups []string // that a server of accounts has told
	Remote bool     // the server knows him; he need not be in the configuration
}

// Preferences are what a person's sessions are like.
type Preferences struct {
	Idle     time.Duration // greatest time between two keys
	Prompt   string        // "": the usual one
	Sessions int           // at once

	NewPassword bool // he must choose another password before anything else
}

// Accounts are all who may log in.
type Accounts struct {
	settings map[string]settled
	config   func() *schema.Config
	log      *slog.Logger

	mu    sync.Mutex
	dummy password.Hash // what an unknown user's password is held against, so that it takes as long

	patterns sync.Map // of command policies that have been asked: *schema.SystemCmdPolicy to *pattern
}

type settled struct {
	hash *password.Hash
	keys string
}

// New checks the accounts of the settings. The error names the account and never holds a hash. config is the running
// configuration, which holds the others.
func New(list []Account, config func() *schema.Config, log *slog.Logger) (*Accounts, error) {
	a := &Accounts{settings: map[string]settled{}, config: config, log: log, dummy: password.Dummy()}
	for _, x := range list {
		if _, ok := a.settings[x.Name]; ok {
			return nil, fmt.Errorf("there are two accounts named %q", x.Name)
		}
		if !goodName(x.Name) {
			return nil, fmt.Errorf("an account cannot be named %q: a name is 1 to 64 letters, digits and . _ - @", x.Name)
		}
		if x.PasswordHash == "" && x.AuthorizedKeys == "" {
			return nil, fmt.Errorf("account %s has neither a password-hash nor authorized-keys, so nobody could log in with it", x.Name)
		}
		n := settled{keys: x.AuthorizedKeys}
		if x.PasswordHash != "" {
			h, err := password.Parse(x.PasswordHash)
			if err != nil {
				return nil, fmt.Errorf("account %s: %w", x.Name, err)
			}
			n.hash = &h
			a.asDear(h)
		}
		a.settings[x.Name] = n
	}
	return a, nil
}

func goodName(s string) bool {
	return len(s) > 0 && len(s) <= 64 && s[0] != '-' && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-@") == ""
}

// asDear makes a password of nobody cost as much as the dearest of somebody.
func (a *Accounts) asDear(h password.Hash) password.Hash {
	a.mu.Lock()
	defer a.mu.Unlock()
	if h.Dearer(a.dummy) {
		a.dummy = h.AsDear()
	}
	return a.dummy
}

// Password tells who it is whose name and password these are; ok is false when they fit nobody. An account of the settings is
// known here alone. For the others the servers of accounts come first, then the configuration: always when no server has
// answered, and after a refusal unless localAuth is DISABLED.
func (a *Accounts) Password(ctx context.Context, user, plain string) (p Person, ok bool) {
	c := a.config()
	row := schema.Get[schema.SystemUser](c, user)
	_, root := a.settings[user]
	root = root || user == schema.RootUser
	if servers := serversOf(c); len(servers) > 0 && !root && goodName(user) && plain != "" && len(plain) <= password.Max &&
		(row == nil || row.ExternalAuth == "ENABLED") {
		groups, verdict := a.ask(ctx, servers, user, plain)
		switch {
		case verdict == accepted:
			return Person{Name: user, Groups: groups, Remote: true}, true
		case verdict == rejected && schema.Single[schema.SystemParameter](c).LocalAuth == "DISABLED":
			return Person{}, false
		}
	}
	return Person{Name: user}, a.local(row, user, plain)
}

// local tells whether it is the password of an account here. It takes the same time for a user that does not exist.
func (a *Accounts) local(row *schema.SystemUser, user, plain string) bool {
	var h password.Hash
	known := false
	if s := a.settings[user]; s.hash != nil {
		h, known = *s.hash, true
	}
	if row != nil && row.Password != "" { // which counts in the place of that of the settings
		var err error
		if h, err = password.Parse(row.Password); err != nil {
			a.log.Error("account", "user", user, "error", err)
		}
		known = err == nil
	}
	if !known {
		h = a.asDear(password.Dummy())
	}
	return h.Fits(plain) && known
}

// Preferences of a person: his own, else those of his groups, else those for all.
func (a *Accounts) Preferences(p Person) Preferences {
	c := a.config()
	all := schema.Single[schema.SystemParameter](c)
	out := Preferences{Idle: time.Duration(all.Timeout) * time.Second, Prompt: all.PromptString, Sessions: 20}
	take := func(timeout uint32, prompt string) {
		if timeout > 0 {
			out.Idle = time.Duration(timeout) * time.Second
		}
		if prompt != "" {
			out.Prompt = prompt
		}
	}
	for _, name := range a.groups(c, p) {
		g := schema.Get[schema.SystemGroup](c, name)
		take(g.Timeout, g.PromptString)
	}
	if u := schema.Get[schema.SystemUser](c, p.Name); u != nil {
		take(u.Timeout, u.PromptString)
		out.Sessions = int(u.MaxSession)
		ends := u.PasswordEnds(all)
		expired := !ends.IsZero() && !time.Now().Before(ends)
		out.NewPassword = (u.ForcePasswordChange == "ENABLED" || expired) && !p.Remote // a server's passwords are the server's
	}
	return out
}

// groups are the configured groups that the person belongs to.
func (a *Accounts) groups(c *schema.Config, p Person) []string {
	var out []string
	for _, m := range schema.All[schema.SystemGroupUser](c) {
		if m.User == p.Name {
			out = append(out, m.Group)
		}
	}
	for _, g := range p.Groups {
		if schema.Get[schema.SystemGroup](c, g) != nil && !slices.Contains(out, g) {
			out = append(out, g)
		}
	}
	return out
}
