// Package ring hands pointers from one thread to another through DPDK's lockless rings. Names and signatures are those
// of github.com/yerden/go-dpdk/ring.
//
// Only pointers to memory that is not Go's may go through a ring: the garbage collector does not look into it.
package ring

/*
#cgo pkg-config: libdpdk
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <rte_errno.h>
#include <rte_ring.h>

static struct rte_ring *create(const char *name, unsigned count, int socket, unsigned flags) {
	struct rte_ring *r = rte_ring_create(name, count, socket, flags);
	errno = r ? 0 : rte_errno;
	return r;
}

static struct rte_ring *lookup(const char *name) {
	struct rte_ring *r = rte_ring_lookup(name);
	errno = r ? 0 : rte_errno;
	return r;
}

static unsigned capacity(struct rte_ring *r) { return rte_ring_get_capacity(r); }
static unsigned count(struct rte_ring *r) { return rte_ring_count(r); }

// Tables of objects come as integers, so that cgo does not walk them on every call. The counts come back in one
// value, n in the upper half, for the same reason.
#define BURST(name) \
	static uint64_t name(struct rte_ring *r, uintptr_t obj, unsigned n) { \
		unsigned rest = 0; \
		unsigned done = rte_ring_##name(r, (void *)obj, n, &rest); \
		return (uint64_t)done << 32 | rest; \
	}

BURST(enqueue_burst)
BURST(dequeue_burst)
BURST(sp_enqueue_burst)
BURST(sc_dequeue_burst)
*/
import "C"

import (
	"fmt"
	"runtime"
	"unsafe"
)

// Flags of OptFlag.
const (
	SingleConsumer uint = C.RING_F_SC_DEQ   // one thread dequeues
	SingleProducer      = C.RING_F_SP_ENQ   // one thread enqueues
	ExactSize           = C.RING_F_EXACT_SZ // holds exactly the count asked for
)

// Options of Create for the flags.
var (
	OptSC = OptFlag(SingleConsumer)
	OptSP = OptFlag(SingleProducer)
	OptES = OptFlag(ExactSize)
)

// Ring is a queue of pointers of fixed size.
type Ring C.struct_rte_ring

// Option is a setting of a new ring.
type Option struct {
	flag uint
}

// OptFlag sets flags; several options add up.
func OptFlag(flag uint) Option { return Option{flag} }

// Create creates a ring on any NUMA socket. Without ExactSize count must be a power of two and the ring holds count-1
// pointers. By default any number of threads may enqueue and dequeue.
func Create(name string, count uint, opts ...Option) (*Ring, error) {
	var flags uint
	for _, o := range opts {
		flags |= o.flag
	}
	cname := C.CString(name)
	defer C.free(unsafe.Pointer(cname))
	r, err := C.create(cname, C.uint(count), C.SOCKET_ID_ANY, C.uint(flags))
	if r == nil {
		return nil, fmt.Errorf("ring %q of %d: %w", name, count, err)
	}
	return (*Ring)(r), nil
}

// Lookup returns the ring of that name.
func Lookup(name string) (*Ring, error) {
	cname := C.CString(name)
	defer C.free(unsafe.Pointer(cname))
	r, err := C.lookup(cname)
	if r == nil {
		return nil, fmt.Errorf("ring %q: %w", name, err)
	}
	return (*Ring)(r), nil
}

func (r *Ring) c() *C.struct_rte_ring { return (*C.struct_rte_ring)(r) }

// Cap returns how many pointers the ring can hold.
func (r *Ring) Cap() uint { return uint(C.capacity(r.c())) }

// Count returns how many pointers are in the ring.
func (r *Ring) Count() uint { return uint(C.count(r.c())) }

// Free gives the ring's memory back. Nobody may use it afterwards.
func (r *Ring) Free() { C.rte_ring_free(r.c()) }

// EnqueueBurst puts as many of obj into the ring as fit, first ones first; it returns how many and how much room is
// left.
func (r *Ring) EnqueueBurst(obj []unsafe.Pointer) (n, free uint32) {
	if len(obj) == 0 {
		return 0, uint32(r.Cap() - r.Count())
	}
	escape(obj)
	v := C.enqueue_burst(r.c(), C.uintptr_t(uintptr(unsafe.Pointer(&obj[0]))), C.uint(len(obj)))
	runtime.KeepAlive(obj)
	return split(v)
}

// DequeueBurst takes up to len(obj) pointers out of the ring, oldest first; it returns how many and how many are left.
func (r *Ring) DequeueBurst(obj []unsafe.Pointer) (n, avail uint32) {
	if len(obj) == 0 {
		return 0, uint32(r.Count())
	}
	escape(obj)
	v := C.dequeue_burst(r.c(), C.uintptr_t(uintptr(unsafe.Pointer(&obj[0]))), C.uint(len(obj)))
	runtime.KeepAlive(obj)
	return split(v)
}

// SpEnqueueBurst is EnqueueBurst when no other thread enqueues.
func (r *Ring) SpEnqueueBurst(obj []unsafe.Pointer) (n, free uint32) {
	if len(obj) == 0 {
		return 0, uint32(r.Cap() - r.Count())
	}
	escape(obj)
	v := C.sp_enqueue_burst(r.c(), C.uintptr_t(uintptr(unsafe.Pointer(&obj[0]))), C.uint(len(obj)))
	runtime.KeepAlive(obj)
	return split(v)
}

// ScDequeueBurst is DequeueBurst when no other thread dequeues.
func (r *Ring) ScDequeueBurst(obj []unsafe.Pointer) (n, avail uint32) {
	if len(obj) == 0 {
		return 0, uint32(r.Count())
	}
	escape(obj)
	v := C.sc_dequeue_burst(r.c(), C.uintptr_t(uintptr(unsafe.Pointer(&obj[0]))), C.uint(len(obj)))
	runtime.KeepAlive(obj)
	return split(v)
}

func split(v C.uint64_t) (uint32, uint32) { return uint32(v >> 32), uint32(v) }

var (
	never bool
	sink  []unsafe.Pointer
)

// escape makes the compiler keep obj's array off the stack: a stack may move between taking the array's address as an
// integer and its use in C.
func escape(obj []unsafe.Pointer) {
	if never {
		sink = obj
	}
}
