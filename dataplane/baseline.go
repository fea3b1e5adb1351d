package main

import (
	"slices"

	"sluice/dataplane/api"
	"sluice/dataplane/table"
)

// baselines are the figures at which vservers and services began. Workers count by number from their start on, and a number
// that has been another object's must not bring that object's past along.
type baselines map[uint32]baseline

type baseline struct {
	name string
	at   api.FlowStats
}

// sameObjects says that two sets have the same vservers and services under the same numbers, as after most changes: then no
// baseline is new.
func sameObjects(a, b *table.Set) bool {
	return slices.EqualFunc(a.Vservers(), b.Vservers(), func(v, w api.Vserver) bool { return v.ID == w.ID && v.Name == w.Name }) &&
		slices.EqualFunc(a.Services(), b.Services(), func(v, w api.Service) bool { return v.ID == w.ID && v.Name == w.Name })
}

// renew gives a baseline to every object of now that is new, and forgets those of objects that are gone.
func (b baselines) renew(now []api.FlowStats) {
	live := make(map[uint32]bool, len(now))
	for _, s := range now {
		live[s.ID] = true
		if b[s.ID].name != s.Name {
			b[s.ID] = baseline{s.Name, s}
		}
	}
	for id := range b {
		if !live[id] {
			delete(b, id)
		}
	}
}

// since takes what was counted before an object began off its figures. What is open now stays: it is open.
func (b baselines) since(rows []api.FlowStats) {
	for i := range rows {
		s := &rows[i]
		at := b[s.ID].at
		s.Flows -= at.Flows
		s.Spilled -= at.Spilled
		s.PacketsIn -= at.PacketsIn
		s.BytesIn -= at.BytesIn
		s.PacketsOut -= at.PacketsOut
		s.BytesOut -= at.BytesOut
	}
}
