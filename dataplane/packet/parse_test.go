package packet

import (
	"bytes"
	"runtime/debug"
	"testing"
)

func TestParseClasses(t *testing.T) {
	udp := func(f *Frame) { f.Proto = ProtoUDP }
	patch := func(b []byte, at int, v ...byte) []byte { copy(b[at:], v); return b }
	rows := []struct {
		name  string
		frame []byte
		class Class
		why   Reason
		flags Flags
		l4    uint8 // 0: not looked at
	}{
		{"TCP", client.Bytes(), ClassPlain, 0, 0, 34},
		{"UDP", with(udp).Bytes(), ClassPlain, 0, 0, 34},
		{"UDP, 42 bytes", with(func(f *Frame) { udp(f); f.Short = true }).Bytes(), ClassPlain, 0, 0, 34},
		{"TCP, tagged", with(func(f *Frame) { f.Tags = []uint16{2} }).Bytes(), ClassPlain, 0, FlagVLAN, 38},
		{"TCP, two tags", with(func(f *Frame) { f.Tags = []uint16{2, 3} }).Bytes(), ClassOther, 0, FlagVLAN, 0},
		{"QinQ", patch(with(func(f *Frame) { f.Tags = []uint16{2, 3} }).Bytes(), 12, 0x88, 0xa8), ClassOther, 0, 0, 0},
		{"TCP to a group", with(func(f *Frame) { f.Dst[0] = 1 }).Bytes(), ClassPlain, 0, FlagGroup, 34},
		{"tagged to a group", with(func(f *Frame) { f.Dst[0] = 1; f.Tags = []uint16{2} }).Bytes(), ClassPlain, 0, FlagGroup | FlagVLAN, 38},
		{"DF", with(func(f *Frame) { f.Frag = 0x4000 }).Bytes(), ClassPlain, 0, 0, 34},
		{"TTL 2", with(func(f *Frame) { f.TTL = 2 }).Bytes(), ClassPlain, 0, 0, 34},
		{"TTL 1", with(func(f *Frame) { f.TTL = 1 }).Bytes(), ClassExpiring, 0, FlagLowTTL, 34},
		{"TTL 0", patch(client.Bytes(), 22, 0), ClassExpiring, 0, FlagLowTTL, 34},
		{"first fragment", with(func(f *Frame) { f.Frag = 0x2000 }).Bytes(), ClassFragment, 0, 0, 34},
		{"last fragment", with(func(f *Frame) { f.Frag = 0x0001 }).Bytes(), ClassFragment, 0, 0, 34},
		{"fragment far behind", with(func(f *Frame) { f.Frag = 0x1f00 }).Bytes(), ClassFragment, 0, 0, 34},
		{"options", with(func(f *Frame) { f.IPOptions = make([]byte, 8) }).Bytes(), ClassOptions, 0, 0, 42},
		{"60 bytes of header", with(func(f *Frame) { f.IPOptions = make([]byte, 40); f.Tags = []uint16{1} }).Bytes(), ClassOptions, 0, FlagVLAN, 78},
		{"ping", with(func(f *Frame) { f.Proto, f.ICMPType, f.Payload = ProtoICMP, 8, make([]byte, 60) }).Bytes(), ClassICMP, 0, 0, 34},
		{"GRE", with(func(f *Frame) { f.Proto = 47 }).Bytes(), ClassOtherIP, 0, 0, 34},
		{"ARP", client.ARP(1, client.Src, client.SrcIP, [6]byte{}, client.DstIP), ClassARP, 0, 0, 0},
		{"tagged ARP", with(func(f *Frame) { f.Tags = []uint16{5} }).ARP(1, client.Src, client.SrcIP, [6]byte{}, client.DstIP), ClassARP, 0, FlagVLAN, 0},
		{"IPv6", patch(client.Bytes(), 12, 0x86, 0xdd), ClassIPv6, 0, 0, 0},
		{"LLC", patch(client.Bytes(), 12, 0, 40), ClassOther, 0, 0, 0},

		{"no bytes", nil, ClassMalformed, DropTruncated, 0, 0},
		{"13 bytes", client.Bytes()[:13], ClassMalformed, DropTruncated, 0, 0},
		{"tag cut", with(func(f *Frame) { f.Tags = []uint16{2} }).Bytes()[:17], ClassMalformed, DropTruncated, 0, 0},
		{"IP header cut", client.Bytes()[:33], ClassMalformed, DropTruncated, 0, 0},
		{"TCP header cut", client.Bytes()[:53], ClassMalformed, DropTruncated, 0, 0},
		{"UDP header cut", with(udp).Bytes()[:41], ClassMalformed, DropTruncated, 0, 0},
		{"total length beyond the frame", patch(client.Bytes(), 16, 0, 47), ClassMalformed, DropTruncated, 0, 0},
		{"total length of 46", patch(client.Bytes(), 16, 0, 46), ClassPlain, 0, 0, 34},
		{"total length below the header", patch(client.Bytes(), 16, 0, 19), ClassMalformed, DropBadIPHeader, 0, 0},
		{"version 5", patch(client.Bytes(), 14, 0x55), ClassMalformed, DropBadIPHeader, 0, 0},
		{"IHL 4", patch(client.Bytes(), 14, 0x44), ClassMalformed, DropBadIPHeader, 0, 0},
		{"IHL beyond the total length", patch(client.Bytes(), 14, 0x4f), ClassMalformed, DropBadIPHeader, 0, 0},
		{"no room for TCP", patch(client.Bytes(), 16, 0, 39), ClassMalformed, DropBadL4Header, 0, 0},
		{"data offset 4", patch(client.Bytes(), 46, 0x40), ClassMalformed, DropBadL4Header, 0, 0},
		{"data offset beyond the segment", patch(client.Bytes(), 46, 0x60), ClassMalformed, DropBadL4Header, 0, 0},
		{"UDP length 7", patch(with(udp).Bytes(), 38, 0, 7), ClassMalformed, DropBadL4Header, 0, 0},
		{"UDP length beyond the packet", patch(with(udp).Bytes(), 38, 0, 9), ClassMalformed, DropBadL4Header, 0, 0},
		{"UDP without room", patch(with(udp).Bytes(), 16, 0, 27), ClassMalformed, DropBadL4Header, 0, 0},
		{"ICMP of 4 bytes", with(func(f *Frame) { f.Proto = ProtoICMP }).Bytes(), ClassMalformed, DropBadICMP, 0, 0},
		{"ARP cut", client.ARP(1, client.Src, client.SrcIP, [6]byte{}, client.DstIP)[:41], ClassMalformed, DropBadARP, 0, 0},
		{"ARP of token ring", patch(client.ARP(1, client.Src, client.SrcIP, [6]byte{}, client.DstIP), 15, 6), ClassMalformed, DropBadARP, 0, 0},
	}
	r := newRoom(t)
	for _, c := range rows {
		t.Run(c.name, func(t *testing.T) {
			p := r.place(c.frame)
			Parse(p, &testIndex)
			if p.Class != c.class || p.Reason != c.why || p.Verdict != Undecided || p.Flags != c.flags {
				t.Fatalf("class %d reason %v verdict %d flags %x, want %d %v 0 %x", p.Class, p.Reason, p.Verdict, p.Flags, c.class, c.why, c.flags)
			}
			if c.l4 != 0 && p.L4 != c.l4 {
				t.Errorf("L4 header found at %d, want %d", p.L4, c.l4)
			}
			if p.In != 3 {
				t.Errorf("the lane it came from has become %d", p.In)
			}
			checkReference(t, p)
		})
	}
}

// TestParseCutFrames cuts frames at every byte, with the whole frame's length kept in further segments, and with the total
// length made to fit the cut: nothing beyond the bytes present may be read, by the parse or by what follows it.
func TestParseCutFrames(t *testing.T) {
	r := newRoom(t)
	debug.SetPanicOnFault(true)
	for _, f := range []Frame{client,
		with(func(f *Frame) { f.Proto = ProtoUDP }),
		with(func(f *Frame) { f.Tags = []uint16{9} }),
		with(func(f *Frame) { f.IPOptions = make([]byte, 40) }),
		with(func(f *Frame) { f.Proto, f.ICMPType, f.Payload = ProtoICMP, ICMPEcho, make([]byte, 20) }),
		icmpError(client, ICMPTimeExceeded, 0, 40),
	} {
		whole := f.Bytes()
		at := EtherLen + VLANLen*len(f.Tags)
		for n := range whole {
			for _, more := range []int{0, len(whole) - n, 2000} {
				for _, fit := range []bool{false, true} {
					b := bytes.Clone(whole[:n])
					if fit && n >= at+IPv4Len {
						be.PutUint16(b[at+OffTotalLen:], uint16(n-at))
						if f.Proto == ProtoICMP && n >= at+24 { // or the checksum would keep the rest from being looked at
							b[at+22], b[at+23] = 0, 0
							be.PutUint16(b[at+22:], ^naiveSum(b[at+20:]))
						}
						if f.Proto == ProtoUDP && n >= at+28 {
							be.PutUint16(b[at+24:], uint16(n-at-20))
						}
					}
					p := r.place(b)
					p.Frame = uint16(n + more)
					Parse(p, &testIndex)
					checkReference(t, p)
					use(p)
				}
			}
		}
	}
}

func TestParseKey(t *testing.T) {
	r := newRoom(t)
	for _, tags := range [][]uint16{nil, {0x2005}} {
		f := with(func(f *Frame) { f.Tags, f.Flags, f.Payload = tags, SYN|ACK, []byte("hello") })
		p := r.place(f.Bytes())
		Parse(p, &testIndex)
		want := MakeKey(Addr4(f.SrcIP), Addr4(f.DstIP), f.SrcPort, f.DstPort, ProtoTCP)
		if (Key{p.A, p.B}) != want {
			t.Errorf("key %x %x, want %x %x", p.A, p.B, want.A, want.B)
		}
		if p.Hash != testIndex.Hash(want.A, want.B) || p.Bucket != testIndex.BucketOf(p.Hash) || p.Bucket&63 != testIndex.Base&63 {
			t.Errorf("hash %x slot %x", p.Hash, p.Bucket)
		}
		if p.TCPFlags != SYN|ACK || p.L3Len != 45 || p.L4Len() != 25 {
			t.Errorf("flags %x, L3 length %d, L4 length %d; want 12, 45, 25", p.TCPFlags, p.L3Len, p.L4Len())
		}
		if Bytes4(p.Src()) != f.SrcIP || Bytes4(p.Dst()) != f.DstIP || p.SrcPort() != f.SrcPort || p.DstPort() != f.DstPort || p.Proto() != ProtoTCP {
			t.Errorf("tuple %v:%d -> %v:%d protocol %d", Bytes4(p.Src()), p.SrcPort(), Bytes4(p.Dst()), p.DstPort(), p.Proto())
		}
		if p.DstMAC() != MAC(f.Dst) {
			t.Errorf("destination MAC %012x", p.DstMAC())
		}
		vlan := uint16(0)
		if tags != nil {
			vlan = tags[0]
		}
		if p.VLAN() != vlan {
			t.Errorf("tag %x, want %x", p.VLAN(), vlan)
		}
		back := want.Reverse()
		if back != MakeKey(Addr4(f.DstIP), Addr4(f.SrcIP), f.DstPort, f.SrcPort, ProtoTCP) || back.Reverse() != want {
			t.Errorf("reversed key %x %x", back.A, back.B)
		}
	}
}

func TestParseRefusesMoreBytesThanTheFrameHas(t *testing.T) {
	p := newRoom(t).place(client.Bytes())
	p.Frame = p.Len - 1
	if Parse(p, &testIndex); p.Class != ClassMalformed || p.Reason != DropTruncated || p.B != 0 {
		t.Errorf("class %d reason %v", p.Class, p.Reason)
	}
}

func TestParseWithoutBytes(t *testing.T) {
	a, b := *newRoom(t).place(client.Bytes()), Packet{}
	Parse(&a, &testIndex)
	Parse(&b, &testIndex)
	if a.Class != ClassPlain || b.Class != ClassMalformed || b.Bucket != testIndex.Base {
		t.Errorf("classes %d %d, bucket %x", a.Class, b.Class, b.Bucket)
	}
}

func TestParseAllocatesNothing(t *testing.T) {
	r := newRoom(t)
	var b [Burst]Packet
	for i := range b {
		b[i] = *r.place(client.Bytes())
	}
	if n := testing.AllocsPerRun(100, func() { parseAll(&b) }); n != 0 {
		t.Errorf("%v allocations a burst", n)
	}
}

func parseAll(b *[Burst]Packet) {
	for i := range b {
		Parse(&b[i], &testIndex)
	}
}
