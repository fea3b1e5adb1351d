package worker

import (
	"fmt"
	"sync/atomic"
	"syscall"
	"unsafe"

	"sluice/dataplane/packet"
)

// The worker's scratch and counters lie in one mapping off the Go heap: on cache lines of its own, never scanned, and read by
// the control goroutine while the worker writes. All of it is written by the worker alone, in aligned words.

// figures are how busy the worker is.
type figures struct {
	busy, total, polls, packets, sleeps, flows, handed, taken uint64
}

// load reads a figure that the worker writes: never half of it.
func load(p *uint64) uint64 { return atomic.LoadUint64(p) }

const (
	packetsOff = 0
	countsOff  = packetsOff + packet.Burst*packetSize
	figuresOff = countsOff + 1024
	memorySize = 8192
)

// The counters fit their place.
var _ = [1024 - counters*8]struct{}{}

func (w *Worker) mapMemory() error {
	mem, err := syscall.Mmap(-1, 0, memorySize, syscall.PROT_READ|syscall.PROT_WRITE,
		syscall.MAP_PRIVATE|syscall.MAP_ANON|syscall.MAP_NORESERVE)
	if err != nil {
		return fmt.Errorf("no memory for worker %d (%d bytes): %w", w.opt.ID, memorySize, err)
	}
	w.mem = mem
	base := unsafe.Pointer(&mem[0])
	w.pk = (*[packet.Burst]packet.Packet)(unsafe.Add(base, packetsOff))
	w.counts = (*[counters]uint64)(unsafe.Add(base, countsOff))
	w.figures = (*figures)(unsafe.Add(base, figuresOff))
	return nil
}

func (w *Worker) unmapMemory() error { return syscall.Munmap(w.mem) }

func at(p uintptr) unsafe.Pointer { return unsafe.Add(nil, p) }

func u8(p uintptr) *uint8   { return (*uint8)(at(p)) }
func u16(p uintptr) *uint16 { return (*uint16)(at(p)) }
func u32(p uintptr) *uint32 { return (*uint32)(at(p)) }
func u64(p uintptr) *uint64 { return (*uint64)(at(p)) }
