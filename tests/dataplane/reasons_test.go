package dataplane

import (
	"testing"

	"sluice/dataplane/packet"
)

// TestEveryReasonHasARow: whatever name a packet can end under, a row has one end so. Rows compare all their counters, so a
// name in a row that passes was counted.
func TestEveryReasonHasARow(t *testing.T) {
	counted := map[string]bool{}
	for _, r := range rows() {
		for name, n := range r.counters {
			counted[name] = counted[name] || n > 0
		}
	}
	for r := packet.NoReason + 1; r < packet.Reasons; r++ {
		if !counted[r.Name()] {
			t.Errorf("no row has a packet end as %s", r.Name())
		}
	}
	if counted[packet.NoReason.Name()] {
		t.Errorf("a row expects packets that nobody decides about")
	}
}
