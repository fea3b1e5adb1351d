package vrrp

import (
	"encoding/binary"
	"net/netip"
)

// Frames of Ethernet.
const (
	etherLen  = 14
	ipLen     = 20
	etherIPv4 = 0x0800
	etherARP  = 0x0806
)

// groupMAC is where adverts go.
var groupMAC = [6]byte{0x01, 0, 0x5e, 0, 0, 18}

// heard is an advert that came in.
type heard struct {
	advert
	src netip.Addr
	mac [6]byte // Ethernet source
}

// frame makes the frame in which src sends an advert, from the virtual MAC (RFC 9568, section 7.2), so that switches learn
// where that is.
func (a *advert) frame(src netip.Addr) []byte {
	mac := MAC(a.id)
	b := make([]byte, 0, etherLen+ipLen+fixedLen+4*min(len(a.addresses), maxAddress)+authLen)
	b = append(append(b, groupMAC[:]...), mac[:]...)
	b = binary.BigEndian.AppendUint16(b, etherIPv4)
	// TOS: network control (CS6).
	b = append(b, 0x45, 0xc0, 0, 0, 0, 0, 0, 0, 255, protocol, 0, 0)
	from, to := src.As4(), group.As4()
	b = append(append(b, from[:]...), to[:]...)
	b = a.append(b, src)
	ip := b[etherLen:]
	binary.BigEndian.PutUint16(ip[2:], uint16(len(ip)))
	binary.BigEndian.PutUint16(ip[10:], checksum(0, ip[:ipLen]))
	return b
}

// read reads a frame that holds an IPv4 datagram of VRRP. Of a refused one it says who sent it and for which router it was,
// if it can.
func read(b []byte) (h heard, why Refusal) {
	if len(b) < etherLen+ipLen {
		return h, Header
	}
	h.mac = [6]byte(b[6:])
	ip := b[etherLen:]
	header, total := int(ip[0]&0xf)*4, int(binary.BigEndian.Uint16(ip[2:]))
	h.src = netip.AddrFrom4([4]byte(ip[12:]))
	switch fragment := binary.BigEndian.Uint16(ip[6:]) & 0x3fff; {
	case binary.BigEndian.Uint16(b[12:]) != etherIPv4, ip[0]>>4 != 4, header < ipLen, ip[9] != protocol, fragment != 0,
		total < header, total > len(ip), checksum(0, ip[:header]) != 0:
		return h, Header
	case [6]byte(b) != groupMAC, netip.AddrFrom4([4]byte(ip[16:])) != group:
		why = Destination
	case ip[8] != 255:
		why = TTL
	}
	a, wrong := parse(ip[header:total], h.src)
	h.advert = a
	if why == "" {
		why = wrong
	}
	return h, why
}

// gratuitous makes the frame that tells everybody that an address is at the virtual MAC: a request for itself, as RFC 9568,
// section 6.4.1, has it.
func gratuitous(id uint8, address netip.Addr) []byte {
	mac, ip := MAC(id), address.As4()
	b := make([]byte, 0, etherLen+28)
	b = append(b, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff)
	b = append(b, mac[:]...)
	b = binary.BigEndian.AppendUint16(b, etherARP)
	b = append(b, 0, 1, 8, 0, 6, 4, 0, 1)
	b = append(append(b, mac[:]...), ip[:]...)
	return append(append(b, 0, 0, 0, 0, 0, 0), ip[:]...)
}
