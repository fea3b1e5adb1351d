package dataplane

import (
	"testing"

	"sluice/dataplane/port"
)

// rows are all rows: TestRowsOnMemory plays them on memory ports, TestRowsOnDPDK on DPDK's.
func rows() []row {
	var all []row
	for _, list := range [][]row{natRows, localRows, dropRows, icmpRows, balanceRows, roomRows, neighborRows, ageRows, goneRows, hostileRows, orderRows, crewRows, endingRows, persistRows, wildcardRows, modeRows, limitRows, slowRows, staleRows, virtualRows, linkRows, stickRows} {
		all = append(all, list...)
	}
	return all
}

const (
	poolSize = 511
	poolRing = 1024 // packets that a ring between two workers holds
)

func newMemory(t testing.TB) *port.Memory { return newMemories(t, 1, poolSize) }

// newMemories is newMemory for several workers.
func newMemories(t testing.TB, workers, pool int) *port.Memory {
	t.Helper()
	q, err := port.NewMemoryQueues(lanes, workers, pool)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { q.Close() })
	return q
}

func TestRowsOnMemory(t *testing.T) {
	for _, c := range crews {
		t.Run(c.String(), func(t *testing.T) {
			for _, r := range rows() {
				pool := poolSize
				if r.several {
					if pool = 2 * poolRing; c.workers == 1 {
						continue
					}
				}
				t.Run(r.name, func(t *testing.T) { r.run(t, newMemories(t, c.workers, pool), c) })
			}
		})
	}
}
