package packet

import (
	"bytes"
	"testing"
)

// apply runs a rewrite as the worker does.
func apply(p *Packet, r *Rewrite) {
	h := p.Data + uintptr(p.L3)
	switch p.Proto() {
	case ProtoTCP:
		r.TCP(h)
	case ProtoUDP:
		r.UDP(h)
	default:
		r.IP(h)
	}
}

// FuzzRewrite translates a frame in place and expects, to the byte, the frame that is built with the new addresses and ports.
func FuzzRewrite(f *testing.F) {
	f.Add(uint32(0x6400010a), uint32(0x3200010a), uint16(40000), uint16(80), uint32(0x0500020a), uint32(0x0b00020a), uint16(1024), uint16(8080), uint8(6), []byte("x"))
	f.Add(uint32(0), uint32(0), uint16(0), uint16(0), uint32(0xffffffff), uint32(0xffffffff), uint16(0xffff), uint16(0xffff), uint8(17), []byte{})
	f.Add(uint32(0xffffffff), uint32(0xffffffff), uint16(0xffff), uint16(0xffff), uint32(0), uint32(0), uint16(0), uint16(0), uint8(17), []byte{0xff, 0xff})
	f.Add(uint32(1), uint32(2), uint16(0), uint16(0), uint32(3), uint32(4), uint16(0), uint16(0), uint8(47), []byte("gre"))
	r := newRoom(f)
	f.Fuzz(func(t *testing.T, src, dst uint32, sport, dport uint16, nsrc, ndst uint32, nsport, ndport uint16, proto uint8, payload []byte) {
		if proto == ProtoICMP || proto == 0 || len(payload) > 1400 {
			return
		}
		before := with(func(f *Frame) {
			f.SrcIP, f.DstIP, f.SrcPort, f.DstPort, f.Proto, f.Payload = Bytes4(src), Bytes4(dst), sport, dport, proto, payload
			f.TTL, f.ID = uint8(nsport)|2, sport
		})
		after := before
		after.SrcIP, after.DstIP, after.SrcPort, after.DstPort, after.TTL = Bytes4(nsrc), Bytes4(ndst), nsport, ndport, before.TTL-1
		p := r.place(before.Bytes())
		Parse(p, &testIndex)
		n := MakeKey(nsrc, ndst, 0, 0, proto)
		if proto == ProtoTCP || proto == ProtoUDP {
			n = MakeKey(nsrc, ndst, nsport, ndport, proto)
		}
		rw := MakeRewrite(Key{p.A, p.B}, n)
		if apply(p, &rw); !bytes.Equal(p.Bytes(), after.Bytes()) {
			t.Fatalf("translated to\n%x, built anew it is\n%x", p.Bytes(), after.Bytes())
		}
		if rw.Result(proto) != n {
			t.Fatalf("result %x, want %x", rw.Result(proto), n)
		}
		// And against sums that do not share code with the builder.
		ip := IPv4(p.Bytes()[EtherLen:])
		if ip.Sum() != naiveIP(ip) {
			t.Fatalf("IP checksum %04x, want %04x", ip.Sum(), naiveIP(ip))
		}
		if proto == ProtoTCP && TCP(ip.Payload()).Sum() != naiveL4(ip) || proto == ProtoUDP && UDP(ip.Payload()).Sum() != naiveL4(ip) {
			t.Fatalf("L4 checksum is not %04x: %x", naiveL4(ip), p.Bytes())
		}
	})
}

func TestRewriteKeepsTagsAndPadding(t *testing.T) {
	r := newRoom(t)
	f := with(func(f *Frame) { f.Tags = []uint16{0xe123}; f.Proto, f.NoSum = ProtoUDP, true })
	b := f.Bytes()
	copy(b[46:], "left over!")
	p := r.place(b)
	Parse(p, &testIndex)
	rw := MakeRewrite(Key{p.A, p.B}, MakeKey(1, 2, 3, 4, ProtoUDP))
	apply(p, &rw)
	SetMACs(p.Data, MAC([6]byte{4, 5, 6, 7, 8, 9}), MAC([6]byte{10, 11, 12, 13, 14, 15}))
	g := f
	g.Dst, g.Src, g.SrcIP, g.DstIP, g.SrcPort, g.DstPort, g.TTL = [6]byte{4, 5, 6, 7, 8, 9}, [6]byte{10, 11, 12, 13, 14, 15}, Bytes4(1), Bytes4(2), 3, 4, 63
	want := g.Bytes()
	copy(want[46:], "left over!")
	if !bytes.Equal(p.Bytes(), want) {
		t.Errorf("got\n%x, want\n%x", p.Bytes(), want)
	}
}

func TestRewriteThereAndBack(t *testing.T) {
	r := newRoom(t)
	p := r.place(client.Bytes())
	Parse(p, &testIndex)
	k, n := Key{p.A, p.B}, MakeKey(7, 8, 9, 10, ProtoTCP)
	there, back := MakeRewrite(k, n), MakeRewrite(n, k)
	apply(p, &there)
	apply(p, &back)
	if want := with(func(f *Frame) { f.TTL = 62 }).Bytes(); !bytes.Equal(p.Bytes(), want) {
		t.Errorf("got\n%x, want\n%x", p.Bytes(), want)
	}
}

func TestSwapMACs(t *testing.T) {
	p := newRoom(t).place(client.Bytes())
	SwapMACs(p.Data, MAC([6]byte{1, 2, 3, 4, 5, 6}))
	want := with(func(f *Frame) { f.Dst, f.Src = client.Src, [6]byte{1, 2, 3, 4, 5, 6} }).Bytes()
	if !bytes.Equal(p.Bytes(), want) {
		t.Errorf("got %x, want %x", p.Bytes()[:14], want[:14])
	}
}

func TestAnswerARP(t *testing.T) {
	ours := [6]byte{0, 0, 0x5e, 0, 1, 9}
	for _, tags := range [][]uint16{nil, {3}} {
		f := with(func(f *Frame) { f.Dst, f.Tags = [6]byte{255, 255, 255, 255, 255, 255}, tags })
		p := newRoom(t).place(f.ARP(ARPRequestOp, client.Src, client.SrcIP, [6]byte{}, client.DstIP))
		Parse(p, &testIndex)
		if target, ok := ARPRequest(p); !ok || Bytes4(target) != client.DstIP {
			t.Fatalf("request for %v, %v", Bytes4(target), ok)
		}
		if ip, mac := ARPSender(p); Bytes4(ip) != client.SrcIP || mac != MAC(client.Src) {
			t.Fatalf("sender %v %x", Bytes4(ip), mac)
		}
		AnswerARP(p, MAC(ours))
		f.Dst, f.Src = client.Src, ours
		if want := f.ARP(ARPReplyOp, ours, client.DstIP, client.Src, client.SrcIP); !bytes.Equal(p.Bytes(), want) {
			t.Errorf("answer\n%x, want\n%x", p.Bytes(), want)
		}
		if _, ok := ARPRequest(p); ok {
			t.Error("an answer passes for a request")
		}
	}
}

func TestTranslationAllocatesNothing(t *testing.T) {
	r := newRoom(t)
	p := r.place(client.Bytes())
	q := newRoom(t).place(icmpError(client, ICMPUnreachable, 1, 40).Bytes())
	Parse(p, &testIndex)
	Parse(q, &testIndex)
	n := testing.AllocsPerRun(100, func() {
		rw := MakeRewrite(Key{p.A, p.B}, Key{p.A + 1, p.B + 1})
		apply(p, &rw)
		HeaderSumOK(p)
		Complete(p)
		if e, _, ok := ParseICMPError(q); ok {
			TranslateICMPError(q, &e, &rw)
		}
	})
	if n != 0 {
		t.Errorf("%v allocations", n)
	}
}
