package packet

// Offsets and sizes in bytes. Those of L3 and L4 count from the start of their own header.
const (
	OffDstMAC    = 0
	OffSrcMAC    = 6
	OffEtherType = 12
	OffTCI       = 14 // of a tagged frame
	EtherLen     = 14
	VLANLen      = 4

	OffVerIHL   = 0
	OffTOS      = 1
	OffTotalLen = 2
	OffIPID     = 4
	OffFrag     = 6
	OffTTL      = 8
	OffProto    = 9
	OffIPSum    = 10
	OffSrcIP    = 12
	OffDstIP    = 16
	IPv4Len     = 20 // without options

	OffSrcPort  = 0
	OffDstPort  = 2
	OffTCPOff   = 12 // data offset in the high 4 bits, in 32-bit words
	OffTCPFlags = 13
	OffTCPSum   = 16
	TCPLen      = 20 // without options
	OffUDPLen   = 4
	OffUDPSum   = 6
	UDPLen      = 8

	OffICMPType = 0
	OffICMPCode = 1
	OffICMPSum  = 2
	ICMPLen     = 8

	OffARPOp     = 6
	OffARPSHA    = 8
	OffARPSPA    = 14
	OffARPTHA    = 18
	OffARPTPA    = 24
	ARPLen       = 28
	ARPRequestOp = 1
	ARPReplyOp   = 2
)

// EtherTypes, in host order.
const (
	EtherIPv4 = 0x0800
	EtherARP  = 0x0806
	EtherVLAN = 0x8100
	EtherQinQ = 0x88a8
	EtherIPv6 = 0x86dd
)

// IP protocol numbers.
const (
	ProtoICMP uint8 = 1
	ProtoTCP  uint8 = 6
	ProtoUDP  uint8 = 17
)

// TCP flags.
const (
	FIN uint8 = 1 << iota
	SYN
	RST
	PSH
	ACK
)

// ICMP types.
const (
	ICMPEchoReply    uint8 = 0
	ICMPUnreachable  uint8 = 3
	ICMPEcho         uint8 = 8
	ICMPTimeExceeded uint8 = 11
	ICMPParameter    uint8 = 12
)
