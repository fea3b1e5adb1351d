package worker

import "sluice/dataplane/packet"

// policer protects the kernel: each class of packets for it has a token bucket on the coarse clock.
type policer struct {
	tokens [packet.Reasons]uint32
	share  uint32 // workers that the rates are divided among
}

// puntRates are packets a second per class, over all workers. A bucket holds one second's worth.
var puntRates = [packet.Reasons]uint32{
	packet.PuntARP:      2000,
	packet.PuntIPv6:     1000,
	packet.PuntNotIP:    500,
	packet.PuntGroup:    1000,
	packet.PuntVRRP:     20000, // beside the others, lest a flood of other multicast take away mastership
	packet.PuntLocal:    50000, // SSH, BGP, probes and their answers: real work of this appliance
	packet.PuntFragment: 1000,
	packet.PuntOptions:  200,

	packet.ReplyFragNeeded: 1000, // not for the kernel, but nothing that an attacker should have for free
}

// refill gives each bucket what ticks have earned.
func (l *policer) refill(ticks uint32) {
	for r := packet.ReplyFragNeeded; r <= packet.PuntOptions; r++ {
		rate := puntRates[r] / l.share
		l.tokens[r] = uint32(min(uint64(l.tokens[r])+uint64(rate)*uint64(ticks)/10, uint64(rate)))
	}
}

// punt returns why, or the reason to drop if too many packets of its class go to the kernel.
func (w *Worker) punt(why packet.Reason) packet.Reason {
	end := w.police.says(why)
	if end == why {
		w.police.tokens[why]--
	}
	return end
}

// says is how a packet of a class for the kernel ends now.
func (l *policer) says(why packet.Reason) packet.Reason {
	if l.tokens[why] == 0 {
		return packet.DropPuntLimit
	}
	return why
}
