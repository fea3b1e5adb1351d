package main

import (
	"fmt"
	"net/netip"
	"time"

	"sluice/dataplane/packet"
	"sluice/dataplane/worker"
)

// watch is the time in which workers look at packets for a trace or a capture, by the clock and by the cycles that they count.
type watch struct {
	began, until time.Time
	cycles, hz   uint64 // at began
	stopped      bool
}

// maxWatch bounds a trace or a capture that nobody ends.
const maxWatch = time.Hour

// watch begins a watch.
func (c *control) watch(lasts time.Duration) watch {
	w := watch{began: time.Now()}
	w.until = w.began.Add(lasts)
	w.cycles, w.hz = c.workers[0].Clock()
	return w
}

// running says whether its time is not over yet.
func (w *watch) running(now time.Time) bool { return !w.stopped && now.Before(w.until) }

// end is the cycles after which it is over.
func (w *watch) end() uint64 { return w.cycles + uint64(w.until.Sub(w.began).Seconds()*float64(w.hz)) }

// unixNano is the time at which a worker counted so many cycles.
func (w *watch) unixNano(cycles uint64) int64 {
	since := time.Duration(float64(int64(cycles-w.cycles)) / float64(w.hz) * float64(time.Second))
	return w.began.Add(since).UnixNano()
}

// endsOf are the ends that an operator has named; those that are zero are any.
func endsOf(proto uint8, src, dst netip.Addr, srcPort, dstPort uint16) (worker.Ends, error) {
	e := worker.Ends{SrcPort: packet.Swap16(srcPort), DstPort: packet.Swap16(dstPort), Proto: proto}
	if src.IsValid() && !src.Is4() || dst.IsValid() && !dst.Is4() {
		return e, fmt.Errorf("%v to %v is no IPv4 flow: this dataplane carries IPv4 only", src, dst)
	}
	if src.IsValid() {
		e.Src = packet.Addr4(src.As4())
	}
	if dst.IsValid() {
		e.Dst = packet.Addr4(dst.As4())
	}
	return e, nil
}

// order gives something to every worker and waits until each goes by it.
func (c *control) order(give func(*worker.Worker) (ticket uint64)) error {
	if i := c.hand(give, answerTime); i >= 0 {
		return unanswered(i)
	}
	return nil
}
