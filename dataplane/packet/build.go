package packet

// Frame describes an Ethernet frame to be built, for tests and measurements. Fields that are left zero get what a plain
// TCP packet would have.
type Frame struct {
	Dst, Src     [6]byte
	Tags         []uint16 // 802.1Q tags, outermost first
	SrcIP, DstIP [4]byte
	TTL          uint8 // 0 = 64
	TOS          uint8
	ID           uint16
	Frag         uint16 // flags and fragment offset as they stand in the header
	IPOptions    []byte // a multiple of 4 bytes
	Proto        uint8  // 0 = TCP
	SrcPort      uint16
	DstPort      uint16
	Flags        uint8  // TCP; 0 = ACK
	TCPOptions   []byte // a multiple of 4 bytes
	ICMPType     uint8  // ICMP; Payload starts behind the checksum
	ICMPCode     uint8
	Payload      []byte
	Partial      bool // leave the TCP or UDP checksum to a network card that is not there
	NoSum        bool // UDP without checksum
	Short        bool // no padding to the 60 bytes of the shortest Ethernet frame
}

// Bytes builds the frame, with right lengths and checksums.
func (f Frame) Bytes() []byte {
	b := f.ether(EtherIPv4)
	h := len(b)
	l4 := f.l4()
	b = append(b, make([]byte, IPv4Len)...)
	b = append(b, f.IPOptions...)
	ip := b[h:]
	ip[OffVerIHL] = 0x40 | byte(len(ip)/4)
	ip[OffTOS] = f.TOS
	be.PutUint16(ip[OffTotalLen:], uint16(len(ip)+len(l4)))
	be.PutUint16(ip[OffIPID:], f.ID)
	be.PutUint16(ip[OffFrag:], f.Frag)
	ip[OffTTL], ip[OffProto] = f.TTL, f.proto()
	if f.TTL == 0 {
		ip[OffTTL] = 64
	}
	copy(ip[OffSrcIP:], f.SrcIP[:])
	copy(ip[OffDstIP:], f.DstIP[:])
	le.PutUint16(ip[OffIPSum:], ^Sum(ip, 0))
	b = append(b, l4...)
	if !f.Short && len(b) < 60 {
		b = append(b, make([]byte, 60-len(b))...)
	}
	return b
}

// ARP builds an ARP packet with the frame's Ethernet part.
func (f Frame) ARP(op uint16, senderMAC [6]byte, senderIP [4]byte, targetMAC [6]byte, targetIP [4]byte) []byte {
	b := f.ether(EtherARP)
	b = append(b, 0, 1, 8, 0, 6, 4)
	b = be.AppendUint16(b, op)
	b = append(append(b, senderMAC[:]...), senderIP[:]...)
	b = append(append(b, targetMAC[:]...), targetIP[:]...)
	if !f.Short && len(b) < 60 {
		b = append(b, make([]byte, 60-len(b))...)
	}
	return b
}

func (f Frame) ether(ether uint16) []byte {
	b := append(append([]byte{}, f.Dst[:]...), f.Src[:]...)
	for _, t := range f.Tags {
		b = be.AppendUint16(be.AppendUint16(b, EtherVLAN), t)
	}
	return be.AppendUint16(b, ether)
}

func (f Frame) proto() uint8 {
	if f.Proto == 0 {
		return ProtoTCP
	}
	return f.Proto
}

// l4 builds what follows the IP header.
func (f Frame) l4() []byte {
	var b []byte
	sum := -1
	switch f.proto() {
	case ProtoTCP:
		b = append(make([]byte, TCPLen), f.TCPOptions...)
		b[OffTCPOff], b[OffTCPFlags] = byte(len(b)/4)<<4, f.Flags
		if f.Flags == 0 {
			b[OffTCPFlags] = ACK
		}
		b[14] = 0xff // window
		sum = OffTCPSum
	case ProtoUDP:
		b = make([]byte, UDPLen)
		be.PutUint16(b[OffUDPLen:], uint16(UDPLen+len(f.Payload)))
		sum = OffUDPSum
	case ProtoICMP:
		b = append([]byte{f.ICMPType, f.ICMPCode, 0, 0}, f.Payload...)
		le.PutUint16(b[OffICMPSum:], ^Sum(b, 0))
		return b
	default:
		return f.Payload
	}
	be.PutUint16(b[OffSrcPort:], f.SrcPort)
	be.PutUint16(b[OffDstPort:], f.DstPort)
	b = append(b, f.Payload...)
	pseudo := Fold(uint32(PseudoSum(MakeKey(Addr4(f.SrcIP), Addr4(f.DstIP), 0, 0, 0).A, f.proto())) + uint32(Swap16(uint16(len(b)))))
	switch {
	case f.NoSum && f.proto() == ProtoUDP:
	case f.Partial:
		le.PutUint16(b[sum:], pseudo)
	case f.proto() == ProtoUDP:
		le.PutUint16(b[sum:], UDPSum(^Sum(b, pseudo)))
	default:
		le.PutUint16(b[sum:], ^Sum(b, pseudo))
	}
	return b
}
