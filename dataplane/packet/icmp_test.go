package packet

import (
	"bytes"
	"testing"
)

// router sends the errors of these tests.
var router = ip4(192, 0, 2, 1)

// icmpError is an error about the packet that about builds, quoting so many bytes of it.
func icmpError(about Frame, kind, code uint8, quote int) Frame {
	about.Short = true
	inner := about.Bytes()[EtherLen+VLANLen*len(about.Tags):]
	return Frame{Dst: about.Src, Src: about.Dst, Tags: about.Tags, SrcIP: router, DstIP: about.SrcIP, Proto: ProtoICMP, ICMPType: kind, ICMPCode: code,
		Payload: append([]byte{0, 0, 5, 0xdc}, inner[:min(quote, len(inner))]...)}
}

func TestAnswerEcho(t *testing.T) {
	r := newRoom(t)
	ours := [6]byte{2, 0, 0, 0, 0, 1}
	for n := range 70 {
		ping := with(func(f *Frame) {
			f.Proto, f.ICMPType, f.TTL, f.ID = ProtoICMP, ICMPEcho, 7, 99
			f.Payload = append([]byte{0x12, 0x34, 0, byte(n)}, bytes.Repeat([]byte{0xff, byte(n)}, 35)[:n]...)
		})
		p := r.place(ping.Bytes())
		Parse(p, &testIndex)
		if p.Class != ClassICMP || !ICMPEchoRequest(p) {
			t.Fatalf("class %d", p.Class)
		}
		if !AnswerEcho(p, MAC(ours)) {
			t.Fatal("a good ping is refused")
		}
		pong := ping
		pong.Dst, pong.Src, pong.SrcIP, pong.DstIP, pong.ICMPType, pong.TTL = ping.Src, ours, ping.DstIP, ping.SrcIP, ICMPEchoReply, 64
		if !bytes.Equal(p.Bytes(), pong.Bytes()) {
			t.Fatalf("%d bytes: reply\n%x, want\n%x", n, p.Bytes(), pong.Bytes())
		}
		if ICMPEchoRequest(p) {
			t.Fatal("a reply passes for a request")
		}
	}
}

func TestAnswerEchoRefusesDamage(t *testing.T) {
	r := newRoom(t)
	b := with(func(f *Frame) { f.Proto, f.ICMPType, f.Payload = ProtoICMP, ICMPEcho, []byte("0123456789") }).Bytes()
	b[40] ^= 1
	p := r.place(b)
	Parse(p, &testIndex)
	if AnswerEcho(p, 1) || !bytes.Equal(p.Bytes(), b) {
		t.Error("a damaged ping was answered or changed")
	}
}

// A router between us and the server reports about a packet that we sent from a SNIP; the client must get the report about the packet that it
// sent to the VIP.
func TestTranslateICMPError(t *testing.T) {
	r := newRoom(t)
	snip, server := ip4(10, 2, 0, 5), ip4(10, 2, 0, 11)
	for _, proto := range []uint8{ProtoTCP, ProtoUDP} {
		for _, quote := range []int{28, 32, 36, 38, 40, 100} {
			for _, tags := range [][]uint16{nil, {2}} {
				asClient := with(func(f *Frame) { f.Proto, f.TTL, f.Payload, f.Tags = proto, 61, []byte("some data"), tags })
				asServer := asClient
				asServer.SrcIP, asServer.DstIP, asServer.SrcPort, asServer.DstPort = snip, server, 1024, 8080
				k := MakeKey(Addr4(asClient.SrcIP), Addr4(asClient.DstIP), asClient.SrcPort, asClient.DstPort, proto)
				n := MakeKey(Addr4(snip), Addr4(server), 1024, 8080, proto)
				rev := MakeRewrite(n.Reverse(), k.Reverse())

				p := r.place(icmpError(asServer, ICMPUnreachable, 4, quote).Bytes())
				Parse(p, &testIndex)
				e, why, ok := ParseICMPError(p)
				if !ok || e.Inner != n || e.Reply != n.Reverse() || e.Type != 3 || e.Code != 4 {
					t.Fatalf("%d bytes quoted: %v %v %+v", quote, ok, why, e)
				}
				TranslateICMPError(p, &e, &rev)
				want := icmpError(asClient, ICMPUnreachable, 4, quote)
				want.SrcIP, want.TTL, want.Dst, want.Src = asClient.DstIP, 63, asServer.Src, asServer.Dst
				if !bytes.Equal(p.Bytes(), want.Bytes()) {
					t.Fatalf("protocol %d, %d bytes quoted: translated to\n%x, want\n%x", proto, quote, p.Bytes(), want.Bytes())
				}
			}
		}
	}
}

func TestParseICMPErrorRefuses(t *testing.T) {
	resum := func(b []byte) []byte {
		ip := IPv4(b[EtherLen:])
		m := ip.Payload()
		m[2], m[3] = 0, 0
		s := ^naiveSum(m)
		m[2], m[3] = byte(s>>8), byte(s)
		return b
	}
	patch := func(at int, v ...byte) []byte {
		b := icmpError(client, ICMPUnreachable, 1, 40).Bytes()
		copy(b[at:], v)
		return resum(b)
	}
	damaged := icmpError(client, ICMPTimeExceeded, 0, 40).Bytes()
	damaged[60] ^= 4
	rows := []struct {
		name  string
		frame []byte
		why   Reason
	}{
		{"a ping", with(func(f *Frame) { f.Proto, f.ICMPType, f.Payload = ProtoICMP, ICMPEcho, make([]byte, 64) }).Bytes(), NoReason},
		{"a redirect", icmpError(client, 5, 1, 40).Bytes(), NoReason},
		{"a wrong checksum", damaged, DropBadICMP},
		{"an inner header cut", icmpError(client, ICMPUnreachable, 1, 19).Bytes(), DropBadICMP},
		{"7 bytes of inner data", icmpError(client, ICMPUnreachable, 1, 27).Bytes(), DropBadICMP},
		{"inner IHL beyond the quote", patch(42, 0x4f), DropBadICMP},
		{"inner IHL 4", patch(42, 0x44), DropBadICMP},
		{"inner version 6", patch(42, 0x65), DropBadICMP},
		{"an error to somebody else", patch(54, 1, 2, 3, 4), DropBadICMP},
		{"a later fragment", patch(48, 0, 1), DropICMPNoFlow},
	}
	r := newRoom(t)
	for _, c := range rows {
		p := r.place(c.frame)
		Parse(p, &testIndex)
		if p.Class != ClassICMP {
			t.Fatalf("%s: class %d", c.name, p.Class)
		}
		if _, why, ok := ParseICMPError(p); ok || why != c.why {
			t.Errorf("%s: %v %v, want %v", c.name, ok, why, c.why)
		}
	}
	first := r.place(patch(48, 0x20, 0))
	Parse(first, &testIndex)
	if _, why, ok := ParseICMPError(first); !ok {
		t.Errorf("an error about a first fragment, which has ports, is refused: %v", why)
	}
}
