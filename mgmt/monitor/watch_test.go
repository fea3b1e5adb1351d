package monitor

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"sluice/mgmt/compile"
)

const s = time.Second

func base() compile.Probe {
	return compile.Probe{
		Service: "web", Monitor: "m", Type: "TCP", Interval: 5 * s, RespTimeout: 2 * s, DownTime: 30 * s,
		Retries: 3, SuccessRetries: 1,
	}
}

// TestRules walks through the rules of retries, successRetries, interval and downTime. In a script + is an answer after
// 10 ms, - a refusal after 10 ms and t a probe that ran into its timeout. The verdict is written before the next pause:
// ? none, U up, D down; a change of verdict is marked by !.
func TestRules(t *testing.T) {
	rows := []struct {
		name     string
		change   func(*compile.Probe)
		script   string
		verdicts []string
		pauses   []time.Duration // from start to start
	}{
		{"first answer makes it up", nil, "+", []string{"U!"}, []time.Duration{5 * s}},
		{"no verdict before retries failures", nil, "---", []string{"?", "?", "D!"}, []time.Duration{5 * s, 5 * s, 30 * s}},
		{"two failures do no harm", nil, "+--+--+", []string{"U!", "U", "U", "U", "U", "U", "U"},
			[]time.Duration{5 * s, 5 * s, 5 * s, 5 * s, 5 * s, 5 * s, 5 * s}},
		{"three in a row are down", nil, "+---", []string{"U!", "U", "U", "D!"}, []time.Duration{5 * s, 5 * s, 5 * s, 30 * s}},
		{"down stays at downTime", nil, "---t-", []string{"?", "?", "D!", "D", "D"}, []time.Duration{5 * s, 5 * s, 30 * s, 30 * s, 30 * s}},
		{"one answer brings it back", nil, "---+", []string{"?", "?", "D!", "U!"}, []time.Duration{5 * s, 5 * s, 30 * s, 5 * s}},
		{"successRetries at the interval", func(p *compile.Probe) { p.SuccessRetries = 3 }, "---++-+++",
			[]string{"?", "?", "D!", "D", "D", "D", "D", "D", "U!"},
			[]time.Duration{5 * s, 5 * s, 30 * s, 5 * s, 5 * s, 30 * s, 5 * s, 5 * s, 5 * s}},
		{"successRetries holds at first, too", func(p *compile.Probe) { p.SuccessRetries = 2 }, "++", []string{"?", "U!"},
			[]time.Duration{5 * s, 5 * s}},
		{"one retry", func(p *compile.Probe) { p.Retries = 1 }, "+-", []string{"U!", "D!"}, []time.Duration{5 * s, 30 * s}},
		{"zero counts are one", func(p *compile.Probe) { p.Retries, p.SuccessRetries = 0, 0 }, "-+", []string{"D!", "U!"},
			[]time.Duration{30 * s, 5 * s}},
		{"zero times are the defaults", func(p *compile.Probe) { p.Interval, p.DownTime, p.RespTimeout = 0, 0, 0 }, "+---",
			[]string{"U!", "U", "U", "D!"}, []time.Duration{5 * s, 5 * s, 5 * s, 30 * s}},
		{"two of the last four", func(p *compile.Probe) { p.Retries, p.FailureRetries = 4, 2 }, "+-+-", []string{"U!", "U", "U", "D!"},
			[]time.Duration{5 * s, 5 * s, 5 * s, 30 * s}},
		{"two, but too far apart", func(p *compile.Probe) { p.Retries, p.FailureRetries = 3, 2 }, "+-++-++-", []string{"U!", "U", "U", "U", "U", "U", "U", "U"},
			[]time.Duration{5 * s, 5 * s, 5 * s, 5 * s, 5 * s, 5 * s, 5 * s, 5 * s}},
		{"failures before the return are forgotten", func(p *compile.Probe) { p.Retries, p.FailureRetries = 4, 2 }, "--+-+", []string{"?", "D!", "U!", "U", "U"},
			[]time.Duration{5 * s, 30 * s, 5 * s, 5 * s, 5 * s}},
		{"a timeout longer than the interval", func(p *compile.Probe) { p.Interval = s }, "+t+", []string{"U!", "U", "U"},
			[]time.Duration{s, 2 * s, s}},
		{"downTime shorter than the interval", func(p *compile.Probe) { p.DownTime = s }, "---", []string{"?", "?", "D!"},
			[]time.Duration{5 * s, 5 * s, s}},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			p := base()
			if row.change != nil {
				row.change(&p)
			}
			w := newWatch(p)
			start := time.Unix(1000, 0)
			for i, c := range row.script {
				took := 10 * time.Millisecond
				if c == 't' {
					took = w.timeout()
				}
				changed := w.record(Outcome{OK: c == '+', Response: string(c)}, start, start.Add(took))
				if got := verdict(w, changed); got != row.verdicts[i] {
					t.Errorf("probe %d: verdict %s, want %s", i, got, row.verdicts[i])
				}
				if got := w.due.Sub(start); got != row.pauses[i] {
					t.Errorf("probe %d: next after %v, want %v", i, got, row.pauses[i])
				}
				if w.result.Took != took || w.result.Response != string(c) || w.result.Probes != uint64(i+1) {
					t.Errorf("probe %d: result %+v", i, w.result)
				}
				start = w.due
			}
		})
	}
}

// TestDeviation: once the average is known, an answer is waited for no longer than it and the deviation.
func TestDeviation(t *testing.T) {
	p := base()
	p.Learn, p.Deviation = true, 100*time.Millisecond
	w := newWatch(p)
	now := time.Unix(1000, 0)
	for i := range 20 {
		want := 2 * s
		if i >= learntEnough {
			want = 150 * time.Millisecond
		}
		if got := w.timeout(); got != want {
			t.Fatalf("after %d answers: %v, want %v", i, got, want)
		}
		w.record(Outcome{OK: true}, now, now.Add(50*time.Millisecond))
		now = w.due
	}
	w.record(Outcome{}, now, now.Add(150*time.Millisecond)) // a failure teaches nothing
	if w.result.Average != 50*time.Millisecond {
		t.Errorf("average %v", w.result.Average)
	}
	n := newWatch(p)
	n.inherit(w)
	if n.timeout() != 150*time.Millisecond {
		t.Error("a change of the monitor forgets the average")
	}
}

// TestTell: alertRetries and resptimeoutThresh are told once each time.
func TestTell(t *testing.T) {
	var out strings.Builder
	log := slog.New(slog.NewTextHandler(&out, nil))
	p := base()
	p.AlertRetries, p.RespThreshold = 2, 50
	w := newWatch(p)
	now := time.Unix(1000, 0)
	for _, probe := range []struct {
		ok   bool
		took time.Duration
	}{{true, s / 2}, {true, 2 * s}, {true, 2 * s}, {true, s}, {false, 0}, {false, 0}, {false, 0}, {true, 0}, {false, 0}, {false, 0}} {
		w.record(Outcome{OK: probe.ok}, now, now.Add(probe.took))
		w.tell(log)
	}
	for words, want := range map[string]int{"probes fail": 2, "above the threshold": 1, "below the threshold again": 1} {
		if n := strings.Count(out.String(), words); n != want {
			t.Errorf("%q is there %d times, want %d:\n%s", words, n, want, out.String())
		}
	}
	w.tell(nil)
}

func verdict(w *watch, changed bool) string {
	v := "?"
	if w.result.Known {
		v = map[bool]string{true: "U", false: "D"}[w.result.Up]
	}
	if changed {
		v += "!"
	}
	return v
}

// TestDownWithinBound: however the time of death falls between two probes, a silent server is down within
// interval x retries + resptimeout.
func TestDownWithinBound(t *testing.T) {
	for _, dies := range []time.Duration{0, 1, 2 * s, 5*s - 1} { // after the start of a probe that was answered
		p := base()
		w := newWatch(p)
		start := time.Unix(1000, 0)
		w.record(Outcome{OK: true}, start, start)
		death := start.Add(dies)
		for !(w.result.Known && !w.result.Up) {
			begun := w.due
			w.record(Outcome{}, begun, begun.Add(w.timeout()))
			if bound := death.Add(5*s*3 + 2*s); w.result.At.After(bound) {
				t.Fatalf("died %v after a probe: still not down at %v after its death", dies, w.result.At.Sub(death))
			}
		}
	}
}
