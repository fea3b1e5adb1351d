package packet

// ARPRequest reports whether p, of class ARP, asks for an address, and for which (memory order).
func ARPRequest(p *Packet) (target uint32, ok bool) {
	h := p.Data + uintptr(p.L3)
	return load32(h + OffARPTPA), load16(h+OffARPOp) == Swap16(ARPRequestOp)
}

// ARPSender is who sent an ARP packet: its IPv4 address in memory order and its hardware address.
func ARPSender(p *Packet) (ip uint32, mac uint64) {
	h := p.Data + uintptr(p.L3)
	return load32(h + OffARPSPA), load64(h+OffARPSHA) & macMask
}

// AnswerARP turns an ARP request into the answer that its target is at mac (memory order), in place: RFC 826.
func AnswerARP(p *Packet, mac uint64) {
	h := p.Data + uintptr(p.L3)
	target, sender, asker := load32(h+OffARPTPA), load32(h+OffARPSPA), load64(h+OffARPSHA)&macMask
	SetMACs(p.Data, asker, mac)
	store16(h+OffARPOp, Swap16(ARPReplyOp))
	store32(h+OffARPSHA, uint32(mac))
	store16(h+OffARPSHA+4, uint16(mac>>32))
	store32(h+OffARPSPA, target)
	store32(h+OffARPTHA, uint32(asker))
	store16(h+OffARPTHA+4, uint16(asker>>32))
	store32(h+OffARPTPA, sender)
}
