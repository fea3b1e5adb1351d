package api

import (
	"net/netip"
	"time"
)

// CaptureOrder begins or ends a capture, or fetches what it has.
type CaptureOrder struct {
	Start *CaptureFilter
	Stop  bool
	Most  uint32 // bytes of frames that are given at most, beside the last one; 0: none
}

// CaptureFilter says which frames are captured at the ports, received and sent: those between these ends, in both directions. What
// is zero is any.
type CaptureFilter struct {
	Proto            uint8
	Src, Dst         netip.Addr
	SrcPort, DstPort uint16
	Size             uint32        // bytes that are kept of each, 0: the whole frame
	Count            uint64        // frames after which it ends
	Time             time.Duration // after which it ends
}

// Capture is a part of what was captured. Each frame is given once.
type Capture struct {
	Running bool
	Kept    uint64 // frames since it began, with those that are still to be fetched
	Lost    uint64 // frames that were asked for and found no room, since nobody fetched
	Frames  []CapturedFrame
	More    bool // there are frames still
}

// CapturedFrame is a frame as it came in or was sent.
type CapturedFrame struct {
	UnixNano int64
	Port     uint16 // index of the port in the dataplane's settings, from 0
	Sent     bool   // by us; otherwise received
	Length   uint32 // bytes of the whole frame
	Data     string // its beginning
}
