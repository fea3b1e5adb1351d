package table

import (
	"cmp"
	"fmt"
	"math/bits"
	"unsafe"

	"sluice/dataplane/api"
)

// maglev is the table of a pool that is chosen from by a hash: Maglev (Eisenbud et al., NSDI 2016, 3.4) with weights. A slot
// holds the place of a member in the list, 16 bits; a key's hash says the slot. It depends on nothing but who the members
// are, their weights and the size: neither on the order of binding nor on the appliance. Vservers with the same members
// share one table, within a set and from set to set.
type maglev struct {
	mem     *arena
	first   uintptr // size slots of uint16, then, from the next cache line on, the members' service IDs
	size    uint32
	owners  int // pools that have it; counted by Build and Free, of which one runs at a time
	members []hashMember
}

// hashMember is a service as the table of a pool knows it.
type hashMember struct {
	name    uint64 // who it is to every appliance
	address uint64 // decides between services of one name, which only the operator can give
	service uint32 // its ID here
	weight  uint32
}

// Sizes of tables are primes. A slot is the least share that a member can have, so a table has at least a hundred slots for
// each member (the largest: up to 6,553 members), and 800 in the small class.
const (
	smallTable  = 16381
	middleTable = 65537
	largeTable  = 655373

	smallPool  = 20
	middlePool = 650

	maxHashed = 1<<16 - 1 // members of a pool: a free slot needs a number too
	freeSlot  = 1<<16 - 1
)

// hashSize is the size of the table of a pool with so many services bound, up or down. A table of another size sends most keys
// elsewhere. Therefore a pool that becomes smaller keeps its size as long as its vserver uses a hash; one that grows past
// its class takes the next size, since a table that is too small for its members balances badly from then on.
func hashSize(bound int, before uint32) uint32 {
	size := uint32(largeTable)
	switch {
	case bound <= smallPool:
		size = smallTable
	case bound <= middlePool:
		size = middleTable
	}
	return max(size, before)
}

// sessionlessSize is hashSize where no flow remembers a choice: appliances that share the packets must have the same table, so it
// depends on nothing that is past. The smallest class is left out, since crossing its border moves most keys.
func sessionlessSize(bound int) uint32 {
	if bound <= middlePool {
		return middleTable
	}
	return largeTable
}

// hashes says whether a method chooses by a hash of the packet.
func hashes(m api.Method) bool {
	return m >= api.SourceIPHash && m <= api.SourceIPSourcePortHash || hashesPayload(m)
}

// hashName is what a service is called in every appliance, in 56 bits: its IPv4 address, port and protocol, or the number that the
// operator gave it, which no address begins with.
func hashName(s *api.Service) uint64 {
	if s.HashID != 0 {
		return uint64(s.HashID)<<8 | 0xff
	}
	return addressName(s)
}

func addressName(s *api.Service) uint64 {
	return uint64(bits.ReverseBytes32(ip4(s.IP)))<<24 | uint64(s.Port)<<8 | uint64(s.Proto)
}

// compareMembers is the order in which members take their turns, and that of the list: the heaviest first, then by name.
func compareMembers(a, b hashMember) int {
	return cmp.Or(cmp.Compare(b.weight, a.weight), cmp.Compare(a.name, b.name), cmp.Compare(a.address, b.address), cmp.Compare(a.service, b.service))
}

// digest is a number by which tables of the same members and size find each other.
func digest(members []hashMember, size uint32) uint64 {
	d := uint64(size)
	for _, m := range members {
		d = mix(mix(mix(d^m.name)^m.address) ^ uint64(m.service)<<32 ^ uint64(m.weight))
	}
	return d
}

func slotBytes(size uint32) uintptr { return pad(uintptr(size) * 2) }

// bytes is the memory of the table.
func (m *maglev) bytes() uintptr {
	return slotBytes(m.size) + pad(uintptr(len(m.members))*4)
}

// fill builds the table of its members, of which there is at least one; they are in their order.
func (m *maglev) fill(key *ClusterKey) (err error) {
	if m.mem, err = newArena(m.bytes()); err != nil {
		return err
	}
	m.first = m.mem.take(uintptr(m.size) * 2)
	ids := unsafe.Slice((*uint32)(unsafe.Add(nil, m.mem.take(uintptr(len(m.members))*4))), len(m.members))
	for i := range m.members {
		ids[i] = m.members[i].service
	}
	fillSlots(unsafe.Slice((*uint16)(unsafe.Add(nil, m.first)), m.size), m.members, key)
	return nil
}

// walk is where a member stands in its permutation of the slots: it visits pos, pos+skip, pos+2*skip, ... modulo the size,
// which is a prime, so that no slot is left out.
type walk struct{ pos, skip uint32 }

func newWalk(name uint64, size uint32, key *ClusterKey) walk {
	return walk{pos: uint32(key.Hash(name) % uint64(size)), skip: uint32(key.Hash(name|1<<56)%uint64(size-1)) + 1}
}

// fullTurn is the weight that takes a turn in every round: a member of weight w takes its k-th turn in round ceil(100k/w).
// It is the highest weight there can be, and not the highest of the pool, so that the others' turns stay when that changes.
const fullTurn = 100

// fillSlots lets the members take turns until every slot is taken. In its turn a member takes the first free slot of its walk.
func fillSlots(slots []uint16, members []hashMember, key *ClusterKey) {
	for i := range slots {
		slots[i] = freeSlot
	}
	walks := make([]walk, len(members))
	for i := range members {
		walks[i] = newWalk(members[i].name, uint32(len(slots)), key)
	}
	// Members of one weight take their turns in the same rounds.
	type group struct{ from, to, weight, turn, round int }
	var groups []group
	for i := range members {
		if w := int(members[i].weight); i == 0 || groups[len(groups)-1].weight != w {
			groups = append(groups, group{from: i, weight: w, turn: 1, round: (fullTurn + w - 1) / w})
		}
		groups[len(groups)-1].to = i + 1
	}
	for left := len(slots); left > 0; {
		round := groups[0].round
		for i := range groups {
			round = min(round, groups[i].round)
		}
		for i := range groups {
			g := &groups[i]
			if g.round != round {
				continue
			}
			n := min(g.to-g.from, left)
			takeTurns(slots, walks[g.from:g.from+n], uint16(g.from))
			left -= n
			g.turn++
			g.round = (fullTurn*g.turn + g.weight - 1) / g.weight
		}
	}
}

// takeTurns gives one free slot to each of the walks; the first is member number first. There are slots enough.
func takeTurns(slots []uint16, walks []walk, first uint16) {
	size := uint32(len(slots))
	for i := range walks {
		w := &walks[i]
		pos, skip := w.pos, w.skip
		for slots[pos] != freeSlot {
			if pos += skip; pos >= size {
				pos -= size
			}
		}
		slots[pos] = first + uint16(i)
		if pos += skip; pos >= size {
			pos -= size
		}
		w.pos = pos
	}
}

// release ends one ownership and frees the memory with the last.
func (m *maglev) release() {
	if m.owners--; m.owners == 0 {
		m.mem.free()
	}
}

// hashMasks are the bits of a key that a method hashes: of A, source and destination address, and of the source port, which the
// hash takes above the source address. mask narrows the address where there is only one.
func hashMasks(v *api.Vserver) (a uint64, port uint16) {
	mask := uint64(bits.ReverseBytes32(v.HashMask))
	if mask == 0 {
		mask = 1<<32 - 1
	}
	switch v.Method {
	case api.SourceIPHash:
		return mask, 0
	case api.DestinationIPHash:
		return mask << 32, 0
	case api.SourceDestinationIPHash:
		return 1<<64 - 1, 0
	case api.SourceIPSourcePortHash:
		return 1<<32 - 1, 1<<16 - 1
	case api.TokenHash, api.CallIDHash:
		return 1<<64 - 1, 1<<16 - 1 // of what stands for a key: see Set.Token
	}
	return 0, 0
}

// Hashes says whether v chooses by a hash of the packet.
func (v *Vserver) Hashes() bool { return v.hashA != 0 || v.hashPort != 0 }

// Hashed returns the ID of the service that a packet with the key a, b (see packet.Key) goes to by the hash method of v, whose
// pool is p; p.N > 0.
func (s *Set) Hashed(v *Vserver, p *Pool, a, b uint64) uint32 {
	return p.InSlot(s.Slot(v, p, a, b))
}

// Slot is the slot of p's table that Hashed looks into.
func (s *Set) Slot(v *Vserver, p *Pool, a, b uint64) uint32 {
	return p.slotOf(s.conf.key.Hash(a&v.hashA ^ b&uint64(v.hashPort)<<32))
}

// slotOf is the slot of a pool's table for a hash.
func (p *Pool) slotOf(hash uint64) uint32 {
	slot, _ := bits.Mul64(hash, uint64(p.N))
	return uint32(slot)
}

// InSlot is the ID of the service in a slot of a hash method's table; slot < p.N.
func (p *Pool) InSlot(slot uint32) uint32 {
	member := *(*uint16)(unsafe.Add(nil, p.first+uintptr(slot)*2))
	return *u32(p.first + slotBytes(p.N) + uintptr(member)*4)
}

// checkHashed refuses pools that are too large for a table.
func checkHashed(v *api.Vserver) error {
	if len(v.Bindings) > maxHashed {
		return fmt.Errorf("vserver %s is bound to %d services: a hash method chooses among %d at most", v.Name, len(v.Bindings), maxHashed)
	}
	return nil
}
