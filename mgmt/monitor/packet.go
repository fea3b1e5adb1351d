package monitor

import (
	"encoding/binary"

	"golang.org/x/sys/unix"
)

// Lengths of headers.
const (
	ipv4Len = 20 // without options
	l4Least = 8  // of what a packet of TCP or UDP has behind it at least
)

// ipv4 is a packet with a header before the payload (RFC 791). TTL 64; it is not to be fragmented.
func ipv4(proto uint8, source, target [4]byte, payload []byte) []byte {
	b := make([]byte, ipv4Len, ipv4Len+len(payload))
	b[0], b[6], b[8], b[9] = 0x45, 0x40, 64, proto
	binary.BigEndian.PutUint16(b[2:], uint16(ipv4Len+len(payload)))
	copy(b[12:], source[:])
	copy(b[16:], target[:])
	binary.BigEndian.PutUint16(b[10:], checksum(b))
	return append(b, payload...)
}

// wrap is a packet in a packet (RFC 2003).
func wrap(b []byte, source, via [4]byte) []byte {
	outer := ipv4(unix.IPPROTO_IPIP, source, via, b)
	outer[1] = b[1]
	binary.BigEndian.PutUint16(outer[10:], 0)
	binary.BigEndian.PutUint16(outer[10:], checksum(outer[:ipv4Len]))
	return outer
}

// mark gives a packet another destination and a DSCP, and has its checksums say so (RFC 1624). It must be whole.
func mark(b []byte, via [4]byte, dscp uint8) {
	hl := int(b[0]&15) * 4
	before := [4]byte(b[16:20])
	copy(b[16:], via[:])
	b[1] = dscp<<2 | b[1]&3
	binary.BigEndian.PutUint16(b[10:], 0)
	binary.BigEndian.PutUint16(b[10:], checksum(b[:hl]))
	at := hl + 16 // TCP; ICMP does not cover addresses
	switch b[9] {
	case unix.IPPROTO_TCP:
	case unix.IPPROTO_UDP:
		if at = hl + 6; at+2 <= len(b) && b[at] == 0 && b[at+1] == 0 {
			return // it has none
		}
	default:
		return
	}
	if at+2 > len(b) {
		return
	}
	sum := uint32(^binary.BigEndian.Uint16(b[at:]))
	for i := 0; i < 4; i += 2 {
		sum += uint32(^binary.BigEndian.Uint16(before[i:])) + uint32(binary.BigEndian.Uint16(via[i:]))
	}
	for sum>>16 != 0 {
		sum = sum&0xffff + sum>>16
	}
	if sum = uint32(^uint16(sum)); sum == 0 && b[9] == unix.IPPROTO_UDP {
		sum = 0xffff // RFC 768: 0 says that there is none
	}
	binary.BigEndian.PutUint16(b[at:], uint16(sum))
}
