package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"sluice/dataplane/api"
	"sluice/dataplane/worker"
)

// capture is the last capture of frames, running or over.
type capture struct {
	watch
	frames *worker.Capture // nil: there has been none
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
	if f.Count < 1 || f.Size > worker.MaxSnap || f.Time <= 0 || f.Time > maxWatch {
		return fmt.Errorf("a capture keeps at least 1 frame, up to %d bytes of each, for up to %v", worker.MaxSnap, maxWatch)
	}
	ends, err := endsOf(f.Proto, f.Src, f.Dst, f.SrcPort, f.DstPort)
	if err != nil {
		return err
	}
	// No worker may write to the memory any more that the new capture takes over.
	if err := c.giveCapture(nil); err != nil {
		return err
	}
	n := capture{watch: c.watch(f.Time)}
	n.frames = &worker.Capture{Ends: ends, Count: f.Count, Size: cmp.Or(f.Size, worker.MaxSnap), Until: n.end()}
	n.frames.Ready(len(c.workers), c.capture.frames)
	c.capture = n
	return c.giveCapture(n.frames)
}

// giveCapture gives every worker a capture, or none, and waits until each goes by it.
func (c *control) giveCapture(f *worker.Capture) error {
	return c.order(func(w *worker.Worker) uint64 { return w.Capture(f) })
}

// captured takes frames of up to so many bytes from the workers, a share from each, and puts them in the order of time.
func (c *control) captured(most uint32) *api.Capture {
	r := &c.capture
	// Asked before the frames are taken: who reads that it does not run any more has all of them once there are no more.
	a := &api.Capture{Running: !r.frames.Full() && r.running(time.Now())}
	for i := range c.workers {
		if most == 0 {
			break
		}
		room := int(most) / len(c.workers)
		r.frames.Take(i, func(f worker.Captured) bool {
			a.Frames = append(a.Frames, api.CapturedFrame{UnixNano: r.unixNano(f.Cycles), Port: uint16(f.Lane >> 1), Sent: f.Sent,
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
