package engine

import (
	"context"
	"fmt"
	"strings"
	"time"

	"sluice/mgmt/compile"
	"sluice/vendor-config/schema"
)

// leavingEvery is the spacing of looks at what is on its way out of service.
const leavingEvery = 500 * time.Millisecond

// watchLeaving takes out of service, until ctx ends, what has left: its delay is over, or its last flow has ended.
func (e *Engine) watchLeaving(ctx context.Context) {
	tick := time.NewTicker(leavingEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			e.dismiss(ctx)
		}
	}
}

// dismiss takes out of service what has left by now.
func (e *Engine) dismiss(ctx context.Context) {
	v, _ := e.now()
	all := v.index.Departures()
	if len(all) == 0 {
		return
	}
	var open map[string]uint64
	for _, d := range all {
		why := ""
		if until := d.Until(); !until.IsZero() && !e.opt.Now().Before(until) {
			why = fmt.Sprintf("its delay of %d seconds is over", d.Delay/time.Second)
		} else if d.GraceFul {
			if open == nil {
				open = e.openFlows(ctx)
			}
			if open != nil && left(d, open) == 0 {
				why = "it has no open connections"
			}
		}
		if why != "" {
			e.takeOut(d, why)
		}
	}
}

// openFlows are the flows of every service that gets no new ones, and 1 of those that may; nil when it is not known.
func (e *Engine) openFlows(ctx context.Context) map[string]uint64 {
	st, err := e.Stats(ctx)
	if err != nil {
		return nil
	}
	open := make(map[string]uint64, len(st.Services))
	for _, f := range st.Services {
		open[f.Name] = f.OpenFlows
		if f.Up { // it has not heard yet
			open[f.Name] = max(f.OpenFlows, 1)
		}
	}
	return open
}

func left(d *compile.Departure, open map[string]uint64) (n uint64) {
	for _, name := range d.Services {
		n += open[name]
	}
	return n
}

// takeOut ends a departure, unless the row has been changed since.
func (e *Engine) takeOut(d *compile.Departure, why string) {
	line := strings.Join(append(append([]string{"disable"}, d.Object.Words...), d.Key...), " ")
	_, err := e.Commit(Author{User: "system", Source: "appliance", Line: line + ": " + why}, func(c *schema.Config) error {
		row, ok := c.Row(d.Object, d.Key...)
		if !ok || row != d.Row {
			return nil
		}
		out := d.Object.Copy(row)
		schema.Stay(out, "DISABLED")
		c.Put(d.Object, out)
		return nil
	})
	if err != nil {
		e.opt.Log.Error("what has left cannot be taken out of service", "line", line, "error", err)
	}
}
