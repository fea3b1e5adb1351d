package packet

// Segments that the dataplane says of its own accord: it ends connections whose sequence numbers it does not keep. A reset
// counts only if its sequence number is the very one that its receiver expects next (RFC 5961 section 3), so an end is first
// sent an acknowledgment that cannot be right, to which it must answer with where it stands (RFC 9293 section 3.10.7.4), and
// then a reset made of that answer.

// segmentLen is the bytes of such a segment from its IPv4 header on.
const segmentLen = IPv4Len + TCPLen

// shortest is the bytes of the shortest Ethernet frame, without its checksum.
const shortest = 60

// tcpWords are the 16-bit words in memory order of a TCP header without options: its length, then the flags.
const tcpWords = uint16(TCPLen/4) << 4

// Offsets in a TCP header.
const (
	offTCPSeq = 4
	offTCPAck = 8
	offTCPWin = 14
)

// WriteAck makes the frame at data an acknowledgment of key k, whose sequence numbers are any (in memory order), and returns
// its length. The Ethernet addresses are not written.
func WriteAck(data uintptr, k Key, seq, ack uint32) uint32 {
	store16(data+OffEtherType, Swap16(EtherIPv4))
	writeSegment(data, EtherLen, k, seq, ack, ACK)
	return shortest
}

// AnswerReset turns p, a TCP packet with a 20-byte IPv4 header, into the reset of RFC 9293 section 3.10.7.1 to its sender, from
// mac (memory order), and returns the length of the frame. It returns 0, and changes nothing, if p is itself a reset or not in
// one piece.
func AnswerReset(p *Packet, mac uint64) uint32 {
	t := p.Data + uintptr(p.L4)
	if p.TCPFlags&RST != 0 || p.Flags&FlagSegmented != 0 {
		return 0
	}
	seq, ack, flags := load32(t+offTCPAck), uint32(0), RST
	if p.TCPFlags&ACK == 0 {
		n := uint32(p.L4Len()) - uint32(load8(t+OffTCPOff)>>4)*4 + uint32(p.TCPFlags&SYN>>1) + uint32(p.TCPFlags&FIN)
		seq, ack, flags = 0, Swap32(Swap32(load32(t+offTCPSeq))+n), RST|ACK
	}
	SwapMACs(p.Data, mac)
	writeSegment(p.Data, uintptr(p.L3), Key{A: p.A, B: p.B}.Reverse(), seq, ack, flags)
	return max(uint32(p.L3)+segmentLen, shortest)
}

// writeSegment writes both headers at l3, and nothing but zeros up to the length of the shortest frame.
func writeSegment(data, l3 uintptr, k Key, seq, ack uint32, flags uint8) {
	h := data + l3
	t := h + IPv4Len
	store32(h, uint32(0x45)|uint32(Swap16(segmentLen))<<16)
	store32(h+OffIPID, uint32(dontFragment)<<16)
	store32(h+OffTTL, uint32(echoTTL)|uint32(ProtoTCP)<<8)
	store64(h+OffSrcIP, k.A)
	store16(h+OffIPSum, ^Sum(view(h, IPv4Len), 0))
	store32(t, uint32(k.B))
	store32(t+offTCPSeq, seq)
	store32(t+offTCPAck, ack)
	store32(t+OffTCPOff, uint32(tcpWords)|uint32(flags)<<8)
	store32(t+OffTCPSum, 0)
	store16(t+OffTCPSum, ^Sum(view(t, TCPLen), Fold(uint32(PseudoSum(k.A, ProtoTCP))+uint32(Swap16(TCPLen)))))
	for end := l3 + segmentLen; end < shortest; end += 2 {
		store16(data+end, 0)
	}
}
