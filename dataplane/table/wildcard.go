package table

import (
	"cmp"
	"fmt"
	"iter"
	"math/bits"
	"net/netip"
	"slices"
	"strings"
	"unsafe"

	"sluice/dataplane/api"
	"sluice/dataplane/api/expr"
)

// wildcards are the vservers that take packets to addresses which are not ours: by a pattern, that of a wildcard has no bits.
// They are asked one after the other, so their number is what a new flow to a foreign address costs.
type wildcards struct {
	list []wildcardSource // until they are filled in
	kept int              // how many services may answer to foreign addresses

	n      int
	first  uintptr // array of wildcard, in the order in which they are asked
	ports  uintptr // array of VLANs by the index of the port
	nPorts int     // how many ports have a VLAN of their own
	answer hash    // address, port, protocol of services that see the client's address
}

type wildcardSource struct {
	at      int // in src.Vservers
	program []expr.Test
}

// wildcard is one vserver with a pattern.
type wildcard struct {
	vserver  uintptr
	ip, mask uint32 // as they lie in a packet
	port     uint16 // the same; 0: every port
	proto    uint8
	_        uint8
	steps    uint32 // of the program
	program  uintptr
}

const (
	wildcardSize = unsafe.Sizeof(wildcard{})
	stepSize     = unsafe.Sizeof(expr.Test{})
)

// patterned says whether v takes packets to foreign addresses.
func patterned(v *api.Vserver) bool { return v.IPMask.IsValid() }

// addresses is how many addresses of ours v listens on.
func addresses(v *api.Vserver) int {
	if patterned(v) || v.Hidden {
		return 0
	}
	return max(int(v.Range), 1)
}

// placesOf are those addresses.
func placesOf(v *api.Vserver) iter.Seq[netip.Addr] {
	return func(yield func(netip.Addr) bool) {
		ip := v.IP
		for n := addresses(v); n > 0 && yield(ip); n-- {
			ip = ip.Next()
		}
	}
}

// checkPlace checks where a vserver listens.
func checkPlace(v *api.Vserver) error {
	if v.Hidden {
		return nil
	}
	if !patterned(v) {
		last := v.IP
		for range placesOf(v) {
			if !last.IsValid() {
				return fmt.Errorf("vserver %s listens on %d addresses from %v on, which is beyond the last address", v.Name, v.Range, v.IP)
			}
			last = last.Next()
		}
		if v.Listen != "" {
			return fmt.Errorf("vserver %s has the listen policy %s, which narrows wildcard vservers, and the address %v", v.Name, v.Listen, v.IP)
		}
		return nil
	}
	if err := checkIP4("mask of vserver", v.Name, v.IPMask); err != nil {
		return err
	}
	if ip4(v.IP)&^ip4(v.IPMask) != 0 {
		return fmt.Errorf("vserver %s has the pattern %v, of which the mask %v leaves less", v.Name, v.IP, v.IPMask)
	}
	return nil
}

// newWildcards compiles the listen policies.
func newWildcards(src *api.Config) (w wildcards, err error) {
	for i := range src.Vservers {
		v := &src.Vservers[i]
		if !patterned(v) {
			continue
		}
		s := wildcardSource{at: i}
		if v.Listen != "" {
			e, err := expr.Parse(v.Listen)
			if err != nil {
				return w, fmt.Errorf("listen policy of vserver %s: %w", v.Name, err)
			}
			s.program = e.Compile()
		}
		w.list = append(w.list, s)
	}
	slices.SortStableFunc(w.list, func(a, b wildcardSource) int { return before(&src.Vservers[a.at], &src.Vservers[b.at]) })
	w.nPorts = len(src.PortVLANs)
	for i := range src.Services {
		if src.Services[i].UseSourceIP {
			w.kept++
		}
	}
	return w, nil
}

// before is the order in which wildcards are asked: see api.Vserver.Listen.
func before(a, b *api.Vserver) int {
	last := func(yes bool) int { // of two, the one of which it is true comes later
		if yes {
			return 1
		}
		return 0
	}
	ones := func(v *api.Vserver) int { return bits.OnesCount32(ip4(v.IPMask)) }
	return cmp.Or(cmp.Compare(ones(b), ones(a)), cmp.Compare(a.ListenPriority, b.ListenPriority),
		cmp.Compare(last(a.Listen == ""), last(b.Listen == "")), cmp.Compare(last(a.Port == 0), last(b.Port == 0)),
		cmp.Compare(last(a.Proto == api.ProtoAny), last(b.Proto == api.ProtoAny)), strings.Compare(a.Name, b.Name))
}

// size is the memory that they take.
func (w *wildcards) size() uintptr {
	n := pad(uintptr(len(w.list))*wildcardSize) + pad(uintptr(w.nPorts)*2) + pad(slots(w.kept)*slotSize)
	for _, s := range w.list {
		n += pad(uintptr(len(s.program)) * stepSize)
	}
	return n
}

// fill writes them into the memory of c, whose vservers are there already.
func (w *wildcards) fill(c *config) {
	w.n = len(w.list)
	w.first = c.mem.take(uintptr(w.n) * wildcardSize)
	for i, s := range w.list {
		v := &c.src.Vservers[s.at]
		r := (*wildcard)(unsafe.Add(nil, w.first+uintptr(i)*wildcardSize))
		*r = wildcard{vserver: c.vservers + uintptr(s.at)*vserverSize, ip: ip4(v.IP), mask: ip4(v.IPMask), port: net16(v.Port), proto: v.Proto,
			steps: uint32(len(s.program)), program: c.mem.take(uintptr(len(s.program)) * stepSize)}
		copy(r.tests(), s.program)
	}
	w.list = nil
	w.ports = c.mem.take(uintptr(w.nPorts) * 2)
	for i, id := range c.src.PortVLANs {
		*(*uint16)(unsafe.Add(nil, w.ports+uintptr(i)*2)) = id
	}
	w.answer = newHash(c.mem, w.kept)
	for i := range c.src.Services {
		if s := &c.src.Services[i]; s.UseSourceIP {
			w.answer.put(vipKey(ip4(s.IP), net16(s.Port), s.Proto), 1) // several services may share a place
		}
	}
}

// tests are the steps of its listen policy.
func (r *wildcard) tests() []expr.Test {
	return unsafe.Slice((*expr.Test)(unsafe.Add(nil, r.program)), r.steps)
}

// HasWildcards says whether packets to foreign addresses may be taken.
func (s *Set) HasWildcards() bool { return s.conf.wild.n > 0 }

// Wildcard finds who takes packets of a key (A and B of packet.Key) to an address that is not ours, that came in by a VLAN, or nil.
func (s *Set) Wildcard(a, b uint64, vlan uint16) *Vserver {
	w := &s.conf.wild
	dst, port, proto := uint32(a>>32), uint16(b>>16), uint8(b>>32)
	var facts expr.Facts
	known := false
	for i := 0; i < w.n; i++ {
		r := (*wildcard)(unsafe.Add(nil, w.first+uintptr(i)*wildcardSize))
		if dst&r.mask != r.ip || r.port != 0 && r.port != port || r.proto != api.ProtoAny && r.proto != proto {
			continue
		}
		if r.steps > 0 {
			if !known {
				state(&facts, a, b, vlan)
				known = true
			}
			if !expr.Run(r.tests(), &facts) {
				continue
			}
		}
		return (*Vserver)(unsafe.Add(nil, r.vserver))
	}
	return nil
}

// state says the facts of a key.
func state(f *expr.Facts, a, b uint64, vlan uint16) {
	src, dst, proto := bits.ReverseBytes32(uint32(a)), bits.ReverseBytes32(uint32(a>>32)), uint8(b>>32)
	sport, dport := uint64(net16(uint16(b))), uint64(net16(uint16(b>>16)))
	*f = expr.Facts{expr.SourceIP: uint64(src), expr.DestIP: uint64(dst), expr.Protocol: uint64(proto), expr.VLAN: uint64(vlan),
		expr.TCPSource: expr.Missing, expr.TCPDest: expr.Missing, expr.UDPSource: expr.Missing, expr.UDPDest: expr.Missing}
	switch proto {
	case api.ProtoTCP:
		f[expr.TCPSource], f[expr.TCPDest] = sport, dport
	case api.ProtoUDP:
		f[expr.UDPSource], f[expr.UDPDest] = sport, dport
	}
}

// PortVLAN is the VLAN of untagged frames that come in by a port.
func (s *Set) PortVLAN(port uint16) uint16 {
	if int(port) >= s.conf.wild.nPorts {
		return 1
	}
	return *(*uint16)(unsafe.Add(nil, s.conf.wild.ports+uintptr(port)*2))
}

// AnswersClients says whether a service that sees its clients' addresses is at an address, port and protocol: what it sends to a
// foreign address is an answer.
func (s *Set) AnswersClients(ip uint32, port uint16, proto uint8) bool {
	h := &s.conf.wild.answer
	for _, key := range [...]uint64{vipKey(ip, port, proto), vipKey(ip, 0, proto), vipKey(ip, port, api.ProtoAny), vipKey(ip, 0, api.ProtoAny)} {
		if _, ok := h.get(key); ok {
			return true
		}
	}
	return false
}
