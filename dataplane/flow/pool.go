package flow

import (
	"fmt"
	"math/bits"
	"unsafe"

	"golang.org/x/sys/unix"

	"sluice/dataplane/packet"
)

// PoolSettings of a worker's port pools.
type PoolSettings struct {
	Pools   int    // most pools, that is pairs of SNIP and place in use, at once
	Workers int    // W, a power of two, at most 64
	Self    int    // this worker, from 0
	Seed    uint64 // where cursors start, for tests; zero draws a random one
	Huge    bool   // ask for huge pages

	// Avoid says which ports of a SNIP (memory order) are not to be given out for a protocol; nil: none.
	Avoid func(snip uint32, port uint16, proto uint8) bool
}

const (
	portWords = 65536 / 64
	maxPools  = 1 << 20
)

// pool is the ports of one SNIP toward one place. A word holds 64 ports; a bit set in taken is a port that is out, a bit set in
// full is a word of taken in which no port is left that this pool may give out; one that is not set promises nothing.
type pool struct {
	key    uint64 // SNIP in memory order | place << 32
	lo, hi uint16 // range of the last Take, which full is true for
	cursor uint16 // port to look at next
	// fetched is how many of the ports to come have had the buckets of their ways back fetched: a guess, see fetchNext.
	fetched int16
	out     int32 // ports that are out, also of earlier ranges
	full    [portWords / 64]uint64
	taken   [portWords]uint64
}

// Pools are the free source ports per SNIP and place, which is where a service is: see Place. Ports are given out in turn, so that each rests as long as it can before
// it is used again. This worker gives out only ports q with q & (W-1) == Self, and never 3784 and 4784 (BFD) and
// 4789 (VXLAN). Memory is used as pools come up; when all are in use, one that has no port out is taken over.
type Pools struct {
	mem     []byte
	base    uintptr // address of pool 0
	index   uintptr // address of the index: pool number + 1 by hash of the key, 0 empty, linear probing
	mask    uint32  // of the index
	made    uint32  // pools that have been used so far
	max     uint32
	steal   uint32 // pool to look at next when all are in use
	owned   uint64 // the bits of a word that are this worker's ports
	seed    uint64
	tried   uint32 // moving start of Probe
	leaps   uint32 // of LeapOf, so that no two lead the same way
	workers uint32
	self    uint32
	fetch   [fetchAhead]uintptr // for fetchNext
	avoid   func(snip uint32, port uint16, proto uint8) bool
}

// OpenPools reserves address space for the pools.
func OpenPools(s PoolSettings) (*Pools, error) {
	if s.Pools < 1 || s.Pools > maxPools {
		return nil, fmt.Errorf("port pools: %d pools asked for; give a number from 1 to %d", s.Pools, maxPools)
	}
	if s.Workers < 1 || s.Workers > 64 || s.Workers&(s.Workers-1) != 0 || s.Self < 0 || s.Self >= s.Workers {
		return nil, fmt.Errorf("port pools: worker %d of %d: the number of workers must be 1, 2, 4 ... 64 and workers count from 0", s.Self, s.Workers)
	}
	slots := 1 << bits.Len(uint(s.Pools*2))
	size := (s.Pools + 1) * int(unsafe.Sizeof(pool{})) // one more to peek at
	mem, err := unix.Mmap(-1, 0, size+slots*4, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_NORESERVE)
	if err != nil {
		return nil, fmt.Errorf("port pools: no %d MiB of address space for %d pools: %w", size>>20, s.Pools, err)
	}
	if s.Huge {
		_ = unix.Madvise(mem, unix.MADV_HUGEPAGE) // a wish only
	}
	p := &Pools{mem: mem, base: uintptr(unsafe.Pointer(unsafe.SliceData(mem))), mask: uint32(slots - 1), max: uint32(s.Pools),
		seed: s.Seed, workers: uint32(s.Workers), self: uint32(s.Self), avoid: s.Avoid}
	p.index = p.base + uintptr(size)
	for q := s.Self; q < 64; q += s.Workers {
		p.owned |= 1 << q
	}
	if p.seed == 0 {
		p.seed = randomSeed() | 1
	}
	return p, nil
}

// Close gives the memory back.
func (p *Pools) Close() error {
	mem := p.mem
	if mem == nil {
		return nil
	}
	*p = Pools{}
	return unix.Munmap(mem)
}

// Take gives out a free port from lo to hi (host order) of snip (memory order) toward a place; ok is false when there is none.
func (p *Pools) Take(snip, place uint32, lo, hi uint16) (port uint16, ok bool) {
	x := p.open(poolKey(snip, place))
	if x == nil {
		return 0, false
	}
	return p.take(x, lo, hi)
}

func (p *Pools) take(x *pool, lo, hi uint16) (port uint16, ok bool) {
	if x.lo != lo || x.hi != hi {
		if lo > hi {
			return 0, false
		}
		p.setRange(x, lo, hi)
	}
	q, ok := p.scan(x, uint32(x.cursor))
	if !ok {
		if q, ok = p.scan(x, 0); !ok {
			return 0, false
		}
	}
	w := q >> 6
	x.taken[w] |= 1 << (q & 63)
	x.out++
	x.cursor = uint16(q + 1)
	if x.taken[w]|^p.allowed(w, lo, hi) == ^uint64(0) {
		x.full[w>>6] |= 1 << (w & 63)
	}
	return uint16(q), true
}

// scan finds the first port from "from" on that may be given out.
func (p *Pools) scan(x *pool, from uint32) (uint32, bool) {
	first := ^uint64(0) << (from & 63) // in the first word, ports before from do not count
	for w := from >> 6; w < portWords; {
		if free := ^x.taken[w] & p.allowed(w, x.lo, x.hi) & first; free != 0 {
			return w<<6 + uint32(bits.TrailingZeros64(free)), true
		}
		first = ^uint64(0)
		w++
		// Words that are full are passed 64 at a time.
		for w < portWords {
			if open := ^x.full[w>>6] >> (w & 63); open != 0 {
				w += uint32(bits.TrailingZeros64(open))
				break
			}
			w = (w | 63) + 1
		}
	}
	return 0, false
}

// allowed is the ports of word w that this worker gives out when the range is lo to hi.
func (p *Pools) allowed(w uint32, lo, hi uint16) uint64 {
	m := p.owned
	switch w {
	case 3784 >> 6:
		m &^= 1 << (3784 & 63)
	case 4784 >> 6: // 4789 is in the same word
		m &^= 1<<(4784&63) | 1<<(4789&63)
	}
	l, h := uint32(lo), uint32(hi)
	switch {
	case w < l>>6 || w > h>>6:
		return 0
	case w == l>>6:
		m &= ^uint64(0) << (l & 63)
	}
	if w == h>>6 {
		m &= ^uint64(0) >> (63 - h&63)
	}
	return m
}

// setRange makes full true for a range: when a pool is new, and when the operator has changed the SNIP's ports.
func (p *Pools) setRange(x *pool, lo, hi uint16) {
	x.lo, x.hi = lo, hi
	x.cursor = lo + uint16((p.seed^x.key*0x9e3779b97f4a7c15)>>40%(uint64(hi-lo)+1))
	x.full = [portWords / 64]uint64{}
	for w := uint32(0); w < portWords; w++ {
		may := p.allowed(w, lo, hi)
		if x.taken[w]|^may == ^uint64(0) {
			x.full[w>>6] |= 1 << (w & 63)
		}
	}
}

// Release takes a port back. It reports false if the port was not out.
func (p *Pools) Release(snip, place uint32, port uint16) bool {
	x := p.find(poolKey(snip, place))
	return x != nil && x.release(port)
}

// ReleaseOf takes back the port of the flow that its server sees as k.
func (p *Pools) ReleaseOf(k packet.Key) {
	if x, port := p.of(k); x != nil {
		x.release(port)
	}
}

// of is the port of the flow that its server sees as k, and the pool that it is out of; nil if it is out of none. If a service of every
// port is at the address beside one of k's, it is out of one pool of the two at most, since both would be one flow.
func (p *Pools) of(k packet.Key) (x *pool, port uint16) {
	snip, server, port := uint32(k.A), uint32(k.A>>32), packet.Swap16(uint16(k.B))
	for _, serverPort := range [2]uint16{uint16(k.B >> 16), 0} {
		if x = p.find(poolKey(snip, Place(server, serverPort))); x != nil && x.has(port) {
			return x, port
		}
	}
	return nil, port
}

// has says whether a port is out.
func (x *pool) has(port uint16) bool { return x.taken[port>>6]>>(port&63)&1 != 0 }

func (x *pool) release(port uint16) bool {
	if !x.has(port) {
		return false
	}
	w := uint32(port) >> 6
	x.taken[w] &^= 1 << (port & 63)
	x.out--
	x.full[w>>6] &^= 1 << (w & 63)
	return true
}

// Used is how many ports of snip toward a place are out.
func (p *Pools) Used(snip, place uint32) int {
	if x := p.find(poolKey(snip, place)); x != nil {
		return int(x.out)
	}
	return 0
}
