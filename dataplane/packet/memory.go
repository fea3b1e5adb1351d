package packet

import (
	"math/bits"
	"unsafe"
)

// Frame memory lies off the Go heap and is addressed by number, so that the collector neither scans nor moves anything and no
// bounds are checked. Every function that takes an address relies on its caller for the bytes behind it: Parse has compared
// them with Packet.Len. All loads are little-endian, as the dataplane's CPUs are.

const macMask = 1<<48 - 1

// at turns an address into a pointer. The memory is not the collector's, which is why this is sound.
func at(p uintptr) unsafe.Pointer { return unsafe.Add(unsafe.Pointer(nil), p) }

func load8(p uintptr) uint8       { return *(*uint8)(at(p)) }
func load16(p uintptr) uint16     { return *(*uint16)(at(p)) }
func load32(p uintptr) uint32     { return *(*uint32)(at(p)) }
func load64(p uintptr) uint64     { return *(*uint64)(at(p)) }
func store8(p uintptr, v uint8)   { *(*uint8)(at(p)) = v }
func store16(p uintptr, v uint16) { *(*uint16)(at(p)) = v }
func store32(p uintptr, v uint32) { *(*uint32)(at(p)) = v }
func store64(p uintptr, v uint64) { *(*uint64)(at(p)) = v }

// Swap16 turns a 16-bit value from memory order into host order or back.
func Swap16(v uint16) uint16 { return bits.ReverseBytes16(v) }

// Swap32 turns a 32-bit value from memory order into host order or back.
func Swap32(v uint32) uint32 { return bits.ReverseBytes32(v) }

// SetMACs writes both Ethernet addresses, given in memory order in the low 48 bits.
func SetMACs(data uintptr, dst, src uint64) {
	store64(data, dst|src<<48)
	store32(data+8, uint32(src>>16))
}

// SwapMACs answers a frame to its sender: the old source becomes the destination, src (memory order) the source.
func SwapMACs(data uintptr, src uint64) {
	SetMACs(data, load64(data+OffSrcMAC)&macMask, src)
}

// MAC packs a hardware address into memory order in the low 48 bits.
func MAC(m [6]byte) uint64 {
	return uint64(m[0]) | uint64(m[1])<<8 | uint64(m[2])<<16 | uint64(m[3])<<24 | uint64(m[4])<<32 | uint64(m[5])<<40
}

// Addr4 packs an IPv4 address into memory order.
func Addr4(a [4]byte) uint32 {
	return uint32(a[0]) | uint32(a[1])<<8 | uint32(a[2])<<16 | uint32(a[3])<<24
}

// Bytes4 unpacks an IPv4 address from memory order.
func Bytes4(a uint32) [4]byte {
	return [4]byte{byte(a), byte(a >> 8), byte(a >> 16), byte(a >> 24)}
}

// Key is a flow key in memory order; see Packet.A and Packet.B.
type Key struct{ A, B uint64 }

// MakeKey builds the key of a tuple: addresses in memory order, ports in host order.
func MakeKey(src, dst uint32, sport, dport uint16, proto uint8) Key {
	return Key{
		A: uint64(src) | uint64(dst)<<32,
		B: uint64(Swap16(sport)) | uint64(Swap16(dport))<<16 | uint64(proto)<<32 | KeyUsed,
	}
}

// Reverse is the key of the answers to k; flag bits are not carried over.
func (k Key) Reverse() Key {
	return Key{A: bits.RotateLeft64(k.A, 32), B: reversePorts(k.B) | k.B&(0xff<<32) | KeyUsed}
}

func reversePorts(b uint64) uint64 { return uint64(bits.RotateLeft32(uint32(b), 16)) }

// view is n bytes at p as a slice.
func view(p uintptr, n int) []byte { return unsafe.Slice((*byte)(at(p)), n) }

// headerLen is the IPv4 header's length in bytes as it says.
func headerLen(h uintptr) int { return int(load8(h)&0xf) * 4 }
