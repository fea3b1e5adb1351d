package table

import (
	"fmt"
	"net/netip"
	"slices"
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

	Backup uint32 // ID of the vserver that takes what this one cannot; 0: none
	_      uint32
	cuts   uintptr // expr.Cut: the steps of its token
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

func checkID(what, name string, id uint32) error {
	if id == 0 || id > MaxID {
		return fmt.Errorf("%s %s has the ID %d: IDs are 1 to %d", what, name, id, MaxID)
	}
	return nil
}

func checkIP4(what, name string, ip netip.Addr) error {
	if !ip.Is4() {
		return errNotIP4(what, name, ip)
	}
	return nil
}

func errNotIP4(what, name string, ip netip.Addr) error {
	return fmt.Errorf("%s %s has the address %v: this dataplane carries IPv4 only", what, name, ip)
}

func checkProto(what, name string, proto uint8, port uint16) error {
	switch proto {
	case api.ProtoAny, api.ProtoTCP, api.ProtoUDP:
		return nil
	}
	if port != 0 {
		return fmt.Errorf("%s %s has port %d, but protocol %d has no ports", what, name, port, proto)
	}
	return nil
}

func checkSNIPs(list []api.SNIP) (map[uint32]*api.SNIP, error) {
	m := make(map[uint32]*api.SNIP, len(list))
	for i := range list {
		s := &list[i]
		if err := checkID("SNIP", s.IP.String(), s.ID); err != nil {
			return nil, err
		}
		if err := checkIP4("SNIP", s.IP.String(), s.IP); err != nil {
			return nil, err
		}
		if o := m[s.ID]; o != nil {
			return nil, fmt.Errorf("SNIPs %v and %v have the same ID %d", o.IP, s.IP, s.ID)
		}
		if s.PortLo == 0 || s.PortLo > s.PortHi {
			return nil, fmt.Errorf("SNIP %v has no ports: its range is %d to %d", s.IP, s.PortLo, s.PortHi)
		}
		m[s.ID] = s
	}
	return m, nil
}

// byID finds objects by their IDs, which are below MaxID and mostly without gaps.
type byID[T any] []*T

// put adds an object and returns the one that has the ID already, or nil.
func (l *byID[T]) put(id uint32, o *T) *T {
	if n := int(id) + 1; n > len(*l) {
		*l = slices.Grow(*l, n-len(*l))[:n]
	}
	was := (*l)[id]
	(*l)[id] = o
	return was
}

// get finds an object, or nil.
func (l byID[T]) get(id uint32) *T {
	if id >= uint32(len(l)) {
		return nil
	}
	return l[id]
}

// checkServices checks the services and finds them by ID.
func checkServices(list []api.Service, snips map[uint32]*api.SNIP) (byID[api.Service], error) {
	seen := byID[api.Service]{}
	for i := range list {
		s := &list[i]
		if err := checkID("service", s.Name, s.ID); err != nil {
			return nil, err
		}
		if o := seen.put(s.ID, s); o != nil {
			return nil, fmt.Errorf("services %s and %s have the same ID %d", o.Name, s.Name, s.ID)
		}
		if err := checkIP4("service", s.Name, s.IP); err != nil {
			return nil, err
		}
		if err := checkProto("service", s.Name, s.Proto, s.Port); err != nil {
			return nil, err
		}
		for _, id := range s.SNIPs {
			if snips[id] == nil {
				return nil, fmt.Errorf("service %s names SNIP %d, which does not exist", s.Name, id)
			}
		}
	}
	return seen, nil
}

func checkVservers(src *api.Config, services byID[api.Service]) error {
	seen := byID[api.Vserver]{}
	bound := make([]uint32, len(services)) // by service ID: the last vserver, from 1, that it was seen bound to
	for i := range src.Vservers {
		v := &src.Vservers[i]
		if err := checkID("vserver", v.Name, v.ID); err != nil {
			return err
		}
		if o := seen.put(v.ID, v); o != nil {
			return fmt.Errorf("vservers %s and %s have the same ID %d", o.Name, v.Name, v.ID)
		}
		if !v.Hidden {
			if err := checkIP4("vserver", v.Name, v.IP); err != nil {
				return err
			}
		}
		if err := checkProto("vserver", v.Name, v.Proto, v.Port); err != nil {
			return err
		}
		if err := checkPlace(v); err != nil {
			return err
		}
		switch {
		case v.Method == api.RoundRobin, loadAware(v.Method):
		case hashes(v.Method):
			if err := checkHashed(v); err != nil {
				return err
			}
		default:
			return fmt.Errorf("vserver %s has the balancing method %d, which this dataplane does not know", v.Name, v.Method)
		}
		if err := checkMode(v); err != nil {
			return err
		}
		if err := checkBindings(v, services, bound, uint32(i+1)); err != nil {
			return err
		}
		if err := checkPersistence(v); err != nil {
			return err
		}
		if err := checkToken(v); err != nil {
			return err
		}
	}
	return checkBackups(src.Vservers, seen)
}

func checkBindings(v *api.Vserver, services byID[api.Service], bound []uint32, number uint32) error {
	for _, b := range v.Bindings {
		s := services.get(b.Service)
		if s == nil {
			return fmt.Errorf("vserver %s is bound to service %d, which does not exist", v.Name, b.Service)
		}
		if bound[b.Service] == number {
			return fmt.Errorf("vserver %s is bound to service %s twice", v.Name, s.Name)
		}
		bound[b.Service] = number
		if b.Weight < 1 || b.Weight > 100 {
			return fmt.Errorf("vserver %s gives service %s the weight %d: weights are 1 to 100", v.Name, s.Name, b.Weight)
		}
		if s.Proto != v.Proto {
			return fmt.Errorf("vserver %s (protocol %d) is bound to service %s (protocol %d): both must be the same",
				v.Name, v.Proto, s.Name, s.Proto)
		}
	}
	return nil
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
			Persists: v.Persistence != 0, TokenOffset: v.TokenOffset, TokenLength: v.TokenLength, Backup: v.Backup}
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

// Listens says whether a vserver listens on an address and this very port, not on all of them.
func (s *Set) Listens(ip uint32, port uint16, proto uint8) bool {
	h := &s.conf.vips
	_, ok := h.get(vipKey(ip, port, proto))
	if !ok {
		_, ok = h.get(vipKey(ip, port, api.ProtoAny))
	}
	return ok
}

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
