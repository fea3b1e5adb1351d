package compile

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"slices"

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
}

// Compile works out everything at once. The error names the object at fault.
func Compile(c *schema.Config, s *State) (*Compiled, error) {
	x := NewIndex(c)
	n, err := newNetwork(x, s)
	if err != nil {
		return nil, err
	}
	t, err := tables(x, s, n)
	if err != nil {
		return nil, err
	}
	return &Compiled{x, t, n.plan(), probes(x, n)}, nil
}

// Tables compiles the configuration and what has been observed into the dataplane's tables, every part of them. The
// error names the object at fault.
func Tables(c *schema.Config, s *State) (*api.Tables, error) {
	x := NewIndex(c)
	n, err := newNetwork(x, s)
	if err != nil {
		return nil, err
	}
	return tables(x, s, n)
}

func tables(x *Index, s *State, n *network) (*api.Tables, error) {
	cfg := &api.Config{Addresses: addresses(x), SNIPs: snips(x, s), StartupFactor: StartupRRFactor(x.c)}
	var err error
	if cfg.Services, err = services(x, s, n); err != nil {
		return nil, err
	}
	if cfg.Vservers, err = vservers(x, s); err != nil {
		return nil, err
	}
	return &api.Tables{Config: cfg, Health: Health(x, s), FIB: &api.FIB{Routes: n.routes},
		Neighbors: &api.Neighbors{Entries: s.Neighbors}}, nil
}

// Health compiles the part that says which services are up.
func Health(x *Index, s *State) *api.Health {
	h := &api.Health{}
	for row := range x.c.Each(schema.Of[schema.Service]()) {
		svc := row.(*schema.Service)
		if id := s.IDs.Services[svc.Name]; id != 0 && x.ServiceUp(s, svc.Name) {
			h.Up = append(h.Up, id)
		}
	}
	slices.Sort(h.Up)
	return h
}

func addresses(x *Index) []api.Address {
	var out []api.Address
	for _, a := range schema.All[schema.NSIP](x.c) {
		kinds := map[string]api.AddressKind{"VIP": api.OwnVIP, "SNIP": api.OwnSNIP, "NSIP": api.OwnNSIP}
		if a.Type == "VIP" && !enabled(a.State) {
			continue // a disabled VIP answers nothing and its vservers are left out too
		}
		out = append(out, api.Address{IP: a.IPAddress, Kind: kinds[a.Type], ARP: enabled(a.ARP), ICMP: enabled(a.ICMP)})
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

// ClientTimeout is the idle time of clients in seconds: what is configured, or the default of the type.
func ClientTimeout(serviceType string, configured uint32) uint32 {
	return timeout(serviceType, configured, 180)
}

// ServerTimeout is the idle time of servers in seconds: what is configured, or the default of the type.
func ServerTimeout(serviceType string, configured uint32) uint32 {
	return timeout(serviceType, configured, 360)
}

func timeout(serviceType string, configured, http uint32) uint32 {
	switch {
	case configured != 0:
		return configured
	case serviceType == "HTTP":
		return http
	case serviceType == "TCP":
		return 9000
	}
	return 120
}

func services(x *Index, s *State, n *network) ([]api.Service, error) {
	var out []api.Service
	for _, svc := range schema.All[schema.Service](x.c) {
		srv := x.ServerOf(svc)
		if srv == nil {
			return nil, schema.Refuse(schema.NoSuchRow, "serverName", svc.Server).Because("service " + svc.Name + " is on it")
		}
		for _, m := range x.MonitorsOf(svc.Name) {
			if _, err := probe(svc, srv, m); err != nil {
				return nil, err
			}
		}
		t := api.Service{ID: s.IDs.Services[svc.Name], Name: svc.Name, Proto: proto(svc.ServiceType), IP: srv.IPAddress, Port: svc.Port,
			UseSourceIP: svc.USIP == "YES", UseProxyPort: svc.UseProxyPort == "YES",
			ServerTimeout: ServerTimeout(svc.ServiceType, svc.SvrTimeout)}
		if !t.UseSourceIP {
			for _, ip := range n.sourcesToward(srv.IPAddress) {
				t.SNIPs = append(t.SNIPs, s.IDs.SNIPs[ip.String()])
			}
		}
		out = append(out, t)
	}
	return out, nil
}

func vservers(x *Index, s *State) ([]api.Vserver, error) {
	type place struct {
		ip    netip.Addr
		port  uint16
		proto uint8
	}
	taken := map[place]string{}
	var out []api.Vserver
	for _, v := range schema.All[schema.LBVserver](x.c) {
		// Address and port 0 make a vserver that only other vservers reach: nothing of it is on the wire.
		unaddressed := !v.IPAddress.IsValid() || v.IPAddress.IsUnspecified()
		if unaddressed && (v.Port != 0 || v.ServiceType == "ANY") {
			return nil, schema.Refuse(schema.NotSupported, "IPAddress", "*").Because("lb vserver " + v.Name + " needs an address; 0.0.0.0 with port 0 makes it one that is not on the wire")
		}
		if unaddressed {
			continue
		}
		at := place{v.IPAddress, v.Port, proto(v.ServiceType)}
		if other, ok := taken[at]; ok {
			return nil, schema.Refuse(schema.RowExists, v.IPAddress.String(), fmt.Sprint(v.Port)).Because("lb vserver " + other + " has it, which leaves none for " + v.Name)
		}
		taken[at] = v.Name
		if a := x.addrs[v.IPAddress]; a == nil || a.Type == "NSIP" || a.VServer == "DISABLED" {
			return nil, schema.Refuse(schema.NotPermitted, "vserver", v.Name).Because("ns ip " + v.IPAddress.String() + " does not allow vservers")
		}
		if !x.VserverEnabled(v) {
			continue
		}
		t, err := vserver(x, s, v)
		if err != nil {
			return nil, err
		}
		out = append(out, t)
	}
	return out, nil
}

// methods are the balancing methods by the operator's words.
var methods = map[string]api.Method{
	"ROUNDROBIN": api.RoundRobin, "LEASTCONNECTION": api.LeastConnection, "LEASTPACKETS": api.LeastPackets,
	"LEASTBANDWIDTH": api.LeastBandwidth, "LEASTRESPONSETIME": api.LeastResponseTime,
	"SOURCEIPHASH": api.SourceIPHash, "DESTINATIONIPHASH": api.DestinationIPHash,
	"SRCIPDESTIPHASH": api.SourceDestinationIPHash, "SRCIPSRCPORTHASH": api.SourceIPSourcePortHash,
}

// hashMask is how much of an address a method hashes; 0 is all of it, and what methods have that hash no single address.
func hashMask(v *schema.LBVserver) uint32 {
	switch methods[v.LBMethod] {
	case api.SourceIPHash, api.DestinationIPHash:
		if v.Netmask.Is4() {
			a := v.Netmask.As4()
			return binary.BigEndian.Uint32(a[:])
		}
	}
	return 0
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
		Method: methods[v.LBMethod], ClientTimeout: ClientTimeout(v.ServiceType, v.CltTimeout), HashMask: hashMask(v)}
	for _, b := range x.bound[v.Name] {
		svc := x.services[b.Service]
		if svc == nil {
			return t, schema.Refuse(schema.NoSuchRow, "serviceName", b.Service).Because("it is bound to lb vserver " + v.Name)
		}
		if p := proto(svc.ServiceType); p != t.Proto {
			return t, schema.Refuse(schema.NotPermitted, "serviceName", svc.Name).Because("it is of type " + svc.ServiceType + ", lb vserver " + v.Name + " of type " + v.ServiceType)
		}
		t.Bindings = append(t.Bindings, api.Binding{Service: s.IDs.Services[b.Service], Weight: b.Weight})
	}
	return t, nil
}
