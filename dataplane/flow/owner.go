package flow

import "math/bits"

// Which worker owns a flow follows from a packet alone, without a table. W, the number of workers, is a power of two.

// OwnerByPort is the owner where the server-side port q (host order) is one that a worker gave out: for the replies to it.
func OwnerByPort(q uint16, workers uint32) uint32 { return uint32(q) & (workers - 1) }

// OwnerByClient is the owner by the client's address and port (memory order): for packets from clients and, where the
// client's address and port are kept, for the replies. The hash is fixed: all workers, and a restarted dataplane,
// must agree on it.
func OwnerByClient(addr uint32, port uint16, workers uint32) uint32 {
	hi, lo := bits.Mul64((uint64(addr)|uint64(port)<<32)^0x9e3779b97f4a7c15, 0xd6e8feb86659fd93)
	return uint32(hi^lo) & (workers - 1)
}

// OwnerByProtocol is the owner of everything of a protocol without ports, both ways: what comes back to a SNIP tells nothing of
// the client, so that one worker must know all of its flows.
func OwnerByProtocol(proto uint8, workers uint32) uint32 {
	return OwnerByClient(uint32(proto), 0, workers)
}
