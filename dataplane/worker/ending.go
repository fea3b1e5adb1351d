package worker

import (
	"sluice/dataplane/flow"
	"sluice/dataplane/packet"
	"sluice/dataplane/port"
	"sluice/dataplane/table"
)

// Connections that the dataplane ends by itself, such as those of a service that is down, are reset at both ends. Their
// sequence numbers are not known (see packet.WriteAck): each end is asked where it stands, and what it says, then or of its own
// accord, is answered with a reset. The flow stays for that, with its port, for a few rounds of asking. Frames that are made
// here bear no VLAN tag; an end behind a tag hears of the end of its connection when it next sends.

const (
	endingRoom   = port.SpareRoom / 2 // flows whose ends are still to be asked: two packets each
	endingRounds = 3                  // of asking: a question or its answer may be lost
)

// ending is the flows whose ends are to be asked, by the keys of their forward entries.
type ending struct {
	n    int
	keys [endingRoom]packet.Key
}

// Ends implements flow.Keeper. Connections are reset, whatever else ends without a word: a client whose handshake is not over
// tries again, and gets another service.
func (w *Worker) Ends(e *flow.Entry) bool {
	if e.State&flow.Ending != 0 {
		if e.Packets >= endingRounds || w.ending.n == endingRoom {
			return true
		}
	} else {
		if e.Proto() != packet.ProtoTCP || e.State.Closed() || e.State.HalfOpen() || !w.flushed(e) {
			return true
		}
		if w.ending.n == endingRoom {
			return false // in the next round of the sweep
		}
		w.closed(e)
		w.counts[connectionsEnded]++
	}
	w.flows.End(e, w.now)
	w.ending.keys[w.ending.n] = e.Client()
	w.ending.n++
	w.x.SpareWant = uint32(2 * w.ending.n)
	return false
}

// flushed says whether e's flow ends because its service or vserver is down.
func (w *Worker) flushed(e *flow.Entry) bool {
	return w.set.Flushed(w.accounts.at(e.Account).Vserver, e.Service)
}

// question asks the ends of flows that are being ended where they stand, as far as there are empty packets.
func (w *Worker) question() {
	x := w.x
	for w.ending.n > 0 && x.SpareN >= 2 {
		w.ending.n--
		k := w.ending.keys[w.ending.n]
		e := w.flows.Lookup(k)
		if e == nil || e.State&flow.Ending == 0 {
			continue // opened anew by its client
		}
		// A server that was sent packets for the VIP would not know what the key says; its end ends by silence.
		if e.Kind&flow.KindRedirect == 0 {
			w.ask(e.Server(), e.Packets, 0)
		}
		w.ask(k.Reverse(), e.Packets, w.linkBack(e))
	}
	if x.SpareWant = uint32(2 * w.ending.n); x.SpareWant != 0 {
		return
	}
	for x.SpareN > 0 && x.FreeN < port.FreeRoom-turnBursts*port.Burst {
		x.SpareN--
		x.Free[x.FreeN] = x.Spare[x.SpareN&(port.SpareRoom-1)]
		x.FreeN++
	}
}

// ask sends an acknowledgment of key k that its receiver must answer. Its sequence number is in the window of the receiver by
// rare chance only, and in another round it is elsewhere. It leaves by a link, or if that is 0 by its route.
func (w *Worker) ask(k packet.Key, round uint32, link uint16) {
	a := w.hop(w.set, uint32(k.A>>32))
	if link != 0 {
		a = w.adjacent(link)
	}
	if a == nil || !w.room(uint8(a.Lane)) {
		return
	}
	w.x.SpareN--
	m := w.x.Spare[w.x.SpareN&(port.SpareRoom-1)]
	any := w.flows.Hash(k.A, k.B)
	data := port.Data(m)
	port.SetLen(m, packet.WriteAck(data, k, uint32(any)+round<<6, uint32(any>>32)))
	if link != 0 {
		data = w.retag(m, data, w.vlanTag(w.set, link))
	}
	setMACs(data, a)
	w.send(uint8(a.Lane), m)
	w.counts[questionsSent]++
}

// hop is where packets to an address leave, or nil if that is not known.
func (w *Worker) hop(t *table.Set, dst uint32) *table.Adjacency {
	h := t.Route(dst, 0)
	if h == nil {
		return nil
	}
	if i, ok := t.Neighbor(h.Port, h.Next(dst)); ok {
		return t.Adjacency(i)
	}
	return nil
}

// refuse answers a packet of a connection that is being ended.
func (w *Worker) refuse(p *packet.Packet) packet.Reason {
	n := packet.AnswerReset(p, w.mac)
	if n == 0 {
		return packet.DropFlowEnding
	}
	port.SetLen(p.Mbuf, n)
	p.Out = p.In
	return packet.ReplyReset
}

// pressing says that there is work which does not wait for packets.
func (w *Worker) pressing() bool { return w.ending.n != 0 || w.flows.Rechecking() != 0 }

// hush gives the empty packets back, when the worker ends.
func (w *Worker) hush() {
	for w.ending.n, w.x.SpareWant = 0, 0; w.x.SpareN > 0; {
		w.question()
		w.queue.Turn(w.x)
		w.ignore()
	}
}
