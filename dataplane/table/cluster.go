package table

import "math/bits"

// ClusterKey makes every appliance of a fleet choose alike, and an outsider unable to foresee the choice. Choices follow from it,
// from the packet and from what members are to everybody (address, port, protocol), never from numbers of one appliance.
type ClusterKey [2]uint64

// defaultClusterKey holds until a fleet sets its own.
var defaultClusterKey = ClusterKey{0x736c756963652d66, 0x6c6565742d6b6579}

// Hash is SipHash-1-3 of the 8 bytes of a word, the first byte lowest.
func (k *ClusterKey) Hash(word uint64) uint64 {
	v0, v1 := k[0]^0x736f6d6570736575, k[1]^0x646f72616e646f6d
	v2, v3 := k[0]^0x6c7967656e657261, k[1]^0x7465646279746573^word
	v0, v1, v2, v3 = sipRound(v0, v1, v2, v3)
	v0 ^= word
	const length = 8 << 56 // the last block: no bytes are left, and how many there were
	v3 ^= length
	v0, v1, v2, v3 = sipRound(v0, v1, v2, v3)
	v0 ^= length
	v2 ^= 0xff
	v0, v1, v2, v3 = sipRound(v0, v1, v2, v3)
	v0, v1, v2, v3 = sipRound(v0, v1, v2, v3)
	v0, v1, v2, v3 = sipRound(v0, v1, v2, v3)
	return v0 ^ v1 ^ v2 ^ v3
}

func sipRound(v0, v1, v2, v3 uint64) (uint64, uint64, uint64, uint64) {
	v0 += v1
	v2 += v3
	v1 = bits.RotateLeft64(v1, 13) ^ v0
	v3 = bits.RotateLeft64(v3, 16) ^ v2
	v0 = bits.RotateLeft64(v0, 32)
	v2 += v1
	v0 += v3
	v1 = bits.RotateLeft64(v1, 17) ^ v2
	v3 = bits.RotateLeft64(v3, 21) ^ v0
	v2 = bits.RotateLeft64(v2, 32)
	return v0, v1, v2, v3
}
