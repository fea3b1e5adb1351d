package main

import (
	"context"
	"fmt"

	"sluice/cli/grammar"
	"sluice/dataplane/api"
	"sluice/mgmt/engine"
	"sluice/vendor-config/schema"
)

// Persistence sessions are read in pages, so that the dataplane does nothing else for a moment only, and so many are shown: beyond
// that nobody reads on.
const (
	sessionPage = 1000
	mostShown   = 10_000
)

// sessionsOf is an order about the vserver that the operation names, or about all.
func (a *appliance) sessionsOf(op *grammar.Op) (*api.SessionOrder, error) {
	name, given := op.Arg("vServer")
	if !given {
		return &api.SessionOrder{}, nil
	}
	c, s, _, _, _ := a.engine.Snapshot()
	if schema.Get[schema.LBVserver](c, name) == nil {
		return nil, schema.Refuse(schema.NoSuchRow, "vServer", name)
	}
	return &api.SessionOrder{Vserver: s.IDs.Vservers[name]}, nil
}

// sessions asks the dataplane for persistence sessions, no more than can be shown.
func (a *appliance) sessions(op *grammar.Op) (*api.Sessions, error) {
	order, err := a.sessionsOf(op)
	if err != nil {
		return nil, err
	}
	all := &api.Sessions{}
	for order.Most = sessionPage; ; {
		page, err := a.engine.Sessions(context.Background(), order)
		if err != nil {
			return nil, err
		}
		all.List = append(all.List, page.List...)
		all.Limit, all.Next, order.From = page.Limit, page.Next, page.Next
		if page.Next == 0 || len(all.List) >= mostShown {
			return all, nil
		}
	}
}

// clearSessions has the dataplane forget clients.
func (o *operator) clearSessions(who engine.Author, op *grammar.Op) error {
	order, err := o.sessionsOf(op)
	done := ""
	if err == nil {
		order.Clear = true
		var all *api.Sessions
		if all, err = o.engine.Sessions(context.Background(), order); err == nil {
			done = fmt.Sprintf("Done, %d sessions", all.Cleared)
		}
	}
	o.audit("clear persistent sessions", who, done, err)
	return err
}
