package packet

import "encoding/binary"

// Views are header bytes with names for their fields, bounds checked, in host order. They serve what is rare: building,
// showing, testing. A view must be long enough for its header, which Split sees to.

// Ether is a frame from its Ethernet header on.
type Ether []byte

// ARPv4 is an ARP packet for IPv4 over Ethernet.
type ARPv4 []byte

// IPv4 is an IPv4 packet, options included.
type IPv4 []byte

// TCP is a TCP segment.
type TCP []byte

// UDP is a UDP datagram.
type UDP []byte

// ICMPv4 is an ICMP message.
type ICMPv4 []byte

var (
	be = binary.BigEndian    // fields
	le = binary.LittleEndian // checksums, see Fold
)

func (e Ether) Dst() [6]byte { return [6]byte(e[OffDstMAC:]) }
func (e Ether) Src() [6]byte { return [6]byte(e[OffSrcMAC:]) }

// Tag is the tag control information of a single 802.1Q tag, ok if there is one.
func (e Ether) Tag() (tci uint16, ok bool) {
	if len(e) < EtherLen+VLANLen || be.Uint16(e[OffEtherType:]) != EtherVLAN {
		return 0, false
	}
	return be.Uint16(e[OffTCI:]), true
}

// Split is the EtherType and the bytes behind it, past a single tag.
func (e Ether) Split() (ether uint16, payload []byte) {
	n := EtherLen
	if _, tagged := e.Tag(); tagged {
		n += VLANLen
	}
	return be.Uint16(e[n-2:]), e[n:]
}

func (a ARPv4) Op() uint16         { return be.Uint16(a[OffARPOp:]) }
func (a ARPv4) SenderMAC() [6]byte { return [6]byte(a[OffARPSHA:]) }
func (a ARPv4) SenderIP() [4]byte  { return [4]byte(a[OffARPSPA:]) }
func (a ARPv4) TargetMAC() [6]byte { return [6]byte(a[OffARPTHA:]) }
func (a ARPv4) TargetIP() [4]byte  { return [4]byte(a[OffARPTPA:]) }
func (h IPv4) HeaderLen() int      { return int(h[OffVerIHL]&0xf) * 4 }
func (h IPv4) TotalLen() uint16    { return be.Uint16(h[OffTotalLen:]) }
func (h IPv4) ID() uint16          { return be.Uint16(h[OffIPID:]) }
func (h IPv4) Frag() uint16        { return be.Uint16(h[OffFrag:]) }
func (h IPv4) TTL() uint8          { return h[OffTTL] }
func (h IPv4) Proto() uint8        { return h[OffProto] }
func (h IPv4) Sum() uint16         { return be.Uint16(h[OffIPSum:]) }
func (h IPv4) Src() [4]byte        { return [4]byte(h[OffSrcIP:]) }
func (h IPv4) Dst() [4]byte        { return [4]byte(h[OffDstIP:]) }
func (t TCP) SrcPort() uint16      { return be.Uint16(t[OffSrcPort:]) }
func (t TCP) DstPort() uint16      { return be.Uint16(t[OffDstPort:]) }
func (t TCP) HeaderLen() int       { return int(t[OffTCPOff]>>4) * 4 }
func (t TCP) Flags() uint8         { return t[OffTCPFlags] }
func (t TCP) Sum() uint16          { return be.Uint16(t[OffTCPSum:]) }
func (u UDP) SrcPort() uint16      { return be.Uint16(u[OffSrcPort:]) }
func (u UDP) DstPort() uint16      { return be.Uint16(u[OffDstPort:]) }
func (u UDP) Len() uint16          { return be.Uint16(u[OffUDPLen:]) }
func (u UDP) Sum() uint16          { return be.Uint16(u[OffUDPSum:]) }
func (m ICMPv4) Type() uint8       { return m[OffICMPType] }
func (m ICMPv4) Code() uint8       { return m[OffICMPCode] }
func (m ICMPv4) Sum() uint16       { return be.Uint16(m[OffICMPSum:]) }

// Payload is what follows the header, without Ethernet padding.
func (h IPv4) Payload() []byte { return h[h.HeaderLen():h.TotalLen()] }
