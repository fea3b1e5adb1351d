package expr

import (
	"encoding/binary"
	"errors"
	"testing"
)

// FuzzParse: no text makes the parser or a program fail; what is accepted is written back so that it means the same, and steps
// lead forward only.
func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"CLIENT.TCP.DSTPORT.EQ(80)", "!(client.ip.src.in_subnet(10.0.0.0/8) || CLIENT.VLAN.ID > 5) && TRUE", "80 <= CLIENT.UDP.SRCPORT",
		"REQ.IP.SOURCEIP == 10.0.0.0 -netmask 255.0.0.0 && ns_true", "REQ.TCP.DESTPORT != 80-90", "CLIENT.IP.DST.SUBNET(24).NE(10.0.0.0)",
		"CLIENT.IP.PROTOCOL.EQ(GRE)", "CLIENT.IP.SRC.GET1.BETWEEN(1, 0x20)", "((((", "TRUE || (FALSE && CLIENT.VLAN.ID.NE(4))",
	} {
		f.Add(s, []byte("a packet of some bytes, as good as any other packet there may be, since facts are just numbers"))
	}
	f.Fuzz(func(t *testing.T, text string, packet []byte) {
		e, err := Parse(text)
		if err != nil {
			var fault *Error
			if !errors.As(err, &fault) || fault.At < 1 || fault.At > len(text)+1 {
				t.Fatalf("%q: %v", text, err)
			}
			return
		}
		written := e.String()
		again, err := Parse(written)
		if len(written) > MaxLength {
			return
		}
		if err != nil || again.String() != written || again.Classic() {
			t.Fatalf("%q is written %q: %v, %v", text, written, again, err)
		}
		p, q := e.Compile(), again.Compile()
		for i, s := range p {
			if s.Yes <= uint16(i) || s.No <= uint16(i) || s.Yes < NoMatch && int(s.Yes) >= len(p) || s.No < NoMatch && int(s.No) >= len(p) {
				t.Fatalf("%q: step %d of %d leads to %d and %d", text, i, len(p), s.Yes, s.No)
			}
		}
		var facts Facts
		for i := range facts {
			if packet = append(packet, make([]byte, 8)...); packet[0]%3 == 0 {
				facts[i] = Missing
			} else {
				facts[i] = uint64(binary.BigEndian.Uint32(packet))
			}
			packet = packet[1:]
		}
		if Run(p, &facts) != Run(q, &facts) {
			t.Fatalf("%q and %q differ", text, written)
		}
	})
}
