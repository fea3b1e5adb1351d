package capture

import (
	"io"
	"time"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
	"github.com/gopacket/gopacket/pcapgo"

	"sluice/dataplane/api"
)

// frameRoom is what a frame takes of the file at most beside its bytes: the head of its block, its options, and what fills it up to
// four bytes.
const frameRoom = 32 + 16 + 3

// lossRoom is what the statistics of a port take: the head and the end of their block and three options.
const lossRoom = 24 + 3*12

// writer writes a pcapng file with one interface a port.
type writer struct {
	file   io.Writer
	out    *pcapgo.NgWriter
	ports  int
	n      uint64 // bytes written
	size   uint64 // bytes that the file has at most once all is written
	frames uint64
	seen   []uint64 // frames of each port
}

// Write counts what goes to the file.
func (w *writer) Write(b []byte) (int, error) {
	n, err := w.file.Write(b)
	w.n += uint64(n)
	return n, err
}

// newWriter begins a file for ports of these names. Frames are kept up to size bytes, 0: whole.
func newWriter(file io.Writer, ports []string, size uint32) (*writer, error) {
	w := &writer{file: file, ports: len(ports), seen: make([]uint64, len(ports))}
	face := func(name string) pcapgo.NgInterface {
		return pcapgo.NgInterface{Name: name, LinkType: layers.LinkTypeEthernet, SnapLength: size, TimestampResolution: 9}
	}
	var err error
	w.out, err = pcapgo.NewNgWriterInterface(w, face(ports[0]), pcapgo.NgWriterOptions{SectionInfo: pcapgo.NgSectionInfo{Application: "sluice"}})
	for _, p := range ports[1:] {
		if err == nil {
			_, err = w.out.AddInterface(face(p))
		}
	}
	if err == nil {
		err = w.flush()
	}
	w.size = w.n + uint64(len(ports)*lossRoom)
	return w, err
}

// frame adds one.
func (w *writer) frame(f *api.CapturedFrame) error {
	if int(f.Port) >= w.ports {
		return nil // of a dataplane with other settings
	}
	direction := pcapgo.NgEpbFlagDirectionInbound
	if f.Sent {
		direction = pcapgo.NgEpbFlagDirectionOutbound
	}
	w.frames++
	w.seen[f.Port]++
	w.size += frameRoom + uint64(len(f.Data))
	return w.out.WritePacketWithOptions(gopacket.CaptureInfo{Timestamp: time.Unix(0, f.UnixNano), CaptureLength: len(f.Data),
		Length: max(int(f.Length), len(f.Data)), InterfaceIndex: int(f.Port)}, []byte(f.Data), pcapgo.NgPacketOptions{Flags: &pcapgo.NgEpbFlags{Direction: direction}})
}

// close ends the file with how many frames of each port are in it, and how many found no room: those are not known by port, so that
// they stand as the drops of the first.
func (w *writer) close(lost uint64, now time.Time) error {
	for i, n := range w.seen {
		s := pcapgo.NgInterfaceStatistics{LastUpdate: now, PacketsReceived: n, PacketsDropped: pcapgo.NgNoValue64}
		if i == 0 {
			s.PacketsReceived, s.PacketsDropped = n+lost, lost
		}
		if err := w.out.WriteInterfaceStats(i, s); err != nil {
			return err
		}
	}
	return w.flush()
}

// flush hands everything to the system.
func (w *writer) flush() error { return w.out.Flush() }
