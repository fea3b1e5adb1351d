// Package asm holds the few instructions that Go cannot say: prefetching over a burst and reading the cycle counter. It
// is a package without cgo, since assembly and cgo cannot share one. Other CPUs than amd64 load early instead of
// prefetching, which has most of the effect.
package asm

import "time"

// CyclesPerSecond measures the rate of Rdtsc against the monotonic clock over the given time.
func CyclesPerSecond(over time.Duration) uint64 {
	start, c0 := time.Now(), Rdtsc()
	for time.Since(start) < over {
	}
	c1, took := Rdtsc(), time.Since(start)
	return uint64(float64(c1-c0) / took.Seconds())
}
