package dataplane

import (
	"testing"

	"sluice/dataplane/port"
)

// rows are all rows: TestRowsOnMemory plays them on memory ports, TestRowsOnDPDK on DPDK's.
func rows() []row {
	var all []row
	for _, list := range [][]row{natRows, localRows, dropRows, icmpRows, balanceRows, roomRows, neighborRows, ageRows, hostileRows, orderRows} {
		all = append(all, list...)
	}
	return all
}

const poolSize = 511

func newMemory(t testing.TB) *port.Memory {
	t.Helper()
	q, err := port.NewMemory(lanes, poolSize)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { q.Close() })
	return q
}

func TestRowsOnMemory(t *testing.T) {
	for _, r := range rows() {
		t.Run(r.name, func(t *testing.T) { r.run(t, newMemory(t)) })
	}
}
