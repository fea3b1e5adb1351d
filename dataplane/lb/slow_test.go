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

// TestLot: lots are spread evenly, over the flows of a service and over the services of a flow.
func TestLot(t *testing.T) {
	for _, by := range []func(k uint32) uint32{func(k uint32) uint32 { return lot(k, 3) }, func(k uint32) uint32 { return lot(3, k) },
		func(k uint32) uint32 { return lot(3*k, 7) }, func(k uint32) uint32 { return lot(1000*k+1, 70000) }} {
		const n, parts = 40000, 16
		var in [parts]int
		for k := range uint32(n) {
			in[by(k)>>28]++
		}
		for i, got := range in {
			if got < n/parts*9/10 || got > n/parts*11/10 {
				t.Errorf("part %d of %d got %d of %d lots", i, parts, got, n)
			}
		}
	}
}
