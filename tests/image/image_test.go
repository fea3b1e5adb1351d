package main

import (
	"os"
	"testing"

	"sluice/tests/lab/topology"
)

// lab has the networks in which the image runs as a virtual machine, and as a container.
var lab *topology.Lab

// images is the folder of what `make image` has built.
var images = os.Getenv("SLUICE_IMAGE")

// TestMain runs nothing unless `make test-image` asks for it by naming the folder of what `make image` has built: a boot takes longer
// than the other tests may.
func TestMain(m *testing.M) {
	if images == "" {
		os.Exit(0)
	}
	topology.Main(&lab, topology.Guest, nil, m.Run)
}
