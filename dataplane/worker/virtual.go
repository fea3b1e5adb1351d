package worker

import (
	"sluice/dataplane/packet"
	"sluice/dataplane/port"
	"sluice/dataplane/table"
)

// Virtual routers (VRRP): what comes to their MAC addresses, and what comes for their VIPs while this appliance is not master.

// Renew lets the worker be master by roles of a version for so many milliseconds from now on. It reports false, and changes nothing,
// if other roles have been published. Another goroutine than the worker's may call it.
func (w *Worker) Renew(version uint64, millis uint32) bool {
	if w.Tables().RolesVersion() != version {
		return false
	}
	w.lease.Store(w.opt.Cycles() + uint64(millis)*w.opt.Hz/1000)
	return true
}

// leads says whether this appliance is master in a role: by the tables, and by a lease that lives. The clock is that of the last
// turn, or of 8 busy turns before.
func (w *Worker) leads(r table.Role) bool {
	return r.Flags&table.RoleMaster != 0 && w.clock.last < w.lease.Load()
}

// unveil puts the port's MAC address in the place of a virtual router's in the frames of a burst, so that whoever comes behind knows
// one address only. Not being master it does so for frames to the VIPs alone, since RFC 9568 section 6.4.2 has a backup discard the
// others: they are another router's that a switch has flooded.
func (w *Worker) unveil(t *table.Set, n int) {
	in := uint16(w.x.From >> 1)
	for i := range n {
		m := w.x.Rx[i&(port.Burst-1)]
		d := port.Data(m)
		if port.DataLen(m) < packet.EtherLen {
			continue
		}
		head := *u64(d)
		id, ok := packet.VirtualRouter(head)
		if !ok {
			continue
		}
		if r := t.RoleOn(in, id); r.Flags != 0 && (w.leads(r) || forVirtual(t, d, port.DataLen(m), id)) {
			*u64(d) = head&^macBits | w.mac
		}
	}
}

// forVirtual says whether a frame of n bytes at d is IPv4 to a VIP of a virtual router.
func forVirtual(t *table.Set, d uintptr, n uint32, id uint8) bool {
	l3 := uint32(packet.EtherLen)
	ether := *u16(d + packet.OffEtherType)
	if ether == packet.Swap16(packet.EtherVLAN) && n >= l3+packet.VLANLen {
		ether = *u16(d + packet.OffEtherType + packet.VLANLen)
		l3 += packet.VLANLen
	}
	if ether != packet.Swap16(packet.EtherIPv4) || n < l3+packet.IPv4Len {
		return false
	}
	return uint8(t.Own(*u32(d + uintptr(l3) + packet.OffDstIP))>>table.OwnVRID) == id
}

// yield says what becomes of a packet to a VIP of a virtual router, which is own to us. It reports false if the packet goes on as to
// any VIP: here is the master, it shares, or the packet is an ICMP error about a flow that is known.
func (w *Worker) yield(t *table.Set, p *packet.Packet, own uint64) (why packet.Reason, yields bool) {
	r := t.Role(uint16(p.In>>1), uint8(own>>table.OwnVRID))
	if w.leads(r) || r.Flags&table.RoleSharing != 0 || w.aboutFlow(t, p) {
		return packet.NoReason, false
	}
	if r.Via == 0 {
		return packet.DropBackupVIP, true
	}
	// To the MAC address of the master's own address, since switches may still lead its virtual one here, as they led this packet.
	p.Flags |= packet.FlagVia | packet.FlagOnLink
	p.Bucket = uintptr(r.Via) << 32
	p.Reason = packet.ForwardToMaster
	return packet.NoReason, true
}

func (w *Worker) aboutFlow(t *table.Set, p *packet.Packet) bool {
	if p.Class != packet.ClassICMP {
		return false
	}
	e, _, ok := packet.ParseICMPError(p)
	return ok && w.quoted(t, p, &e) != nil
}

// advertises says whether p is an advertisement of a virtual router that is ours, too.
func advertises(t *table.Set, p *packet.Packet) bool {
	in := uint16(p.In >> 1)
	if !t.HasRoles(in) {
		return false
	}
	id, ok := packet.VRID(p)
	return ok && t.RoleOn(in, id).Flags != 0
}
