package dataplane

import (
	"bytes"
	"testing"

	"sluice/dataplane/packet"
	"sluice/dataplane/worker"
)

// capture has every worker of a bed keep frames, or end.
func (b *bed) capture(c *worker.Capture) {
	b.t.Helper()
	b.order("capture", func(w *worker.Worker) uint64 { return w.Capture(c) })
}

// ready is a capture of so many workers that is never over by itself.
func ready(c *worker.Capture, workers int) *worker.Capture {
	c.Until = 1 << 62
	if c.Count == 0 {
		c.Count = 1 << 62
	}
	if c.Size == 0 {
		c.Size = worker.MaxSnap
	}
	c.Ready(workers, nil)
	return c
}

// taken are the frames that workers have kept.
func taken(c *worker.Capture, workers int) (all []worker.Captured) {
	for i := range workers {
		c.Take(i, func(f worker.Captured) bool {
			f.Data = bytes.Clone(f.Data)
			all = append(all, f)
			return true
		})
	}
	return all
}

// TestRowsCaptured: a capture changes nothing about what becomes of packets, whether it keeps all of them or none.
func TestRowsCaptured(t *testing.T) {
	for port, c := range []crew{alone, {2, 0, true}} { // a filter of port 0 keeps all, one of port 1 nothing
		for _, r := range rows() {
			if r.several && c.workers == 1 {
				continue
			}
			t.Run(r.name, func(t *testing.T) {
				k := ready(&worker.Capture{Ends: worker.Ends{SrcPort: packet.Swap16(uint16(port))}}, c.workers)
				r.steps = append([]step{{do: func(b *bed) { b.capture(k) }}}, r.steps...)
				r.run(t, newMemories(t, c.workers, 2*poolRing), c)
			})
		}
	}
}

// TestCaptureKeepsFramesOfAnEnd: a request, byte by byte, as it came and as it went, and not the one of another client; then no
// more than were asked for.
func TestCaptureKeepsFramesOfAnEnd(t *testing.T) {
	b := newBed(t, newMemory(t), 1024)
	c := ready(&worker.Capture{Ends: worker.Ends{DstPort: packet.Swap16(webPort), SrcPort: packet.Swap16(5001)}, Count: 3}, 1)
	b.capture(c)
	in := [][]byte{ask(5002, webPort, syn).Bytes(), ask(5001, webPort, syn).Bytes()}
	for _, f := range in {
		b.enters(nic1, f)
	}
	got := taken(c, 1)
	if len(got) != 1 || !bytes.Equal(got[0].Data, in[1]) || got[0].Sent || got[0].Lane != nic1 || got[0].Length != uint32(len(in[1])) {
		t.Fatalf("kept %+v, want the frame of port 5001", got)
	}
	for range 4 { // the same SYN again: in by the one port
		b.enters(nic1, in[1])
	}
	if got := taken(c, 1); len(got) != 2 || !c.Full() || c.Lost() != 0 || c.Kept() != 3 {
		t.Errorf("kept %d more, full %v, lost %d", len(got), c.Full(), c.Lost())
	}
	b.drain()
	b.close()
}

// TestCaptureKeepsWhatIsSent: what the server gets is what was captured on its way out.
func TestCaptureKeepsWhatIsSent(t *testing.T) {
	b := newBed(t, newMemory(t), 1024)
	c := ready(&worker.Capture{Ends: worker.Ends{Proto: packet.ProtoTCP}, Size: 60}, 1)
	b.capture(c)
	b.enters(nic1, ask(5001, webPort, syn))
	sent := b.q.Sent(nic2)
	got := taken(c, 1)
	if len(sent) != 1 || len(got) != 2 || got[0].Sent || !got[1].Sent || got[1].Lane != nic2 || !bytes.Equal(got[1].Data, sent[0][:min(60, len(sent[0]))]) || got[1].Cycles < got[0].Cycles {
		t.Fatalf("kept %+v, sent %x", got, sent)
	}
	b.drain()
	b.close()
}

// TestCaptureWithoutAReader: frames that find no room are counted and nothing else comes of it; the memory stays what it was.
func TestCaptureWithoutAReader(t *testing.T) {
	const frames = 3000 // of 2 KiB slots, of which a ring of 4 MiB has fewer
	b := newBed(t, newMemory(t), 1024)
	c := ready(&worker.Capture{Ends: worker.Ends{Proto: packet.ProtoICMP}}, 1)
	b.capture(c)
	for range frames {
		f := ask(0, 0, 0)
		f.Proto = packet.ProtoICMP
		if err := b.q.Inject(nic1, f.Bytes()); err != nil {
			t.Fatal(err)
		}
		b.w.Poll()
		b.drain()
	}
	b.turns()
	if kept, lost := c.Kept(), c.Lost(); lost == 0 || kept+lost < frames || uint64(len(taken(c, 1))) != kept {
		t.Errorf("kept %d, lost %d of %d", kept, lost, frames)
	}
	b.drain()
	b.close()
}

// TestCapturedBurstsAllocateNothing: not even while every packet is kept.
func TestCapturedBurstsAllocateNothing(t *testing.T) {
	for _, filter := range []*worker.Capture{{}, {Ends: worker.Ends{Src: 1, SrcPort: 1}}} {
		hitsAllocateNothing(t, func(b *bed) { b.w.Capture(ready(filter, 1)) })
	}
}
