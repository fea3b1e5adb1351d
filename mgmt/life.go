package main

import (
	"context"
	"log/slog"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"
)

// reportLife tells systemd, if that has started the program, that management is up, and goes on telling as long as pass returns: an
// engine that hangs is not to look alive. The last word is that management ends.
func reportLife(ctx context.Context, pass func(), log *slog.Logger) {
	tell := func(word string) {
		if _, err := daemon.SdNotify(false, word); err != nil {
			log.Warn("systemd cannot be told how management is", "error", err)
		}
	}
	pass()
	tell(daemon.SdNotifyReady)
	watched, err := daemon.SdWatchdogEnabled(false)
	if err != nil {
		log.Warn("the time in which systemd wants to hear of management is not understood", "error", err)
	}
	var tick <-chan time.Time
	if watched > 0 {
		ticker := time.NewTicker(watched / 4)
		defer ticker.Stop()
		tick = ticker.C
	}
	for {
		select {
		case <-ctx.Done():
			tell(daemon.SdNotifyStopping)
			return
		case <-tick:
			pass()
			tell(daemon.SdNotifyWatchdog)
		}
	}
}
