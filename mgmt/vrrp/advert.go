package vrrp

import (
	"encoding/binary"
	"net/netip"
	"time"
)

// protocol is VRRP's number in IPv4.
const protocol = 112

// group is whom adverts are for.
var group = netip.AddrFrom4([4]byte{224, 0, 0, 18})

// Sizes of a message, in bytes.
const (
	fixedLen   = 8 // before the addresses
	authLen    = 8 // after them, in version 2
	maxAddress = 255
)

// advert is one message.
type advert struct {
	version   uint8
	id        uint8
	priority  uint8 // 0: its sender gives up
	interval  time.Duration
	addresses []netip.Addr
	checksum  Checksum // the form that it has; of version 3
}

// append writes the message that src sends to b. It has at most 255 addresses.
func (a *advert) append(b []byte, src netip.Addr) []byte {
	start := len(b)
	n := min(len(a.addresses), maxAddress)
	b = append(b, a.version<<4|1, a.id, a.priority, uint8(n))
	if a.version == 2 {
		b = append(b, 0, uint8(a.interval/time.Second), 0, 0)
	} else {
		b = binary.BigEndian.AppendUint16(b, uint16(a.interval/(10*time.Millisecond)))
		b = append(b, 0, 0)
	}
	for _, ip := range a.addresses[:n] {
		v4 := ip.As4()
		b = append(b, v4[:]...)
	}
	if a.version == 2 {
		b = append(b, make([]byte, authLen)...)
	}
	m := b[start:]
	var with uint32
	if a.version == 3 && a.checksum == ChecksumRFC5798 {
		with = pseudo(src, group, len(m))
	}
	binary.BigEndian.PutUint16(m[6:], checksum(with, m))
	return b
}

// parse reads a message as it came from src, with the names of RFC 9568, section 7.1. What it can say of a refused one, its ID
// that is, it says too.
func parse(m []byte, src netip.Addr) (a advert, why Refusal) {
	if len(m) < fixedLen {
		return a, Length
	}
	a.version, a.id, a.priority = m[0]>>4, m[1], m[2]
	n := int(m[3])
	want := fixedLen + 4*n
	switch a.version {
	case 2:
		want += authLen
		a.interval = time.Duration(m[5]) * time.Second
	case 3: // the upper four bits are reserved, and ignored
		a.interval = time.Duration(binary.BigEndian.Uint16(m[4:])&0xfff) * 10 * time.Millisecond
	default:
		return a, Version
	}
	switch {
	case m[0]&0xf != 1:
		return a, Type
	case n == 0 || len(m) != want:
		return a, Length
	}
	switch {
	case checksum(0, m) == 0:
		a.checksum = ChecksumRFC9568
	case a.version == 3 && checksum(pseudo(src, group, len(m)), m) == 0:
		a.checksum = ChecksumRFC5798
	default:
		return a, Sum
	}
	switch {
	case a.version == 2 && m[4] != 0:
		return a, Authentication
	case a.id == 0:
		return a, ID
	case a.interval == 0:
		return a, Interval
	}
	a.addresses = make([]netip.Addr, n)
	for i := range a.addresses {
		a.addresses[i] = netip.AddrFrom4([4]byte(m[fixedLen+4*i:]))
	}
	return a, ""
}

// pseudo is the sum over the pseudo-header of IPv4, which RFC 5798 was read to want.
func pseudo(src, dst netip.Addr, length int) uint32 {
	s, d := src.As4(), dst.As4()
	return sum(sum(0, s[:]), d[:]) + protocol + uint32(length)
}

func sum(s uint32, b []byte) uint32 {
	for ; len(b) >= 2; b = b[2:] {
		s += uint32(binary.BigEndian.Uint16(b))
	}
	return s
}

// checksum is that of RFC 1071 over b and what s has summed up before. Over a message with its checksum it is 0.
func checksum(s uint32, b []byte) uint16 {
	s = sum(s, b)
	for s>>16 != 0 {
		s = s&0xffff + s>>16
	}
	return ^uint16(s)
}
