package main

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"time"

	"sluice/dataplane/api"
	"sluice/dataplane/packet"
	"sluice/dataplane/table"
	"sluice/dataplane/worker"
)

// tracing is the last trace, running or over.
type tracing struct {
	watch
	record *worker.Trace // nil: there has been none
	filter api.TraceFilter
}

// running says whether workers may still follow packets.
func (r *tracing) running(now time.Time) bool {
	return r.record != nil && !r.record.Full() && r.watch.running(now)
}

// Trace implements api.Dataplane. A trace that is over by itself is taken from the workers when the next one begins or it is
// stopped; until then it costs them nothing, for each goes on by the Pipeline as soon as it sees that.
func (c *control) Trace(_ context.Context, o *api.TraceOrder) (*api.Trace, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	r := &c.trace
	switch {
	case o.Start != nil:
		if err := c.startTrace(o.Start); err != nil {
			return nil, err
		}
	case o.Stop && r.record == nil:
		return nil, errors.New("no trace has been started: begin one with `start trace`")
	case o.Stop:
		if err := c.armTrace(nil); err != nil {
			return nil, err
		}
		r.stopped = true
	}
	return c.traced(), nil
}

func (c *control) startTrace(f *api.TraceFilter) error {
	r, now := &c.trace, time.Now()
	if r.running(now) {
		return fmt.Errorf("a trace is running for %v more: see what it has with `show trace` or end it with `stop trace`",
			r.until.Sub(now).Round(time.Second))
	}
	if f.Count < 1 || f.Count > worker.MaxWalks || f.Time <= 0 || f.Time > maxWatch {
		return fmt.Errorf("a trace follows 1 to %d packets for up to %v", worker.MaxWalks, maxWatch)
	}
	ends, err := endsOf(f.Proto, f.Src, f.Dst, f.SrcPort, f.DstPort)
	if err != nil {
		return err
	}
	*r = tracing{watch: c.watch(f.Time), filter: *f}
	r.record = &worker.Trace{Ends: ends, Count: f.Count, Until: r.end()}
	return c.armTrace(r.record)
}

// armTrace gives every worker a trace, or none, and waits until each goes by it.
func (c *control) armTrace(tr *worker.Trace) error {
	return c.order(func(w *worker.Worker) uint64 { return w.Trace(tr) })
}

// traced puts what there is into management's words.
func (c *control) traced() *api.Trace {
	r, now := &c.trace, time.Now()
	if r.record == nil {
		return &api.Trace{}
	}
	f := r.filter
	a := &api.Trace{Filter: &f, Running: r.running(now)}
	if a.Running {
		a.Left = r.until.Sub(now)
	}
	t := c.workers[0].Tables()
	for _, k := range r.record.Walks() {
		a.Walks = append(a.Walks, r.walk(t, k))
	}
	return a
}

func (r *tracing) walk(t *table.Set, k *worker.Walk) api.Walk {
	w := api.Walk{UnixNano: r.unixNano(k.Cycles), Worker: k.Worker, Port: laneName(t, k.In), Handed: k.Handed, Owner: k.Owner,
		Before: frameOf(k.Before.Bytes(), k.Frame), After: frameOf(k.After.Bytes(), 0), Sent: k.After.N != 0}
	w.Vserver, w.Service = t.Names(k.Vserver, k.Service)
	for _, s := range k.Steps[:k.N] {
		w.Steps = append(w.Steps, api.Step{Stage: stageNames[s.Stage], Kind: api.StepKind(s.How) + api.StepPassed})
	}
	if k.Handed {
		return w
	}
	w.Reason, w.Help = k.Reason.Name(), k.Reason.Help()
	switch k.Reason.Verdict() {
	case packet.Transmit:
		w.To = laneName(t, k.Out)
	case packet.Punt:
		w.To, w.ToKernel = w.Port, true
	case packet.Held:
		w.Waiting = true
	default:
		w.Dropped = true
	}
	return w
}

// laneName is the port of a lane.
func laneName(t *table.Set, lane uint8) string { return t.Port(uint16(lane >> 1)).Name }

// stageNames are the names of the stages' functions: so they are never out of step with the Pipeline.
var stageNames = func() (names []string) {
	for _, s := range worker.Pipeline {
		full := runtime.FuncForPC(reflect.ValueOf(s).Pointer()).Name()
		names = append(names, full[strings.LastIndexByte(full, '.')+1:])
	}
	return names
}()

// frameOf reads the beginning of a frame of the given length; with 0 the IP header tells it.
func frameOf(b []byte, length uint16) (f api.Frame) {
	if len(b) < packet.EtherLen {
		return f
	}
	e := packet.Ether(b)
	f.Length, f.Dst, f.Src = length, e.Dst(), e.Src()
	f.VLAN, f.Tagged = e.Tag()
	f.VLAN &= 0xfff
	ether, l3 := e.Split()
	f.EtherType = ether
	h := packet.IPv4(l3)
	if ether != packet.EtherIPv4 || len(l3) < packet.IPv4Len || h.HeaderLen() < packet.IPv4Len || h.HeaderLen() > len(l3) {
		return f
	}
	f.IPv4, f.TTL, f.TotalLength = true, h.TTL(), h.TotalLen()
	f.Fragment = h.Frag()&0x3fff != 0
	f.Flow = api.Tuple{Proto: h.Proto(), Src: api.Endpoint{IP: table.Addr(packet.Addr4(h.Src()))}, Dst: api.Endpoint{IP: table.Addr(packet.Addr4(h.Dst()))}}
	l4 := l3[h.HeaderLen():]
	if ports := f.Flow.Proto == packet.ProtoTCP || f.Flow.Proto == packet.ProtoUDP; ports && h.Frag()&0x1fff == 0 && len(l4) >= packet.UDPLen {
		f.Flow.Src.Port, f.Flow.Dst.Port = packet.UDP(l4).SrcPort(), packet.UDP(l4).DstPort()
		if f.Flow.Proto == packet.ProtoTCP && len(l4) >= packet.TCPLen {
			f.TCPFlags = packet.TCP(l4).Flags()
		}
	}
	return f
}
