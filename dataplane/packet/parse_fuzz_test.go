package packet

import (
	"encoding/binary"
	"runtime/debug"
	"testing"
)

// reference is the parse as one would write it from the RFCs, on a slice whose bounds Go checks.
func reference(b []byte, frame int) (class Class, why Reason, l3, l4 int) {
	if len(b) < 14 {
		return ClassMalformed, DropTruncated, 0, 0
	}
	l3 = 14
	ether := binary.BigEndian.Uint16(b[12:])
	if ether == 0x8100 {
		if len(b) < 18 {
			return ClassMalformed, DropTruncated, 0, 0
		}
		ether, l3 = binary.BigEndian.Uint16(b[16:]), 18
	}
	h := b[l3:]
	switch ether {
	default:
		return ClassOther, 0, l3, 0
	case 0x86dd:
		return ClassIPv6, 0, l3, 0
	case 0x0806:
		if len(h) < 28 || string(h[:6]) != "\x00\x01\x08\x00\x06\x04" {
			return ClassMalformed, DropBadARP, l3, 0
		}
		return ClassARP, 0, l3, 0
	case 0x0800:
	}
	if len(h) < 20 {
		return ClassMalformed, DropTruncated, l3, 0
	}
	ihl, total := int(h[0]&15)*4, int(binary.BigEndian.Uint16(h[2:]))
	if h[0]>>4 != 4 || ihl < 20 || total < ihl {
		return ClassMalformed, DropBadIPHeader, l3, 0
	}
	if total+l3 > frame && frame >= 1960 {
		return ClassMalformed, DropOversized, l3, 0
	}
	if total+l3 > frame || ihl > len(h) {
		return ClassMalformed, DropTruncated, l3, 0
	}
	l4 = l3 + ihl
	if f := binary.BigEndian.Uint16(h[6:]); f&0x3fff != 0 {
		return ClassFragment, 0, l3, l4
	}
	if ihl > 20 {
		return ClassOptions, 0, l3, l4
	}
	class, why = referenceL4(h[9], h[20:], total-20)
	if class == ClassPlain && h[8] < 2 {
		class = ClassExpiring
	}
	return class, why, l3, l4
}

func referenceL4(proto uint8, t []byte, size int) (Class, Reason) {
	switch proto {
	case 6:
		switch {
		case size < 20:
			return ClassMalformed, DropBadL4Header
		case len(t) < 20:
			return ClassMalformed, DropTruncated
		case int(t[12]>>4) < 5 || int(t[12]>>4)*4 > size:
			return ClassMalformed, DropBadL4Header
		}
		return ClassPlain, 0
	case 17:
		switch {
		case size < 8:
			return ClassMalformed, DropBadL4Header
		case len(t) < 8:
			return ClassMalformed, DropTruncated
		}
		if n := int(binary.BigEndian.Uint16(t[4:])); n < 8 || n > size {
			return ClassMalformed, DropBadL4Header
		}
		return ClassPlain, 0
	case 1:
		if size < 8 || len(t) < 8 {
			return ClassMalformed, DropBadICMP
		}
		return ClassICMP, 0
	}
	return ClassOtherIP, 0
}

// checkReference compares a parsed packet with the reference.
func checkReference(t *testing.T, p *Packet) {
	t.Helper()
	b := p.Bytes()
	class, why, l3, l4 := reference(b, int(p.Frame))
	if p.Class != class || p.Reason != why {
		t.Fatalf("class %d reason %v, the reference says %d %v, of %d bytes in a frame of %d: %x", p.Class, p.Reason, class, why, len(b), p.Frame, b)
	}
	if len(b) >= 14 {
		var flags Flags
		for f, on := range map[Flags]bool{FlagGroup: b[0]&1 != 0, FlagVLAN: l3 == 18, FlagSegmented: len(b) != int(p.Frame), FlagLowTTL: l4 != 0 && b[l3+8] < 2} {
			if on {
				flags |= f
			}
		}
		if p.Flags != flags && (class != ClassMalformed || l3 != 0) {
			t.Fatalf("class %d flags %x, want %x: %x", class, p.Flags, flags, b)
		}
	}
	if class == ClassMalformed || l4 == 0 {
		if p.A != 0 || p.B != 0 {
			t.Fatalf("class %d has the key %x %x", class, p.A, p.B)
		}
		return
	}
	h := b[l3:]
	k := MakeKey(Addr4([4]byte(h[12:])), Addr4([4]byte(h[16:])), 0, 0, h[9])
	var flags uint8
	if class == ClassPlain || class == ClassExpiring {
		k = MakeKey(Addr4([4]byte(h[12:])), Addr4([4]byte(h[16:])), binary.BigEndian.Uint16(h[20:]), binary.BigEndian.Uint16(h[22:]), h[9])
		if h[9] == 6 {
			flags = h[33]
		}
	}
	if p.A != k.A || p.B != k.B || int(p.L3) != l3 || int(p.L4) != l4 || p.TCPFlags != flags || int(p.L3Len) != int(binary.BigEndian.Uint16(h[2:])) {
		t.Fatalf("key %x %x, headers at %d and %d, TCP flags %x, L3 length %d for %x", p.A, p.B, p.L3, p.L4, p.TCPFlags, p.L3Len, b)
	}
}

// FuzzParse feeds frames of any bytes, with and without further segments, to the parse and to everything that believes it.
func FuzzParse(f *testing.F) {
	for _, c := range []Frame{client,
		with(func(f *Frame) { f.Proto = ProtoUDP }),
		with(func(f *Frame) { f.Tags = []uint16{7}; f.TCPOptions = make([]byte, 12) }),
		with(func(f *Frame) { f.IPOptions = make([]byte, 40) }),
		with(func(f *Frame) { f.Frag = 0x2000 }),
		with(func(f *Frame) { f.Proto, f.ICMPType, f.Payload = ProtoICMP, ICMPEcho, make([]byte, 60) }),
		icmpError(client, ICMPUnreachable, 4, 28),
	} {
		f.Add(c.Bytes(), uint16(0))
		f.Add(c.Bytes()[:38], uint16(20))
	}
	f.Add(client.ARP(1, client.Src, client.SrcIP, [6]byte{}, client.DstIP), uint16(0))
	r := newRoom(f)
	f.Fuzz(func(t *testing.T, frame []byte, more uint16) {
		if len(frame) > 9216 {
			return
		}
		debug.SetPanicOnFault(true)
		p := r.place(frame)
		p.Frame += min(more, 9216)
		Parse(p, &testIndex)
		checkReference(t, p)
		use(p)
	})
}

// use does to a packet all that the dataplane may do to one of its class.
func use(p *Packet) {
	switch p.Class {
	case ClassMalformed, ClassOther, ClassIPv6:
		return
	case ClassARP:
		ARPRequest(p)
		ARPSender(p)
		AnswerARP(p, 1)
		return
	}
	HeaderSumOK(p)
	r := MakeRewrite(Key{p.A, p.B}, MakeKey(1, 2, 3, 4, p.Proto()))
	h := p.Data + uintptr(p.L3)
	switch p.Class {
	case ClassPlain, ClassExpiring:
		L4SumOK(p)
		Complete(p)
		if p.Proto() == ProtoTCP {
			r.TCP(h)
		} else {
			r.UDP(h)
		}
	case ClassICMP:
		if e, _, ok := ParseICMPError(p); ok {
			TranslateICMPError(p, &e, &r)
		}
		AnswerEcho(p, 1)
	case ClassOtherIP:
		r.IP(h)
	}
}
