// Package testeal starts EAL for a package's tests so that they run anywhere: without hugepages, PCI devices, shared
// files or more than one CPU. It is for tests of this module only.
package testeal

import (
	"fmt"
	"os"

	"github.com/yerden/go-dpdk/eal"
)

// Args is EAL's argument vector for tests: 64 MiB of ordinary memory and lcores 0 and 1, both on CPU 0.
func Args(extra ...string) []string {
	return append([]string{"test", "--no-huge", "--no-pci", "--no-shconf", "--no-telemetry", "-m", "64",
		"--lcores", "(0-1)@0", "--log-level", "lib.eal:error", "--file-prefix", fmt.Sprintf("sltest%d", os.Getpid())}, extra...)
}

// RuntimeDir has EAL keep its directory in a place that remove takes away, for this process and those it starts.
func RuntimeDir() (remove func(), err error) {
	dir, err := os.MkdirTemp("", "dpdk-test-")
	if err != nil {
		return nil, err
	}
	return func() { os.RemoveAll(dir) }, os.Setenv("RUNTIME_DIRECTORY", dir)
}

// Main starts EAL, runs the tests and returns the status to exit with. Extra arguments are EAL's, e.g. a --vdev.
func Main(run func() int, extra ...string) int {
	remove, err := RuntimeDir()
	if err == nil {
		defer remove()
		_, err = eal.Init(Args(extra...))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	status := run()
	eal.StopLcores()
	if err := eal.Cleanup(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return status
}
