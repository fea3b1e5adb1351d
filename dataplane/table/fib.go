package table

import (
	"cmp"
	"fmt"
	"math/bits"
	"net/netip"
	"slices"
	"unsafe"

	"sluice/dataplane/api"
)

// Hop is a way out: a port and the neighbor on it, or the destination itself where Gateway is 0.
type Hop struct {
	Gateway uint32
	Port    uint16
	_       uint16
}

// Next is whose MAC address packets to dst are sent to.
func (h *Hop) Next(dst uint32) uint32 {
	if h.Gateway != 0 {
		return h.Gateway
	}
	return dst
}

const hopSize = unsafe.Sizeof(Hop{})

// fib is a longest-prefix match in a multibit trie of strides 16, 8 and 8: one to three loads. A node word is 0 (no
// route), a group, or, with chunkBit, the number of the 256-word chunk that goes on. A group is the first hop's place
// and, in the top bits, how many hops share its flows.
type fib struct {
	version uint64
	size    uintptr // of mem
	chunked int     // chunks there will be
	mem     *arena
	root    uintptr // 65536 words
	chunks  uintptr // 256 words each
	hops    uintptr // array of Hop
	routes  []route // compiled and sorted: to tell whether a new part says anything new
}

type route struct {
	prefix netip.Prefix
	hop    Hop
}

const (
	chunkBit  = 1 << 31
	groupBit  = 1 << 30 // a leaf is never 0
	hopShift  = 24
	maxShared = 63 // routes of one prefix
	maxHops   = 1 << hopShift
	chunkSize = 256
	rootSize  = 1 << 16
)

// newFIB checks the routes and counts the memory that they take; fill compiles them.
func newFIB(src *api.FIB, ports []Port) (*fib, error) {
	f := &fib{version: src.Version}
	for i := range src.Routes {
		r, err := newRoute(&src.Routes[i], ports)
		if err != nil {
			return nil, err
		}
		f.routes = append(f.routes, r)
	}
	slices.SortFunc(f.routes, compareRoutes)
	// The same route twice says nothing more: two SNIPs of one subnet give its route twice.
	f.routes = slices.Compact(f.routes)
	if len(f.routes) >= maxHops {
		return nil, fmt.Errorf("%d routes: this dataplane carries fewer than %d", len(f.routes), maxHops)
	}
	for i := 0; i < len(f.routes); i += f.sharing(i) {
		if n := f.sharing(i); n > maxShared {
			return nil, fmt.Errorf("%d routes to %v: at most %d can share its flows", n, f.routes[i].prefix, maxShared)
		}
	}
	f.chunked = countChunks(f.routes)
	f.size = pad(rootSize*4) + pad(uintptr(f.chunked)*chunkSize*4) + pad(uintptr(len(f.routes))*hopSize)
	return f, nil
}

// sharing is how many routes, from number i on, have one prefix.
func (f *fib) sharing(i int) int {
	n := 1
	for i+n < len(f.routes) && f.routes[i+n].prefix == f.routes[i].prefix {
		n++
	}
	return n
}

// countChunks counts the chunks that prefixes longer than 16 bits, and again those longer than 24, have among them.
func countChunks(routes []route) int {
	var parents []uint32 // the bits above a chunk, with a one before them
	for i := range routes {
		ip := bits.ReverseBytes32(ip4(routes[i].prefix.Addr()))
		if routes[i].prefix.Bits() > 16 {
			parents = append(parents, 1<<16|ip>>16)
		}
		if routes[i].prefix.Bits() > 24 {
			parents = append(parents, 1<<24|ip>>8)
		}
	}
	slices.Sort(parents)
	return len(slices.Compact(parents))
}

func newRoute(r *api.Route, ports []Port) (route, error) {
	if !r.Prefix.IsValid() || !r.Prefix.Addr().Is4() {
		return route{}, fmt.Errorf("route %v is not IPv4: this dataplane carries IPv4 only", r.Prefix)
	}
	if r.Prefix != r.Prefix.Masked() {
		return route{}, fmt.Errorf("route %v has bits beyond its mask: the network is %v", r.Prefix, r.Prefix.Masked())
	}
	if int(r.Port) >= len(ports) {
		return route{}, fmt.Errorf("route %v leaves by port number %d, but there are %d ports", r.Prefix, r.Port, len(ports))
	}
	out := route{prefix: r.Prefix, hop: Hop{Port: r.Port}}
	if r.Gateway.IsValid() {
		if !r.Gateway.Is4() || r.Gateway.IsUnspecified() || r.Gateway.IsMulticast() {
			return route{}, fmt.Errorf("route %v has the gateway %v, which is no IPv4 neighbor", r.Prefix, r.Gateway)
		}
		out.hop.Gateway = ip4(r.Gateway)
	}
	return out, nil
}

// compareRoutes puts shorter prefixes first, so that longer ones overwrite them, and equal ones side by side.
func compareRoutes(a, b route) int {
	return cmp.Or(cmp.Compare(a.prefix.Bits(), b.prefix.Bits()), a.prefix.Addr().Compare(b.prefix.Addr()),
		cmp.Compare(a.hop.Port, b.hop.Port), cmp.Compare(bits.ReverseBytes32(a.hop.Gateway), bits.ReverseBytes32(b.hop.Gateway)))
}

// trie is the node words while they are written; used chunks of it are in use.
type trie struct {
	root   []uint32
	chunks []uint32
	used   int
}

// add writes a leaf over everything that prefix covers; prefixes come in order of length.
func (t *trie) add(prefix netip.Prefix, leaf uint32) {
	ip, length := bits.ReverseBytes32(ip4(prefix.Addr())), prefix.Bits()
	node, at := t.root, int(ip>>16)
	for stride, shift := 16, 8; length > stride; stride, shift = stride+8, shift-8 {
		node, at = t.chunk(&node[at]), int(ip>>shift)&0xff
	}
	below := 16
	if length > 16 {
		below = (length + 7) / 8 * 8
	}
	for i := 0; i < 1<<(below-length); i++ {
		node[at+i] = leaf
	}
}

// chunk returns the chunk behind a word, which becomes one, filled with what the word said, if it is none yet.
func (t *trie) chunk(word *uint32) []uint32 {
	n, old := *word&^chunkBit, *word
	fresh := old&chunkBit == 0
	if fresh {
		n = uint32(t.used)
		t.used++
		*word = chunkBit | n
	}
	c := t.chunks[n*chunkSize : (n+1)*chunkSize]
	if fresh {
		for i := range c {
			c[i] = old
		}
	}
	return c
}

func (f *fib) fill() (err error) {
	if f.mem, err = newArena(f.size); err != nil {
		return err
	}
	words := func(n int) (uintptr, []uint32) {
		p := f.mem.take(uintptr(n) * 4)
		return p, unsafe.Slice((*uint32)(unsafe.Add(nil, p)), n)
	}
	var t trie
	f.root, t.root = words(rootSize)
	if f.chunked > 0 {
		f.chunks, t.chunks = words(f.chunked * chunkSize)
	}
	for i := 0; i < len(f.routes); i += f.sharing(i) {
		t.add(f.routes[i].prefix, groupBit|uint32(f.sharing(i)-1)<<hopShift|uint32(i))
	}
	f.hops = f.mem.take(uintptr(len(f.routes)) * hopSize)
	for i := range f.routes {
		*(*Hop)(unsafe.Add(nil, f.hops+uintptr(i)*hopSize)) = f.routes[i].hop
	}
	return nil
}

func (f *fib) free() {
	if f != nil {
		f.mem.free()
	}
}

// same says whether two tables forward alike.
func (f *fib) same(o *fib) bool { return slices.Equal(f.routes, o.routes) }

// Prefix is the prefix of the route to an address. Not for the packet path.
func (s *Set) Prefix(ip netip.Addr) (best netip.Prefix) {
	for _, r := range s.fib.routes {
		if r.prefix.Contains(ip) && (!best.IsValid() || r.prefix.Bits() > best.Bits()) {
			best = r.prefix
		}
	}
	return best
}

// Route returns the way to an address, or nil. Of several ways the flow's hash chooses, always the same one.
func (s *Set) Route(ip uint32, flow uint64) *Hop {
	f := s.fib
	h := uintptr(bits.ReverseBytes32(ip))
	w := *u32(f.root + h>>16*4)
	if w&chunkBit != 0 {
		w = *u32(f.chunks + (uintptr(w&^chunkBit)*chunkSize+h>>8&0xff)*4)
		if w&chunkBit != 0 {
			w = *u32(f.chunks + (uintptr(w&^chunkBit)*chunkSize+h&0xff)*4)
		}
	}
	if w == 0 {
		return nil
	}
	i := uint64(w & (maxHops - 1))
	if n := uint64(w >> hopShift & maxShared); n > 0 {
		// The hash's high half, since the low bits choose slots elsewhere; a multiplication spreads it over n+1 hops.
		i += (flow >> 32) * (n + 1) >> 32
	}
	return (*Hop)(unsafe.Add(nil, f.hops+uintptr(i)*hopSize))
}
