package compile

import (
	"fmt"
	"iter"
	"maps"
	"net/netip"
	"reflect"
	"slices"

	"sluice/dataplane/api"
	"sluice/vendor-config/schema"
)

// maker makes the parts of one compilation. What a part follows from is told by the tables that must be shared for the
// earlier one to be used: all that are not named as compared row by row. So an object that is new to the schema makes
// everything anew until it is named, which is slow and never wrong.
type maker struct {
	x      *Index
	s      *State
	prev   *Compiled
	out    Compiled
	config api.Config

	renumbered bool // a service has gone, or has another number or protocol than before
}

// madeService is what was made of one service; one whose server's address is not known is not on the wire.
type madeService struct {
	row    *schema.Service
	server *schema.Server
	out    api.Service
	probes []Probe
}

// madeVserver is what was made of one vserver; on is false for one that is not on the wire.
type madeVserver struct {
	row *schema.LBVserver
	at  place
	on  bool
	out api.Vserver
}

// place is what only one vserver may listen on.
type place struct {
	ip       netip.Addr
	port     uint16
	proto    uint8
	priority uint8
	mask     netip.Addr
	policy   string
}

// network places the addresses. As long as that comes out as before it stays the same one, so that services need not be
// made anew when a VIP is added.
func (m *maker) network() error {
	m.config.PortVLANs = kept(portVLANs(m.x.c, m.s.Ports), m.prev.Tables.Config.PortVLANs)
	n, err := newNetwork(m.x, m.s)
	if was := m.prev.net; was != nil && reflect.DeepEqual(n, was) && maps.Equal(m.s.IDs.SNIPs, m.prev.ids.SNIPs) {
		n = was
	}
	m.out.net = n
	if n == m.prev.net && m.x.c.Same(m.prev.Index.c, nsIPs) {
		m.config.Addresses, m.config.SNIPs = m.prev.Tables.Config.Addresses, m.prev.Tables.Config.SNIPs
		return err
	}
	m.config.Addresses = kept(addresses(m.x, m.s), m.prev.Tables.Config.Addresses)
	m.config.SNIPs = kept(snips(m.x, m.s), m.prev.Tables.Config.SNIPs)
	return err
}

// services makes the services and their probes.
func (m *maker) services() error {
	rowwise := m.out.net == m.prev.net && alike(m.x.c, m.prev.Index.c, serviceRows, servers, vserverRows, bindings, nsIPs, groupRows, memberRows)
	if rowwise && m.x.sameServices(m.prev.Index) && m.x.sameServers(m.prev.Index) && identical(m.s.IDs.Services, m.prev.ids.Services) {
		m.out.services, m.out.Probes, m.config.Services = m.prev.services, m.prev.Probes, m.prev.Tables.Config.Services
		return nil
	}
	n := m.x.c.Len(serviceRows) + len(m.x.members)
	m.out.services, m.config.Services = make([]*madeService, 0, n), make([]api.Service, 0, n)
	old := alongside[*madeService]{}
	if rowwise {
		old.list = m.prev.services
	}
	services := len(m.prev.services) != n // other than before, also where nothing is compared and none is left
	watched := services
	m.renumbered = !rowwise
	found := 0
	for svc := range m.x.Services() {
		srv, id := m.x.ServerOf(svc), m.s.IDs.Services[svc.Name]
		was, ok := old.find(func(o *madeService) bool { return o.row == svc || o.row.Name == svc.Name })
		made := was
		if !ok || was.row != svc || was.server != srv || was.out.ID != id {
			var err error
			if made, err = m.service(svc, srv, id); err != nil {
				return err
			}
			services = services || !ok || !reflect.DeepEqual(made.out, was.out)
			m.renumbered = m.renumbered || ok && (made.out.IP.IsValid() != was.out.IP.IsValid() || made.out.ID != was.out.ID || made.out.Proto != was.out.Proto)
			watched = watched || !ok || !reflect.DeepEqual(made.probes, was.probes)
		}
		if ok {
			found++
		}
		if m.out.services = append(m.out.services, made); made.out.IP.IsValid() {
			m.config.Services = append(m.config.Services, made.out)
		}
	}
	m.renumbered = m.renumbered || found < len(old.list)
	switch {
	case !services:
		m.config.Services = m.prev.Tables.Config.Services
	case len(m.config.Services) == 0:
		m.config.Services = nil
	}
	if !watched {
		m.out.Probes = m.prev.Probes
		return nil
	}
	for _, made := range m.out.services {
		m.out.Probes = append(m.out.Probes, made.probes...)
	}
	return nil
}

func (m *maker) service(svc *schema.Service, srv *schema.Server, id uint32) (*madeService, error) {
	if srv == nil {
		return nil, schema.Refuse(schema.NoSuchRow, "serverName", svc.Server).Because("service " + svc.Name + " is on it")
	}
	watched, err := probes(m.x, m.out.net, svc, srv)
	if err != nil {
		return nil, err
	}
	t := api.Service{ID: id, Name: svc.Name, Proto: proto(svc.ServiceType), IP: srv.IPAddress, Port: svc.Port,
		UseSourceIP: svc.USIP == "YES", UseProxyPort: svc.UseProxyPort == "YES",
		ServerTimeout: ServerTimeout(m.x.c, svc.ServiceType, svc.SvrTimeout), HashID: svc.HashID,
		MaxClient: svc.MaxClient, MaxBandwidth: svc.MaxBandwidth, Surge: svc.SP == "ON"}
	for _, ip := range m.out.net.sourcesToward(srv.IPAddress) { // with usip, too: a tunnel comes from a SNIP whoever the inner packet is from
		t.SNIPs = append(t.SNIPs, m.s.IDs.SNIPs[ip.String()])
	}
	return &madeService{svc, srv, t, watched}, nil
}

// vservers makes the vservers.
func (m *maker) vservers() error {
	rowwise := !m.renumbered && alike(m.x.c, m.prev.Index.c, vserverRows, serviceRows, servers, bindings, groupRows, memberRows) && identical(m.s.IDs.Vservers, m.prev.ids.Vservers)
	if rowwise && m.x.c.Same(m.prev.Index.c, vserverRows) && m.x.sameBindings(m.prev.Index) {
		m.out.vservers, m.config.Vservers = m.prev.vservers, m.prev.Tables.Config.Vservers
		return nil
	}
	n := m.x.c.Len(vserverRows)
	m.out.vservers, m.config.Vservers = make([]*madeVserver, 0, n), make([]api.Vserver, 0, n)
	old := alongside[*madeVserver]{list: m.prev.vservers}
	changed, moved := len(old.list) != n, false
	for row := range m.x.c.Each(vserverRows) {
		v := row.(*schema.LBVserver)
		was, ok := old.find(func(o *madeVserver) bool { return o.row == v || o.row.Name == v.Name })
		made := was
		if !ok || !rowwise || was.row != v || !slices.Equal(m.x.bound[v.Name], m.prev.Index.bound[v.Name]) {
			var err error
			if made, err = m.vserver(v); err != nil {
				return err
			}
			changed = changed || !ok || made.on != was.on || !reflect.DeepEqual(made.out, was.out)
			moved = moved || !ok || made.at != was.at || made.row.Range != was.row.Range
		}
		m.out.vservers = append(m.out.vservers, made)
		if made.on {
			m.config.Vservers = append(m.config.Vservers, made.out)
		}
	}
	if moved {
		if err := m.apart(); err != nil {
			return err
		}
	}
	if !changed {
		m.config.Vservers = m.prev.Tables.Config.Vservers
		return nil
	}
	if len(m.config.Vservers) == 0 {
		m.config.Vservers = nil
	}
	m.backups()
	return nil
}

// apart tells whether each vserver has its places for itself. It was so before, unless one is new or has moved.
func (m *maker) apart() error {
	taken := make(map[place]string, len(m.out.vservers))
	for _, made := range m.out.vservers {
		for at := range made.places() {
			if other, ok := taken[at]; ok {
				return schema.Refuse(schema.RowExists, at.ip.String(), fmt.Sprint(made.row.Port)).Because("lb vserver " + other + " has it, which leaves none for " + made.row.Name)
			}
			taken[at] = made.row.Name
		}
	}
	return nil
}

// places are those of a vserver: one for each of its addresses.
func (v *madeVserver) places() iter.Seq[place] {
	return func(yield func(place) bool) {
		if !v.at.ip.IsValid() {
			return
		}
		at := v.at
		for n := max(v.row.Range, 1); n > 0 && yield(at); n-- {
			at.ip = at.ip.Next()
		}
	}
}

func (m *maker) vserver(v *schema.LBVserver) (made *madeVserver, err error) {
	made = &madeVserver{row: v}
	switch {
	case v.Foreign():
		made.at = foreignPlace(v)
	case !v.IPAddress.IsValid() || v.IPAddress.IsUnspecified():
		// Only other vservers reach it: nothing of it is on the wire.
		if made.out, err = vserver(m.x, m.s, v); err != nil {
			return nil, err
		}
		made.out.Hidden, made.out.IP, made.on = true, netip.Addr{}, enabled(v.State)
		return made, nil
	default:
		made.at = place{ip: v.IPAddress, port: v.Port, proto: proto(v.ServiceType)}
	}
	for ip := range v.VIPs() {
		if a := m.x.addrs[ip]; a == nil || a.Type == "NSIP" || a.VServer == "DISABLED" {
			return nil, schema.Refuse(schema.NotPermitted, "vserver", v.Name).Because("ns ip " + ip.String() + " does not allow vservers")
		}
	}
	if made.out, err = vserver(m.x, m.s, v); err != nil {
		return nil, err
	}
	made.on = m.x.VserverEnabled(v) || made.at.ip.IsValid() && m.x.standsIn(v)
	if !m.x.VserverEnabled(v) {
		made.out.Bindings = nil // its backup alone takes new flows
	}
	return made, nil
}

// kept is list, or was if that is equal: who compares lists need not look at their elements.
func kept[T comparable](list, was []T) []T {
	if slices.Equal(list, was) {
		return was
	}
	return list
}

// identical tells whether two maps are the same one. Numbers that did not change are the same map: see AssignIDs.
func identical[V any](a, b map[string]V) bool {
	return reflect.ValueOf(a).Pointer() == reflect.ValueOf(b).Pointer()
}
