package packet

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"testing"
)

func TestSumIsNaiveSum(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for n := range 200 {
		b := make([]byte, n)
		for range 20 {
			for i := range b {
				b[i] = byte(r.Uint32())
				if r.IntN(4) == 0 {
					b[i] = 0xff
				}
			}
			if got, want := Swap16(Sum(b, 0)), naiveSum(b); got != want {
				t.Fatalf("Sum(%x) = %04x, word by word it is %04x", b, got, want)
			}
			if n%2 == 0 {
				if got, want := Sum(b, Sum([]byte{0xff, 0xfe, 3, 4}, 0)), Swap16(naiveSum([]byte{0xff, 0xfe, 3, 4}, b)); got != want {
					t.Fatalf("a sum carried on over %x is %04x, want %04x", b, got, want)
				}
			}
		}
	}
}

// The example of RFC 1071 section 3.
func TestSumOfRFC1071(t *testing.T) {
	if got := Swap16(Sum([]byte{0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7}, 0)); got != 0xddf2 {
		t.Errorf("sum is %04x, RFC 1071 says ddf2", got)
	}
}

// The example of RFC 1624 section 4, at which equation 2 of RFC 1141 goes wrong: 0xdd2f with 0x5555 becoming 0x3285 gives 0x0000.
func TestPatchOfRFC1624(t *testing.T) {
	o, n := uint16(0x5555), uint16(0x3285)
	if got := Patch(0xdd2f, Fold(uint32(^o)+uint32(n))); got != 0 {
		t.Errorf("patched checksum is %04x, RFC 1624 says 0000", got)
	}
}

func FuzzPatch(f *testing.F) {
	f.Add([]byte{0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff}, uint32(0), uint32(0xffffffff))
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0, 0}, uint32(0xffffffff), uint32(0))
	f.Add([]byte("some payload"), uint32(0x0a010064), uint32(0x0a020005))
	f.Fuzz(func(t *testing.T, rest []byte, o, n uint32) {
		var before, after [4]byte
		binary.LittleEndian.PutUint32(before[:], o)
		binary.LittleEndian.PutUint32(after[:], n)
		old, want := Swap16(^naiveSum(before[:], rest)), Swap16(^naiveSum(after[:], rest))
		if naiveSum(before[:], rest) == 0 || naiveSum(after[:], rest) == 0 {
			return // a packet of zeros only: RFC 1624 section 3, not one with addresses
		}
		if got := Patch(old, Fold(Delta32(o, n))); got != want {
			t.Errorf("%08x -> %08x over %x: patched %04x, computed anew %04x", o, n, rest, got, want)
		}
	})
}

func TestUDPChecksumZero(t *testing.T) {
	if got := PatchUDP(0, 0x1234); got != 0 {
		t.Errorf("a datagram without checksum got %04x", got)
	}
	// ~0x0001 + 0x0001 = 0xffff: the new checksum computes to 0.
	if got := PatchUDP(1, 1); got != 0xffff {
		t.Errorf("a checksum that computes to 0 is sent as %04x, want ffff", got)
	}
}

func TestHeaderSum(t *testing.T) {
	r := newRoom(t)
	for _, options := range []int{0, 4, 40} {
		p := r.place(with(func(f *Frame) { f.IPOptions = make([]byte, options) }).Bytes())
		Parse(p, &testIndex)
		if !HeaderSumOK(p) {
			t.Errorf("%d bytes of options: a right header checksum is refused", options)
		}
		for i := range IPv4Len + options {
			p.Bytes()[EtherLen+i] ^= 0x10
			if HeaderSumOK(p) {
				t.Errorf("%d bytes of options: a change at byte %d is not noticed", options, i)
			}
			p.Bytes()[EtherLen+i] ^= 0x10
		}
		want := bytes.Clone(p.Bytes())
		p.Bytes()[EtherLen+OffIPSum] = 0x77
		if SetHeaderSum(p); !bytes.Equal(p.Bytes(), want) {
			t.Errorf("%d bytes of options: header checksum set to %x", options, p.Bytes()[EtherLen+OffIPSum:][:2])
		}
	}
}

func TestPartialChecksums(t *testing.T) {
	r := newRoom(t)
	for _, proto := range []uint8{ProtoTCP, ProtoUDP} {
		for n := range 70 {
			whole := with(func(f *Frame) { f.Proto, f.Payload = proto, bytes.Repeat([]byte{byte(n), 7}, n)[:n] })
			part := whole
			part.Partial = true
			for _, f := range []Frame{whole, part} {
				p := r.place(f.Bytes())
				Parse(p, &testIndex)
				sum := load16(p.Data + uintptr(p.L4) + sumOffset(proto))
				if got := Partial(sum, PseudoSum(p.A, proto), p.L4Len()); got != f.Partial {
					t.Fatalf("protocol %d, %d bytes: partial is %v, want %v", proto, n, got, f.Partial)
				}
				if got := L4SumOK(p); got == f.Partial {
					t.Fatalf("protocol %d, %d bytes, partial %v: verified as %v", proto, n, f.Partial, got)
				}
				if !Complete(p) || !bytes.Equal(p.Bytes(), whole.Bytes()) {
					t.Fatalf("protocol %d, %d bytes, partial %v: completed to\n%x, want\n%x", proto, n, f.Partial, p.Bytes(), whole.Bytes())
				}
			}
		}
	}
}

func TestCompleteNeedsOnePiece(t *testing.T) {
	r := newRoom(t)
	whole := with(func(f *Frame) { f.Payload, f.Partial = make([]byte, 200), true }).Bytes()
	p := r.place(whole[:100])
	p.Frame = uint16(len(whole))
	Parse(p, &testIndex)
	if p.Class != ClassPlain || p.Flags&FlagSegmented == 0 {
		t.Fatalf("class %d flags %x", p.Class, p.Flags)
	}
	if Complete(p) || L4SumOK(p) || !bytes.Equal(p.Bytes(), whole[:100]) {
		t.Error("a checksum was computed over half a packet")
	}
}

func TestNoUDPChecksumIsRight(t *testing.T) {
	p := newRoom(t).place(with(func(f *Frame) { f.Proto, f.NoSum = ProtoUDP, true }).Bytes())
	Parse(p, &testIndex)
	if !L4SumOK(p) {
		t.Error("a datagram without checksum is refused")
	}
}
