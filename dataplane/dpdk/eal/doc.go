// Package eal starts DPDK's environment abstraction layer (EAL) from Go and runs Go functions on its lcores.
//
// It names, types and calls things as github.com/yerden/go-dpdk/eal does, so that upstream can take its place.
// It does not open ports, create pools or decide which lcore does what.
//
// Every lcore that EAL starts, the main one too, becomes an operating system thread that waits for Go functions:
// see ExecOnLcore. A function that runs there may use what DPDK keeps per thread (the lcore id, mempool caches).
// Functions handed to other goroutines run on threads that EAL does not know; most of DPDK works there too, without
// the per-lcore caches.
package eal
