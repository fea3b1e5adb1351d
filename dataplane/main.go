// Program sluice-dataplane forwards packets: it starts DPDK, runs one worker per CPU it is given and serves the api to
// management. It decides nothing else: what is balanced where, who is up and which routes hold come from management.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"syscall"

	"sluice/dataplane/api"
	"sluice/dataplane/port"
)

// version is set by the build (-ldflags "-X main.version=...").
var version = "development"

const defaultSettings = "/etc/sluice/dataplane.yaml"

// heapFuse bounds the Go heap, in bytes. Collection is off: the control side collects by itself, so that no worker is
// stopped in the middle of a burst; if it ever failed to, this limit would start the collector.
const heapFuse = 512 << 20

func main() {
	path := flag.String("config", defaultSettings, "settings `file`")
	showVersion := flag.Bool("version", false, "print the version and exit")
	flag.Parse()
	if *showVersion {
		fmt.Println("sluice-dataplane", version, runtime.Version())
		return
	}
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	if err := run(ctx, *path, log); err != nil && ctx.Err() == nil {
		log.Error("the dataplane stops: " + err.Error())
		os.Exit(1)
	}
	log.Info("the dataplane has ended")
}

// run does everything between reading the settings and the end of ctx.
func run(ctx context.Context, path string, log *slog.Logger) error {
	s, err := readSettings(path)
	if err != nil {
		return err
	}
	debug.SetGCPercent(-1)
	debug.SetMemoryLimit(heapFuse)
	runtime.GOMAXPROCS(len(s.lcores()) + 2)

	// Claimed first, so that two dataplanes never hold the same ports; served when there is something to serve.
	l, err := api.Listen(s.Socket)
	if err != nil {
		return err
	}
	defer l.Close()
	devices := s.devices()
	if err := awaitPorts(log, func() error { return waitForDevices(ctx, devices, log) }); err != nil {
		return err
	}
	release, err := claimDevices(ctx, devices)
	if err != nil {
		return err
	}
	defer release()
	eal := s.eal()
	if err := port.StartEAL(eal); err != nil {
		return err
	}
	ports, err := port.Open(devices, eal)
	if err != nil {
		return err
	}
	defer ports.Quiet()
	for _, note := range ports.Notes() {
		log.Warn(note)
	}
	crew, err := newCrew(s, ports)
	if err != nil {
		return err
	}
	c := newControl(crew.workers, ports)
	c.tableMemory = uint64(s.Tables) << 20
	log.Info("the dataplane forwards", "version", version, "ports", len(devices), "cpus", s.lcores(), "buffers", ports.PoolFree(), "socket", s.Socket)
	return serve(ctx, l, c, crew, log)
}

// serve runs the workers and the control side until ctx ends or one of them fails.
func serve(ctx context.Context, l net.Listener, c *control, crew *crew, log *slog.Logger) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	start := func(what string, fn func() error) <-chan struct{} {
		done := make(chan struct{})
		go func() {
			defer close(done)
			if err := fn(); err != nil && !errors.Is(err, context.Canceled) {
				cancel(fmt.Errorf("%s: %w", what, err))
			}
		}()
		return done
	}
	parts := []<-chan struct{}{
		start("workers", func() error { return crew.run(ctx) }),
		start("api", func() error { return api.Serve(ctx, l, c) }),
		start("links", func() error { return watchLinks(ctx, c.ports, c.publish, log) }),
		start("life", func() error { return reportLife(ctx, crew.workers, log) }),
		start("events", func() error { return c.pass(ctx) }),
		start("memory", func() error { return c.collect(ctx) }),
	}
	for _, done := range parts {
		<-done
	}
	if err := context.Cause(ctx); !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}
