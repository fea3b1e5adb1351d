package asm

import (
	"runtime"
	"testing"
	"time"
	"unsafe"
)

// burst returns n addresses of mapped words and n mbuf-like buffers whose data_off leads to frames.
func burst(n int) (words []uint64, addrs []uintptr, mbufs [][8]uint64, mbufAddrs []uintptr) {
	words, mbufs = make([]uint64, n), make([][8]uint64, n)
	for i := range words {
		words[i] = uint64(i)
		addrs = append(addrs, uintptr(unsafe.Pointer(&words[i])))
		mbufs[i][0] = uint64(uintptr(unsafe.Pointer(&mbufs[i][0])))
		*(*uint16)(unsafe.Pointer(&mbufs[i][2])) = 32
		mbufs[i][4] = uint64(i)
		mbufAddrs = append(mbufAddrs, uintptr(unsafe.Pointer(&mbufs[i][0])))
	}
	return
}

// indexed returns n structs of an index each, at byte 8, the n-th of which says n/2, and their addresses.
func indexed(n int) (structs [][2]uint64, addrs []uintptr) {
	structs = make([][2]uint64, n)
	for i := range structs {
		*(*uint32)(unsafe.Pointer(&structs[i][1])) = uint32(i / 2)
		addrs = append(addrs, uintptr(unsafe.Pointer(&structs[i])))
	}
	return structs, addrs
}

func TestPrefetchReadsNothingItMustNot(t *testing.T) {
	words, addrs, mbufs, mbufAddrs := burst(32)
	_, indexedAddrs := indexed(32)
	for n := 0; n <= 32; n++ {
		PrefetchN(unsafe.Pointer(&addrs[0]), n)
		PrefetchStride(unsafe.Pointer(&addrs[0]), (n+1)/2, 16)
		PrefetchData(unsafe.Pointer(&mbufAddrs[0]), n)
		PrefetchIndexed(unsafe.Pointer(&indexedAddrs[0]), n, 8, addrs[0])
	}
	PrefetchIndexed(nil, 0, 0, 0)
	PrefetchIndexed(nil, -1, 0, 0)
	PrefetchN(nil, 0)
	PrefetchData(nil, 0)
	PrefetchN(nil, -1)
	Prefetch1(addrs[0])
	for i := range words {
		if words[i] != uint64(i) || mbufs[i][4] != uint64(i) {
			t.Fatalf("prefetch changed memory at %d", i)
		}
	}
}

func TestEarlyLoadsFollowTheMbufToItsFrame(t *testing.T) {
	_, addrs, mbufs, mbufAddrs := burst(3)
	before := unlikely.Load()
	earlyN(unsafe.Pointer(&addrs[0]), 3)
	earlyData(unsafe.Pointer(&mbufAddrs[0]), 3)
	if unlikely.Load() != before {
		t.Fatal("early loads counted a sum that is not the magic number")
	}
	// Frames hold 0, 1, 2: make the sum the magic number, so that the counter proves which words were loaded.
	mbufs[2][4] = magic - 1
	earlyData(unsafe.Pointer(&mbufAddrs[0]), 3)
	if unlikely.Load() != before+1 {
		t.Fatal("earlyData did not load the frames of all three mbufs")
	}
	word := uint64(magic)
	early1(uintptr(unsafe.Pointer(&word)))
	if unlikely.Load() != before+2 {
		t.Fatal("early1 did not load its word")
	}
	words := [3]uint64{magic - 3, 1, 2}
	list := [3]uintptr{uintptr(unsafe.Pointer(&words[0])), uintptr(unsafe.Pointer(&words[1])), uintptr(unsafe.Pointer(&words[2]))}
	earlyN(unsafe.Pointer(&list[0]), 3)
	if unlikely.Load() != before+3 {
		t.Fatal("earlyN did not load all three words")
	}
	words = [3]uint64{magic - 2, 1, 2}
	earlyStride(unsafe.Pointer(&list[0]), 2, 16)
	if unlikely.Load() != before+4 {
		t.Fatal("earlyStride did not load the first and the third word alone")
	}
	elements := [3]uint64{5, magic - 10, 7} // the first two structs lead to one, the third to the other
	structs, leads := indexed(3)
	earlyIndexed(unsafe.Pointer(&leads[0]), 3, 8, uintptr(unsafe.Pointer(&elements[0])))
	if unlikely.Load() != before+5 {
		t.Fatal("earlyIndexed did not load the elements that the structs lead to")
	}
	runtime.KeepAlive(structs)
}

func TestRdtscAdvancesWithTheClock(t *testing.T) {
	for name, read := range map[string]func() uint64{"Rdtsc": Rdtsc, "RdtscFast": RdtscFast} {
		a := read()
		time.Sleep(time.Millisecond)
		b := read()
		if b <= a {
			t.Errorf("%s went from %d to %d in a millisecond", name, a, b)
		}
	}
	hz := CyclesPerSecond(5 * time.Millisecond)
	if hz < 1e6 || hz > 1e11 {
		t.Errorf("%d cycles a second is not the rate of a cycle counter", hz)
	}
}
