package main

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"sluice/dataplane/api"
	"sluice/dataplane/port"
)

// logBuffer keeps what is logged.
type logBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func TestMissingTwinIsNamedOnce(t *testing.T) {
	var out logBuffer
	ctx, cancel := context.WithTimeout(t.Context(), 3*devicePause)
	defer cancel()
	err := waitForDevices(ctx, []port.Device{{Name: "1/1", Device: "lo", Twin: "no-such-tap"}}, slog.New(slog.NewTextHandler(&out, nil)))
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("waiting ended with %v", err)
	}
	if got := strings.Count(out.String(), "no-such-tap of port 1/1"); got != 1 {
		t.Errorf("the missing twin was named %d times, want once:\n%s", got, out.String())
	}
	if err := waitForDevices(t.Context(), []port.Device{{Name: "1/1", Device: "lo", Twin: "lo"}}, slog.New(slog.NewTextHandler(&out, nil))); err != nil {
		t.Errorf("devices that exist are waited for: %v", err)
	}
}

func TestLinksAreWatched(t *testing.T) {
	var out logBuffer
	ports := &fakePorts{}
	ended := make(chan error, 1)
	go func() {
		ended <- watchLinks(t.Context(), ports, func(api.Event) {}, slog.New(slog.NewTextHandler(&out, nil)))
	}()
	await(t, "the link that is down to be logged", func() bool { return strings.Contains(out.String(), "link of port 1/1 is down") })
	ports.up.Store(true)
	await(t, "the link that is up to be logged", func() bool { return strings.Contains(out.String(), "link of port 1/1 is up") })
	ports.replaced.Store(true)
	select {
	case err := <-ended:
		if !errors.Is(err, port.ErrReplaced) || !strings.Contains(err.Error(), "port 1/1") {
			t.Errorf("a replaced device ends the watch with %v", err)
		}
	case <-time.After(30 * time.Second):
		t.Error("a replaced device is not noticed within 30 s")
	}
}

func TestLinksThatTheKernelDoesNotSeeAreTold(t *testing.T) {
	for pci, want := range map[string]bool{"0000:00:04.0": true, "": false} {
		ports, told := &fakePorts{pci: pci}, make(chan api.Event, 16)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		var out logBuffer
		go func() {
			ended <- watchLinks(ctx, ports, func(e api.Event) { told <- e }, slog.New(slog.NewTextHandler(&out, nil)))
		}()
		await(t, "the link that is down to be logged", func() bool { return strings.Contains(out.String(), "is down") })
		if want {
			if e := <-told; e.Kind != api.LinkDown || e.Port != 0 {
				t.Errorf("a link that is down is told as %+v", e)
			}
		}
		ports.up.Store(true)
		await(t, "the link that is up to be logged", func() bool { return strings.Contains(out.String(), "is up") })
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		close(told)
		var last api.Event
		for e := range told {
			last = e
		}
		if (last.Kind == api.LinkUp) != want {
			t.Errorf("with NIC %q the last event is %+v", pci, last)
		}
	}
}

func TestAnotherMTUEndsTheWatch(t *testing.T) {
	var out logBuffer
	ports := &fakePorts{}
	ports.up.Store(true)
	ended := make(chan error, 1)
	go func() {
		ended <- watchLinks(t.Context(), ports, func(api.Event) {}, slog.New(slog.NewTextHandler(&out, nil)))
	}()
	time.Sleep(linkPause / 2)
	ports.mtu.Store(1400)
	select {
	case err := <-ended:
		if err == nil || !strings.Contains(err.Error(), "1500 bytes and is 1400") {
			t.Errorf("another MTU ends the watch with %v", err)
		}
	case <-time.After(30 * time.Second):
		t.Error("another MTU is not noticed within 30 s")
	}
}

func TestDevicesAreClaimedOnce(t *testing.T) {
	devices := []port.Device{{Name: "1/1", Device: "lo", Twin: "no-such-tap"}}
	release, err := claimDevices(t.Context(), devices)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := claimDevices(t.Context(), devices); err == nil || !strings.Contains(err.Error(), "device lo of port 1/1") {
		t.Errorf("a device that is claimed is given again: %v", err)
	}
	release()
	if release, err = claimDevices(t.Context(), devices); err != nil {
		t.Errorf("a device that was released is refused: %v", err)
	} else {
		release()
	}
}

func await(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited 10 s for %s", what)
		}
	}
}
