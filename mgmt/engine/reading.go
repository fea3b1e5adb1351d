package engine

import (
	"context"
	"errors"
	"sync"
	"time"

	"sluice/dataplane/api"
)

// ErrNotConnected is the answer to a question that only the dataplane could answer.
var ErrNotConnected = errors.New("The dataplane is not connected")

// Reading is the dataplane's counters at a moment.
type Reading struct {
	At    time.Time
	Stats *api.Stats
}

// samples are the last two readings of the present dataplane, older first.
type samples struct {
	mu   sync.Mutex
	last [2]Reading
}

// Stats reads the dataplane's counters.
func (e *Engine) Stats(ctx context.Context) (*api.Stats, error) {
	l := e.link.Load()
	if l == nil {
		return nil, ErrNotConnected
	}
	return e.read(ctx, l.dp)
}

func (e *Engine) read(ctx context.Context, dp Dataplane) (*api.Stats, error) {
	ctx, cancel := context.WithTimeout(ctx, e.opt.Patience)
	defer cancel()
	return dp.Stats(ctx)
}

// ask puts a question to the dataplane that is connected.
func ask[Q, A any](ctx context.Context, e *Engine, how func(Dataplane, context.Context, *Q) (*A, error), what *Q) (*A, error) {
	l := e.link.Load()
	if l == nil {
		return nil, ErrNotConnected
	}
	ctx, cancel := context.WithTimeout(ctx, e.opt.Patience)
	defer cancel()
	return how(l.dp, ctx, what)
}

// Where asks the dataplane what would become of the first packet of a flow.
func (e *Engine) Where(ctx context.Context, flow *api.Tuple) (*api.Where, error) {
	return ask(ctx, e, Dataplane.Where, flow)
}

// Trace begins or ends a trace of packets in the dataplane, and tells what it has seen.
func (e *Engine) Trace(ctx context.Context, order *api.TraceOrder) (*api.Trace, error) {
	return ask(ctx, e, Dataplane.Trace, order)
}

// Capture begins or ends a capture of frames in the dataplane, and gives what it has.
func (e *Engine) Capture(ctx context.Context, order *api.CaptureOrder) (*api.Capture, error) {
	return ask(ctx, e, Dataplane.Capture, order)
}

// Sessions asks the dataplane for persistence sessions, or clears them.
func (e *Engine) Sessions(ctx context.Context, order *api.SessionOrder) (*api.Sessions, error) {
	return ask(ctx, e, Dataplane.Sessions, order)
}

// Readings are a reading of now and one before it, at least a second older when there is one, for rates. When there is
// none, or the dataplane has started anew since, before has no Stats.
func (e *Engine) Readings(ctx context.Context) (now, before Reading, err error) {
	st, err := e.Stats(ctx)
	if err != nil {
		return now, before, err
	}
	now = Reading{e.opt.Now(), st}
	e.samples.mu.Lock()
	defer e.samples.mu.Unlock()
	for _, r := range e.samples.last {
		if r.Stats != nil && r.Stats.StartedUnixMilli == st.StartedUnixMilli && now.At.Sub(r.At) >= time.Second {
			before = r
		}
	}
	return now, before, nil
}

// sample keeps readings for rates.
func (e *Engine) sample(ctx context.Context, l *link) {
	tick := time.NewTicker(sampleEvery)
	defer tick.Stop()
	for {
		st, err := e.read(ctx, l.dp)
		if err != nil {
			if ctx.Err() == nil {
				e.opt.Log.Error("the dataplane does not tell its counters; connecting again", "error", err)
				l.cancel()
			}
			return
		}
		e.samples.mu.Lock()
		e.samples.last[0], e.samples.last[1] = e.samples.last[1], Reading{e.opt.Now(), st}
		e.samples.mu.Unlock()
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}
