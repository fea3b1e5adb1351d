package monitor

import (
	"context"
	"reflect"
	"time"

	"sluice/mgmt/compile"
)

// Defaults of the command `add lb monitor`, used when a probe leaves a time at 0.
const (
	defaultInterval    = 5 * time.Second
	defaultRespTimeout = 2 * time.Second
	defaultDownTime    = 30 * time.Second
)

// watch is one probe that runs: what is asked, what has been answered and when to ask again.
type watch struct {
	probe  compile.Probe
	result compile.MonitorResult
	good   uint32             // successes in a row
	due    time.Time          // next probe starts
	index  int                // in the queue; -1 while a probe is under way
	cancel context.CancelFunc // ends the probe under way; nil when there is none
	gone   bool               // replaced or removed: its last answer counts no more
}

func newWatch(p compile.Probe) *watch { return &watch{probe: p, index: -1} }

// inherit takes over the verdict and the counters of the watch that w replaces, unless w watches something else.
func (w *watch) inherit(old *watch) bool {
	if w.probe.Type != old.probe.Type || w.probe.Target != old.probe.Target {
		return false
	}
	w.result = old.result
	w.result.FailedNow = 0
	return true
}

func (w *watch) interval() time.Duration { return orDefault(w.probe.Interval, defaultInterval) }
func (w *watch) timeout() time.Duration  { return orDefault(w.probe.RespTimeout, defaultRespTimeout) }
func (w *watch) downTime() time.Duration { return orDefault(w.probe.DownTime, defaultDownTime) }

func orDefault(d, def time.Duration) time.Duration {
	if d <= 0 {
		return def
	}
	return d
}

// record counts the end of a probe, sets the time of the next and tells whether the verdict is new.
//
// Down after `retries` failures in a row, up after `successRetries` successes in a row. The interval counts from start
// to start, so that a server that dies right after an answer is down within interval x retries + resptimeout. Down, the
// pause between two probes is downTime; once a probe succeeds it is the interval again, so that the rest of
// successRetries does not take a downTime each.
func (w *watch) record(o Outcome, start, end time.Time) (changed bool) {
	r := &w.result
	r.Probes++
	r.Response, r.Took, r.At = o.Response, end.Sub(start), end
	if o.OK {
		w.good++
		r.FailedNow = 0
		changed = !(r.Known && r.Up) && w.good >= max(1, w.probe.SuccessRetries)
	} else {
		w.good = 0
		r.Failed++
		r.FailedNow++
		changed = (!r.Known || r.Up) && r.FailedNow >= max(1, w.probe.Retries)
	}
	if changed {
		r.Known, r.Up = true, o.OK
	}
	pause := w.interval()
	if r.Known && !r.Up && !o.OK {
		pause = w.downTime()
	}
	w.due = start.Add(pause)
	if w.due.Before(end) { // a timeout longer than the interval
		w.due = end
	}
	return changed
}

// same tells whether two probes of one name ask for the same.
func same(a, b *compile.Probe) bool {
	return a.Type == b.Type && a.Source == b.Source && a.Target == b.Target &&
		a.Interval == b.Interval && a.RespTimeout == b.RespTimeout && a.DownTime == b.DownTime &&
		a.Retries == b.Retries && a.SuccessRetries == b.SuccessRetries &&
		a.Reverse == b.Reverse && a.Secure == b.Secure &&
		(a.Ask == b.Ask || reflect.DeepEqual(a.Ask, b.Ask))
}
