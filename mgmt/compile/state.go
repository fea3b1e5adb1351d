// Package compile turns configuration and observed state into what others must do: tables for the dataplane, addresses
// and routes for the host, probes for the monitors. Its functions are pure: same input, same output, no side effect.
package compile

import (
	"iter"
	"maps"
	"net/netip"
	"slices"
	"time"

	"sluice/dataplane/api"
	"sluice/mgmt/vrrp"
)

// State is what has been observed, as one immutable version. It is changed through Engine.Observe only, on a clone, which
// shares what is not changed.
type State struct {
	IDs       IDs
	Ports     []Port                   // by index, as in the dataplane's settings
	Services  map[string]ServiceHealth // by service name; written by SetService only
	Vservers  map[string]Since         // by vserver name; written by SetVserver only
	Neighbors []api.Neighbor

	touched map[string]bool // services that Record has written to since Clone

	// Since Clone the maps have become this state's own; until then they are those of the state that it came from.
	ownServices, ownVservers bool

	// Elsewhere are the addresses, with the lengths of their subnets, of kernel devices that are no twins, e.g. of a
	// management port that DPDK does not drive. An NSIP among them stays where it is, and their subnets are theirs.
	Elsewhere []netip.Prefix

	// Management is the port that the dataplane does not drive and the NSIP lives on; without a Device there is none.
	// OnManagement are the addresses that it has: they hold as long as the configuration has no NSIP.
	Management   Port
	OnManagement []netip.Prefix

	Down    map[string]string       // why ports cannot be used, by name; never written to
	Routers map[RouterOn]vrrp.State // where virtual routers stand; never written to
	Held    map[uint8]bool          // virtual routers that stay backup until they are let go; never written to

	Resolutions map[string]Resolution // of domain names, by server; never written to: see Resolved
}

// Port is a port of the appliance and its twin, the kernel's side of it.
type Port struct {
	Name   string // e.g. "1/1"
	Device string // kernel network device behind an af_packet port; empty for a PCI port
	PCI    string // address of a NIC that DPDK drives itself, e.g. "0000:00:04.0"; empty for a kernel device
	Twin   string // e.g. "tw0"
}

// PortOf is the port of a twin, as operators call it; the twin itself if no port has it.
func (s *State) PortOf(twin string) string {
	for _, p := range s.Ports {
		if p.Twin == twin {
			return p.Name
		}
	}
	return twin
}

// MonitorResult is what one monitor last said of a service.
type MonitorResult struct {
	Up        bool
	Known     bool   // false until the first verdict
	Response  string // sentence, e.g. "Success - HTTP response code 200 received."
	Probes    uint64 // sent
	Failed    uint64 // of those
	FailedNow uint32 // failures in a row
	Took      time.Duration
	At        time.Time
	Average   time.Duration // of the answers, when the monitor learns it

	Load      uint32 // of monitors of type LOAD: what the last answer says about the service
	LoadKnown bool
}

// ServiceHealth is what the monitors say of a service.
type ServiceHealth struct {
	Up       bool
	Since    time.Time                // of the last change
	Monitors map[string]MonitorResult // by monitor name

	// Inherited: the dataplane was using the service when this management started. It counts as an answer of the
	// monitors that have not spoken yet, so that a restart of management refuses no client.
	Inherited bool

	// Leaving: it is on its way out of service, and no monitor says that it is down.
	Leaving bool
}

// Since is an effective state and when it began.
type Since struct {
	Up bool
	At time.Time
}

// Record notes the result of a monitor for a service. It is for use within Engine.Observe.
func (s *State) Record(service, monitor string, r MonitorResult) {
	h := s.Services[service]
	m := maps.Clone(h.Monitors)
	if m == nil {
		m = map[string]MonitorResult{}
	}
	m[monitor] = r
	h.Monitors = m
	s.SetService(service, h)
	if s.touched == nil {
		s.touched = map[string]bool{}
	}
	s.touched[service] = true
}

// Touched are the services that Record has written to since Clone, in any order.
func (s *State) Touched() iter.Seq[string] { return maps.Keys(s.touched) }

// Clone returns a copy that can be changed without the original seeing it.
func (s *State) Clone() *State {
	n := *s
	n.Ports = slices.Clone(s.Ports)
	n.Neighbors = slices.Clone(s.Neighbors)
	n.ownServices, n.ownVservers = false, false
	n.Elsewhere = slices.Clone(s.Elsewhere)
	n.OnManagement = slices.Clone(s.OnManagement)
	n.touched = nil
	return &n
}

// SetService changes what is known of a service.
func (s *State) SetService(name string, h ServiceHealth) { s.services()[name] = h }

// SetVserver changes what is known of a vserver.
func (s *State) SetVserver(name string, v Since) { s.vservers()[name] = v }

// Forget drops what is known of services and vservers that are gone.
func (s *State) Forget(service, vserver func(name string) (gone bool)) {
	maps.DeleteFunc(s.services(), func(name string, _ ServiceHealth) bool { return service(name) })
	maps.DeleteFunc(s.vservers(), func(name string, _ Since) bool { return vserver(name) })
}

func (s *State) services() map[string]ServiceHealth {
	if !s.ownServices {
		s.Services, s.ownServices = maps.Clone(s.Services), true
	}
	if s.Services == nil {
		s.Services = map[string]ServiceHealth{}
	}
	return s.Services
}

func (s *State) vservers() map[string]Since {
	if !s.ownVservers {
		s.Vservers, s.ownVservers = maps.Clone(s.Vservers), true
	}
	if s.Vservers == nil {
		s.Vservers = map[string]Since{}
	}
	return s.Vservers
}

// IDs are the numbers by which the dataplane knows vservers, services and SNIPs. They never change while the object
// lives, so that flows, counters and hashes survive a change of order. The maps are never written to.
type IDs struct {
	Vservers, Services, SNIPs map[string]uint32 // by name or address
}

// HostPlan is what the kernel's side of the ports must look like.
type HostPlan struct {
	Twins      []TwinPlan
	Routes     []HostRoute
	Management *ManagementPlan // nil: there is no management port, or no NSIP, and then its addresses stay as they are
}

// ManagementPlan is the NSIP on the management port, with the routes by gateways in its subnet.
type ManagementPlan struct {
	Device string
	NSIP   netip.Prefix // address with its subnet's length
	Routes []HostRoute  // whose Twin is the device
}

// TwinPlan are the addresses that live on one twin.
type TwinPlan struct {
	Port      Port
	Addresses []netip.Prefix // address with its subnet's length
}

// HostRoute is a static route through a twin.
type HostRoute struct {
	Prefix  netip.Prefix
	Gateway netip.Addr
	Twin    string
}
