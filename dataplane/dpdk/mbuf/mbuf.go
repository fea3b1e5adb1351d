// Package mbuf takes packet buffers from pools, gives them back and reads and fills them. Names and signatures are those
// of github.com/yerden/go-dpdk/mbuf.
//
// Each call enters C once, about 50 ns: fine for control traffic and tests; a packet loop uses the Bulk forms or
// reads the buffers itself.
package mbuf

/*
#cgo pkg-config: libdpdk
#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <rte_errno.h>
#include <rte_mbuf.h>
#include <rte_mempool.h>

static struct rte_mbuf *alloc(struct rte_mempool *mp) { return rte_pktmbuf_alloc(mp); }

// Tables of mbufs come as integers, so that cgo does not walk them on every call.
static int alloc_bulk(struct rte_mempool *mp, uintptr_t ms, unsigned n) {
	return rte_pktmbuf_alloc_bulk(mp, (struct rte_mbuf **)ms, n);
}

static void free_bulk(uintptr_t ms, unsigned n) { rte_pktmbuf_free_bulk((struct rte_mbuf **)ms, n); }
static void free_one(struct rte_mbuf *m) { rte_pktmbuf_free(m); }
static void reset(struct rte_mbuf *m) { rte_pktmbuf_reset(m); }
static uint16_t headroom(struct rte_mbuf *m) { return rte_pktmbuf_headroom(m); }
static uint16_t tailroom(struct rte_mbuf *m) { return rte_pktmbuf_tailroom(m); }
static uint16_t refcnt_update(struct rte_mbuf *m, int16_t v) { return rte_mbuf_refcnt_update(m, v); }
static void *data(struct rte_mbuf *m) { return rte_pktmbuf_mtod(m, void *); }
static uint16_t data_len(struct rte_mbuf *m) { return rte_pktmbuf_data_len(m); }
static uint32_t pkt_len(struct rte_mbuf *m) { return rte_pktmbuf_pkt_len(m); }
static uint32_t hash_rss(struct rte_mbuf *m) { return m->hash.rss; }
static struct rte_mbuf *next(struct rte_mbuf *m) { return m->next; }

// The length is checked here because rte_pktmbuf_append takes 16 bits only.
static int append(struct rte_mbuf *m, const void *p, size_t n) {
	char *to = n > UINT16_MAX ? NULL : rte_pktmbuf_append(m, n);
	if (to == NULL)
		return -ENOBUFS;
	memcpy(to, p, n);
	return 0;
}
*/
import "C"

import (
	"fmt"
	"runtime"
	"syscall"
	"unsafe"

	"github.com/yerden/go-dpdk/mempool"
)

// Mbuf is one segment of a packet; the first one stands for the packet.
type Mbuf C.struct_rte_mbuf

func (m *Mbuf) c() *C.struct_rte_mbuf { return (*C.struct_rte_mbuf)(m) }

func pool(p *mempool.Mempool) *C.struct_rte_mempool {
	return (*C.struct_rte_mempool)(unsafe.Pointer(p))
}

// PktMbufAlloc takes an empty buffer from the pool, or returns nil if none is left.
func PktMbufAlloc(p *mempool.Mempool) *Mbuf { return (*Mbuf)(C.alloc(pool(p))) }

// PktMbufAllocBulk fills ms with empty buffers from the pool: all or none.
func PktMbufAllocBulk(p *mempool.Mempool, ms []*Mbuf) error {
	if len(ms) == 0 {
		return nil
	}
	escape(ms)
	rc := C.alloc_bulk(pool(p), C.uintptr_t(uintptr(unsafe.Pointer(&ms[0]))), C.uint(len(ms)))
	runtime.KeepAlive(ms)
	if rc != 0 {
		return fmt.Errorf("mbuf: taking %d buffers: %w", len(ms), syscall.Errno(-rc))
	}
	return nil
}

// PktMbufFreeBulk gives packets back to the pools they are from. ms may hold nil.
func PktMbufFreeBulk(ms []*Mbuf) {
	if len(ms) == 0 {
		return
	}
	escape(ms)
	C.free_bulk(C.uintptr_t(uintptr(unsafe.Pointer(&ms[0]))), C.uint(len(ms)))
	runtime.KeepAlive(ms)
}

// PktMbufFree gives the packet, all its segments, back to the pools they are from.
func (m *Mbuf) PktMbufFree() { C.free_one(m.c()) }

// PktMbufReset makes the buffer an empty packet of one segment with the default headroom.
func (m *Mbuf) PktMbufReset() { C.reset(m.c()) }

// PktMbufClone makes a packet that shares the data of m; p gives its buffers. It returns nil if p has none left.
func (m *Mbuf) PktMbufClone(p *mempool.Mempool) *Mbuf {
	return (*Mbuf)(C.rte_pktmbuf_clone(m.c(), pool(p)))
}

// PktMbufAppend copies data to the end of the packet's last segment, or changes nothing if it does not fit there.
func (m *Mbuf) PktMbufAppend(data []byte) error {
	if len(data) == 0 {
		return nil
	}
	if rc := C.append(m.c(), unsafe.Pointer(&data[0]), C.size_t(len(data))); rc != 0 {
		return fmt.Errorf("mbuf: appending %d bytes: %w", len(data), syscall.Errno(-rc))
	}
	return nil
}

// Data is this segment's data, in place: valid until the packet is freed or sent.
func (m *Mbuf) Data() []byte {
	return unsafe.Slice((*byte)(C.data(m.c())), int(C.data_len(m.c())))
}

// HashRss is the hash that the NIC has computed; it has a meaning only if RSS is on.
func (m *Mbuf) HashRss() uint32 { return uint32(C.hash_rss(m.c())) }

// HeadRoomSize returns the bytes free before the segment's data.
func (m *Mbuf) HeadRoomSize() uint16 { return uint16(C.headroom(m.c())) }

// TailRoomSize returns the bytes free behind the segment's data.
func (m *Mbuf) TailRoomSize() uint16 { return uint16(C.tailroom(m.c())) }

// Next returns the packet's next segment, or nil.
func (m *Mbuf) Next() *Mbuf { return (*Mbuf)(C.next(m.c())) }

// PktLen returns the length of the packet, all segments, in bytes.
func (m *Mbuf) PktLen() uint32 { return uint32(C.pkt_len(m.c())) }

// RefCntUpdate adds v to the segment's reference count and returns the new count.
func (m *Mbuf) RefCntUpdate(v int16) uint16 { return uint16(C.refcnt_update(m.c(), C.int16_t(v))) }

var (
	never bool
	sink  []*Mbuf
)

// escape makes the compiler keep ms's array off the stack: a stack may move between taking the array's address as an
// integer and its use in C.
func escape(ms []*Mbuf) {
	if never {
		sink = ms
	}
}
