package flow

import "sluice/dataplane/packet"

// PoolSettings of the port pools.
type PoolSettings struct {
	Pools   int    // most pools (SNIP and service pairs in use) at once
	Workers int    // W, a power of two
	Self    int    // this worker's number
	Seed    uint64 // where cursors start; zero draws a random one
}

// Pools are the free source ports per SNIP and service. Ports are given out in turn, so that each rests as long as possible.
// This worker gives out only ports q with q & (W-1) == Self, and never 3784, 4784 (BFD) and 4789 (VXLAN).
type Pools struct{}

// OpenPools reserves memory for pools; it is used as pools come up.
func OpenPools(s PoolSettings) (*Pools, error) { return nil, nil }

// Close gives the memory back.
func (p *Pools) Close() error { return nil }

// Take gives out a free port in lo to hi (host order) of snip (memory order) toward a service; ok is false when there is none.
func (p *Pools) Take(snip, service uint32, lo, hi uint16) (port uint16, ok bool) { return 0, false }

// Release takes a port back. A port that is not out, or of a pool that is not known, is ignored.
func (p *Pools) Release(snip, service uint32, port uint16) {}

// Used is how many ports of snip toward service are out.
func (p *Pools) Used(snip, service uint32) int { return 0 }

// TakeUnused is Take, passing over ports whose way back is taken in t by a flow of another service on the same server address: the
// reverse key is server:serverPort -> snip:q. It tries 16 ports.
func (p *Pools) TakeUnused(t *Table, snip, service uint32, lo, hi uint16, server uint32, serverPort uint16, proto uint8) (port uint16, ok bool) {
	return 0, false
}

// Probe finds a source port q for a kept source address (usip with proxy port): server:serverPort -> client:q must not be in t, and q belongs
// to this worker. It tries 32 ports from a moving start.
func (p *Pools) Probe(t *Table, client uint32, lo, hi uint16, server uint32, serverPort uint16, proto uint8) (port uint16, ok bool) {
	return 0, false
}

var _ packet.Key
