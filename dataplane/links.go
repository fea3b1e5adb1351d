package main

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"time"

	"sluice/dataplane/port"
)

const (
	devicePause = 100 * time.Millisecond // between looks for a device that is missing
	linkPause   = time.Second            // between looks at the links
)

// waitForDevices returns when every device and twin exists. Each missing one is named once.
func waitForDevices(ctx context.Context, devices []port.Device, log *slog.Logger) error {
	for _, d := range devices {
		hint := map[string]string{
			d.Device: "the dataplane waits for device " + d.Device + " of port " + d.Name + ": create it or correct `ports`",
			d.Twin: "the dataplane waits for twin " + d.Twin + " of port " + d.Name + ": management makes it when it starts (ip tuntap add dev " +
				d.Twin + " mode tap multi_queue)",
		}
		for _, name := range []string{d.Device, d.Twin} {
			for said := false; ; said = true {
				if _, err := net.InterfaceByName(name); err == nil {
					break
				}
				if !said {
					log.Warn(hint[name])
				}
				select {
				case <-ctx.Done():
					return ctx.Err()
				case <-time.After(devicePause):
				}
			}
		}
	}
	return nil
}

// links is what watchLinks looks at.
type links interface {
	Devices() []port.Device
	Link(i int) (port.Link, error)
	TwinLink(i int) (port.Link, error)
}

// watchLinks logs links that go up and down. It fails when a device or twin has been replaced by another one of the same
// name: the descriptors that the workers hold are dead, and only a new start opens the new device.
func watchLinks(ctx context.Context, ports links, log *slog.Logger) error {
	devices := ports.Devices()
	up := make([]bool, len(devices))
	for i := range up {
		up[i] = true
	}
	tick := time.NewTicker(linkPause)
	defer tick.Stop()
	for {
		for i, d := range devices {
			l, err := ports.Link(i)
			if err == nil {
				_, err = ports.TwinLink(i)
			}
			if err != nil {
				return fmt.Errorf("port %s must be opened anew: %w", d.Name, err)
			}
			if l.Up != up[i] {
				up[i] = l.Up
				log.Info("link of port "+d.Name+" is "+map[bool]string{true: "up", false: "down"}[l.Up], "device", d.Device)
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}
