package compile

import (
	"encoding/binary"
	"net/netip"
	"slices"
	"strings"

	"sluice/dataplane/api"
	"sluice/vendor-config/schema"
)

// Source ports that the dataplane may allocate on a SNIP; the kernel has those above.
const (
	portLo = 1024
	portHi = 59999
)

// Compiled is everything that follows from a configuration and a state.
type Compiled struct {
	Index  *Index
	Tables *api.Tables // the version of each part is left at 0: the engine counts them
	Host   HostPlan
	Probes []Probe

	Queries []Query  // domain names that are wanted
	Routers []Router // virtual routers on ports

	// For the next compilation.
	net      *network
	ids      IDs
	services []*madeService
	vservers []*madeVserver
}

// Compile works out everything at once. The error names the object at fault. prev is what was made of an earlier
// version, or nil: what the versions share the origin of is taken from it instead of being made again. The outcome is
// equal to one without prev, and a list of it that is equal to that of prev is the same memory.
func Compile(c *schema.Config, s *State, prev *Compiled) (*Compiled, error) {
	if prev == nil {
		prev = &Compiled{Index: NewIndex(schema.New(), nil), Tables: &api.Tables{Config: &api.Config{}}}
	}
	m := &maker{x: newIndex(c, s, prev.Index), s: s, prev: prev}
	if err := m.network(); err != nil {
		return nil, err
	}
	if err := m.services(); err != nil {
		return nil, err
	}
	if err := m.vservers(); err != nil {
		return nil, err
	}
	m.out.Index, m.out.ids = m.x, s.IDs
	m.out.Host = m.out.net.plan()
	if m.out.Queries = prev.Queries; !c.Same(prev.Index.c, servers) {
		m.out.Queries = m.x.queries()
	}
	if err := m.checkTracked(); err != nil {
		return nil, err
	}
	m.out.Routers = m.routers()
	m.config.StartupFactor = StartupRRFactor(c)
	m.config.DownStateRST = downStateRST(c)
	m.config.LinkParts = linkParts(c)
	m.config.Timeouts = timeouts(Timeouts(c))
	out, config := m.out, m.config // copies: a pointer into the maker would keep the version before, and so every one before that
	out.Tables = &api.Tables{Config: &config, FIB: &api.FIB{Routes: m.out.net.routes}}
	return &out, nil
}

// Tables compiles the configuration and what has been observed into the dataplane's tables, every part of them. The
// error names the object at fault.
func Tables(c *schema.Config, s *State) (*api.Tables, error) {
	out, err := Compile(c, s, nil)
	if err != nil {
		return nil, err
	}
	out.Tables.Health, out.Tables.Neighbors = Health(out.Index, s), &api.Neighbors{Entries: s.Neighbors}
	return out.Tables, nil
}

func addresses(x *Index, s *State) []api.Address {
	var out []api.Address
	kinds := map[string]api.AddressKind{"VIP": api.OwnVIP, "SNIP": api.OwnSNIP, "NSIP": api.OwnNSIP}
	elsewhere := Elsewhere(x.c, s)
	for _, a := range schema.All[schema.NSIP](x.c) {
		if a.Type == "VIP" && !enabled(a.State) {
			continue // a disabled VIP answers nothing and its vservers are left out too
		}
		kind := kinds[a.Type]
		if a.Type == "NSIP" && slices.ContainsFunc(elsewhere, func(e netip.Prefix) bool { return e.Addr() == a.IPAddress }) {
			kind = api.OwnElsewhere // by a port nobody reaches management
		}
		out = append(out, api.Address{IP: a.IPAddress, Kind: kind, ARP: enabled(a.ARP), ICMP: enabled(a.ICMP), VRID: a.VRID})
	}
	for _, e := range elsewhere {
		if x.addrs[e.Addr()] == nil && e.Addr().Is4() && !slices.ContainsFunc(out, func(o api.Address) bool { return o.IP == e.Addr() }) {
			out = append(out, api.Address{IP: e.Addr(), Kind: api.OwnElsewhere})
		}
	}
	return out
}

func snips(x *Index, s *State) []api.SNIP {
	var out []api.SNIP
	for _, a := range schema.All[schema.NSIP](x.c) {
		if a.Type == "SNIP" {
			out = append(out, api.SNIP{ID: s.IDs.SNIPs[a.IPAddress.String()], IP: a.IPAddress, PortLo: portLo, PortHi: portHi})
		}
	}
	return out
}

// proto is the IP protocol of a vserver's or service's type.
func proto(serviceType string) uint8 {
	switch serviceType {
	case "HTTP", "TCP":
		return api.ProtoTCP
	case "UDP":
		return api.ProtoUDP
	}
	return api.ProtoAny
}

// methods are the balancing methods by the operator's words.
var methods = map[string]api.Method{
	"ROUNDROBIN": api.RoundRobin, "LEASTCONNECTION": api.LeastConnection, "LEASTPACKETS": api.LeastPackets,
	"LEASTBANDWIDTH": api.LeastBandwidth, "LEASTRESPONSETIME": api.LeastResponseTime,
	"SOURCEIPHASH": api.SourceIPHash, "DESTINATIONIPHASH": api.DestinationIPHash,
	"SRCIPDESTIPHASH": api.SourceDestinationIPHash, "SRCIPSRCPORTHASH": api.SourceIPSourcePortHash,
	"LEASTREQUEST": api.LeastConnection, "CUSTOMLOAD": api.CustomLoad, "TOKEN": api.TokenHash, "CALLIDHASH": api.CallIDHash,
	"LRTM": api.LeastMonitorTime,
}

// modes are the modes by the operator's words.
var modes = map[string]api.Mode{"IP": api.ModeIP, "MAC": api.ModeMAC, "TOS": api.ModeTOS, "IPTUNNEL": api.ModeTunnel}

// linkParts are what of layer 2 tells connections apart, 0 if nobody says.
func linkParts(c *schema.Config) (parts api.LinkParts) {
	p := schema.Get[schema.L4Param](c)
	if p == nil {
		return 0
	}
	for word, part := range map[string]api.LinkParts{"mac": api.LinkMAC, "vlan": api.LinkVLAN, "channel": api.LinkPort} {
		if strings.Contains(strings.ToLower(p.L2ConnMethod), word) {
			parts |= part
		}
	}
	return parts
}

// hashMask is how much of an address a method hashes; 0 is all of it, and what methods have that hash no single address.
func hashMask(v *schema.LBVserver) uint32 {
	switch methods[v.LBMethod] {
	case api.SourceIPHash, api.DestinationIPHash:
		return mask(v.Netmask)
	}
	return 0
}

// mask is an address mask in bits, 0 if there is none.
func mask(a netip.Addr) uint32 {
	if !a.Is4() {
		return 0
	}
	b := a.As4()
	return binary.BigEndian.Uint32(b[:])
}

// StartupRRFactor is how many requests for each service go round robin when a vserver starts up.
func StartupRRFactor(c *schema.Config) uint32 {
	if p := schema.Get[schema.LBParameter](c); p != nil {
		return p.StartupRRFactor
	}
	return 0
}

func vserver(x *Index, s *State, v *schema.LBVserver) (api.Vserver, error) {
	t := api.Vserver{ID: s.IDs.Vservers[v.Name], Name: v.Name, Proto: proto(v.ServiceType), IP: v.IPAddress, Port: v.Port,
		Method: methods[v.LBMethod], ClientTimeout: ClientTimeout(x.c, v.ServiceType, v.CltTimeout), HashMask: hashMask(v), Range: v.Range,
		Mode: modes[v.Mode], DSCP: v.TOSID, Sessionless: v.Sessionless == "ENABLED", PerLink: v.L2Conn == "ON"}
	persistence(v, &t)
	if v.Foreign() {
		if err := listen(&t, v); err != nil {
			return t, err
		}
	}

	if err := token(v, &t); err != nil {
		return t, err
	}
	limitVserver(&t, s, v)
	for _, b := range x.bound[v.Name] {
		svc := x.Service(b.Service)
		if svc == nil {
			return t, schema.Refuse(schema.NoSuchRow, "serviceName", b.Service).Because("it is bound to lb vserver " + v.Name)
		}
		if p := proto(svc.ServiceType); p != t.Proto {
			return t, schema.Refuse(schema.NotPermitted, "serviceName", svc.Name).Because("it is of type " + svc.ServiceType + ", lb vserver " + v.Name + " of type " + v.ServiceType)
		}
		if !x.addressed(svc) {
			continue
		}
		t.Bindings = append(t.Bindings, api.Binding{Service: s.IDs.Services[b.Service], Weight: b.Weight})
	}
	return t, nil
}
