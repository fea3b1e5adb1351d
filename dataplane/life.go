package main

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"
)

const (
	lifePause = time.Second       // between looks at the workers while nobody watches the program
	startTime = 180 * time.Second // that opening the ports may take, on the slowest of machines
)

// tell tells systemd something, if that has started the program.
func tell(log *slog.Logger, word string) {
	if _, err := daemon.SdNotify(false, word); err != nil {
		log.Warn("systemd cannot be told how the dataplane is", "error", err)
	}
}

// watched is how soon systemd wants to hear of the program again and again, 0 if it does not.
func watched(log *slog.Logger) time.Duration {
	d, err := daemon.SdWatchdogEnabled(false)
	if err != nil {
		log.Warn("the time in which systemd wants to hear of the dataplane is not understood", "error", err)
	}
	return d
}

// within is how systemd is told how long it is to wait for the next word.
func within(d time.Duration) string {
	return fmt.Sprintf("WATCHDOG_USEC=%d\n%s", d.Microseconds(), daemon.SdNotifyWatchdog)
}

// awaitPorts tells systemd that the program has begun, so that management is started, whose twins the ports wait for; and then that
// it lives until wait returns. After that the ports may take their time to open.
func awaitPorts(log *slog.Logger, wait func() error) error {
	word := daemon.SdNotifyReady + "\nSTATUS=waits for its ports"
	if watched(log) > 0 {
		word += "\n" + within(startTime)
	}
	tell(log, word)
	ended := make(chan error, 1)
	go func() { ended <- wait() }()
	tick := time.NewTicker(lifePause)
	defer tick.Stop()
	for {
		select {
		case err := <-ended:
			return err
		case <-tick.C:
			tell(log, daemon.SdNotifyWatchdog)
		}
	}
}

// polling is a worker, of which only its turns are of interest.
type polling interface{ Turns() uint64 }

// reportLife tells systemd that the program lives as long as every worker goes on to make turns. When one stands still nothing more is
// told, and systemd starts the program anew: the ports and flows of a worker that hangs are of use to nobody.
func reportLife[W polling](ctx context.Context, workers []W, log *slog.Logger) error {
	pause, begun := lifePause, "STATUS=forwards"
	if d := watched(log); d > 0 {
		pause, begun = d/4, begun+"\n"+within(d)
	}
	last, ready, silent := make([]uint64, len(workers)), false, ""
	tick := time.NewTicker(pause)
	defer tick.Stop()
	for {
		stuck := ""
		for i, w := range workers {
			now := w.Turns()
			if now == last[i] {
				stuck = fmt.Sprintf("worker %d makes no turn", i)
			}
			last[i] = now
		}
		if ready && stuck != silent {
			if silent = stuck; stuck != "" {
				log.Error(stuck)
			}
		}
		if stuck == "" && ready {
			tell(log, daemon.SdNotifyWatchdog)
		} else if stuck == "" {
			tell(log, begun)
			ready = true
		}
		wait := tick.C
		if !ready { // the first turns come at once
			wait = time.After(lifePause / 20)
		}
		select {
		case <-ctx.Done():
			tell(log, daemon.SdNotifyStopping)
			return nil
		case <-wait:
		}
	}
}
