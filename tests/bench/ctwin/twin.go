// Package ctwin is what the worker does with packets of known flows, written in C: a yardstick for the bench, which runs it on the
// worker's own flow entries and frames and compares what both send, byte for byte. The product knows nothing of it.
package ctwin

/*
#cgo CFLAGS: -O3 -march=x86-64-v3 -Wall -Werror
#include "twin.h"
*/
import "C"

import (
	"bufio"
	"errors"
	"fmt"
	"math/bits"
	"os"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"

	"sluice/dataplane/flow"
	"sluice/dataplane/packet"
	"sluice/dataplane/port"
	"sluice/dataplane/table"
)

// The layouts that twin.c knows.
var (
	_ = [1]struct{}{}[unsafe.Offsetof(flow.Entry{}.Last)-32]
	_ = [1]struct{}{}[unsafe.Offsetof(flow.Entry{}.Account)-44]
	_ = [1]struct{}{}[unsafe.Offsetof(flow.Entry{}.Pseudo)-48]
	_ = [1]struct{}{}[unsafe.Offsetof(flow.Entry{}.Bytes)-56]
	_ = [1]struct{}{}[unsafe.Offsetof(table.Adjacency{}.Lane)-12]
	_ = [1]struct{}{}[port.OffBufAddr]
	_ = [1]struct{}{}[port.OffDataOff-16]
	_ = [1]struct{}{}[port.OffDataLen-40]
)

// countsSize is room for the counters of 4096 accounts, as far apart as the worker's.
const countsSize = 4096 * 64

// Twin is the C loop over one worker's flows.
type Twin struct {
	t      *C.struct_twin // off the Go heap, as everything that C holds
	mem    []byte
	header [7]uint64
}

// headerSize is what lies before the index in a flow mapping.
const headerSize = 4096

// New makes the twin of a worker whose flow memory has the given name, with the worker's tables. mac is that of the port where
// packets come in; mtu the least of all ports.
func New(flows string, set *table.Set, mac [6]byte, mtu uint32) (*Twin, error) {
	at, err := mapped(flows)
	if err != nil {
		return nil, err
	}
	mem, err := unix.Mmap(-1, 0, headerSize+countsSize, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		return nil, fmt.Errorf("no memory for the twin in C: %w", err)
	}
	t := &Twin{mem: mem, t: (*C.struct_twin)(unsafe.Pointer(&mem[0]))}
	// The mapping's header as flow/mapping.go lays it out: magic, version and entry size, buckets, limit, seeds, where the entries begin.
	t.header = *(*[7]uint64)(port.Ptr(at))
	t.t.seed[0], t.t.seed[1] = C.uint64_t(t.header[4]), C.uint64_t(t.header[5])
	t.t.base, t.t.buckets = C.uint64_t(at+headerSize), C.uint64_t(t.header[2])
	t.t.lines, t.t.numbers = C.uint64_t(at)+C.uint64_t(t.header[6]), 1<<bits.Len64(t.header[3]+1)-1
	t.t.adjacencies, t.t.gen = C.uint64_t(set.Adjacencies()), C.uint32_t(set.Gen)
	t.t.counts = C.uint64_t(uintptr(unsafe.Pointer(&mem[headerSize])))
	t.t.mac, t.t.mtu = C.uint64_t(packet.MAC(mac)<<16), C.uint32_t(mtu)
	return t, nil
}

// Close frees what the twin holds.
func (t *Twin) Close() error { return unix.Munmap(t.mem) }

// Turn is one turn of the worker: what the last one decided is sent, a burst is received and decided about. It returns how many
// packets came.
func (t *Twin) Turn(q port.Queue, x *port.Exchange) int {
	q.Turn(x)
	if x.RxN != 0 {
		C.twin_burst(C.uintptr_t(uintptr(unsafe.Pointer(t.t))), C.uintptr_t(uintptr(unsafe.Pointer(&x.Rx))), C.uint32_t(x.RxN),
			C.uintptr_t(uintptr(unsafe.Pointer(&x.Tx))), C.uintptr_t(uintptr(unsafe.Pointer(&x.TxN))), port.TxRoom)
	}
	return int(x.RxN)
}

// Lines is where the lines of flow entries begin.
func (t *Twin) Lines() uintptr { return uintptr(t.t.lines) }

// Hits is how many packets the twin has translated.
func (t *Twin) Hits() uint64 { return uint64(t.t.hits) }

// mapped is where this process has mapped the flow memory of a name.
func mapped(name string) (uintptr, error) {
	f, err := os.Open("/proc/self/maps")
	if err != nil {
		return 0, err
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		if strings.Contains(s.Text(), "/memfd:"+name+" ") {
			var at uintptr
			if _, err := fmt.Sscanf(s.Text(), "%x-", &at); err != nil {
				return 0, err
			}
			return at, nil
		}
	}
	return 0, errors.New("there is no flow memory " + name + " in this process")
}
