package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"sluice/dataplane/api"
	"sluice/dataplane/flow"
	"sluice/dataplane/packet"
	"sluice/dataplane/table"
	"sluice/dataplane/worker"
)

// answerTime is how long a worker may take to its next burst boundary, where it answers questions.
const answerTime = time.Second

// Where implements api.Dataplane. The worker that owns the flow answers, since nobody else may read what it writes.
func (c *control) Where(_ context.Context, f *api.Tuple) (*api.Where, error) {
	if !f.Src.IP.Is4() || !f.Dst.IP.Is4() {
		return nil, fmt.Errorf("%v to %v is no IPv4 flow: this dataplane carries IPv4 only", f.Src, f.Dst)
	}
	if f.Proto == packet.ProtoICMP {
		return nil, errors.New("ICMP has no flows of its own: ask about the flow that it speaks of")
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	key := packet.MakeKey(packet.Addr4(f.Src.IP.As4()), packet.Addr4(f.Dst.IP.As4()), f.Src.Port, f.Dst.Port, f.Proto)
	i := c.owner(key)
	w := c.workers[i]
	q := &worker.Where{Key: key}
	if !passed(w, w.Ask(q), answerTime) || !q.Answered {
		return nil, unanswered(i)
	}
	return whereOf(w.Tables(), q, uint32(i)), nil
}

// unanswered is the error about a worker that has not come to its next burst boundary in time.
func unanswered(worker int) error {
	return fmt.Errorf("worker %d has not answered within %v: see whether its polls go on with `stat worker %d`", worker, answerTime, worker)
}

// owner is the number of the worker that owns a flow; the first if whoever receives a packet keeps it.
func (c *control) owner(k packet.Key) int {
	return worker.Owner(c.workers[0].Tables(), k, len(c.workers), 0)
}

// whereOf puts a worker's answer into management's words: t is the tables that it was given by.
func whereOf(t *table.Set, q *worker.Where, by uint32) *api.Where {
	a := &api.Where{Flow: tupleOf(q.Key), Worker: by, Reason: q.Reason.Name(), Help: q.Reason.Help(), Reopens: q.Reopens,
		VserverID: q.Vserver, ServiceID: q.Service, Pool: q.Pool}
	a.Vserver, a.Service = t.Names(q.Vserver, q.Service)
	if q.Entry.B != 0 {
		a.Entry = entryOf(q)
	}
	if q.To.B == 0 {
		return a
	}
	a.Sent, a.To = true, tupleOf(q.To)
	if q.MTU != 0 {
		mac := q.MAC
		a.Hop = &api.Hop{Prefix: t.Prefix(a.To.Dst.IP), Neighbor: table.Addr(q.Next), Known: mac != 0,
			MAC:  [6]byte{byte(mac), byte(mac >> 8), byte(mac >> 16), byte(mac >> 24), byte(mac >> 32), byte(mac >> 40)},
			Port: t.Port(q.Port).Name, MTU: q.MTU}
		if q.Gateway != 0 {
			a.Hop.Gateway = table.Addr(q.Gateway)
		}
	}
	return a
}

func entryOf(q *worker.Where) *api.FlowEntry {
	tick := time.Second / table.TicksPerSecond
	e := &api.FlowEntry{Client: tupleOf(q.Entry.Client()), Server: tupleOf(q.Entry.Server()), FromServer: q.Entry.Kind&flow.KindReverse != 0,
		Idle: time.Duration(q.Idle) * tick, Limit: time.Duration(q.Limit) * tick}
	if q.Entry.Proto() == packet.ProtoTCP {
		e.State = q.Entry.Phase()
	}
	in, out := &q.Entry, &q.Peer
	if e.FromServer {
		in, out = out, in
	}
	e.PacketsIn, e.BytesIn, e.PacketsOut, e.BytesOut = uint64(in.Packets), in.Bytes, uint64(out.Packets), out.Bytes
	return e
}

// tupleOf is a key for people and management.
func tupleOf(k packet.Key) api.Tuple {
	return api.Tuple{Proto: uint8(k.B >> 32),
		Src: api.Endpoint{IP: table.Addr(uint32(k.A)), Port: packet.Swap16(uint16(k.B))},
		Dst: api.Endpoint{IP: table.Addr(uint32(k.A >> 32)), Port: packet.Swap16(uint16(k.B >> 16))}}
}
