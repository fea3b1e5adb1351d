package worker

import (
	"testing"

	"sluice/dataplane/packet"
)

// TestCaptureMatches: frames of every kind against filters.
func TestCaptureMatches(t *testing.T) {
	client, vip, other := [4]byte{10, 1, 0, 9}, [4]byte{10, 1, 0, 50}, [4]byte{10, 1, 0, 8}
	request := packet.Frame{Proto: packet.ProtoTCP, SrcIP: client, DstIP: vip, SrcPort: 5001, DstPort: 80}
	reply := packet.Frame{Proto: packet.ProtoTCP, SrcIP: vip, DstIP: client, SrcPort: 80, DstPort: 5001}
	ping := packet.Frame{Proto: packet.ProtoICMP, SrcIP: client, DstIP: vip}
	n, port := packet.Addr4, packet.Swap16
	for _, row := range []struct {
		c                    Ends
		request, reply, ping bool
	}{
		{Ends{}, true, true, true},
		{Ends{Src: n(client)}, true, true, true},
		{Ends{Dst: n(client)}, true, true, true},
		{Ends{Src: n(client), Dst: n(vip), DstPort: port(80)}, true, true, false},
		{Ends{Src: n(vip), Dst: n(client), DstPort: port(80)}, false, false, false},
		{Ends{SrcPort: port(5001), DstPort: port(80), Proto: packet.ProtoTCP}, true, true, false},
		{Ends{Proto: packet.ProtoUDP}, false, false, false},
		{Ends{Proto: packet.ProtoICMP}, false, false, true},
		{Ends{Src: n(other)}, false, false, false},
		{Ends{DstPort: port(81)}, false, false, false},
	} {
		for f, want := range map[*packet.Frame]bool{&request: row.request, &reply: row.reply, &ping: row.ping} {
			for _, tag := range [][]uint16{nil, {7}} {
				f.Tags = tag
				if got := (&Capture{Ends: row.c}).matches(f.Bytes()); got != want {
					t.Errorf("%+v on proto %d %v:%d, tags %v: %v", row.c, f.Proto, f.SrcIP, f.SrcPort, tag, got)
				}
			}
		}
	}
}

// FuzzCaptureMatches: frames of any bytes never read beyond their end; what matches a filter matches a wider one.
func FuzzCaptureMatches(f *testing.F) {
	for _, p := range []packet.Frame{{Proto: packet.ProtoTCP, SrcPort: 1, DstPort: 2}, {Proto: packet.ProtoUDP, Tags: []uint16{7}}, {Proto: packet.ProtoICMP}} {
		b := p.Bytes()
		for n := range len(b) {
			f.Add(b[:n], uint32(1), uint16(2), uint8(6))
		}
	}
	f.Fuzz(func(t *testing.T, frame []byte, ip uint32, port uint16, proto uint8) {
		frame = frame[:len(frame):len(frame)]
		narrow, wide := Capture{Ends: Ends{Src: ip, DstPort: port, Proto: proto}}, Capture{Ends: Ends{Src: ip}}
		if narrow.matches(frame) && !wide.matches(frame) {
			t.Error("a filter that asks for less takes more")
		}
	})
}
