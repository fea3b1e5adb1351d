package engine

import (
	"slices"
	"testing"
	"time"

	"sluice/vendor-config/schema"
)

// leave disables a row as an operator does.
func leave[T any](b *bench, delay uint32, graceFul bool, key ...string) {
	b.t.Helper()
	b.commit(func(c *schema.Config) {
		row := *schema.Get[T](c, key...)
		schema.Leave(&row, delay, graceFul, time.Now())
		schema.Put(c, &row)
	})
}

// bothUp is an engine that has told the dataplane that s1 and s2 are up.
func bothUp(t *testing.T, p *plane) *bench {
	t.Helper()
	b := newBench(t, p).run()
	connected(b)
	b.commit(site)
	b.says("s1", true)
	b.says("s2", true)
	until(t, "both up", func() bool { return slices.Equal(up(p), []uint32{1, 2}) })
	return b
}

func (b *bench) serviceState(name string) string {
	v, s := b.now()
	return v.index.ServiceState(s, name)
}

// TestLeavingGracefully: it gets no new flows, keeps those that it has, and is out of service when the last has ended.
func TestLeavingGracefully(t *testing.T) {
	p := &plane{open: map[string]uint64{"s1": 3}}
	b := bothUp(t, p)
	leave[schema.Service](b, 0, true, "s1")
	if h := p.now().Health; !slices.Equal(h.Up, []uint32{2}) || len(h.Flush) != 0 {
		t.Errorf("on its way out: up %v, flush %v", h.Up, h.Flush)
	}
	if got := b.serviceState("s1"); got != "GOING OUT OF SERVICE" {
		t.Errorf("state %s", got)
	}
	time.Sleep(3 * leavingEvery)
	if got := b.serviceState("s1"); got != "GOING OUT OF SERVICE" {
		t.Errorf("with 3 flows: state %s", got)
	}
	b.says("s1", false)
	until(t, "the flows of a server that is dead end", func() bool { return slices.Equal(p.now().Health.Flush, []uint32{1}) })
	b.says("s1", true)
	until(t, "flows may go on again", func() bool { return len(p.now().Health.Flush) == 0 })
	p.set(func() { p.open = nil })
	until(t, "out of service", func() bool { return b.serviceState("s1") == "OUT OF SERVICE" })
	if l := schema.LeavingOf(schema.Get[schema.Service](b.Config(), "s1")); l != (schema.Leaving{GraceFul: "NO"}) {
		t.Errorf("the row still says %+v", l)
	}
}

// TestLeavingWithDelay: whatever is open, it is out of service when the delay is over; then its flows end.
func TestLeavingWithDelay(t *testing.T) {
	p := &plane{open: map[string]uint64{"s1": 3, "s2": 1}}
	b := bothUp(t, p)
	leave[schema.Server](b, 2, true, "s1")
	leave[schema.Service](b, 2, false, "s2")
	if h := p.now().Health; len(h.Up) != 0 || len(h.Flush) != 0 || len(h.FlushVservers) != 0 {
		t.Errorf("on their way out: up %v, flush %v, vservers %v", h.Up, h.Flush, h.FlushVservers)
	}
	until(t, "out of service", func() bool {
		return b.serviceState("s1") == "OUT OF SERVICE" && b.serviceState("s2") == "OUT OF SERVICE"
	})
	if h := p.now().Health; !slices.Equal(h.Flush, []uint32{1, 2}) || !slices.Equal(h.FlushVservers, []uint32{1}) {
		t.Errorf("out of service: flush %v, vservers %v", h.Flush, h.FlushVservers)
	}
}

// TestLeavingSurvivesRestart: a management that starts anew with the row goes on, and lets no flow end for want of news.
func TestLeavingSurvivesRestart(t *testing.T) {
	p := &plane{open: map[string]uint64{"s1": 3}}
	b := newBench(t, p).run()
	connected(b)
	b.commit(site)
	b.says("s1", true)
	b.says("s2", true)
	leave[schema.Service](b, 0, true, "s1")
	b.stop()
	again := newBench(t, p)
	if _, err := again.Boot(b.Config()); err != nil {
		t.Fatal(err)
	}
	again.run()
	connected(again)
	time.Sleep(2 * leavingEvery)
	if got := again.serviceState("s1"); got != "GOING OUT OF SERVICE" {
		t.Errorf("after the restart: state %s", got)
	}
	for _, a := range p.applied {
		if a.Health != nil && len(a.Health.Flush) != 0 && a.Health.Flush[0] == 1 && len(a.Health.Up) != 0 {
			t.Errorf("flows of s1 were ended: up %v, flush %v", a.Health.Up, a.Health.Flush)
		}
	}
	p.set(func() { p.open = nil })
	until(t, "out of service", func() bool { return again.serviceState("s1") == "OUT OF SERVICE" })
}

// TestLeavingIsNotEndedForAnother: whoever has enabled the row in the meantime, or given it another delay, is not disturbed.
func TestLeavingIsNotEndedForAnother(t *testing.T) {
	b := newBench(t, &plane{}).run()
	connected(b)
	b.commit(site)
	leave[schema.Service](b, 3600, false, "s1")
	v, _ := b.now()
	d := v.index.Departures()[0]
	b.commit(func(c *schema.Config) {
		row := *schema.Get[schema.Service](c, "s1")
		schema.Stay(&row, "ENABLED")
		schema.Put(c, &row)
	})
	b.takeOut(d, "for the test")
	if s := schema.Get[schema.Service](b.Config(), "s1"); s.State != "ENABLED" {
		t.Errorf("it was disabled: %+v", s)
	}
}
