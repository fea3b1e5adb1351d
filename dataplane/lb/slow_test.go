package lb

import (
	"math"
	"testing"

	"sluice/dataplane/table"
)

// TestSlowRate: the rate rises by as much as it begins with, a hundred times.
func TestSlowRate(t *testing.T) {
	for _, row := range []struct {
		rate, seconds uint32
		began, second uint32
		want          uint64
		limited       bool
	}{
		{10, 5, 100, 100, 10, true},
		{10, 5, 100, 104, 10, true},
		{10, 5, 100, 105, 20, true},
		{10, 5, 100, 599, 1000, true},
		{10, 5, 100, 600, 1010, false},
		{10, 0, 100, 100000, 10, true},
		{10, 5, 100, 99, 10, true}, // a worker whose second is yet to come
		{math.MaxUint32, 1, 0, 99, math.MaxUint32 * 100, true},
	} {
		got, limited := rate(&table.Pool{SlowRate: row.rate, SlowSeconds: row.seconds}, row.began, row.second)
		if got != row.want || limited != row.limited {
			t.Errorf("%+v: %d, %t", row, got, limited)
		}
	}
}
