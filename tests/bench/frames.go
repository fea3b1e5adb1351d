package main

import (
	"encoding/binary"
	"fmt"
)

// Frames are 60 bytes, the shortest that Ethernet carries: header, IPv4, TCP or UDP, and padding that counts as payload.
const (
	frameLen = 60
	ipLen    = frameLen - 14
	protoTCP = 6
	protoUDP = 17

	flagSYN    = 0x02
	flagACK    = 0x10
	ttlAtStart = 64
)

// packet4 is everything that differs between frames. Addresses and ports are numbers in host order.
type packet4 struct {
	dstMAC, srcMAC   [6]byte
	src, dst         uint32
	srcPort, dstPort uint16
	proto, flags     uint8
	ttl              uint8
}

// write makes d, of frameLen bytes, the frame of p with right checksums.
func (p *packet4) write(d []byte) {
	d = d[:frameLen:frameLen]
	clear(d)
	copy(d[0:6], p.dstMAC[:])
	copy(d[6:12], p.srcMAC[:])
	binary.BigEndian.PutUint16(d[12:], 0x0800)
	ip := d[14:]
	ip[0] = 0x45
	binary.BigEndian.PutUint16(ip[2:], ipLen)
	ip[8], ip[9] = p.ttl, p.proto
	binary.BigEndian.PutUint32(ip[12:], p.src)
	binary.BigEndian.PutUint32(ip[16:], p.dst)
	binary.BigEndian.PutUint16(ip[10:], ^fold(sum(ip[:20])))
	l4 := ip[20:]
	binary.BigEndian.PutUint16(l4[0:], p.srcPort)
	binary.BigEndian.PutUint16(l4[2:], p.dstPort)
	if p.proto == protoUDP {
		binary.BigEndian.PutUint16(l4[4:], uint16(len(l4)))
		c := ^fold(sum(l4) + pseudo(ip))
		if c == 0 {
			c = 0xffff
		}
		binary.BigEndian.PutUint16(l4[6:], c)
		return
	}
	l4[12], l4[13] = 5<<4, p.flags
	binary.BigEndian.PutUint16(l4[14:], 8192)
	binary.BigEndian.PutUint16(l4[16:], ^fold(sum(l4)+pseudo(ip)))
}

// sumAt is where the checksum of a protocol is in its header.
func sumAt(proto uint8) int {
	if proto == protoUDP {
		return 6
	}
	return 16
}

// check compares a frame with what it must be. Checksums are verified over what is there instead of compared, since a sum of
// zero has two forms.
func (p *packet4) check(d []byte) error {
	if len(d) != frameLen {
		return fmt.Errorf("a frame of %d bytes instead of %d", len(d), frameLen)
	}
	var want [frameLen]byte
	p.write(want[:])
	l4 := 14 + 20 + sumAt(p.proto)
	for i := range want {
		if i == 24 || i == 25 || i == l4 || i == l4+1 {
			continue
		}
		if d[i] != want[i] {
			return fmt.Errorf("byte %d is %#02x instead of %#02x\n  frame % x\n  want  % x", i, d[i], want[i], d, want)
		}
	}
	return checkSums(d)
}

// checkSums verifies the IPv4 and the TCP or UDP checksum of a frame in full.
func checkSums(d []byte) error {
	ip := d[14:]
	if s := fold(sum(ip[:20])); s != 0xffff {
		return fmt.Errorf("wrong IPv4 checksum in % x", d)
	}
	if s := fold(sum(ip[20:]) + pseudo(ip)); s != 0xffff {
		return fmt.Errorf("wrong checksum of protocol %d in % x", ip[9], d)
	}
	if ip[9] == protoUDP && ip[26] == 0 && ip[27] == 0 {
		return fmt.Errorf("UDP checksum switched off in % x", d)
	}
	return nil
}

// read is the packet that a frame is.
func read(d []byte) (p packet4) {
	copy(p.dstMAC[:], d[0:6])
	copy(p.srcMAC[:], d[6:12])
	ip := d[14:]
	p.ttl, p.proto = ip[8], ip[9]
	p.src, p.dst = binary.BigEndian.Uint32(ip[12:]), binary.BigEndian.Uint32(ip[16:])
	p.srcPort, p.dstPort = binary.BigEndian.Uint16(ip[20:]), binary.BigEndian.Uint16(ip[22:])
	if p.proto == protoTCP {
		p.flags = ip[33]
	}
	return p
}

// synAnswer is what a server answers to p, a client's first packet as it has come there.
func (p *packet4) synAnswer() packet4 {
	a := packet4{dstMAC: p.srcMAC, srcMAC: p.dstMAC, src: p.dst, dst: p.src, srcPort: p.dstPort, dstPort: p.srcPort, proto: p.proto, ttl: ttlAtStart}
	if p.proto == protoTCP {
		a.flags = flagSYN | flagACK
	}
	return a
}

// sum adds b as big-endian 16-bit words; its length is even.
func sum(b []byte) (s uint32) {
	for ; len(b) >= 2; b = b[2:] {
		s += uint32(b[0])<<8 | uint32(b[1])
	}
	return s
}

// pseudo is the sum of the pseudo header that TCP and UDP checksums begin with (RFC 9293 3.1, RFC 768).
func pseudo(ip []byte) uint32 {
	return sum(ip[12:20]) + uint32(ip[9]) + uint32(binary.BigEndian.Uint16(ip[2:])-20)
}

func fold(s uint32) uint16 {
	s = s&0xffff + s>>16
	s = s&0xffff + s>>16
	return uint16(s)
}
