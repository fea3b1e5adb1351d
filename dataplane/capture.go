package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"sluice/dataplane/api"
	"sluice/dataplane/packet"
	"sluice/dataplane/worker"
)

// capture is the last capture of frames, running or over.
type capture struct {
	frames  *worker.Capture // nil: there has been none
	until   time.Time
	began   time.Time
	cycles  uint64 // at began
	hz      uint64
	stopped bool
}

// maxCaptured bounds what one call gives, in bytes.
const maxCaptured = 1 << 20

// Capture implements api.Dataplane.
func (c *control) Capture(_ context.Context, o *api.CaptureOrder) (*api.Capture, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case o.Start != nil:
		if err := c.startCapture(o.Start); err != nil {
			return nil, err
		}
	case c.capture.frames == nil:
		return nil, errors.New("no capture has been started: begin one with `start nstrace`")
	case o.Stop:
		if err := c.giveCapture(nil); err != nil {
			return nil, err
		}
		c.capture.stopped = true
	}
	return c.captured(min(o.Most, maxCaptured)), nil
}

func (c *control) startCapture(f *api.CaptureFilter) error {
	if f.Count < 1 || f.Size > worker.MaxSnap || f.Time <= 0 || f.Time > maxTraceTime {
		return fmt.Errorf("a capture keeps at least 1 frame, up to %d bytes of each, for up to %v", worker.MaxSnap, maxTraceTime)
	}
	if f.Src.IsValid() && !f.Src.Is4() || f.Dst.IsValid() && !f.Dst.Is4() {
		return fmt.Errorf("%v to %v is no IPv4 flow: this dataplane carries IPv4 only", f.Src, f.Dst)
	}
	// No worker may write to the memory any more that the new capture takes over.
	if err := c.giveCapture(nil); err != nil {
		return err
	}
	n := capture{began: time.Now()}
	n.until = n.began.Add(f.Time)
	n.cycles, n.hz = c.workers[0].Clock()
	n.frames = &worker.Capture{SrcPort: f.SrcPort, DstPort: f.DstPort, Proto: f.Proto, Count: f.Count,
		Size: cmp.Or(f.Size, worker.MaxSnap), Until: n.cycles + uint64(f.Time.Seconds()*float64(n.hz))}
	if f.Src.IsValid() {
		n.frames.Src = packet.Swap32(packet.Addr4(f.Src.As4()))
	}
	if f.Dst.IsValid() {
		n.frames.Dst = packet.Swap32(packet.Addr4(f.Dst.As4()))
	}
	n.frames.Ready(len(c.workers), c.capture.frames)
	c.capture = n
	return c.giveCapture(n.frames)
}

// giveCapture gives every worker a capture, or none, and waits until each goes by it.
func (c *control) giveCapture(f *worker.Capture) error {
	if i := c.hand(func(w *worker.Worker) uint64 { return w.Capture(f) }, answerTime); i >= 0 {
		return unanswered(i)
	}
	return nil
}

// captured takes frames of up to so many bytes from the workers, a share from each, and puts them in the order of time.
func (c *control) captured(most uint32) *api.Capture {
	r := &c.capture
	// Asked before the frames are taken: who reads that it does not run any more has all of them once there are no more.
	a := &api.Capture{Running: !r.stopped && !r.frames.Full() && time.Now().Before(r.until)}
	for i := range c.workers {
		if most == 0 {
			break
		}
		room := int(most) / len(c.workers)
		r.frames.Take(i, func(f worker.Captured) bool {
			since := time.Duration(float64(int64(f.Cycles-r.cycles)) / float64(r.hz) * float64(time.Second))
			a.Frames = append(a.Frames, api.CapturedFrame{UnixNano: r.began.Add(since).UnixNano(), Port: uint16(f.Lane >> 1), Sent: f.Sent,
				Length: f.Length, Data: string(f.Data)})
			room -= len(f.Data)
			a.More = a.More || room <= 0
			return room > 0
		})
	}
	slices.SortStableFunc(a.Frames, func(f, g api.CapturedFrame) int { return cmp.Compare(f.UnixNano, g.UnixNano) })
	a.Kept, a.Lost = r.frames.Kept(), r.frames.Lost()
	return a
}
