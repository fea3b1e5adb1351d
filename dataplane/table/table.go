// Package table compiles management's tables (api.Tables) into the form that a worker looks up per packet: vservers,
// services, the schedules of who is chosen next, own addresses, the forwarding table, neighbors. A Set never changes once
// it is built: a change is a new Set, published by one pointer. What a worker reads lies off the Go heap.
//
// The package chooses no service, keeps no flow and knows no packet; it does not decide what the tables should say.
package table

import (
	"errors"
	"fmt"
	"math"
	"net/netip"
	"unsafe"

	"sluice/dataplane/api"
)

// MaxID is the highest ID of a vserver, service or SNIP: arrays are indexed by ID, so that flows and counters survive a
// change of order.
const MaxID = 1<<18 - 1

// MaxGen is the highest Set.Gen.
const MaxGen = 1<<15 - 2

// Port is what the tables must know of a port of the settings, by its index.
type Port struct {
	Name string
	MAC  [6]byte
	MTU  uint16 // bytes; 0 = whatever an IP packet may have
}

// Set is one generation of every table. Its parts are shared with the sets before and after it that did not change them.
type Set struct {
	// Gen changes whenever the meaning of an adjacency index, or of the choice that led to it, may have changed: a flow
	// entry that carries another Gen resolves its next hop again. It is never 0, so that 0 marks an unresolved entry, nor above
	// MaxGen, so that flow entries have what is above for marks of their own (see flow.GenRedirect, flow.GenLink).
	Gen uint16

	ports  []Port
	conf   *config
	pools  *pools
	fib    *fib
	neigh  *neighbors
	roles  *roles
	health *api.Health

	startups uint32 // how many there have been
	slows    uint32 // how many changes have begun a slow start

	// Flushes changes whenever flows of a further vserver or service are to end: see Flushed.
	Flushes uint32
}

// Empty returns the set of a dataplane that management has told nothing yet: it forwards nothing.
func Empty(ports []Port) (*Set, error) {
	s := &Set{Gen: 1, ports: append([]Port(nil), ports...), health: &api.Health{}}
	return build(&api.Tables{Config: &api.Config{}, Health: &api.Health{}, FIB: &api.FIB{}, Neighbors: &api.Neighbors{},
		Roles: &api.Roles{}}, s, math.MaxUint64)
}

// Build returns a set with each part of t that is not nil, and the parts of prev for the rest; prev begins with Empty.
// If anything in t is wrong, Build says what and builds nothing.
//
// This departs from the signature in design.md 2 (Build(t)): tables travel in parts, so a set is only whole with the one
// before it.
func Build(t *api.Tables, prev *Set) (*Set, error) { return BuildWithin(t, prev, math.MaxUint64) }

// BuildWithin is Build where so many bytes of memory are free. Parts that need more together are refused before memory is taken:
// the kernel would grant it at first and kill the program as it is used.
func BuildWithin(t *api.Tables, prev *Set, free uint64) (*Set, error) {
	if t == nil || prev == nil {
		return nil, errors.New("tables: nothing to build from")
	}
	return build(t, prev, free)
}

func build(t *api.Tables, prev *Set, free uint64) (*Set, error) {
	s := *prev
	parts, err := s.draft(t, prev)
	if err != nil {
		return nil, err
	}
	if err := fits(parts, free); err != nil {
		release(parts)
		return nil, err
	}
	for _, p := range parts {
		if err := p.fill(); err != nil {
			release(parts)
			return nil, fmt.Errorf("%s: %w", p.name, err)
		}
	}
	if s.pools != prev.pools {
		s.slowStart(prev)
		s.startUp(prev)
		if prev.pools == nil || s.pools.flush.grew(&prev.pools.flush) {
			s.Flushes++
		}
	}
	if s.fib != prev.fib && (prev.fib == nil || !s.fib.same(prev.fib)) || s.neigh != prev.neigh && s.neigh.lost(prev.neigh) {
		s.Gen = s.Gen%MaxGen + 1
	}
	return &s, nil
}

// part is a part of a set that is checked and counted, but has no memory yet.
type part struct {
	name string
	size uintptr // bytes that it will take
	fill func() error
	free func()
}

func release(parts []part) {
	for _, p := range parts {
		p.free()
	}
}

// draft puts into s each part of t, checked, and returns those that are to be filled.
func (s *Set) draft(t *api.Tables, prev *Set) (parts []part, err error) {
	if t.Config != nil {
		if s.conf, err = newConfig(t.Config); err != nil {
			return nil, fmt.Errorf("configuration %d: %w", t.Config.Version, err)
		}
		parts = append(parts, part{fmt.Sprint("configuration ", t.Config.Version), s.conf.size, s.conf.fill, s.conf.free})
	}
	if t.Health != nil {
		if err := checkHealth(t.Health, s.conf); err != nil {
			return nil, fmt.Errorf("health %d: %w", t.Health.Version, err)
		}
		s.health = t.Health
	}
	if t.FIB != nil {
		if s.fib, err = newFIB(t.FIB, s.ports); err != nil {
			return nil, fmt.Errorf("forwarding table %d: %w", t.FIB.Version, err)
		}
		parts = append(parts, part{fmt.Sprint("forwarding table ", t.FIB.Version), s.fib.size, s.fib.fill, s.fib.free})
	}
	if t.Neighbors != nil {
		if s.neigh, err = newNeighbors(t.Neighbors, s.ports); err != nil {
			return nil, fmt.Errorf("neighbors %d: %w", t.Neighbors.Version, err)
		}
		n := s.neigh
		parts = append(parts, part{fmt.Sprint("neighbors ", t.Neighbors.Version), n.size, func() error { return n.fill(s.ports, prev.neigh) }, n.free})
	}
	if t.Roles != nil {
		if s.roles, err = newRoles(t.Roles, s.ports); err != nil {
			return nil, fmt.Errorf("roles %d: %w", t.Roles.Version, err)
		}
		parts = append(parts, part{fmt.Sprint("roles ", t.Roles.Version), s.roles.size, s.roles.fill, s.roles.free})
	}
	// Last, since from here on tables of the pools before have one owner more.
	if t.Config != nil || t.Health != nil {
		s.pools = newPools(s.conf, s.health, prev.pools)
		parts = append(parts, part{"balancing", s.pools.size, s.pools.fill, s.pools.free})
	}
	return parts, nil
}

// fits refuses parts that need more than what is free.
func fits(parts []part, free uint64) error {
	need, each := uint64(0), ""
	for _, p := range parts {
		need += uint64(p.size)
		each += ", " + p.name + ": " + mib(uint64(p.size)*10+1<<20-1)
	}
	if need <= free {
		return nil
	}
	return fmt.Errorf("the tables need %s MiB of memory (%s) and %s MiB are free: nothing has changed; give the dataplane more memory, "+
		"or configure fewer services, vservers or routes", mib(need*10+1<<20-1), each[2:], mib(free*10))
}

// mib writes tenths of bytes in MiB, cut to tenths.
func mib(n uint64) string { return fmt.Sprintf("%d.%d", n>>20/10, n>>20%10) }

// Bytes is the memory of the whole set, also of parts that other sets share.
func (s *Set) Bytes() uint64 {
	n := s.conf.size + s.pools.own + s.fib.size + s.neigh.size + s.roles.size
	for _, m := range s.pools.tables {
		n += m.bytes()
	}
	return uint64(n)
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
	if s.roles != next.roles {
		s.roles.free()
	}
}

// ConfigVersion, HealthVersion, FIBVersion, NeighborsVersion and RolesVersion are the versions that management gave its parts.
func (s *Set) ConfigVersion() uint64 { return s.conf.src.Version }

// HealthVersion is the version of the health part.
func (s *Set) HealthVersion() uint64 { return s.health.Version }

// FIBVersion is the version of the forwarding table.
func (s *Set) FIBVersion() uint64 { return s.fib.version }

// NeighborsVersion is the version of the neighbors.
func (s *Set) NeighborsVersion() uint64 { return s.neigh.version }

// RolesVersion is the version of the roles.
func (s *Set) RolesVersion() uint64 { return s.roles.version }

// Port is what the tables know of a port, by its index.
func (s *Set) Port(i uint16) Port { return s.ports[i] }

// Vservers lists the vservers as management gave them. Not for the packet path.
func (s *Set) Vservers() []api.Vserver { return s.conf.src.Vservers }

// SNIPs lists the source addresses as management gave them. Not for the packet path.
func (s *Set) SNIPs() []api.SNIP { return s.conf.src.SNIPs }

// Services lists the services as management gave them. Not for the packet path.
func (s *Set) Services() []api.Service { return s.conf.src.Services }

// Names are those of a vserver and a service by their IDs, empty if the set does not have them. Not for the packet path.
func (s *Set) Names(vserver, service uint32) (v, w string) {
	if i := s.placeOf(vserver); i >= 0 {
		v = s.conf.src.Vservers[i].Name
	}
	if x := s.conf.source(service); x != nil {
		w = x.Name
	}
	return v, w
}

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
