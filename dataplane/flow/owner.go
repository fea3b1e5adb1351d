package flow

import "math/bits"

// OwnerByPort is the worker of W (a power of two) that owns a flow whose server-side port q (host order) a worker has allocated.
func OwnerByPort(q uint16, workers uint32) uint32 { return uint32(q) & (workers - 1) }

// OwnerByClient is the worker that owns a flow by its client's address and port (memory order): packets from clients, and replies
// where the client's address and port are kept.
func OwnerByClient(addr uint32, port uint16, workers uint32) uint32 {
	hi, lo := bits.Mul64(uint64(addr)|uint64(port)<<32^0x9e3779b97f4a7c15, 0xd6e8feb86659fd93)
	return uint32(hi^lo) & (workers - 1)
}
