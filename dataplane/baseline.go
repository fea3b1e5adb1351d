package main

import "sluice/dataplane/api"

// baselines are the figures at which vservers and services began. Workers count by number from their start on, and a number
// that has been another object's must not bring that object's past along.
type baselines map[uint32]baseline

type baseline struct {
	name string
	at   api.FlowStats
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
		s.PacketsIn -= at.PacketsIn
		s.BytesIn -= at.BytesIn
		s.PacketsOut -= at.PacketsOut
		s.BytesOut -= at.BytesOut
	}
}
