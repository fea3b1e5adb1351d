package packet

import (
	"encoding/binary"
	"os"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// room is frame memory off the heap that ends at a page nobody may touch: a read or write beyond a frame placed in it is a fault, and
// the test dies.
type room struct{ mem []byte }

// roomSize holds a burst of buffers and the longest frame.
const roomSize = 80 << 10

func newRoom(t testing.TB) *room {
	page := os.Getpagesize()
	size := (roomSize+page-1)/page*page + page
	mem, err := unix.Mmap(-1, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.Mprotect(mem[size-page:], unix.PROT_NONE); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Munmap(mem) })
	return &room{mem[:size-page]}
}

// place copies a frame to the end of the room and describes it, unparsed.
func (r *room) place(frame []byte) *Packet {
	b := r.mem[len(r.mem)-len(frame):]
	copy(b, frame)
	p := &Packet{Reason: DropTxFull, Verdict: Held, A: 1, B: 2, L3Len: 3}
	p.Fill(0, uintptr(unsafe.Pointer(unsafe.SliceData(r.mem)))+uintptr(len(r.mem)-len(frame)), uint32(len(frame)), uint32(len(frame)), 3)
	return p
}

var testIndex = Index{Seed0: 0x1234567, Seed1: 0x89abcdef1, Base: 1 << 20, Buckets: 1000}

// naiveSum is RFC 1071 word by word, as the text has it: big-endian words, an odd byte padded with 0, carries wrapped around.
func naiveSum(parts ...[]byte) uint16 {
	var all []byte
	for _, p := range parts {
		all = append(all, p...)
	}
	if len(all)%2 == 1 {
		all = append(all, 0)
	}
	var s uint32
	for i := 0; i < len(all); i += 2 {
		s += uint32(binary.BigEndian.Uint16(all[i:]))
		for s > 0xffff {
			s = s&0xffff + s>>16
		}
	}
	return uint16(s)
}

// naiveL4 is the checksum that the L4 part of an IPv4 packet ought to have, in host order.
func naiveL4(ip IPv4) uint16 {
	seg := append([]byte{}, ip.Payload()...)
	off := 16
	if ip.Proto() == ProtoUDP {
		off = 6
		seg = seg[:binary.BigEndian.Uint16(seg[4:])]
	}
	seg[off], seg[off+1] = 0, 0
	src, dst := ip.Src(), ip.Dst()
	s := ^naiveSum(src[:], dst[:], []byte{0, ip.Proto(), byte(len(seg) >> 8), byte(len(seg))}, seg)
	if ip.Proto() == ProtoUDP && s == 0 {
		s = 0xffff
	}
	return s
}

// naiveIP is the header checksum that an IPv4 packet ought to have, in host order.
func naiveIP(ip IPv4) uint16 {
	h := append([]byte{}, ip[:ip.HeaderLen()]...)
	h[10], h[11] = 0, 0
	return ^naiveSum(h)
}

func ip4(a, b, c, d byte) [4]byte { return [4]byte{a, b, c, d} }

var (
	client = Frame{Dst: [6]byte{2, 0, 0, 0, 0, 1}, Src: [6]byte{2, 0, 0, 0, 0, 9},
		SrcIP: ip4(10, 1, 0, 100), DstIP: ip4(10, 1, 0, 50), SrcPort: 40000, DstPort: 80}
)

// with is the client's frame with some changes.
func with(change func(f *Frame)) Frame {
	f := client
	change(&f)
	return f
}
