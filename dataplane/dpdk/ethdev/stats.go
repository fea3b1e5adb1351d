package ethdev

/*
#cgo pkg-config: libdpdk
#include <rte_ethdev.h>
*/
import "C"

import "unsafe"

// Stats are a port's counters as DPDK keeps them. Cast makes them readable.
type Stats C.struct_rte_eth_stats

// GoStats are a port's counters. Ibytes and Obytes count bytes, the others packets.
type GoStats struct { // the order is that of struct rte_eth_stats
	Ipackets, Opackets, Ibytes, Obytes, Imissed, Ierrors, Oerrors, RxNoMbuf uint64
}

// Cast is the same memory as GoStats.
func (s *Stats) Cast() *GoStats { return (*GoStats)(unsafe.Pointer(s)) }

// StatsGet reads the port's counters.
func (pid Port) StatsGet(stats *Stats) error {
	return pid.failed("reading the counters", C.rte_eth_stats_get(pid.c(), (*C.struct_rte_eth_stats)(stats)))
}

// StatsReset sets the port's counters to zero.
func (pid Port) StatsReset() error {
	return pid.failed("resetting the counters", C.rte_eth_stats_reset(pid.c()))
}

// Xstat is one of a driver's own counters.
type Xstat struct {
	Index uint64 // index in what XstatNames returns
	Value uint64
}

// XstatName is the name of one of a driver's own counters.
type XstatName C.struct_rte_eth_xstat_name

// String is the name, e.g. "rx_q0_packets".
func (x *XstatName) String() string { return C.GoString(&x.name[0]) }

// XstatNames returns the names of the driver's own counters.
func (pid Port) XstatNames() ([]XstatName, error) {
	n := C.rte_eth_xstats_get_names(pid.c(), nil, 0)
	if n <= 0 {
		return nil, pid.failed("reading the names of extended counters", n)
	}
	names := make([]XstatName, n)
	got := C.rte_eth_xstats_get_names(pid.c(), (*C.struct_rte_eth_xstat_name)(&names[0]), C.uint(n))
	if got < 0 {
		return nil, pid.failed("reading the names of extended counters", got)
	}
	return names[:min(got, n)], nil
}

// XstatsGet reads the driver's own counters into out and returns how many there are. If that is more than len(out),
// nothing was read.
func (pid Port) XstatsGet(out []Xstat) (int, error) {
	n := C.rte_eth_xstats_get(pid.c(), (*C.struct_rte_eth_xstat)(unsafe.Pointer(unsafe.SliceData(out))), C.uint(len(out)))
	return int(n), pid.failed("reading extended counters", n)
}

// Go's types stand for C's byte by byte; a difference in size stops the build.
var (
	_ [unsafe.Sizeof(C.struct_rte_eth_xstat{}) - unsafe.Sizeof(Xstat{})]struct{}
	_ [unsafe.Sizeof(Xstat{}) - unsafe.Sizeof(C.struct_rte_eth_xstat{})]struct{}
	_ [unsafe.Sizeof(Stats{}) - unsafe.Sizeof(GoStats{})]struct{}
)
