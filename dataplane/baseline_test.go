package main

import (
	"testing"

	"sluice/dataplane/api"
)

// TestBaselines: a number that another object had before begins at zero, and one that stays goes on counting.
func TestBaselines(t *testing.T) {
	b := baselines{}
	counted := func(name string, n uint64) []api.FlowStats {
		return []api.FlowStats{{ID: 3, Name: name, Flows: n, PacketsIn: 2 * n, BytesIn: 3 * n, PacketsOut: 4 * n, BytesOut: 5 * n, OpenFlows: 7}}
	}
	for _, row := range []struct {
		what   string
		renew  []api.FlowStats
		read   []api.FlowStats
		want   uint64
		absent bool
	}{
		{what: "first", renew: counted("a", 0), read: counted("a", 5), want: 5},
		{what: "the same after a commit", renew: counted("a", 5), read: counted("a", 6), want: 6},
		{what: "another with the number", renew: counted("b", 6), read: counted("b", 6), want: 0},
		{what: "and what it counts itself", renew: counted("b", 6), read: counted("b", 9), want: 3},
		{what: "gone", renew: nil, read: nil, absent: true},
		{what: "a counter that wraps", renew: counted("c", 1<<64-10), read: counted("c", 2), want: 12},
		{what: "gone again", renew: nil, read: nil, absent: true},
		{what: "added again", renew: counted("b", 9), read: counted("b", 10), want: 1},
	} {
		b.renew(row.renew)
		b.since(row.read)
		if row.absent {
			if len(b) != 0 {
				t.Errorf("%s: %d baselines are kept", row.what, len(b))
			}
			continue
		}
		want := counted(row.renew[0].Name, row.want)[0]
		if got := row.read[0]; got != want {
			t.Errorf("%s: %+v, want %+v", row.what, got, want)
		}
	}
}
