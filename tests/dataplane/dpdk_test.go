package dataplane

import (
	"fmt"
	"os"
	"testing"

	"golang.org/x/sys/unix"

	"sluice/dataplane/port"
)

// TestMain starts DPDK once for the tests that need it: without hugepages, as it must run anywhere.
func TestMain(m *testing.M) {
	if err := port.StartEAL(&port.EALSettings{Lcores: []int{firstCPU()}, MemoryMB: 64}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// firstCPU returns a CPU that this process may use.
func firstCPU() int {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		return 0
	}
	for cpu := range 1024 {
		if set.IsSet(cpu) {
			return cpu
		}
	}
	return 0
}

// TestRowsOnDPDK plays the rows through DPDK's drivers: ports made of rings, whose far ends the test holds.
func TestRowsOnDPDK(t *testing.T) {
	q, err := port.NewRings("rows", lanes, 1024, poolSize)
	if err != nil {
		t.Fatal(err)
	}
	defer q.Close()
	for _, r := range rows() {
		if !r.memory && !r.several {
			t.Run(r.name, func(t *testing.T) { r.run(t, q, alone) })
		}
	}
}
