package packet

// Virtual routers (RFC 9568): the MAC address is 00:00:5e:00:01 and the vrID.

// ProtoVRRP is the IP protocol of VRRP.
const ProtoVRRP = 112

const (
	virtualPrefix = 0x01005e0000 // in memory order
	virtualMask   = 1<<40 - 1
)

// VirtualMAC is a virtual router's MAC address in memory order.
func VirtualMAC(id uint8) uint64 { return virtualPrefix | uint64(id)<<40 }

// VirtualRouter tells whose MAC address begins a frame, of which these are the first eight bytes in memory order.
func VirtualRouter(head uint64) (id uint8, ok bool) {
	return uint8(head >> 40), head&virtualMask == virtualPrefix
}

// VRID is the vrID in a VRRP advertisement, and false if p is none.
func VRID(p *Packet) (id uint8, ok bool) {
	if p.Proto() != ProtoVRRP || p.Class == ClassFragment || uint32(p.Len) < uint32(p.L4)+2 {
		return 0, false
	}
	return load8(p.Data + uintptr(p.L4) + 1), true
}
