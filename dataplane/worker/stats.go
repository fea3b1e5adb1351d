package worker

import (
	"slices"
	"sync/atomic"

	"sluice/dataplane/api"
	"sluice/dataplane/flow"
	"sluice/dataplane/lb"
	"sluice/dataplane/packet"
	"sluice/dataplane/port"
	"sluice/dataplane/table"
)

// Counters beside the reasons, which come first.
const (
	checksumCompleted = int(packet.Reasons) + iota
	connectionsEnded
	questionsSent
	sessionTableFull
	staleConnections
	counters
)

var ownTexts = [counters - int(packet.Reasons)]api.Counter{
	{Name: "checksum-completed", Help: "Packets whose unfinished checksum was completed here: switching tx offload off at the sender saves that work (ethtool -K)."},
	{Name: "connections-ended", Help: "TCP connections that were reset at both ends by the appliance, e.g. because their service is down (-downStateFlush)."},
	{Name: "end-questions", Help: "Packets sent to the ends of such connections to learn the sequence number that a reset must have."},
	{Name: "session-table-full", Help: "New connections whose client is not remembered (-persistenceType) because the table of persistence sessions is full: raise sessions in dataplane.yaml."},
	{Name: "stale-connections", Help: "SYNs that a server answered with the acknowledgment of an older connection from the same port, e.g. after a restart of the dataplane: new connections come from other ports."},
}

// Stats adds this worker's figures to s: its WorkerStats, the counters by name in a fixed order, the traffic of every vserver
// and service of the tables, and the ports in use. Another goroutine than the worker's may call it.
func (w *Worker) Stats(s *api.Stats) {
	t := w.Tables()
	s.ConfigVersion, s.HealthVersion = t.ConfigVersion(), t.HealthVersion()
	s.FIBVersion, s.NeighborsVersion = t.FIBVersion(), t.NeighborsVersion()
	s.RolesVersion = t.RolesVersion()
	s.Workers = append(s.Workers, w.busy())
	if len(s.Counters) == 0 {
		s.Counters = names()
	}
	for i, n := range s.Workers[len(s.Workers)-1].Counters {
		s.Counters[i].Value += n
	}
	w.flowStats(t, s)
}

func (w *Worker) busy() api.WorkerStats {
	f, t := w.figures, w.seen.Load().set
	s := api.WorkerStats{Lcore: w.opt.Lcore, TotalCycles: load(&f.total), BusyCycles: load(&f.busy), Polls: load(&f.polls),
		Packets: load(&f.packets), Sleeps: load(&f.sleeps), Flows: load(&f.flows), FlowCapacity: w.flows.Limit(),
		ConfigVersion: t.ConfigVersion(), HealthVersion: t.HealthVersion(), FIBVersion: t.FIBVersion(), NeighborsVersion: t.NeighborsVersion(),
		Counters: make([]uint64, counters), HandedOver: load(&f.handed), TakenOver: load(&f.taken)}
	for i := range s.Counters {
		s.Counters[i] = w.Counter(i)
	}
	return s
}

// Turns is how many turns the worker has made. It grows as long as the worker is alive, ten times a second at least.
func (w *Worker) Turns() uint64 { return load(&w.figures.polls) }

// names are the counters' names and texts, reasons first.
func names() []api.Counter {
	list := make([]api.Counter, 0, counters)
	for r := packet.Reason(0); r < packet.Reasons; r++ {
		list = append(list, api.Counter{Name: r.Name(), Help: r.Help()})
	}
	return append(list, ownTexts[:]...)
}

// Counter is the value of the i-th counter in the order of Stats.
func (w *Worker) Counter(i int) uint64 {
	if i < 0 || i >= counters {
		return 0
	}
	n := load(&w.counts[i])
	if packet.Reason(i) == packet.DropTxFull {
		for l := 0; l < port.MaxLanes; l++ {
			n += w.TxFull(l)
		}
	}
	return n
}

// TxFull is how many packets a lane did not take.
func (w *Worker) TxFull(lane int) uint64 { return load(&w.x.TxFull[lane]) }

// flowStats sums the accounts over vservers and services.
func (w *Worker) flowStats(t *table.Set, s *api.Stats) {
	vservers, services := make(map[uint32]int, len(t.Vservers())), make(map[uint32]int, len(t.Services()))
	s.Vservers = slices.Grow(s.Vservers, max(0, len(t.Vservers())-len(s.Vservers)))
	s.Services = slices.Grow(s.Services, max(0, len(t.Services())-len(s.Services)))
	for i, v := range t.Vservers() {
		if vservers[v.ID] = i; i == len(s.Vservers) {
			s.Vservers = append(s.Vservers, api.FlowStats{ID: v.ID, Name: v.Name})
		}
		s.Vservers[i].Spilled += w.lb.SpilledOf(v.ID)
		s.Vservers[i].Waiting += uint64(w.lb.Waits(v.ID))
		startup, turns := t.Startup(i)
		left, why := w.lb.Startup(v.ID, startup, turns)
		s.Vservers[i].Sessions = uint64(w.sessions.Of(v.ID))
		s.Vservers[i].Startup, s.Vservers[i].StartupLeft = why, s.Vservers[i].StartupLeft+uint64(left)
	}
	for i, v := range t.Services() {
		if services[v.ID] = i; i == len(s.Services) {
			s.Services = append(s.Services, api.FlowStats{ID: v.ID, Name: v.Name, Up: t.Up(v.ID)})
		}
		packets, bytes := w.lb.Recent(v.ID)
		s.Services[i].RecentPackets += packets
		s.Services[i].RecentBytes += bytes
	}
	for n := w.accounts.used.Load() - 1; n > 0; n-- {
		c := w.accounts.at(n)
		in, out := w.lb.Counted(c)
		if i, ok := vservers[c.Vserver]; ok {
			addTo(&s.Vservers[i], c, in, out)
		}
		if i, ok := services[c.Service]; ok {
			addTo(&s.Services[i], c, in, out)
		}
	}
	for i, n := range t.SNIPs() {
		if i == len(s.SNIPs) {
			s.SNIPs = append(s.SNIPs, api.SNIPStats{ID: n.ID, IP: n.IP})
		}
	}
	w.portsInUse(t, s)
}

func addTo(f *api.FlowStats, c *account, in, out lb.Traffic) {
	f.Flows += load(&c.Flows)
	f.OpenFlows += uint64(atomic.LoadUint32(&c.Open))
	f.PacketsIn += in.Packets
	f.BytesIn += in.Bytes
	f.PacketsOut += out.Packets
	f.BytesOut += out.Bytes
}

// portsInUse sums the ports out of every SNIP over the services that may use it.
func (w *Worker) portsInUse(t *table.Set, s *api.Stats) {
	place := make(map[uint32]int, len(s.SNIPs))
	for i := range s.SNIPs {
		place[s.SNIPs[i].ID] = i
	}
	type pool struct{ snip, place uint32 }
	counted := map[pool]bool{} // services at one address share a pool
	for _, v := range t.Services() {
		if v.UseSourceIP {
			continue
		}
		for _, id := range v.SNIPs {
			n := &s.SNIPs[place[id]]
			p := pool{packet.Addr4(n.IP.As4()), flow.Place(packet.Addr4(v.IP.As4()), packet.Swap16(v.Port))}
			if !counted[p] {
				counted[p] = true
				n.PortsInUse += uint64(w.pools.Used(p.snip, p.place))
			}
		}
	}
}
