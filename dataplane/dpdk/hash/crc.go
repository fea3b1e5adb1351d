// Package hash computes DPDK's CRC32c. Names and signatures are those of github.com/yerden/go-dpdk/hash.
package hash

/*
#cgo pkg-config: libdpdk
#include <rte_hash_crc.h>

static uint32_t crc(const void *p, uint32_t n, uint32_t acc) { return rte_hash_crc(p, n, acc); }
*/
import "C"

import "unsafe"

// CrcUpdate continues the CRC acc over data. One call enters C once: not for use on every packet.
func CrcUpdate(data []byte, acc uint32) uint32 {
	if len(data) == 0 {
		return acc
	}
	return uint32(C.crc(unsafe.Pointer(&data[0]), C.uint32_t(len(data)), C.uint32_t(acc)))
}
