package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"sluice/dataplane/api"
	"sluice/dataplane/lb"
	"sluice/dataplane/table"
)

// maxSessionPage bounds the sessions of one answer, and so how long it takes.
const maxSessionPage = 10_000

// Sessions implements api.Dataplane. It reads and frees what workers go on writing: see lb.Sessions.
func (c *control) Sessions(_ context.Context, o *api.SessionOrder) (*api.Sessions, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s, t := c.workers[0].Sessions(), c.workers[0].Tables()
	a := &api.Sessions{Limit: s.Limit()}
	if o.Clear {
		a.Cleared = s.Drop(func(x lb.Session) bool { return o.Vserver == 0 || x.Vserver == o.Vserver })
		return a, nil
	}
	if o.Most < 1 || o.Most > maxSessionPage {
		return nil, fmt.Errorf("a page of %d persistence sessions was asked for: give 1 to %d", o.Most, maxSessionPage)
	}
	cycles, _ := c.workers[0].Clock()
	a.Next = s.List(o.From, s.Tick(cycles), func(x lb.Session) (more bool) {
		limit := t.SessionLimit(x.Vserver, x.Kind)
		if o.Vserver != 0 && x.Vserver != o.Vserver || x.Idle >= limit {
			return true
		}
		if len(a.List) == int(o.Most) {
			return false
		}
		a.List = append(a.List, sessionOf(t, x, limit))
		return true
	})
	return a, nil
}

// sessionOf puts a session into management's words.
func sessionOf(t *table.Set, x lb.Session, limit uint32) api.Session {
	s := api.Session{Kind: api.Persistence(x.Kind), Left: time.Duration(limit-x.Idle) * time.Second / table.TicksPerSecond}
	s.Vserver, s.Service = t.Names(x.Vserver, x.Service)
	if s.Kind == 0 {
		s.Service, _ = t.Names(x.Service, 0)
		s.Src = table.Addr(uint32(x.A))
		return s
	}
	if s.Kind != api.PersistDestinationIP {
		s.Src = table.Addr(uint32(x.A))
	}
	if s.Kind != api.PersistSourceIP {
		s.Dst = table.Addr(uint32(x.A >> 32))
	}
	return s
}

// forgetSessions frees the sessions that mean nothing any more: of vservers that are gone or disabled, or that tell their clients
// apart by something else now, and of services that are not bound any more. Every worker has left the set before.
func (c *control) forgetSessions(before, next *table.Set) {
	s := c.workers[0].Sessions()
	if s.Len() == 0 {
		return
	}
	stays := make(map[uint32]*api.Vserver, len(next.Vservers()))
	for i := range next.Vservers() {
		v := &next.Vservers()[i]
		stays[v.ID] = v
	}
	changed, spilled := false, map[uint32][]uint32{} // by vserver: the backups with which clients stay
	for i := range before.Vservers() {
		old := &before.Vservers()[i]
		v := stays[old.ID]
		if old.SpillSeconds != 0 {
			was, is := backups(before, old), []uint32(nil)
			if v != nil && v.Name == old.Name && v.SpillSeconds != 0 {
				is = backups(next, v)
				spilled[old.ID] = is
			}
			changed = changed || !slices.Equal(was, is)
		}
		if old.Persistence == 0 {
			continue
		}
		if v == nil || v.Name != old.Name || v.Persistence != old.Persistence || v.PersistMask != old.PersistMask || v.PersistBackup != old.PersistBackup {
			delete(stays, old.ID)
			changed = true
		} else if !slices.EqualFunc(v.Bindings, old.Bindings, func(a, b api.Binding) bool { return a.Service == b.Service }) {
			changed = true
		}
	}
	if !changed {
		return
	}
	s.Drop(func(x lb.Session) bool {
		if x.Kind == 0 {
			return !slices.Contains(spilled[x.Vserver], x.Service)
		}
		v := stays[x.Vserver]
		return v == nil || !slices.ContainsFunc(v.Bindings, func(b api.Binding) bool { return b.Service == x.Service })
	})
}

// backups are the IDs of the vservers that take, one after the other, what v cannot.
func backups(t *table.Set, v *api.Vserver) (ids []uint32) {
	for id := v.Backup; id != 0; {
		b := t.VserverOf(id)
		if b == nil {
			break
		}
		ids = append(ids, id)
		id = b.Backup
	}
	return ids
}
