package worker

import (
	"sluice/dataplane/packet"
	"sluice/dataplane/table"
)

// effective is the vserver that takes a new flow that was sent to v, with A of its key: the backup with which its client stays, or v
// itself, or the first of its backups that can. Of those that cannot because of what they carry each counts the flow as spilled. For a
// question, which is nil otherwise, it takes and counts nothing.
func (w *Worker) effective(t *table.Set, v *table.Vserver, a uint64, ask *Where) (*table.Vserver, packet.Reason) {
	first, why := v, packet.NoReason
	if v.SpillLimit != 0 {
		if b := w.spilledTo(t, v, a, ask); b != nil {
			return b, packet.NoReason
		}
	}
	for at := v; at != nil; at = t.VserverOf(at.Backup) {
		no := down(t, at)
		if no == packet.NoReason {
			if !w.spills(t, at, ask) {
				if why == packet.DropSpillover && first.SpillLimit != 0 && ask == nil {
					w.spilledOver(t, first, a, at)
				}
				return at, packet.NoReason
			}
			no = packet.DropSpillover
		}
		if at == first {
			why = no
		}
	}
	if why == packet.DropSpillover && t.Pool(first).Flags&table.PoolAccepts != 0 {
		return first, packet.NoReason
	}
	return nil, why
}

// spills says whether a new flow goes past v because of what v carries, and counts it then. If it does not, it has a place there. A
// question changes nothing.
func (w *Worker) spills(t *table.Set, v *table.Vserver, ask *Where) bool {
	p := t.Pool(v)
	if ask != nil {
		return w.lb.WouldSpill(v.ID, p)
	}
	if !w.lb.Spills(v.ID, p) {
		return false
	}
	w.lb.Spilled(v.ID)
	return true
}

// turnedAway ends a packet to a vserver none of whose services, nor those of its backups, is up.
func (w *Worker) turnedAway(t *table.Set, p *packet.Packet, why packet.Reason) packet.Reason {
	if resets(t, p, why) {
		return w.refuse(p)
	}
	return why
}

// resets says whether a packet that is turned away is answered with a reset.
func resets(t *table.Set, p *packet.Packet, why packet.Reason) bool {
	return why == packet.DropNoServiceUp && p.Proto() == packet.ProtoTCP && t.ResetsDown()
}

// down says why a vserver takes no new flows at all, or NoReason.
func down(t *table.Set, v *table.Vserver) packet.Reason {
	if p := t.Pool(v); p.N == 0 || p.Flags&table.PoolDown != 0 {
		return packet.DropNoServiceUp
	}
	return packet.NoReason
}

// pick chooses the service of a new flow of v and takes a place for it there. Between the choice and that another worker may take the
// last place; then there is another choice. A client that has a session with a service that is full waits for that one, or is
// refused: its session is worth more than another service's room.
func (w *Worker) pick(t *table.Set, v *table.Vserver, p *packet.Packet) (*table.Service, packet.Reason) {
	if w.queued(v) {
		return nil, w.wait(v, p)
	}
	for range pickTries {
		id := w.choose(t, v, p)
		if id == 0 {
			break
		}
		if s := t.Service(id); w.lb.Admit(s) {
			return s, packet.NoReason
		}
	}
	if queues(t, v, p) {
		return nil, w.wait(v, p)
	}
	return nil, packet.DropServicesFull
}

const pickTries = 4
