package main

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"sluice/tests/notify"
)

func TestLifeIsToldWhileTheEnginePasses(t *testing.T) {
	told := notify.Listen(t, 20*time.Millisecond)
	asked, answer := make(chan bool), make(chan bool)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan bool)
	go func() {
		reportLife(ctx, func() { asked <- true; <-answer }, slog.New(slog.DiscardHandler))
		close(ended)
	}()
	<-asked
	told.Silent("before the engine lets pass")
	answer <- true
	told.Hear("READY=1")
	<-asked // it is asked again and hangs, for some times of the watchdog
	time.Sleep(60 * time.Millisecond)
	told.Silent("while the engine hangs")
	answer <- true
	told.Hear("WATCHDOG=1")
	go func() {
		for range asked {
			answer <- true
		}
	}()
	told.Hear("WATCHDOG=1")
	cancel()
	<-ended
	told.HearAtLast("STOPPING=1")
}

func TestLifeWithoutSystemd(t *testing.T) {
	t.Setenv("NOTIFY_SOCKET", "")
	t.Setenv("WATCHDOG_USEC", "")
	ctx, cancel := context.WithCancel(t.Context())
	passed, ended := make(chan bool, 1), make(chan bool)
	go func() {
		reportLife(ctx, func() { passed <- true }, slog.New(slog.DiscardHandler))
		close(ended)
	}()
	<-passed
	cancel()
	<-ended
}
