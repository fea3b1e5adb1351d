package port

import (
	"fmt"

	"github.com/yerden/go-dpdk/mempool"
)

// Sizes of the packet pool.
const (
	dataRoom  = Headroom + 2048          // bytes of a buffer: room for an af_packet frame (framesz=2048)
	bufBytes  = dataRoom + 128 + 64 + 64 // with mbuf, pool header, and what the pool's ring and alignment take
	bufPage   = 4096 + 160               // the same without hugepages: a buffer does not cross pages, so each takes one
	poolShare = 75                       // percent of DPDK's memory that packets may take
	poolMin   = 2047                     // fewer would starve: rings, taps and lanes hold some hundreds
	poolMax   = 1<<17 - 1
	poolCache = 256 // buffers that a worker keeps at hand
)

// poolSize returns how many buffers memoryMB MiB hold: one less than a power of two, which a pool's ring holds best.
func poolSize(memoryMB int, huge bool) (uint32, error) {
	each := bufPage
	if huge {
		each = bufBytes
	}
	room := (memoryMB << 20) / 100 * poolShare / each
	n := poolMin
	for n < poolMax && n*2+1 <= room {
		n = n*2 + 1
	}
	if n > room {
		return 0, fmt.Errorf("%d MiB are too little memory for packets: set `memory` to 64 or more", memoryMB)
	}
	return uint32(n), nil
}

func newPool(name string, n uint32) (*mempool.Mempool, error) {
	mp, err := mempool.CreateMbufPool(name, n, dataRoom, mempool.OptCacheSize(poolCache))
	if err != nil {
		return nil, fmt.Errorf("DPDK cannot set %d packet buffers aside: set `memory` higher: %w", n, err)
	}
	return mp, nil
}
