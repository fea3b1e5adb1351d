package monitor

import (
	"context"
	"log/slog"
	"reflect"
	"slices"
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
	recent []bool             // whether each of the last probes succeeded, at most Retries of them since the last verdict
	learnt uint32             // answers of which the average response time is
	slow   bool               // the last answer came beyond the threshold
	due    time.Time          // next probe starts
	index  int                // in the queue; -1 while a probe is under way
	cancel context.CancelFunc // ends the probe under way; nil when there is none
	gone   bool               // replaced or removed: its last answer counts no more
}

func newWatch(p compile.Probe) *watch { return &watch{probe: p, index: -1} }

// inherit takes over the verdict and the counters of the watch that w replaces, unless w watches something else.
func (w *watch) inherit(old *watch) bool {
	if w.probe.Type != old.probe.Type || w.probe.Target != old.probe.Target || w.probe.Way != old.probe.Way || w.probe.Via != old.probe.Via {
		return false
	}
	w.result = old.result
	w.result.FailedNow = 0
	w.learnt = old.learnt
	return true
}

func (w *watch) interval() time.Duration { return orDefault(w.probe.Interval, defaultInterval) }
func (w *watch) downTime() time.Duration { return orDefault(w.probe.DownTime, defaultDownTime) }

// learntEnough is how many answers make an average that a deviation can be told from.
const learntEnough = 8

// timeout is how long an answer is waited for: with a deviation, no longer than the servers' average and that.
func (w *watch) timeout() time.Duration {
	most := orDefault(w.probe.RespTimeout, defaultRespTimeout)
	if w.probe.Learn && w.probe.Deviation > 0 && w.learnt >= learntEnough {
		return min(most, w.result.Average+w.probe.Deviation)
	}
	return most
}

// learn notes how long an answer took: a moving average, in which an answer counts for an eighth.
func (w *watch) learn(took time.Duration) {
	if !w.probe.Learn {
		w.result.Average, w.learnt = 0, 0
		return
	}
	w.learnt++
	w.result.Average += (took - w.result.Average) / time.Duration(min(w.learnt, 8))
}

// failedEnough tells whether the failures so far make the service DOWN, after ok, which was the last probe.
func (w *watch) failedEnough(ok bool) bool {
	most := max(1, w.probe.Retries)
	if w.probe.FailureRetries == 0 {
		return w.result.FailedNow >= most
	}
	w.recent = append(w.recent, ok)
	if n := len(w.recent) - int(most); n > 0 {
		w.recent = slices.Delete(w.recent, 0, n)
	}
	failed := uint32(0)
	for _, ok := range w.recent {
		if !ok {
			failed++
		}
	}
	return !ok && failed >= w.probe.FailureRetries
}

func orDefault(d, def time.Duration) time.Duration {
	if d <= 0 {
		return def
	}
	return d
}

// record counts the end of a probe, sets the time of the next and tells whether the verdict is new.
//
// Down after `retries` failures in a row, or `failureRetries` among the last `retries` probes; up after `successRetries` successes in a row. The interval counts from start
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
		w.learn(r.Took)
		w.failedEnough(true)
		changed = !(r.Known && r.Up) && w.good >= max(1, w.probe.SuccessRetries)
	} else {
		w.good = 0
		r.Failed++
		r.FailedNow++
		changed = w.failedEnough(false) && (!r.Known || r.Up)
	}
	if o.LoadKnown {
		r.Load, r.LoadKnown = o.Load, true
	}
	if changed {
		r.Known, r.Up = true, o.OK
		r.LoadKnown = r.LoadKnown && o.OK
		w.recent = w.recent[:0]
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

// tell writes to the log what the operator wants to hear of the probe that has ended: failures in a row, and answers that begin
// or cease to be slow.
func (w *watch) tell(log *slog.Logger) {
	r, p := &w.result, &w.probe
	if log == nil {
		return
	}
	if p.AlertRetries > 0 && r.FailedNow == p.AlertRetries {
		log.Warn("probes fail", "service", p.Service, "monitor", p.Monitor, "failed", r.FailedNow, "response", r.Response)
	}
	if p.RespThreshold == 0 {
		return
	}
	limit := orDefault(p.RespTimeout, defaultRespTimeout) * time.Duration(p.RespThreshold) / 100
	switch slow := r.Took > limit; {
	case slow && !w.slow:
		log.Warn("response time above the threshold", "service", p.Service, "monitor", p.Monitor, "took", r.Took, "threshold", limit)
	case !slow && w.slow:
		log.Info("response time below the threshold again", "service", p.Service, "monitor", p.Monitor, "took", r.Took, "threshold", limit)
	}
	w.slow = r.Took > limit
}

// same tells whether two probes of one name ask for the same.
func same(a, b *compile.Probe) bool {
	rest := *b
	rest.Ask = a.Ask // compared by what it says
	return *a == rest && (a.Ask == b.Ask || reflect.DeepEqual(a.Ask, b.Ask))
}
