package aaa

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"sluice/vendor-config/schema"
)

// server is a server of accounts.
type server interface {
	// login asks whether it is the user's password, and for his groups. An error that wraps errRejected is the server's no; any
	// other means that it has not answered.
	login(ctx context.Context, user, plain string) (groups []string, err error)
	name() string
}

var errRejected = errors.New("the server refuses the user name or the password")

// verdict is what all servers together have said.
type verdict uint8

const (
	silent   verdict = iota // none has answered
	rejected                // one at least has, and none has accepted
	accepted
)

// serversOf are the servers that are asked for administrators, in their order.
func serversOf(c *schema.Config) []server {
	all := slices.Clone(schema.All[schema.SystemGlobal](c))
	slices.SortStableFunc(all, func(x, y *schema.SystemGlobal) int { return cmp.Compare(x.Priority, y.Priority) })
	var out []server
	for _, b := range all {
		action := ""
		if p := schema.Get[schema.RadiusPolicy](c, b.Policy); p != nil {
			action = p.Action
		} else if p := schema.Get[schema.LDAPPolicy](c, b.Policy); p != nil {
			action = p.Action
		} else if p := schema.Get[schema.AuthenticationPolicy](c, b.Policy); p != nil {
			action = p.Action
		}
		if r := schema.Get[schema.RadiusAction](c, action); r != nil {
			out = append(out, &radiusServer{r})
		} else if l := schema.Get[schema.LDAPAction](c, action); l != nil {
			out = append(out, &ldapServer{l})
		}
	}
	return out
}

// askTime bounds what all servers may take together: a client that waits for its login gives up some time.
const askTime = 12 * time.Second

// ask asks one server after the other until one accepts.
func (a *Accounts) ask(ctx context.Context, servers []server, user, plain string) (groups []string, v verdict) {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	for _, s := range servers {
		groups, err := s.login(ctx, user, plain)
		switch {
		case err == nil:
			return groups, accepted
		case errors.Is(err, errRejected):
			v = rejected
			a.log.Info("server of accounts", "server", s.name(), "user", user, "result", err)
		default:
			a.log.Warn("server of accounts", "server", s.name(), "user", user, "error", fmt.Sprint(err))
		}
	}
	return nil, v
}
