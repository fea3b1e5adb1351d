// Package util holds tables of packet buffers outside Go's memory. Names and signatures are those of
// github.com/yerden/go-dpdk/util.
package util

/*
#cgo pkg-config: libdpdk
#include <stdint.h>
#include <rte_malloc.h>
#include <rte_mbuf.h>

struct mbuf_array {
	uint16_t size;
	struct rte_mbuf *pkts[];
};

static struct mbuf_array *new_array(int socket, uint16_t size) {
	struct mbuf_array *a = rte_zmalloc_socket("mbuf_array",
		sizeof(struct mbuf_array) + size * sizeof(struct rte_mbuf *), 0, socket);
	if (a)
		a->size = size;
	return a;
}

static struct rte_mbuf **pkts(struct mbuf_array *a) { return a->pkts; }
*/
import "C"

import (
	"unsafe"

	"github.com/yerden/go-dpdk/mbuf"
)

// MbufArray is a table of packet buffers in DPDK's memory. Handing such a table to C costs no check by cgo,
// whatever binding does it.
type MbufArray C.struct_mbuf_array

// NewMbufArray makes a table of size empty places on a NUMA socket (-1: any). It returns nil if there is no memory.
func NewMbufArray(socket int, size uint16) *MbufArray {
	return (*MbufArray)(C.new_array(C.int(socket), C.uint16_t(size)))
}

func (buf *MbufArray) c() *C.struct_mbuf_array { return (*C.struct_mbuf_array)(buf) }

// Buffer is the whole table, in place: valid until Free.
func (buf *MbufArray) Buffer() (ret []*mbuf.Mbuf) {
	return unsafe.Slice((**mbuf.Mbuf)(unsafe.Pointer(C.pkts(buf.c()))), int(buf.c().size))
}

// Free gives the table's memory back, not the packets in it.
func (buf *MbufArray) Free() { C.rte_free(unsafe.Pointer(buf)) }
