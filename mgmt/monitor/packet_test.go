package monitor

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"golang.org/x/sys/unix"
)

// covered is the sum over what the checksum of a TCP segment or UDP datagram covers: 0 where it is right.
func covered(b []byte) uint16 {
	hl := int(b[0]&15) * 4
	pseudo := append(append([]byte{}, b[12:20]...), 0, b[9], byte((len(b)-hl)>>8), byte(len(b)-hl))
	return checksum(append(pseudo, b[hl:]...))
}

// filled is a packet with options in its header and right checksums.
func filled(r *rand.Rand, proto uint8, payload []byte) []byte {
	l4 := append(make([]byte, map[uint8]int{unix.IPPROTO_TCP: 20, unix.IPPROTO_UDP: 8}[proto]), payload...)
	for i := range l4 {
		l4[i] = byte(r.Uint32())
	}
	at := map[uint8]int{unix.IPPROTO_TCP: 16, unix.IPPROTO_UDP: 6}[proto]
	l4[at], l4[at+1] = 0, 0
	b := ipv4(proto, [4]byte{10, 2, 0, 5}, [4]byte{10, 1, byte(r.Uint32()), byte(r.Uint32())}, l4)
	if c := covered(b); c != 0 || proto != unix.IPPROTO_UDP {
		binary.BigEndian.PutUint16(b[20+at:], c)
	} else {
		binary.BigEndian.PutUint16(b[20+at:], 0xffff)
	}
	return b
}

// TestMark: whatever the packet, both checksums are right for the new destination, and nothing else has changed.
func TestMark(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 20000 {
		proto := uint8([]int{unix.IPPROTO_TCP, unix.IPPROTO_UDP}[i%2])
		b := filled(r, proto, make([]byte, r.IntN(40)))
		was := bytes.Clone(b)
		via := [4]byte{byte(r.Uint32()), byte(r.Uint32()), byte(r.Uint32()), byte(r.Uint32())}
		b[1], was[1] = 3, 3
		mark(b, via, 37)
		if checksum(b[:20]) != 0 || covered(b) != 0 || [4]byte(b[16:20]) != via || b[1] != 37<<2|3 {
			t.Fatalf("%x became %x", was, b)
		}
		at := 20 + map[uint8]int{unix.IPPROTO_TCP: 16, unix.IPPROTO_UDP: 6}[proto]
		if proto == unix.IPPROTO_UDP && b[at] == 0 && b[at+1] == 0 {
			t.Fatalf("%x has no checksum any more", b)
		}
		for _, p := range [][]byte{b, was} {
			clear(p[at : at+2])
			p[1] = 0
			clear(p[10:12])
			clear(p[16:20])
		}
		if !bytes.Equal(b, was) {
			t.Fatalf("%x and %x differ elsewhere", was, b)
		}
	}
	none := ipv4(unix.IPPROTO_UDP, [4]byte{}, [4]byte{10, 1, 0, 1}, make([]byte, 12)) // no checksum stays none
	mark(none, [4]byte{10, 2, 0, 1}, 1)
	if none[26] != 0 || none[27] != 0 {
		t.Errorf("a datagram without a checksum got one: %x", none)
	}
}

// TestWrap: the packet is in the other one as it was.
func TestWrap(t *testing.T) {
	in := filled(rand.New(rand.NewPCG(3, 4)), unix.IPPROTO_TCP, []byte("hello"))
	in[1] = 0xb8
	out := wrap(bytes.Clone(in), [4]byte{10, 2, 0, 5}, [4]byte{10, 2, 0, 11})
	if !bytes.Equal(out[20:], in) || checksum(out[:20]) != 0 || out[9] != 4 || out[1] != 0xb8 || int(binary.BigEndian.Uint16(out[2:])) != len(out) ||
		[4]byte(out[12:16]) != [4]byte{10, 2, 0, 5} || [4]byte(out[16:20]) != [4]byte{10, 2, 0, 11} {
		t.Errorf("%x", out)
	}
}

// FuzzOrigin: no packet makes the reader fail, and one that it knows can be sent on in every form.
func FuzzOrigin(f *testing.F) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, proto := range []uint8{unix.IPPROTO_TCP, unix.IPPROTO_UDP} {
		b := filled(r, proto, []byte("hello"))
		f.Add(b)
		f.Add(b[:27])
		b = bytes.Clone(b)
		b[0] = 0x4f
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		o, ok := originOf(b)
		if !ok {
			return
		}
		if o.port != binary.BigEndian.Uint16(b[int(b[0]&15)*4:]) || o.ip != [4]byte(b[12:16]) {
			t.Fatalf("%x is of %v", b, o)
		}
		if out := wrap(bytes.Clone(b), o.ip, o.ip); len(out) != len(b)+20 {
			t.Fatalf("%x in %x", b, out)
		}
		mark(b, [4]byte{10, 2, 0, 11}, 63)
	})
}
