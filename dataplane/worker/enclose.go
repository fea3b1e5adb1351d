package worker

import (
	"sluice/dataplane/packet"
	"sluice/dataplane/port"
)

// enclose puts p into a packet with the addresses outer, to leave by a port. If that would be too long p ends here and enclose reports
// false: its sender is told a size with which it fits.
func (w *Worker) enclose(p *packet.Packet, out uint16, outer uint64) bool {
	if mtu := w.opt.Ports[out].MTU; mtu != 0 && uint32(p.L3Len)+packet.TunnelLen > uint32(mtu) || uint32(p.L3Len)+packet.TunnelLen > 1<<16-1 {
		p.End(w.tooLong(p, max(mtu, packet.TunnelLen)-packet.TunnelLen))
		return false
	}
	encapsulate(p, outer)
	return true
}

// encapsulate is enclose for a packet that is not too long.
func encapsulate(p *packet.Packet, outer uint64) {
	packet.Encapsulate(p, outer)
	port.Prepend(p.Mbuf, packet.TunnelLen)
}
