package main

import (
	"context"
	"fmt"
	"runtime"
	"runtime/metrics"
	"sync"
	"time"

	"github.com/yerden/go-dpdk/ethdev"

	"sluice/dataplane/api"
	"sluice/dataplane/port"
	"sluice/dataplane/table"
	"sluice/dataplane/worker"
)

const (
	boundaryTime  = 5 * time.Second       // a worker that makes no turn for so long stands still
	boundaryPause = 50 * time.Microsecond // between looks at whether it has
	eventPause    = 20 * time.Millisecond // between looks for events: a packet waits so long for its neighbor, and a look costs CPU
	eventRoom     = 256                   // events that a slow reader may lag behind; a wanted neighbor is raised again
	garbageSize   = 32 << 20              // bytes of heap since the last collection that call for one
	garbagePause  = time.Second
)

// portSet is what control reads of the ports.
type portSet interface {
	links
	Counters(i int) (nic, twin ethdev.GoStats, err error)
	Buffers() (all, free int)
}

var _ portSet = (*port.Ports)(nil)

// control is the dataplane as management sees it. It builds tables and hands them to the workers, adds up their
// figures and passes their events on. Workers never wait for it.
type control struct {
	ports   portSet
	started time.Time

	tableMemory uint64 // bytes that tables may take, those in force and those to come; 0: as the machine has

	mu      sync.Mutex // one Apply or Stats at a time: Apply frees tables that Stats reads
	workers []*worker.Worker
	trace   tracing
	capture capture
	// Where the figures of vservers and services begin.
	vservers, services baselines

	garbage chan struct{} // asks for a collection

	subMu sync.Mutex
	subs  map[chan api.Event]struct{}
}

var _ api.Dataplane = (*control)(nil)

func newControl(workers []*worker.Worker, ports portSet) *control {
	return &control{ports: ports, started: time.Now(), workers: workers, vservers: baselines{}, services: baselines{},
		garbage: make(chan struct{}, 1), subs: map[chan api.Event]struct{}{}}
}

// Apply implements api.Dataplane. All workers share one set; the one before is freed when every worker has left it.
func (c *control) Apply(_ context.Context, t *api.Tables) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	before := c.workers[0].Tables()
	next, err := table.BuildWithin(t, before, c.room(t, before))
	if err != nil {
		return err
	}
	if err := c.publishTables(next); err != nil {
		return err // the old set stays: a worker may still read it
	}
	if t.Config != nil {
		c.forgetSessions(before, next)
	}
	before.Free(next)
	if !sameObjects(before, next) {
		now := c.counted()
		c.vservers.renew(now.Vservers)
		c.services.renew(now.Services)
	}
	select {
	case c.garbage <- struct{}{}:
	default:
	}
	return nil
}

// tableMargin is what tables leave of the machine's memory, in bytes: flows, garbage and other programs come and go.
const tableMargin = 64 << 20

// room is how many bytes new tables may take beside those in force. News of services and neighbors may use what configurations
// and routes must leave: to refuse them would send packets to servers that are down.
func (c *control) room(t *api.Tables, now *table.Set) uint64 {
	free := spareMemory("/")
	if t.Config == nil && t.FIB == nil {
		return free
	}
	free -= min(free, tableMargin)
	if c.tableMemory != 0 {
		free = min(free, c.tableMemory-min(c.tableMemory, now.Bytes()))
	}
	return free
}

// publishTables hands a set to every worker and returns when each has left the one before.
func (c *control) publishTables(next *table.Set) error {
	if i := c.hand(func(w *worker.Worker) uint64 { return w.Publish(next) }, boundaryTime); i >= 0 {
		return fmt.Errorf("worker %d has made no turn for %v: restart the dataplane", i, boundaryTime)
	}
	return nil
}

// hand gives something to every worker and waits until each has passed the burst boundary of its ticket, for no longer than the
// given time each. It returns the number of the first that has not, or -1.
func (c *control) hand(give func(*worker.Worker) (ticket uint64), within time.Duration) int {
	tickets := make([]uint64, len(c.workers))
	for i, w := range c.workers {
		tickets[i] = give(w)
	}
	for i, w := range c.workers {
		if !passed(w, tickets[i], within) {
			return i
		}
	}
	return -1
}

// passed waits until a worker has passed the burst boundary of a ticket, no longer than the given time.
func passed(w *worker.Worker, ticket uint64, within time.Duration) bool {
	for deadline := time.Now().Add(within); !w.Passed(ticket); time.Sleep(boundaryPause) {
		if time.Now().After(deadline) {
			return false
		}
	}
	return true
}

// Lease implements api.Dataplane. It takes no lock: mastership must not run out because a large configuration is being put in force.
func (c *control) Lease(_ context.Context, l *api.Lease) error {
	for _, w := range c.workers {
		if !w.Renew(l.Roles, l.Millis) {
			return fmt.Errorf("a lease for roles %d comes while roles %d are in force", l.Roles, w.Tables().RolesVersion())
		}
	}
	return nil
}

// counted is what the workers have counted since they began.
func (c *control) counted() *api.Stats {
	s := &api.Stats{StartedUnixMilli: c.started.UnixMilli()}
	for _, w := range c.workers {
		w.Stats(s)
	}
	return s
}

// Stats implements api.Dataplane.
func (c *control) Stats(context.Context) (*api.Stats, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.counted()
	c.vservers.since(s.Vservers)
	c.services.since(s.Services)
	all, free := c.ports.Buffers()
	s.Buffers, s.BuffersFree = uint64(all), uint64(free)
	for i, d := range c.ports.Devices() {
		p, err := c.portStats(i, d)
		if err != nil {
			return nil, fmt.Errorf("counters of port %s cannot be read: %w", d.Name, err)
		}
		s.Ports = append(s.Ports, p)
	}
	return s, nil
}

func (c *control) portStats(i int, d port.Device) (api.PortStats, error) {
	l, err := c.ports.Link(i)
	if err != nil {
		l = port.Link{} // replaced: the link watch ends the program with a sentence about it
	}
	nic, twin, err := c.ports.Counters(i)
	if err != nil {
		return api.PortStats{}, err
	}
	p := api.PortStats{
		Name: d.Name, Device: d.Device + d.PCI, Twin: d.Twin, MAC: l.MAC, LinkUp: l.Up, MTU: uint16(l.MTU),
		RxPackets: nic.Ipackets, RxBytes: nic.Ibytes, TxPackets: nic.Opackets, TxBytes: nic.Obytes,
		RxMissed: nic.Imissed + nic.RxNoMbuf, RxErrors: nic.Ierrors, TxErrors: nic.Oerrors,
		TwinRxPackets: twin.Ipackets, TwinTxPackets: twin.Opackets,
	}
	for _, w := range c.workers {
		p.TxFull += w.TxFull(port.NICLane(i))
		p.TwinTxFull += w.TxFull(port.TwinLane(i))
	}
	return p, nil
}

// Events implements api.Dataplane.
func (c *control) Events(ctx context.Context) (<-chan api.Event, error) {
	ch := make(chan api.Event, eventRoom)
	c.subMu.Lock()
	c.subs[ch] = struct{}{}
	c.subMu.Unlock()
	context.AfterFunc(ctx, func() {
		c.subMu.Lock()
		defer c.subMu.Unlock()
		delete(c.subs, ch)
		close(ch)
	})
	return ch, nil
}

// pass carries events from the workers to whoever listens. A listener that lags loses events instead of holding others up.
func (c *control) pass(ctx context.Context) error {
	tick := time.NewTicker(eventPause)
	defer tick.Stop()
	for {
		for _, w := range c.workers {
			for e, ok := w.NextEvent(); ok; e, ok = w.NextEvent() {
				c.publish(e)
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

func (c *control) publish(e api.Event) {
	c.subMu.Lock()
	defer c.subMu.Unlock()
	for ch := range c.subs {
		select {
		case ch <- e:
		default:
		}
	}
}

// collect collects garbage right after an Apply, and when calls have left much of it.
func (c *control) collect(ctx context.Context) error {
	tick := time.NewTicker(garbagePause)
	defer tick.Stop()
	heap := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	var kept uint64
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-c.garbage:
		case <-tick.C:
			if metrics.Read(heap); heap[0].Value.Uint64() < kept+garbageSize {
				continue
			}
		}
		runtime.GC()
		metrics.Read(heap)
		kept = heap[0].Value.Uint64()
	}
}
