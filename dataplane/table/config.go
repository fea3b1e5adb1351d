package table

import (
	"fmt"
	"net/netip"
	"unsafe"

	"sluice/dataplane/api"
)

// TicksPerSecond is the unit of every timeout in the tables: the worker's coarse clock counts tenths of a second.
const TicksPerSecond = 10

// Vserver is one virtual server as the packet path reads it. Addresses and ports are as they lie in a packet.
type Vserver struct {
	ID      uint32
	Timeout uint32 // ticks without a packet until a flow is forgotten
	IP      uint32
	Port    uint16 // 0 = every port
	Proto   uint8  // 0 = every protocol
	Method  uint8  // api.Method
	pool    uint32 // index in pools

	hashPort uint16 // bits of the source port, and
	Persists bool   // it has persistence: see Set.Persistence
	how      uint8  // mode and options: see mode.go
	hashA    uint64 // of the addresses that the method hashes

	TokenOffset, TokenLength uint16 // part of the payload that the method hashes, if the length is not 0

	DSCP uint8 // ModeTOS: six bits as they lie in the TOS byte
	cutN uint8 // how many
	_    [2]uint8

	Backup     uint32  // ID of the vserver that takes what this one cannot; 0: none
	SpillLimit uint32  // ticks without a new flow that a client stays with the backup which took one; 0: it does not
	cuts       uintptr // expr.Cut: the steps of its token
}

// Flags of a Service.
const (
	UseSourceIP  = 1 << iota // the server sees the client's address
	UseProxyPort             // with UseSourceIP: the source port is ours
)

// Service is one server's port as the packet path reads it.
type Service struct {
	ID      uint32 // 0: there is no service of this ID
	Timeout uint32 // ticks
	IP      uint32
	Port    uint16 // 0 = the port that the client used
	Proto   uint8
	Flags   uint8
	snips   uint32 // first of its SNIPs in the list
	SNIPs   uint32 // how many

	MaxClient    uint32 // open flows at a time; 0: no limit
	MaxBandwidth uint32 // kbit/s; 0: no limit
}

// SNIP is a source address and the ports on it that are ours, in host order.
type SNIP struct {
	ID     uint32
	IP     uint32
	PortLo uint16
	PortHi uint16
	_      uint32
}

// Kinds and flags of an own address: 0 = not ours.
const (
	OwnVIP  = uint64(api.OwnVIP)
	OwnSNIP = uint64(api.OwnSNIP)
	OwnNSIP = uint64(api.OwnNSIP)
	OwnElse = uint64(api.OwnElsewhere)
	OwnKind = 0xff
	OwnARP  = 1 << 8 // answers ARP
	OwnICMP = 1 << 9 // answers ICMP echo

	OwnListens     = 1 << 10 // a vserver listens on it, on some port or all
	OwnSessionless = 1 << 11 // and none that does keeps flows

	OwnVRID = 16 // shift of a VIP's virtual router, a byte: 0 if it has none

	// Of a SNIP: the first and the last port, in host order, that the dataplane may give out on it.
	OwnPortLo = 32 // shift
	OwnPortHi = 48 // shift
)

const (
	vserverSize = unsafe.Sizeof(Vserver{})
	serviceSize = unsafe.Sizeof(Service{})
	snipSize    = unsafe.Sizeof(SNIP{})
	present     = 1 << 63 // in a hash key: no key is 0
)

type config struct {
	src      *api.Config
	size     uintptr              // of mem
	sources  map[uint32]*api.SNIP // by ID, until mem is filled
	mem      *arena
	vips     hash    // address, port, protocol -> *Vserver
	own      hash    // address -> kind and flags
	vservers uintptr // array of Vserver, in management's order
	services uintptr // array of Service by ID
	top      uint32  // highest service ID
	idle     uintptr // array of ticks by vserver ID: its timeout, never if it has none, 0 if there is no such vserver
	places   uintptr // array of indices in src.Vservers, plus 1, by vserver ID
	topV     uint32  // highest vserver ID
	snips    uintptr // array of SNIP: each service's own, one after another
	wild     wildcards

	limited   limited
	serviceAt []uint32 // place in src.Services, plus 1, by ID

	key ClusterKey

	persists    int     // vservers that have persistence
	persistence uintptr // array of Persistence, in management's order, if there are any
}

func vipKey(ip uint32, port uint16, proto uint8) uint64 {
	return uint64(ip) | uint64(port)<<32 | uint64(proto)<<48 | present
}

// newConfig checks the configuration part and counts the memory that it takes; fill compiles it.
func newConfig(src *api.Config) (*config, error) {
	snips, err := checkSNIPs(src.SNIPs)
	if err != nil {
		return nil, err
	}
	services, err := checkServices(src.Services, snips)
	if err != nil {
		return nil, err
	}
	if err := checkVservers(src, services); err != nil {
		return nil, err
	}
	wild, err := newWildcards(src)
	if err != nil {
		return nil, err
	}
	c := &config{src: src, sources: snips, key: defaultClusterKey, wild: wild}
	for i := range src.Services {
		c.top = max(c.top, src.Services[i].ID)
	}
	for i := range src.Vservers {
		c.topV = max(c.topV, src.Vservers[i].ID)
	}
	nv, na := len(src.Vservers), len(src.Addresses)
	c.size = pad(slots(c.listens())*slotSize) + pad(slots(na)*slotSize) + pad(uintptr(nv)*vserverSize) +
		pad((uintptr(c.top)+1)*serviceSize) + pad(uintptr(c.refs())*snipSize) +
		2*pad((uintptr(c.topV)+1)*4) + c.wild.size() + c.sizeCuts()
	c.countPersistence()
	c.placeServices()
	return c, nil
}

// listens is how many addresses vservers listen on, each for itself.
func (c *config) listens() (n int) {
	for i := range c.src.Vservers {
		n += addresses(&c.src.Vservers[i])
	}
	return n
}

// refs is how many SNIPs the services name, each for itself.
func (c *config) refs() (n int) {
	for i := range c.src.Services {
		n += len(c.src.Services[i].SNIPs)
	}
	return n
}

func (c *config) fill() (err error) {
	if c.mem, err = newArena(c.size); err != nil {
		return err
	}
	nv, na := len(c.src.Vservers), len(c.src.Addresses)
	c.vips, c.own = newHash(c.mem, c.listens()), newHash(c.mem, na)
	c.vservers = c.mem.take(uintptr(nv) * vserverSize)
	c.services = c.mem.take((uintptr(c.top) + 1) * serviceSize)
	c.snips = c.mem.take(uintptr(c.refs()) * snipSize)
	c.idle = c.mem.take((uintptr(c.topV) + 1) * 4)
	c.places = c.mem.take((uintptr(c.topV) + 1) * 4)
	c.fillServices(c.sources)
	c.sources = nil
	c.fillPersistence()
	if err := c.fillVservers(); err != nil {
		return err
	}
	c.wild.fill(c)
	return c.fillAddresses()
}

func (c *config) free() {
	if c != nil {
		c.mem.free()
	}
}

// timeout turns seconds into ticks; a value that ticks cannot hold is as good as the longest that they can.
func timeout(seconds uint32) uint32 {
	return uint32(min(uint64(seconds)*TicksPerSecond, never))
}

// listeners are the addresses on which vservers listen, and whether all that do are sessionless.
func (c *config) listeners() map[netip.Addr]bool {
	m := make(map[netip.Addr]bool, len(c.src.Vservers))
	for i := range c.src.Vservers {
		v := &c.src.Vservers[i]
		for ip := range placesOf(v) {
			all, listens := m[ip]
			m[ip] = v.Sessionless && (all || !listens)
		}
	}
	return m
}

// portRanges are the ports of each SNIP, shifted as Own has them: from the lowest to the highest if several objects share an address.
func (c *config) portRanges() map[netip.Addr]uint64 {
	m := make(map[netip.Addr]uint64, len(c.src.SNIPs))
	for i := range c.src.SNIPs {
		s := &c.src.SNIPs[i]
		lo, hi := uint64(s.PortLo), uint64(s.PortHi)
		if v, ok := m[s.IP]; ok {
			lo, hi = min(lo, v>>OwnPortLo&0xffff), max(hi, v>>OwnPortHi)
		}
		m[s.IP] = lo<<OwnPortLo | hi<<OwnPortHi
	}
	return m
}

func (c *config) fillServices(snips map[uint32]*api.SNIP) {
	next := uint32(0)
	for i := range c.src.Services {
		s := &c.src.Services[i]
		r := (*Service)(unsafe.Add(nil, c.services+uintptr(s.ID)*serviceSize))
		*r = Service{ID: s.ID, Timeout: timeout(s.ServerTimeout), IP: ip4(s.IP), Port: net16(s.Port), Proto: s.Proto,
			snips: next, SNIPs: uint32(len(s.SNIPs)), MaxClient: s.MaxClient, MaxBandwidth: s.MaxBandwidth}
		if s.UseSourceIP {
			r.Flags |= UseSourceIP
		}
		if s.UseProxyPort {
			r.Flags |= UseProxyPort
		}
		for _, id := range s.SNIPs {
			n := (*SNIP)(unsafe.Add(nil, c.snips+uintptr(next)*snipSize))
			*n = SNIP{ID: id, IP: ip4(snips[id].IP), PortLo: snips[id].PortLo, PortHi: snips[id].PortHi}
			next++
		}
	}
}

func (c *config) fillVservers() error {
	for i := range c.src.Vservers {
		v := &c.src.Vservers[i]
		p := c.vservers + uintptr(i)*vserverSize
		r := (*Vserver)(unsafe.Add(nil, p))
		*r = Vserver{ID: v.ID, Timeout: timeout(v.ClientTimeout), Port: net16(v.Port), Proto: v.Proto, Method: uint8(v.Method), pool: uint32(i),
			Persists: v.Persistence != 0, TokenOffset: v.TokenOffset, TokenLength: v.TokenLength, Backup: v.Backup, SpillLimit: timeout(v.SpillSeconds)}
		if !v.Hidden {
			r.IP = ip4(v.IP)
		}
		r.hashA, r.hashPort = hashMasks(v)
		c.fillRule(r, v)
		r.how, r.DSCP = howSent(v), v.DSCP<<2
		*u32(c.places + uintptr(v.ID)*4) = uint32(i) + 1
		*u32(c.idle + uintptr(v.ID)*4) = never
		if v.ClientTimeout != 0 {
			*u32(c.idle + uintptr(v.ID)*4) = timeout(v.ClientTimeout)
		}
		for ip := range placesOf(v) {
			if !c.vips.put(vipKey(ip4(ip), net16(v.Port), v.Proto), uint64(p)) {
				return fmt.Errorf("vserver %s listens on %v port %d protocol %d, where another vserver listens already",
					v.Name, ip, v.Port, v.Proto)
			}
		}
	}
	return nil
}

func (c *config) fillAddresses() error {
	listens, ranges := c.listeners(), c.portRanges()
	for _, a := range c.src.Addresses {
		if !a.IP.Is4() {
			return errNotIP4("address", a.IP.String(), a.IP)
		}
		v := uint64(a.Kind)
		switch a.Kind {
		case api.OwnVIP, api.OwnSNIP, api.OwnNSIP, api.OwnElsewhere:
		default:
			return fmt.Errorf("address %v is of kind %d, which this dataplane does not know", a.IP, a.Kind)
		}
		if a.ARP {
			v |= OwnARP
		}
		if a.ICMP {
			v |= OwnICMP
		}
		if s, ok := listens[a.IP]; ok {
			v |= OwnListens
			if s {
				v |= OwnSessionless
			}
		}
		v |= ranges[a.IP]
		if a.VRID != 0 && a.Kind != api.OwnVIP {
			return fmt.Errorf("address %v has vrID %d and is no VIP", a.IP, a.VRID)
		}
		v |= uint64(a.VRID) << OwnVRID
		if !c.own.put(uint64(ip4(a.IP))|present, v) {
			return fmt.Errorf("address %v is listed twice", a.IP)
		}
	}
	return nil
}

// Own returns what an address is to us (OwnKind and flags), or 0.
func (s *Set) Own(ip uint32) uint64 {
	v, _ := s.conf.own.get(uint64(ip) | present)
	return v
}

// Vserver finds who listens on an address, port and protocol, or nil. The more exact vserver wins: first address, port
// and protocol, then every port of the protocol, then the port in every protocol, then the whole address.
func (s *Set) Vserver(ip uint32, port uint16, proto uint8) *Vserver {
	h := &s.conf.vips
	p, ok := h.get(vipKey(ip, port, proto))
	if !ok {
		p, ok = h.get(vipKey(ip, 0, proto))
	}
	if !ok {
		p, ok = h.get(vipKey(ip, port, api.ProtoAny))
	}
	if !ok {
		p, ok = h.get(vipKey(ip, 0, api.ProtoAny))
	}
	if !ok {
		return nil
	}
	return (*Vserver)(unsafe.Add(nil, p))
}

// VserverOf returns the vserver of an ID, or nil.
func (s *Set) VserverOf(id uint32) *Vserver {
	if i := s.placeOf(id); i >= 0 {
		return (*Vserver)(unsafe.Add(nil, s.conf.vservers+uintptr(i)*vserverSize))
	}
	return nil
}

// Listens says whether a vserver listens on an address and this very port, not on all of them.
func (s *Set) Listens(ip uint32, port uint16, proto uint8) bool {
	h := &s.conf.vips
	_, ok := h.get(vipKey(ip, port, proto))
	if !ok {
		_, ok = h.get(vipKey(ip, port, api.ProtoAny))
	}
	return ok
}

// Timeouts are the ages of flows. Not for every packet.
func (s *Set) Timeouts() *api.Timeouts { return &s.conf.src.Timeouts }

// Orphaned is the idle time in ticks of flows whose vserver or service is gone, if what is left of the two gives none: nobody
// else would ever end them.
const Orphaned = 120 * TicksPerSecond

// never is the idle time of flows of a vserver or service with no timeout.
const never = 1<<31 - 1

// IdleLimit returns the ticks of silence after which a flow of a vserver and a service is forgotten: the shorter timeout of
// both, where 0 means none.
func (s *Set) IdleLimit(vserver, service uint32) uint32 {
	limit, left := uint32(never), 0
	if vserver <= s.conf.topV {
		if n := *u32(s.conf.idle + uintptr(vserver)*4); n != 0 {
			limit = n
			left++
		}
	}
	if v := s.Service(service); v != nil {
		left++
		if v.Timeout != 0 {
			limit = min(limit, v.Timeout)
		}
	}
	if limit == never && left < 2 {
		return Orphaned
	}
	return limit
}

// source is what management has said of a service; nil if there is none of the ID.
func (c *config) source(id uint32) *api.Service {
	if id > c.top || c.serviceAt[id] == 0 {
		return nil
	}
	return &c.src.Services[c.serviceAt[id]-1]
}

// Service returns the service of an ID, or nil.
func (s *Set) Service(id uint32) *Service {
	if id > s.conf.top {
		return nil
	}
	v := (*Service)(unsafe.Add(nil, s.conf.services+uintptr(id)*serviceSize))
	if v.ID == 0 {
		return nil
	}
	return v
}

// SNIP returns the i-th source address of a service, best first; i < v.SNIPs.
func (s *Set) SNIP(v *Service, i uint32) *SNIP {
	return (*SNIP)(unsafe.Add(nil, s.conf.snips+uintptr(v.snips+i)*snipSize))
}
