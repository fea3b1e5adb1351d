package main

import (
	"context"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"sluice/tests/notify"
)

// runner is a worker that makes a turn whenever it is asked, unless it stands still.
type runner struct {
	turns atomic.Uint64
	still atomic.Bool
}

func (r *runner) Turns() uint64 {
	if r.still.Load() {
		return r.turns.Load()
	}
	return r.turns.Add(1)
}

func TestLifeIsToldWhileWorkersPoll(t *testing.T) {
	told := notify.Listen(t, 40*time.Millisecond)
	var out logBuffer
	first, second := &runner{}, &runner{}
	second.still.Store(true) // it has not begun
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- reportLife(ctx, []*runner{first, second}, slog.New(slog.NewTextHandler(&out, nil))) }()
	await(t, "the first worker to be looked at", func() bool { return first.turns.Load() > 3 })
	told.Silent("before every worker polls")
	second.still.Store(false)
	told.Hear("STATUS=forwards\nWATCHDOG_USEC=40000\nWATCHDOG=1")
	told.Hear("WATCHDOG=1")
	told.Hear("WATCHDOG=1")

	first.still.Store(true)
	await(t, "the worker that stands still to be logged", func() bool { return strings.Contains(out.String(), "worker 0 makes no turn") })
	told.Forget()
	looked := second.turns.Load()
	await(t, "the other one to be looked at", func() bool { return second.turns.Load() > looked+3 })
	told.Silent("while a worker stands still")
	first.still.Store(false)
	told.Hear("WATCHDOG=1") // it was only slow
	if n := strings.Count(out.String(), "makes no turn"); n != 1 {
		t.Errorf("that it stands still is logged %d times", n)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	told.HearAtLast("STOPPING=1")
}

func TestLifeIsToldWhileThePortsAreAwaited(t *testing.T) {
	told := notify.Listen(t, 40*time.Millisecond)
	come := make(chan error)
	ended := make(chan error, 1)
	go func() { ended <- awaitPorts(slog.New(slog.DiscardHandler), func() error { return <-come }) }()
	told.Hear("READY=1\nSTATUS=waits for its ports\nWATCHDOG_USEC=180000000\nWATCHDOG=1")
	told.Hear("WATCHDOG=1")
	come <- context.Canceled
	if err := <-ended; err != context.Canceled {
		t.Errorf("waiting ended with %v", err)
	}
}

func TestLifeWithoutSystemd(t *testing.T) {
	t.Setenv("NOTIFY_SOCKET", "")
	t.Setenv("WATCHDOG_USEC", "nonsense")
	var out logBuffer
	w := &runner{}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- reportLife(ctx, []*runner{w}, slog.New(slog.NewTextHandler(&out, nil))) }()
	await(t, "the worker to be looked at", func() bool { return w.turns.Load() > 0 })
	cancel()
	if err := <-ended; err != nil || strings.Contains(out.String(), "cannot be told") {
		t.Errorf("without systemd: %v, %s", err, out.String())
	}
}
