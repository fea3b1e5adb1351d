package expr

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"
)

// Field is a fact about a packet.
type Field uint8

// The facts; Facts has one of each.
const (
	SourceIP   Field = iota // IPv4 address as a number: 10.0.0.1 is 0x0a000001
	DestIP                  //
	Protocol                // IP protocol
	TCPSource               // port, Missing in what is not TCP
	TCPDest                 //
	UDPSource               // port, Missing in what is not UDP
	UDPDest                 //
	VLAN                    // by which the packet came in, tagged or not
	fieldCount              // a power of two: see Run
)

// Facts are what expressions ask about, by Field.
type Facts [fieldCount]uint64

// Missing is the fact that a packet does not have.
const Missing = uint64(1) << 63

// valueType is the type of a fact.
type valueType uint8

const (
	address valueType = iota
	number
	protocol
)

// fieldInfo describes a fact to the parser.
type fieldInfo struct {
	name    string // in the default syntax
	classic string // in the classic one; "" if it has none
	typ     valueType
	most    uint64 // the greatest value
}

var fields = [fieldCount]fieldInfo{
	SourceIP:  {"CLIENT.IP.SRC", "REQ.IP.SOURCEIP", address, 1<<32 - 1},
	DestIP:    {"CLIENT.IP.DST", "REQ.IP.DESTIP", address, 1<<32 - 1},
	Protocol:  {"CLIENT.IP.PROTOCOL", "REQ.IP.PROTOCOL", protocol, 255},
	TCPSource: {"CLIENT.TCP.SRCPORT", "REQ.TCP.SOURCEPORT", number, 65535},
	TCPDest:   {"CLIENT.TCP.DSTPORT", "REQ.TCP.DESTPORT", number, 65535},
	UDPSource: {"CLIENT.UDP.SRCPORT", "REQ.UDP.SOURCEPORT", number, 65535},
	UDPDest:   {"CLIENT.UDP.DSTPORT", "REQ.UDP.DESTPORT", number, 65535},
	VLAN:      {"CLIENT.VLAN.ID", "REQ.VLANID", number, 4095},
}

// protocols are the names of IP protocols (IANA) that expressions know; others are written as numbers.
var protocols = map[string]uint64{"ICMP": 1, "IGMP": 2, "IPIP": 4, "TCP": 6, "UDP": 17, "GRE": 47, "ESP": 50, "AH": 51, "OSPF": 89, "SCTP": 132}

// find is the fact of a name in the default or classic syntax.
func find(name string) (f Field, classic, ok bool) {
	for i := range fields {
		switch strings.ToUpper(name) {
		case fields[i].name:
			return Field(i), false, true
		case fields[i].classic:
			return Field(i), true, true
		}
	}
	return 0, false, false
}

// names lists the facts.
func names() string {
	list := make([]string, len(fields))
	for i := range fields {
		list[i] = fields[i].name
	}
	return strings.Join(list, ", ")
}

// methods lists what may be asked of a type.
func (t valueType) methods() string {
	switch t {
	case address:
		return "EQ, NE, IN_SUBNET, BETWEEN, SUBNET, GET1 to GET4"
	case protocol:
		return "EQ, NE"
	}
	return "EQ, NE, GT, GE, LT, LE, BETWEEN"
}

// value reads a constant that a fact of the type is compared with.
func (t valueType) value(s string, most uint64) (v uint64, fault string) {
	switch t {
	case address:
		a, err := netip.ParseAddr(s)
		if err != nil || !a.Is4() {
			return 0, "is no IPv4 address, like 10.0.0.1"
		}
		return ip4(a), ""
	case protocol:
		if n, ok := protocols[strings.ToUpper(s)]; ok {
			return n, ""
		}
	}
	n, err := strconv.ParseUint(s, 0, 64)
	switch {
	case t == protocol && (err != nil || n > most):
		return 0, "is no protocol: write TCP, UDP, ICMP or a number from 0 to 255"
	case err != nil || n > most:
		return 0, fmt.Sprintf("is no number from 0 to %d", most)
	}
	return n, ""
}

// constant writes a value of the type.
func (t valueType) constant(v uint64) string {
	switch t {
	case address:
		return addr4(v).String()
	case protocol:
		for name, n := range protocols {
			if n == v {
				return name
			}
		}
	}
	return strconv.FormatUint(v, 10)
}

func ip4(a netip.Addr) uint64 {
	b := a.As4()
	return uint64(b[0])<<24 | uint64(b[1])<<16 | uint64(b[2])<<8 | uint64(b[3])
}

func addr4(v uint64) netip.Addr {
	return netip.AddrFrom4([4]byte{byte(v >> 24), byte(v >> 16), byte(v >> 8), byte(v)})
}

// test compares a part of a fact with a range of values: it is true of facts that are there and whose part is lo to hi, or, with
// ne, is not.
type test struct {
	field  Field
	subnet uint8 // bits of an address that count, 32 unless SUBNET or IN_SUBNET says so
	octet  uint8 // 1 to 4: that byte of an address; 0: all of it
	in     bool  // written as IN_SUBNET
	ne     bool
	lo, hi uint64
}

// part is the mask of the bits that count, and by how many places they are shifted.
func (t *test) part() (mask uint64, shift uint) {
	switch {
	case fields[t.field].typ != address:
		return 1<<32 - 1, 0
	case t.octet > 0:
		shift = 8 * uint(4-t.octet)
		return 0xff << shift, shift
	}
	return (1<<32 - 1) &^ (1<<(32-t.subnet) - 1), 0
}

// typ is the type of the part, most its greatest value.
func (t *test) typ() (typ valueType, most uint64) {
	if t.octet > 0 {
		return number, 255
	}
	return fields[t.field].typ, fields[t.field].most
}

// String writes the test in the default syntax.
func (t *test) String() string {
	if t.in {
		return fmt.Sprintf("%s.IN_SUBNET(%s/%d)", fields[t.field].name, addr4(t.lo), t.subnet)
	}
	s := t.said()
	typ, most := t.typ()
	lo, hi := typ.constant(t.lo), typ.constant(t.hi)
	switch {
	case t.ne:
		return s + ".NE(" + lo + ")"
	case t.lo == t.hi:
		return s + ".EQ(" + lo + ")"
	case typ == number && t.lo == 0:
		return s + ".LE(" + hi + ")"
	case typ == number && t.hi == most:
		return s + ".GE(" + lo + ")"
	}
	return s + ".BETWEEN(" + lo + ", " + hi + ")"
}
