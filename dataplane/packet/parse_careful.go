package packet

// parseCareful is Parse for whatever is not the plain case, believing no length that it has not compared with the
// bytes present.
func parseCareful(p *Packet, x *Index) {
	p.A, p.B, p.Hash, p.Bucket = 0, 0, 0, x.Base
	p.L3Len, p.L3, p.L4, p.TCPFlags = 0, 0, 0, 0
	p.reset(ClassOther, 0)
	if p.Len < EtherLen || p.Frame < p.Len {
		p.malformed(DropTruncated)
		return
	}
	d := p.Data
	p.Flags = Flags(load8(d)&1) * FlagGroup
	if p.Len != p.Frame {
		p.Flags |= FlagSegmented
	}
	p.L3 = EtherLen
	ether := Swap16(load16(d + OffEtherType))
	if ether == EtherVLAN {
		if p.Len < EtherLen+VLANLen {
			p.malformed(DropTruncated)
			return
		}
		p.Flags |= FlagVLAN
		p.L3 = EtherLen + VLANLen
		ether = Swap16(load16(d + OffEtherType + VLANLen))
	}
	switch ether {
	case EtherIPv4:
		parseIPv4(p, x)
	case EtherARP:
		parseARP(p)
	case EtherIPv6:
		p.Class = ClassIPv6
	}
}

// cutFrame is the length from which on a frame that lacks bytes has been cut by the port: a buffer holds an MTU of 1960 bytes,
// and the wire cuts nothing.
const cutFrame = 1960

func (p *Packet) malformed(r Reason) {
	p.Class, p.Reason = ClassMalformed, r
}

// parseARP accepts Ethernet and IPv4 addresses only: RFC 826.
func parseARP(p *Packet) {
	h := p.Data + uintptr(p.L3)
	if int(p.Len) < int(p.L3)+ARPLen || load32(h) != 0x0008_0100 || load16(h+4) != 0x0406 {
		p.malformed(DropBadARP)
		return
	}
	p.Class = ClassARP
}

func parseIPv4(p *Packet, x *Index) {
	l3, have := int(p.L3), int(p.Len)
	if have < l3+IPv4Len {
		p.malformed(DropTruncated)
		return
	}
	h := p.Data + uintptr(l3)
	ihl := headerLen(h)
	total := int(Swap16(load16(h + OffTotalLen)))
	switch {
	case load8(h)>>4 != 4 || ihl < IPv4Len || total < ihl:
		p.malformed(DropBadIPHeader)
		return
	case total > int(p.Frame)-l3 && int(p.Frame) >= cutFrame:
		p.malformed(DropOversized)
		return
	case total > int(p.Frame)-l3 || have < l3+ihl:
		p.malformed(DropTruncated)
		return
	}
	p.L3Len, p.L4 = uint16(total), uint8(l3+ihl)
	if load8(h+OffTTL) < 2 {
		p.Flags |= FlagLowTTL
	}
	proto := load8(h + OffProto)
	var ports uint32
	switch {
	case load16(h+OffFrag)&fragMask != 0:
		p.Class = ClassFragment
	case ihl != IPv4Len:
		p.Class = ClassOptions
	case proto == ProtoTCP || proto == ProtoUDP:
		if r := parseL4(p, proto); r != NoReason {
			p.malformed(r)
			return
		}
		ports = load32(h + IPv4Len)
	case proto == ProtoICMP:
		if total < IPv4Len+ICMPLen || have < l3+IPv4Len+ICMPLen {
			p.malformed(DropBadICMP)
			return
		}
		p.Class = ClassICMP
	default:
		p.Class = ClassOtherIP
	}
	p.A = load64(h + OffSrcIP)
	p.B = uint64(ports) | uint64(proto)<<32 | KeyUsed
	p.Hash = x.Hash(p.A, p.B)
	p.Bucket = x.BucketOf(p.Hash)
}

// parseL4 compares what a TCP or UDP header says with what the IP header and the buffer hold.
func parseL4(p *Packet, proto uint8) Reason {
	t := p.Data + uintptr(p.L4)
	held, said := int(p.Len)-int(p.L4), int(p.L4Len())
	need, size := UDPLen, 0
	if proto == ProtoTCP {
		need = TCPLen
	}
	if said < need {
		return DropBadL4Header
	}
	if held < need {
		return DropTruncated
	}
	if proto == ProtoTCP {
		size = int(load8(t+OffTCPOff)>>4) * 4
	} else {
		size = int(Swap16(load16(t + OffUDPLen)))
	}
	if size < need || size > said {
		return DropBadL4Header
	}
	p.Class = ClassPlain
	if proto == ProtoTCP {
		p.TCPFlags = load8(t + OffTCPFlags)
	}
	if p.Flags&FlagLowTTL != 0 {
		p.Class = ClassExpiring
	}
	return NoReason
}
