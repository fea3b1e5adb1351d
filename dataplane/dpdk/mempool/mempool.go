// Package mempool creates pools of packet buffers and tells how full they are. Taking buffers from a pool is package
// mbuf's business. Names and signatures are those of github.com/yerden/go-dpdk/mempool.
package mempool

/*
#cgo pkg-config: libdpdk
#include <errno.h>
#include <stdlib.h>
#include <rte_errno.h>
#include <rte_mbuf.h>
#include <rte_mempool.h>

static struct rte_mempool *create_mbuf_pool(const char *name, unsigned n, unsigned cache, uint16_t priv,
		uint16_t room, int socket, const char *ops) {
	struct rte_mempool *mp = ops ?
		rte_pktmbuf_pool_create_by_ops(name, n, cache, priv, room, socket, ops) :
		rte_pktmbuf_pool_create(name, n, cache, priv, room, socket);
	errno = mp ? 0 : rte_errno;
	return mp;
}

static struct rte_mempool *lookup(const char *name) {
	struct rte_mempool *mp = rte_mempool_lookup(name);
	errno = mp ? 0 : rte_errno;
	return mp;
}

static int is_full(struct rte_mempool *mp) { return rte_mempool_full(mp); }
static int is_empty(struct rte_mempool *mp) { return rte_mempool_empty(mp); }
*/
import "C"

import (
	"fmt"
	"math"
	"unsafe"
)

// Mempool is a pool of equal objects in DPDK's memory.
type Mempool C.struct_rte_mempool

// Option is a setting of a new pool.
type Option struct {
	set func(*settings)
}

type settings struct {
	cache  uint32
	priv   uint32
	socket C.int
	ops    string
}

// OptCacheSize keeps up to size objects for each lcore apart, so that it seldom touches the pool all share. The
// default is none.
func OptCacheSize(size uint32) Option { return Option{func(s *settings) { s.cache = size }} }

// OptOpsName chooses how free objects are kept, e.g. "ring_mp_mc" or "stack".
func OptOpsName(name string) Option { return Option{func(s *settings) { s.ops = name }} }

// OptPrivateDataSize adds size bytes, a multiple of 8, to each buffer for the application.
func OptPrivateDataSize(size uint32) Option { return Option{func(s *settings) { s.priv = size }} }

// OptSocket takes the memory from a NUMA socket. The default is any.
func OptSocket(socket int) Option { return Option{func(s *settings) { s.socket = C.int(socket) }} }

// CreateMbufPool creates a pool of n packet buffers. dataRoomSize counts the bytes of each, the 128 of headroom
// included. n = 2^q - 1 wastes least memory.
func CreateMbufPool(name string, n uint32, dataRoomSize uint16, opts ...Option) (*Mempool, error) {
	s := settings{socket: C.SOCKET_ID_ANY}
	for _, o := range opts {
		o.set(&s)
	}
	if s.priv > math.MaxUint16 {
		return nil, fmt.Errorf("mempool %q: private data of %d bytes: at most %d fit", name, s.priv, math.MaxUint16)
	}
	cname := C.CString(name)
	defer C.free(unsafe.Pointer(cname))
	var cops *C.char
	if s.ops != "" {
		cops = C.CString(s.ops)
		defer C.free(unsafe.Pointer(cops))
	}
	mp, err := C.create_mbuf_pool(cname, C.uint(n), C.uint(s.cache), C.uint16_t(s.priv), C.uint16_t(dataRoomSize), s.socket, cops)
	if mp == nil {
		return nil, fmt.Errorf("mempool %q: creating %d buffers: %w", name, n, err)
	}
	return (*Mempool)(mp), nil
}

// Lookup returns the pool of that name.
func Lookup(name string) (*Mempool, error) {
	cname := C.CString(name)
	defer C.free(unsafe.Pointer(cname))
	mp, err := C.lookup(cname)
	if mp == nil {
		return nil, fmt.Errorf("mempool %q: %w", name, err)
	}
	return (*Mempool)(mp), nil
}

func (mp *Mempool) c() *C.struct_rte_mempool { return (*C.struct_rte_mempool)(mp) }

// AvailCount returns how many objects are free, those in the lcores' caches included. It is exact only while nobody
// else uses the pool.
func (mp *Mempool) AvailCount() int { return int(C.rte_mempool_avail_count(mp.c())) }

// InUseCount returns how many objects are taken, with the exactness of AvailCount.
func (mp *Mempool) InUseCount() int { return int(C.rte_mempool_in_use_count(mp.c())) }

// IsEmpty tells whether no object is free.
func (mp *Mempool) IsEmpty() bool { return C.is_empty(mp.c()) != 0 }

// IsFull tells whether every object is free.
func (mp *Mempool) IsFull() bool { return C.is_full(mp.c()) != 0 }

// Free gives the pool's memory back. Nothing may use the pool or an object of it afterwards.
func (mp *Mempool) Free() { C.rte_mempool_free(mp.c()) }
