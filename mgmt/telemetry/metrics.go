// Package telemetry tells other machines about the appliance: metrics for Prometheus, log messages for syslog servers. It only
// reads what it is given; what is worth telling others decide.
package telemetry

import (
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"golang.org/x/net/netutil"

	"sluice/dataplane/api"
)

// Reading is everything that metrics tell, of one moment.
type Reading struct {
	Host, Release, Build string
	Started              time.Time // of management
	Degraded             int       // how many things are not as configured
	ConfigVersion        uint64
	Stats                *api.Stats // nil while the dataplane is not connected
	Vservers             []State
	Services             []State
	Expiries             []Expiry
	Clock                *Clock // nil: it follows no time server
	Routers              []Router
}

// Router is a virtual router on a port.
type Router struct {
	ID       uint8
	Port     string // e.g. "1/1"
	State    string // INIT, BACKUP, MASTER
	Priority uint8  // effective

	// Since management started: times it became master, advertisements, gratuitous ARP requests, and what was ignored by reason.
	Transitions, Sent, Received, Gratuitous uint64
	Ignored                                 map[string]uint64
}

// State is that of a vserver or service, in the operator's words: UP, DOWN, OUT OF SERVICE and so on.
type State struct{ Name, State string }

// Expiry is when something ends that must be renewed, such as a certificate.
type Expiry struct {
	Kind, Name string // e.g. "certificate", "web"
	At         time.Time
}

// Clock is how the machine's clock stands.
type Clock struct {
	Synchronized bool
	Ahead        float64 // seconds that it is ahead of the server that it follows
	Stratum      int
}

// family is one metric and the names of its labels.
type family struct {
	desc *prometheus.Desc
	kind prometheus.ValueType
}

func counter(name, help string, labels ...string) family {
	return family{prometheus.NewDesc("sluice_"+name, help, labels, nil), prometheus.CounterValue}
}

func gauge(name, help string, labels ...string) family {
	return family{prometheus.NewDesc("sluice_"+name, help, labels, nil), prometheus.GaugeValue}
}

// families are all metrics, in groups.
var (
	info          = gauge("info", "What the appliance is; always 1.", "host", "release", "build")
	mgmtStart     = gauge("management_start_time_seconds", "When management started, as seconds since 1970.")
	degraded      = gauge("degraded", "How many things are not as configured; show version tells them.")
	configVersion = gauge("config_version", "Number of the running configuration since management started.")
	dataplaneUp   = gauge("dataplane_up", "Whether the dataplane is connected.")
	dataplane     = gauge("dataplane_start_time_seconds", "When the dataplane started, as seconds since 1970.")
	buffers       = gauge("buffers", "Packet buffers that there are.")
	buffersFree   = gauge("buffers_free", "Packet buffers that nobody holds.")
	packets       = counter("packets_total", "Packets by what became of them: verdicts, and drops by their reasons.", "reason")
	snipPorts     = gauge("snip_ports_in_use", "Source ports of a SNIP that are taken.", "snip")
	expiry        = gauge("expiry_time_seconds", "When something ends that must be renewed, as seconds since 1970.", "kind", "name")

	clockSynced  = gauge("clock_synchronized", "Whether the clock follows a time server; without ntp sync there is no such metric.")
	clockAhead   = gauge("clock_ahead_seconds", "Seconds that the clock is ahead of the server that it follows.")
	clockStratum = gauge("clock_stratum", "Stratum of the clock; 0 while it follows no server.")

	portUp     = gauge("port_up", "Whether the port has a link.", "port")
	portFrames = counter("port_packets_total", "Packets at a port; twin: between the port and the kernel.", "port", "direction")
	portBytes  = counter("port_bytes_total", "Bytes at a port.", "port", "direction")
	portLost   = counter("port_lost_packets_total", "Packets that a port has lost.", "port", "cause")

	workerCycles   = counter("worker_cycles_total", "Cycles of a worker; busy: of polls that found packets.", "worker", "kind")
	workerPackets  = counter("worker_packets_total", "Packets of a worker: received by itself, handed to another, taken over from another.", "worker", "kind")
	workerPolls    = counter("worker_polls_total", "Polls of a worker.", "worker")
	workerSleeps   = counter("worker_sleeps_total", "How often a worker went to sleep.", "worker")
	workerFlows    = gauge("worker_flows", "Flow entries of a worker in use.", "worker")
	workerCapacity = gauge("worker_flow_capacity", "Flow entries of a worker at which new flows are refused.", "worker")
	workerReasons  = counter("worker_reason_packets_total", "Packets of a worker by what became of them.", "worker", "reason")
)

// The metrics of virtual routers (VRRP).
var (
	routerState       = gauge("virtual_router_state", "State of the virtual router: 1 for the one that it is in.", "vrid", "port", "state")
	routerMaster      = gauge("virtual_router_master", "Whether this appliance is master of the virtual router.", "vrid", "port")
	routerPriority    = gauge("virtual_router_priority", "Effective priority of the virtual router.", "vrid", "port")
	routerTransitions = counter("virtual_router_transitions_total", "How often it became master.", "vrid", "port")
	routerAdverts     = counter("virtual_router_advertisements_total", "VRRP advertisements sent, and received and believed.", "vrid", "port", "direction")
	routerARP         = counter("virtual_router_gratuitous_arp_total", "Gratuitous ARP requests sent.", "vrid", "port")
	routerIgnored     = counter("virtual_router_ignored_advertisements_total", "VRRP advertisements that were not believed, by the reason.", "vrid", "port", "reason")
)

func (v *Router) tell(tell teller) {
	id := strconv.Itoa(int(v.ID))
	tell(routerState, 1, id, v.Port, v.State)
	tell(routerMaster, truth(v.State == "MASTER"), id, v.Port)
	tell(routerPriority, float64(v.Priority), id, v.Port)
	tell(routerTransitions, float64(v.Transitions), id, v.Port)
	tell(routerAdverts, float64(v.Sent), id, v.Port, "out")
	tell(routerAdverts, float64(v.Received), id, v.Port, "in")
	tell(routerARP, float64(v.Gratuitous), id, v.Port)
	for reason, n := range v.Ignored {
		tell(routerIgnored, float64(n), id, v.Port, reason)
	}
}

// balanced are the metrics of vservers or services, which are called alike.
type balanced struct {
	state, up, open                 family
	flows, packets, bytes           family
	sessions, spilled, waiting      family
	startup, recentPackets, recentB family
}

func balancedAs(kind string) balanced {
	return balanced{
		state:         gauge(kind+"_state", "State of the "+kind+": 1 for the one that it is in.", kind, "state"),
		up:            gauge(kind+"_up", "Whether the "+kind+" is UP.", kind),
		open:          gauge(kind+"_open_flows", "Flows that are open now.", kind),
		flows:         counter(kind+"_flows_total", "Flows that were begun.", kind),
		packets:       counter(kind+"_packets_total", "Packets from clients (in) and to them (out).", kind, "direction"),
		bytes:         counter(kind+"_bytes_total", "Bytes of IP packets from clients (in) and to them (out).", kind, "direction"),
		sessions:      gauge(kind+"_persistence_sessions", "Clients that are remembered.", kind),
		spilled:       counter(kind+"_spilled_flows_total", "New flows that went to a backup, or would have.", kind),
		waiting:       gauge(kind+"_waiting_connections", "Connections in the surge queue.", kind),
		startup:       gauge(kind+"_startup_flows_left", "Flows that still go round robin before the method begins.", kind),
		recentPackets: gauge(kind+"_recent_packets", "Packets of the last 14 seconds, by which LEASTPACKETS chooses.", kind),
		recentB:       gauge(kind+"_recent_bytes", "Bytes of the last 14 seconds, by which LEASTBANDWIDTH chooses.", kind),
	}
}

var vservers, services = balancedAs("vserver"), balancedAs("service")

// collector turns readings into metrics.
type collector func() *Reading

// Describe is empty: which metrics there are depends on what is configured.
func (collector) Describe(chan<- *prometheus.Desc) {}

// Collect reads once and tells everything.
func (c collector) Collect(out chan<- prometheus.Metric) {
	tell := func(f family, value float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(f.desc, f.kind, value, labels...)
	}
	r := c()
	tell(info, 1, r.Host, r.Release, r.Build)
	tell(mgmtStart, float64(r.Started.UnixMilli())/1000)
	tell(degraded, float64(r.Degraded))
	tell(configVersion, float64(r.ConfigVersion))
	tell(dataplaneUp, truth(r.Stats != nil))
	for _, v := range r.Routers {
		v.tell(tell)
	}
	for _, e := range r.Expiries {
		tell(expiry, float64(e.At.Unix()), e.Kind, e.Name)
	}
	if r.Clock != nil {
		tell(clockSynced, truth(r.Clock.Synchronized))
		tell(clockAhead, r.Clock.Ahead)
		tell(clockStratum, float64(r.Clock.Stratum))
	}
	vservers.states(tell, r.Vservers)
	services.states(tell, r.Services)
	if r.Stats == nil {
		return
	}
	tellDataplane(tell, r.Stats)
	vs, svc := names(r.Vservers), names(r.Services)
	vservers.flow(tell, r.Stats.Vservers, vs)
	services.flow(tell, r.Stats.Services, svc)
	for _, f := range r.Stats.Vservers {
		if vs[f.Name] {
			tell(vservers.sessions, float64(f.Sessions), f.Name)
			tell(vservers.spilled, float64(f.Spilled), f.Name)
			tell(vservers.waiting, float64(f.Waiting), f.Name)
			tell(vservers.startup, float64(f.StartupLeft), f.Name)
		}
	}
	for _, f := range r.Stats.Services {
		if svc[f.Name] {
			tell(services.recentPackets, float64(f.RecentPackets), f.Name)
			tell(services.recentB, float64(f.RecentBytes), f.Name)
		}
	}
}

func names(all []State) map[string]bool {
	m := make(map[string]bool, len(all))
	for _, s := range all {
		m[s.Name] = true
	}
	return m
}

type teller func(f family, value float64, labels ...string)

func (b balanced) states(tell teller, all []State) {
	for _, s := range all {
		tell(b.state, 1, s.Name, s.State)
		tell(b.up, truth(s.State == "UP"), s.Name)
	}
}

// flow tells counters. Those of what is no longer configured are left out: the dataplane may not have heard of it yet.
func (b balanced) flow(tell teller, all []api.FlowStats, configured map[string]bool) {
	for _, f := range all {
		if !configured[f.Name] {
			continue
		}
		tell(b.open, float64(f.OpenFlows), f.Name)
		tell(b.flows, float64(f.Flows), f.Name)
		tell(b.packets, float64(f.PacketsIn), f.Name, "in")
		tell(b.packets, float64(f.PacketsOut), f.Name, "out")
		tell(b.bytes, float64(f.BytesIn), f.Name, "in")
		tell(b.bytes, float64(f.BytesOut), f.Name, "out")
	}
}

func tellDataplane(tell teller, s *api.Stats) {
	tell(dataplane, float64(s.StartedUnixMilli)/1000)
	tell(buffers, float64(s.Buffers))
	tell(buffersFree, float64(s.BuffersFree))
	for _, c := range s.Counters {
		tell(packets, float64(c.Value), c.Name)
	}
	for _, n := range s.SNIPs {
		tell(snipPorts, float64(n.PortsInUse), n.IP.String())
	}
	for _, p := range s.Ports {
		tell(portUp, truth(p.LinkUp), p.Name)
		for direction, n := range map[string]uint64{"in": p.RxPackets, "out": p.TxPackets, "twin-in": p.TwinRxPackets, "twin-out": p.TwinTxPackets} {
			tell(portFrames, float64(n), p.Name, direction)
		}
		for direction, n := range map[string]uint64{"in": p.RxBytes, "out": p.TxBytes} {
			tell(portBytes, float64(n), p.Name, direction)
		}
		for cause, n := range map[string]uint64{"in-missed": p.RxMissed, "in-error": p.RxErrors, "out-error": p.TxErrors, "out-full": p.TxFull, "twin-full": p.TwinTxFull} {
			tell(portLost, float64(n), p.Name, cause)
		}
	}
	for i, w := range s.Workers {
		tellWorker(tell, strconv.Itoa(i), &w, s.Counters)
	}
}

func tellWorker(tell teller, id string, w *api.WorkerStats, reasons []api.Counter) {
	tell(workerCycles, float64(w.TotalCycles), id, "all")
	tell(workerCycles, float64(w.BusyCycles), id, "busy")
	tell(workerPackets, float64(w.Packets), id, "received")
	tell(workerPackets, float64(w.HandedOver), id, "handed-over")
	tell(workerPackets, float64(w.TakenOver), id, "taken-over")
	tell(workerPolls, float64(w.Polls), id)
	tell(workerSleeps, float64(w.Sleeps), id)
	tell(workerFlows, float64(w.Flows), id)
	tell(workerCapacity, float64(w.FlowCapacity), id)
	for i, n := range w.Counters[:min(len(w.Counters), len(reasons))] {
		tell(workerReasons, float64(n), id, reasons[i].Name)
	}
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// Limits of the endpoint: anybody on the network may speak to it.
const (
	metricsConns    = 32
	metricsAtOnce   = 4
	metricsPatience = 10 * time.Second
)

// Metrics serves readings to Prometheus at /metrics until the listener is closed.
func Metrics(l net.Listener, read func() *Reading) error {
	all := prometheus.NewRegistry()
	all.MustRegister(collector(read))
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(all, promhttp.HandlerOpts{MaxRequestsInFlight: metricsAtOnce, Timeout: metricsPatience}))
	s := &http.Server{Handler: mux, ReadTimeout: metricsPatience, WriteTimeout: 2 * metricsPatience, IdleTimeout: time.Minute, MaxHeaderBytes: 16 << 10}
	return s.Serve(netutil.LimitListener(l, metricsConns))
}
