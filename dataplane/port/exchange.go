package port

import (
	"fmt"
	"syscall"
	"unsafe"
)

// Sizes of an Exchange. They are shared with C: exchange.h asserts them.
const (
	Burst    = 64  // packets received by one Turn, at most: see packet.Burst
	RxBurst  = 32  // packets that a port's driver is asked for at once
	MaxLanes = 32  // lanes of one queue, at most
	TxRoom   = 256 // packets that one lane can take in one Turn
	FreeRoom = 256 // packets that can be freed in one Turn

	SpareRoom = 64 // empty packets that a worker can have at hand, for what it says of its own accord
)

// Exchange is what a worker and its queue hand to each other once a burst. It lives off the Go heap, so that its mbuf
// pointers cross into C without being checked or moved, and its layout is shared with C.
//
// The owner of a packet is whoever holds its address: after a Turn the worker owns Rx[:RxN]; with the next Turn it gives
// away every packet it wrote to Tx or Free.
type Exchange struct {
	Lanes uint32 // lanes in use; written by the queue on the first Turn
	Next  uint32 // lane polled first by the next Turn (round robin)
	From  uint32 // lane that the received burst came from, valid if RxN > 0
	RxN   uint32 // packets received
	FreeN uint32 // packets to free; the queue sets it to 0

	SpareWant uint32 // empty packets that the worker wants to have, at most SpareRoom
	SpareN    uint32 // empty packets that it has; a Turn takes what is wanted from the pool, all of it or nothing
	_         [9]uint32

	TxN    [MaxLanes]uint32 // packets to send, per lane; the queue sets them to 0
	TxFull [MaxLanes]uint64 // packets that a lane did not take, since start; they have been freed

	Rx   [Burst]uintptr            // mbufs received
	Free [FreeRoom]uintptr         // mbufs to free
	Tx   [MaxLanes][TxRoom]uintptr // mbufs to send

	Spare [SpareRoom]uintptr // empty mbufs: they begin at the usual headroom and have no length yet
}

// Offsets of the mbuf fields that workers read and write, in bytes. They are those of DPDK's struct rte_mbuf (asserted
// in C at compile time) and of the buffers of Memory.
const (
	OffBufAddr = 0  // uintptr: start of the buffer, headroom included
	OffDataOff = 16 // uint16: where the frame begins, counted from the buffer's start
	OffNbSegs  = 20 // uint16: segments of the packet
	OffFlags   = 24 // uint64: offload flags (ol_flags)
	OffPktLen  = 36 // uint32: bytes of the packet, over all segments
	OffDataLen = 40 // uint16: bytes of the packet in this segment
	OffNext    = 64 // uintptr: next segment
)

// Headroom is the free space before a received frame, in bytes.
const Headroom = 128

// NewExchange returns an empty Exchange off the Go heap. It is never moved or collected; a queue's owner keeps one for
// the life of the process and ReleaseExchange is for tests.
func NewExchange() (*Exchange, error) {
	mem, err := mapAnonymous(int(unsafe.Sizeof(Exchange{})))
	if err != nil {
		return nil, fmt.Errorf("cannot map %d bytes for a packet exchange: %w", unsafe.Sizeof(Exchange{}), err)
	}
	return (*Exchange)(unsafe.Pointer(&mem[0])), nil
}

// ReleaseExchange unmaps x, which must come from NewExchange and must not be used any more.
func ReleaseExchange(x *Exchange) error {
	return syscall.Munmap(unsafe.Slice((*byte)(unsafe.Pointer(x)), pageRound(int(unsafe.Sizeof(Exchange{})))))
}

// Ptr turns an address off the Go heap into a pointer.
func Ptr(p uintptr) unsafe.Pointer { return unsafe.Add(unsafe.Pointer(nil), p) }

// Data returns the address of the first byte of mbuf m's frame.
func Data(m uintptr) uintptr {
	return *(*uintptr)(Ptr(m + OffBufAddr)) + uintptr(*(*uint16)(Ptr(m + OffDataOff)))
}

// DataLen returns the bytes of the frame in m's first segment.
func DataLen(m uintptr) uint32 { return uint32(*(*uint16)(Ptr(m + OffDataLen))) }

// SetLen sets the length of a packet of one segment.
func SetLen(m uintptr, n uint32) {
	*(*uint16)(Ptr(m + OffDataLen)) = uint16(n)
	*(*uint32)(Ptr(m + OffPktLen)) = n
}

// Prepend makes a frame begin n bytes earlier, in its headroom.
func Prepend(m uintptr, n uint32) {
	*(*uint16)(Ptr(m + OffDataOff)) -= uint16(n)
	*(*uint16)(Ptr(m + OffDataLen)) += uint16(n)
	*(*uint32)(Ptr(m + OffPktLen)) += n
}

// Strip makes a frame begin n bytes later.
func Strip(m uintptr, n uint32) { Prepend(m, -n) }

// pageRound rounds a size up to whole pages, as mmap does.
func pageRound(n int) int {
	page := syscall.Getpagesize()
	return (n + page - 1) / page * page
}

// mapAnonymous maps zeroed memory of at least n bytes off the Go heap.
func mapAnonymous(n int) ([]byte, error) {
	return syscall.Mmap(-1, 0, pageRound(n), syscall.PROT_READ|syscall.PROT_WRITE,
		syscall.MAP_PRIVATE|syscall.MAP_ANONYMOUS|syscall.MAP_POPULATE)
}
