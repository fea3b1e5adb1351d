// Package dataplane tests the packet plane as a whole: frames in on lanes, frames and counters out, the same rows on memory
// ports and on DPDK; a naive model of address translation that random traffic is compared with; and a fuzz target for frames.
// It tests no room alone: that is beside the code.
package dataplane
