package ethdev

/*
#cgo pkg-config: libdpdk
#include <stdint.h>
#include <rte_ethdev.h>

// Tables of mbufs come as integers: cgo would walk every pointer of them on each call, at about 400 ns for 32.
static uint16_t rx_burst(uint16_t port, uint16_t q, uintptr_t pkts, uint16_t n) {
	return rte_eth_rx_burst(port, q, (struct rte_mbuf **)pkts, n);
}

static uint16_t tx_burst(uint16_t port, uint16_t q, uintptr_t pkts, uint16_t n) {
	return rte_eth_tx_burst(port, q, (struct rte_mbuf **)pkts, n);
}
*/
import "C"

import (
	"math"
	"runtime"
	"unsafe"

	"github.com/yerden/go-dpdk/mbuf"
)

// RxBurst receives up to len(pkts) packets from a queue and returns how many. It never waits.
func (pid Port) RxBurst(qid uint16, pkts []*mbuf.Mbuf) uint16 {
	if len(pkts) == 0 {
		return 0
	}
	escape(pkts)
	n := C.rx_burst(pid.c(), C.uint16_t(qid), C.uintptr_t(uintptr(unsafe.Pointer(&pkts[0]))), count(pkts))
	runtime.KeepAlive(pkts)
	return uint16(n)
}

// TxBurst sends packets by a queue, first ones first, and returns how many the port took; the others stay the
// caller's. It never waits.
func (pid Port) TxBurst(qid uint16, pkts []*mbuf.Mbuf) uint16 {
	if len(pkts) == 0 {
		return 0
	}
	escape(pkts)
	n := C.tx_burst(pid.c(), C.uint16_t(qid), C.uintptr_t(uintptr(unsafe.Pointer(&pkts[0]))), count(pkts))
	runtime.KeepAlive(pkts)
	return uint16(n)
}

func count(pkts []*mbuf.Mbuf) C.uint16_t { return C.uint16_t(min(len(pkts), math.MaxUint16)) }

var (
	never bool
	sink  []*mbuf.Mbuf
)

// escape makes the compiler keep the table off the stack: a stack may move between taking the table's address as an
// integer and its use in C.
func escape(pkts []*mbuf.Mbuf) {
	if never {
		sink = pkts
	}
}
