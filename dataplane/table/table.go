// Package table compiles management's tables (api.Tables) into the form that a worker looks up per packet: vservers,
// services, the schedules of who is chosen next, own addresses, the forwarding table, neighbors. A Set never changes once
// it is built: a change is a new Set, published by one pointer. What a worker reads lies off the Go heap.
//
// The package chooses no service, keeps no flow and knows no packet; it does not decide what the tables should say.
package table

import (
	"errors"
	"fmt"
	"net/netip"
	"unsafe"

	"sluice/dataplane/api"
)

// MaxID is the highest ID of a vserver, service or SNIP: arrays are indexed by ID, so that flows and counters survive a
// change of order.
const MaxID = 1<<18 - 1

// Port is what the tables must know of a port of the settings, by its index.
type Port struct {
	Name string
	MAC  [6]byte
	MTU  uint16 // bytes; 0 = whatever an IP packet may have
}

// Set is one generation of every table. Its parts are shared with the sets before and after it that did not change them.
type Set struct {
	// Gen changes whenever the meaning of an adjacency index, or of the choice that led to it, may have changed: a flow
	// entry that carries another Gen resolves its next hop again. It is never 0, so that 0 marks an unresolved entry.
	Gen uint16

	ports  []Port
	conf   *config
	pools  *pools
	fib    *fib
	neigh  *neighbors
	health *api.Health

	startups uint32 // how many there have been
}

// Empty returns the set of a dataplane that management has told nothing yet: it forwards nothing.
func Empty(ports []Port) (*Set, error) {
	s := &Set{Gen: 1, ports: append([]Port(nil), ports...), health: &api.Health{}}
	return build(&api.Tables{Config: &api.Config{}, Health: &api.Health{}, FIB: &api.FIB{}, Neighbors: &api.Neighbors{}}, s)
}

// Build returns a set with each part of t that is not nil, and the parts of prev for the rest; prev begins with Empty.
// If anything in t is wrong, Build says what and builds nothing.
//
// This departs from the signature in design.md 2 (Build(t)): tables travel in parts, so a set is only whole with the one
// before it.
func Build(t *api.Tables, prev *Set) (*Set, error) {
	if t == nil || prev == nil {
		return nil, errors.New("tables: nothing to build from")
	}
	return build(t, prev)
}

func build(t *api.Tables, prev *Set) (*Set, error) {
	s := *prev
	var made []interface{ free() }
	fail := func(err error) (*Set, error) {
		for _, p := range made {
			p.free()
		}
		return nil, err
	}
	if t.Config != nil {
		c, err := newConfig(t.Config)
		if err != nil {
			return fail(fmt.Errorf("configuration %d: %w", t.Config.Version, err))
		}
		s.conf = c
		made = append(made, c)
	}
	if t.Health != nil {
		if err := checkHealth(t.Health, s.conf); err != nil {
			return fail(fmt.Errorf("health %d: %w", t.Health.Version, err))
		}
		s.health = t.Health
	}
	if t.Config != nil || t.Health != nil {
		p, err := newPools(s.conf, s.health, prev.pools)
		if err != nil {
			return fail(err)
		}
		s.pools = p
		made = append(made, p)
		s.startUp(prev)
	}
	changed := false
	if t.FIB != nil {
		f, err := newFIB(t.FIB, s.ports)
		if err != nil {
			return fail(fmt.Errorf("forwarding table %d: %w", t.FIB.Version, err))
		}
		changed = prev.fib == nil || !f.same(prev.fib)
		s.fib = f
		made = append(made, f)
	}
	if t.Neighbors != nil {
		n, moved, err := newNeighbors(t.Neighbors, s.ports, prev.neigh)
		if err != nil {
			return fail(fmt.Errorf("neighbors %d: %w", t.Neighbors.Version, err))
		}
		changed = changed || moved
		s.neigh = n
	}
	if changed {
		if s.Gen++; s.Gen == 0 {
			s.Gen = 1
		}
	}
	return &s, nil
}

// Free returns the memory of the parts that next (nil: nobody) does not share. No worker may still hold s.
func (s *Set) Free(next *Set) {
	if next == nil {
		next = &Set{}
	}
	if s.conf != next.conf {
		s.conf.free()
	}
	if s.pools != next.pools {
		s.pools.free()
	}
	if s.fib != next.fib {
		s.fib.free()
	}
	if s.neigh != next.neigh {
		s.neigh.free()
	}
}

// ConfigVersion, HealthVersion, FIBVersion and NeighborsVersion are the versions that management gave its parts.
func (s *Set) ConfigVersion() uint64 { return s.conf.src.Version }

// HealthVersion is the version of the health part.
func (s *Set) HealthVersion() uint64 { return s.health.Version }

// FIBVersion is the version of the forwarding table.
func (s *Set) FIBVersion() uint64 { return s.fib.version }

// NeighborsVersion is the version of the neighbors.
func (s *Set) NeighborsVersion() uint64 { return s.neigh.version }

// Vservers lists the vservers as management gave them. Not for the packet path.
func (s *Set) Vservers() []api.Vserver { return s.conf.src.Vservers }

// SNIPs lists the source addresses as management gave them. Not for the packet path.
func (s *Set) SNIPs() []api.SNIP { return s.conf.src.SNIPs }

// Services lists the services as management gave them. Not for the packet path.
func (s *Set) Services() []api.Service { return s.conf.src.Services }

// ip4 returns an IPv4 address as the 32 bits that a little-endian load of the packet's bytes gives.
func ip4(a netip.Addr) uint32 {
	b := a.As4()
	return uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16 | uint32(b[3])<<24
}

// Addr turns an address as it lies in a packet (see packet.Key) back into one for people and management.
func Addr(ip uint32) netip.Addr {
	return netip.AddrFrom4([4]byte{byte(ip), byte(ip >> 8), byte(ip >> 16), byte(ip >> 24)})
}

// net16 turns a port number into the 16 bits that a little-endian load of the packet's bytes gives.
func net16(p uint16) uint16 { return p<<8 | p>>8 }

func u32(p uintptr) *uint32 { return (*uint32)(unsafe.Add(nil, p)) }
func u64(p uintptr) *uint64 { return (*uint64)(unsafe.Add(nil, p)) }
