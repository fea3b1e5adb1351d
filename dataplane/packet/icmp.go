package packet

// ICMPEchoRequest reports whether p, of class ICMP, is a ping.
func ICMPEchoRequest(p *Packet) bool {
	h := p.Data + uintptr(p.L4)
	return load8(h+OffICMPType) == ICMPEcho && load8(h+OffICMPCode) == 0
}

// AnswerEcho turns an ICMP echo request into its reply in place: the addresses change places, mac (memory order) becomes
// the source. It reports false, and changes nothing, if the ICMP checksum is wrong or the packet is not in one piece.
func AnswerEcho(p *Packet, mac uint64) bool { return false }

// ICMPError is what an ICMP error says about a packet of a flow.
type ICMPError struct {
	Type, Code uint8
	Inner      Key // of the packet that the error is about, as its sender sent it
	// Reply is Inner reversed: the key under which the flow table has the entry whose rewrite translates this error.
	Reply Key

	l3, l4 uint16 // offsets of the inner headers from Data
	end    uint16 // offset behind the inner bytes present
}

// ParseICMPError reads the inner tuple of an ICMP error (unreachable, time exceeded, parameter problem). ok is false with NoReason
// for another ICMP type, and with a drop reason for an error that is damaged or is about a packet without ports.
func ParseICMPError(p *Packet) (e ICMPError, why Reason, ok bool) { return e, NoReason, false }

// TranslateICMPError rewrites the error e in p for the other side of the flow: r is the rewrite of the entry found under
// e.Reply. Outer addresses become those of r, the inner tuple becomes r's result reversed, the TTL falls by 1, all checksums
// are right again. Ethernet addresses are left to the caller.
func TranslateICMPError(p *Packet, e *ICMPError, r *Rewrite) {}
