package table

import (
	"fmt"
	"net"
	"unsafe"

	"sluice/dataplane/api"
)

// Adjacency is all that a frame to a neighbor needs: its MACs as the first 12 bytes of the frame and the lane. An index
// keeps its neighbor from set to set as long as the neighbor is known; when one goes, Set.Gen changes.
type Adjacency struct {
	MACs uint64 // bytes 0-7 of the frame: destination, first two of the source
	Rest uint32 // bytes 8-11: rest of the source
	Lane uint16
	MTU  uint16 // of the port, in bytes from the IP header on; 0: no neighbor has this index
}

// MaxNeighbors is how many neighbors there can be: a flow entry has 16 bits for the index.
const MaxNeighbors = 1 << 16

const adjacencySize = unsafe.Sizeof(Adjacency{})

type neighbors struct {
	version uint64
	src     *api.Neighbors
	size    uintptr // of mem
	mem     *arena
	index   hash    // port, address -> index
	adj     uintptr // array of Adjacency, as long as any index can be: no bound to check
}

func neighborKey(port uint16, ip uint32) uint64 { return uint64(ip) | uint64(port)<<32 | present }

// newNeighbors checks the neighbors and counts the memory that they take; fill compiles them.
func newNeighbors(src *api.Neighbors, ports []Port) (*neighbors, error) {
	n := &neighbors{version: src.Version, src: src}
	if len(src.Entries) > MaxNeighbors {
		return nil, fmt.Errorf("%d neighbors: this dataplane carries up to %d", len(src.Entries), MaxNeighbors)
	}
	for i := range src.Entries {
		if err := checkNeighbor(&src.Entries[i], ports); err != nil {
			return nil, err
		}
	}
	n.size = pad(slots(len(src.Entries))*slotSize) + pad(MaxNeighbors*adjacencySize)
	return n, nil
}

func (n *neighbors) fill(ports []Port, prev *neighbors) (err error) {
	if n.mem, err = newArena(n.size); err != nil {
		return err
	}
	n.index = newHash(n.mem, len(n.src.Entries))
	n.adj = n.mem.take(MaxNeighbors * adjacencySize)
	err = n.place(n.src.Entries, ports, prev)
	n.src = nil
	return err
}

func checkNeighbor(e *api.Neighbor, ports []Port) error {
	if !e.IP.Is4() {
		return fmt.Errorf("neighbor %v is not IPv4: this dataplane carries IPv4 only", e.IP)
	}
	if int(e.Port) >= len(ports) {
		return fmt.Errorf("neighbor %v is on port number %d, but there are %d ports", e.IP, e.Port, len(ports))
	}
	if e.MAC[0]&1 != 0 || e.MAC == [6]byte{} {
		return fmt.Errorf("neighbor %v has the MAC address %v, which is no single station's", e.IP, net.HardwareAddr(e.MAC[:]))
	}
	return nil
}

// place gives old neighbors their old indexes and new ones what is free.
func (n *neighbors) place(list []api.Neighbor, ports []Port, prev *neighbors) error {
	place := make([]int, len(list))
	for i := range list {
		place[i] = -1
		if prev == nil {
			continue
		}
		if a, ok := prev.index.get(neighborKey(list[i].Port, ip4(list[i].IP))); ok {
			place[i] = int(a)
			n.at(int(a)).MTU = 1 // taken; the rest follows below
		}
	}
	next := 0
	for i := range list {
		if place[i] < 0 {
			for n.at(next).MTU != 0 {
				next++
			}
			place[i] = next
		}
		e := &list[i]
		if !n.index.put(neighborKey(e.Port, ip4(e.IP)), uint64(place[i])) {
			return fmt.Errorf("neighbor %v on port %s is listed twice", e.IP, ports[e.Port].Name)
		}
		d, s, mtu := e.MAC, ports[e.Port].MAC, ports[e.Port].MTU
		if mtu == 0 {
			mtu = 1<<16 - 1
		}
		*n.at(place[i]) = Adjacency{
			MACs: uint64(d[0]) | uint64(d[1])<<8 | uint64(d[2])<<16 | uint64(d[3])<<24 | uint64(d[4])<<32 | uint64(d[5])<<40 |
				uint64(s[0])<<48 | uint64(s[1])<<56,
			Rest: uint32(s[2]) | uint32(s[3])<<8 | uint32(s[4])<<16 | uint32(s[5])<<24,
			Lane: 2 * e.Port, // port.NICLane; this room does not import ports
			MTU:  mtu,
		}
	}
	return nil
}

// lost says whether an index of prev has no neighbor now or another one.
func (n *neighbors) lost(prev *neighbors) bool {
	if prev == nil {
		return true
	}
	for i := uintptr(0); i <= prev.index.mask; i++ {
		p := prev.index.base + i*slotSize
		if k := *u64(p); k != 0 {
			if a, ok := n.index.get(k); !ok || a != *u64(p + 8) {
				return true
			}
		}
	}
	return false
}

func (n *neighbors) at(i int) *Adjacency {
	return (*Adjacency)(unsafe.Add(nil, n.adj+uintptr(i)*adjacencySize))
}

func (n *neighbors) free() {
	if n != nil {
		n.mem.free()
	}
}

// Neighbor returns the index of a neighbor's adjacency.
func (s *Set) Neighbor(port uint16, ip uint32) (uint16, bool) {
	v, ok := s.neigh.index.get(neighborKey(port, ip))
	return uint16(v), ok
}

// Adjacency returns the adjacency of an index; its MTU is 0 if the index has no neighbor.
func (s *Set) Adjacency(i uint16) *Adjacency { return s.neigh.at(int(i)) }

// Adjacencies returns the address of the array of adjacencies, for loops that hoist it.
func (s *Set) Adjacencies() uintptr { return s.neigh.adj }
