// Package memzone reserves named pieces of DPDK's memory, in hugepages where EAL has them. Names and signatures are
// those of github.com/yerden/go-dpdk/memzone.
package memzone

/*
#cgo pkg-config: libdpdk
#include <errno.h>
#include <stdlib.h>
#include <rte_errno.h>
#include <rte_memory.h>
#include <rte_memzone.h>

static const struct rte_memzone *reserve(const char *name, size_t len, int socket, unsigned align) {
	const struct rte_memzone *mz = rte_memzone_reserve_aligned(name, len, socket, 0, align);
	errno = mz ? 0 : rte_errno;
	return mz;
}

// The structure is packed, so Go does not see its fields.
static void *addr(const struct rte_memzone *mz) { return mz->addr; }
static size_t len(const struct rte_memzone *mz) { return mz->len; }
*/
import "C"

import (
	"fmt"
	"syscall"
	"unsafe"
)

// Memzone is a reserved piece of memory, contiguous in the process and, with hugepages, in the machine.
type Memzone C.struct_rte_memzone

// Option is a setting of a new zone.
type Option struct {
	set func(*settings)
}

type settings struct {
	align  C.uint
	socket C.int
}

// OptAligned aligns the zone; align is a power of two. The default is a cache line.
func OptAligned(align uint) Option { return Option{func(s *settings) { s.align = C.uint(align) }} }

// OptSocket takes the memory from a NUMA socket. The default is any.
func OptSocket(socket uint) Option { return Option{func(s *settings) { s.socket = C.int(socket) }} }

// Reserve reserves size bytes under a name that no other zone has. The memory is zero the first time it is handed out,
// not after Free. size 0 takes the largest free piece.
func Reserve(name string, size uintptr, opts ...Option) (*Memzone, error) {
	s := settings{align: C.RTE_CACHE_LINE_SIZE, socket: C.SOCKET_ID_ANY}
	for _, o := range opts {
		o.set(&s)
	}
	cname := C.CString(name)
	defer C.free(unsafe.Pointer(cname))
	mz, err := C.reserve(cname, C.size_t(size), s.socket, s.align)
	if mz == nil {
		return nil, fmt.Errorf("memzone %q of %d bytes: %w", name, size, err)
	}
	return (*Memzone)(mz), nil
}

func (mz *Memzone) c() *C.struct_rte_memzone { return (*C.struct_rte_memzone)(mz) }

// Addr is the zone's first byte.
func (mz *Memzone) Addr() unsafe.Pointer { return C.addr(mz.c()) }

// Bytes is the zone's memory: valid until Free.
func (mz *Memzone) Bytes() []byte {
	return unsafe.Slice((*byte)(mz.Addr()), int(C.len(mz.c())))
}

// Free gives the memory back.
func (mz *Memzone) Free() error {
	if rc := C.rte_memzone_free(mz.c()); rc != 0 {
		return fmt.Errorf("memzone: freeing: %w", syscall.Errno(-rc))
	}
	return nil
}
