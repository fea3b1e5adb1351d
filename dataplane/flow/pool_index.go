package flow

import (
	"math/bits"
	"unsafe"
)

func poolKey(snip, place uint32) uint64 { return uint64(snip) | uint64(place)<<32 }

// Place is the number of the pool toward a server's address and port, both in memory order (port 0: a service of every port):
// services at one address share it, and one that comes in the place of another goes on with its turns, so that a port rests at
// the server, too, where its last connection may still be in TIME_WAIT. Two addresses of one number share a pool, which costs ports only.
func Place(server uint32, port uint16) uint32 {
	hi, lo := bits.Mul64(uint64(server)|uint64(port)<<32|1<<63, 0x9e3779b97f4a7c15)
	return uint32((hi ^ lo) >> 16)
}

// number is pool n.
func (p *Pools) number(n uint32) *pool {
	return (*pool)(unsafe.Add(unsafe.Pointer(nil), p.base+uintptr(n)*unsafe.Sizeof(pool{})))
}

// place is place i of the index.
func (p *Pools) place(i uint32) *uint32 {
	return (*uint32)(unsafe.Add(unsafe.Pointer(nil), p.index+uintptr(i)*4))
}

// home is where the search for a key starts. Keys come from the configuration, so that the hash need not be secret.
func (p *Pools) home(key uint64) uint32 {
	hi, lo := bits.Mul64(key^0x9e3779b97f4a7c15, 0xd6e8feb86659fd93)
	return uint32(hi^lo) & p.mask
}

// find is the pool of a key; nil if there is none.
func (p *Pools) find(key uint64) *pool {
	for i := p.home(key); ; i = (i + 1) & p.mask {
		n := *p.place(i)
		if n == 0 {
			return nil
		}
		if x := p.number(n - 1); x.key == key {
			return x
		}
	}
}

// open is the pool of a key, made if need be; nil if all pools are in use.
func (p *Pools) open(key uint64) *pool {
	if x := p.find(key); x != nil {
		return x
	}
	n := p.made
	if n < p.max {
		p.made++
	} else {
		var ok bool
		if n, ok = p.idle(); !ok {
			return nil
		}
		p.forget(p.number(n).key)
	}
	x := p.number(n)
	x.begin(key)
	i := p.home(key)
	for *p.place(i) != 0 {
		i = (i + 1) & p.mask
	}
	*p.place(i) = n + 1
	return x
}

// begin empties a pool for a key, with an impossible range, so that Take sets it.
func (x *pool) begin(key uint64) { *x = pool{key: key, lo: 1} }

// stealLooks bounds the search for an idle pool, which a packet waits for.
const stealLooks = 64

// idle finds a pool with no port out, looking at some more each time it is asked.
func (p *Pools) idle() (uint32, bool) {
	for range min(stealLooks, p.max) {
		n := p.steal
		p.steal = (n + 1) % p.max
		if p.number(n).out == 0 {
			return n, true
		}
	}
	return 0, false
}

// forget takes a key out of the index, closing the gap.
func (p *Pools) forget(key uint64) {
	gap := p.home(key)
	for p.number(*p.place(gap)-1).key != key {
		gap = (gap + 1) & p.mask
	}
	for i := (gap + 1) & p.mask; *p.place(i) != 0; i = (i + 1) & p.mask {
		home := p.home(p.number(*p.place(i) - 1).key)
		if (i-home)&p.mask >= (i-gap)&p.mask {
			*p.place(gap) = *p.place(i)
			gap = i
		}
	}
	*p.place(gap) = 0
}

// peek is a copy of what open would return; it holds until the next peek. nil if all pools are in use.
func (p *Pools) peek(key uint64) *pool {
	c := p.number(p.max)
	if x := p.find(key); x != nil {
		*c = *x
		return c
	}
	if p.made == p.max {
		steal := p.steal
		_, ok := p.idle()
		if p.steal = steal; !ok {
			return nil
		}
	}
	c.begin(key)
	return c
}
