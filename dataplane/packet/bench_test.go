package packet

import (
	"testing"
)

// mbufSize is what a buffer of 2048 bytes takes with its header and headroom.
const mbufSize = 2304

// spread is a burst of frames that lie as buffers of a pool do.
func spread(b *testing.B, f Frame) *[Burst]Packet {
	r := newRoom(b)
	var burst [Burst]Packet
	for i := range burst {
		f.SrcPort = uint16(1024 + i)
		frame := f.Bytes()
		copy(r.mem[i*mbufSize:], frame)
		p := r.place(frame)
		p.Data = p.Data - uintptr(len(r.mem)-len(frame)) + uintptr(i*mbufSize)
		burst[i] = *p
	}
	return &burst
}

func perPacket(b *testing.B) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/Burst, "ns/packet")
}

func BenchmarkParse(b *testing.B) {
	for _, c := range []struct {
		name string
		f    Frame
	}{{"TCP", client}, {"UDP", with(func(f *Frame) { f.Proto = ProtoUDP })}, {"tagged", with(func(f *Frame) { f.Tags = []uint16{2} })}} {
		b.Run(c.name, func(b *testing.B) {
			burst := spread(b, c.f)
			for b.Loop() {
				parseAll(burst)
			}
			perPacket(b)
		})
	}
}

func BenchmarkRewrite(b *testing.B) {
	burst := spread(b, client)
	k := Key{1, 2}
	r := MakeRewrite(k, k)
	for b.Loop() {
		for i := range burst {
			r.TCP(burst[i].Data + EtherLen)
		}
	}
	perPacket(b)
}
