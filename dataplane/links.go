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
	claimTime   = time.Second            // that a dataplane which was killed may take to end
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

// claimDevices sees to it that no other dataplane has one of the devices open, for both would forward every packet. A claim is an
// abstract Unix socket: like a device it belongs to the network namespace, and it ends with the process, however that ends. A
// dataplane that was just killed is given the time to end.
func claimDevices(ctx context.Context, devices []port.Device) (release func(), err error) {
	var claims []net.Listener
	release = func() {
		for _, l := range claims {
			l.Close()
		}
	}
	for _, d := range devices {
		for deadline := time.Now().Add(claimTime); ; {
			l, err := net.Listen("unix", "@sluice-dataplane-"+d.Device)
			if err == nil {
				claims = append(claims, l)
				break
			}
			if ctx.Err() != nil || time.Now().After(deadline) {
				release()
				return nil, fmt.Errorf("device %s of port %s belongs to another dataplane that is running: stop it or correct `ports`: %w", d.Device, d.Name, err)
			}
			time.Sleep(devicePause)
		}
	}
	return release, nil
}

// links is what watchLinks looks at.
type links interface {
	Devices() []port.Device
	Link(i int) (port.Link, error)
	TwinLink(i int) (port.Link, error)
}

// watchLinks logs links that go up and down. It fails when a device or twin has been replaced by another one of the same
// name: the descriptors that the workers hold are dead, and only a new start opens the new device. It fails too when a device
// has another MTU than when the ports were opened, which workers and twins go by.
func watchLinks(ctx context.Context, ports links, log *slog.Logger) error {
	devices := ports.Devices()
	up, mtu := make([]bool, len(devices)), make([]int, len(devices))
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
			if mtu[i] == 0 {
				mtu[i] = l.MTU // 0 while there is no device
			}
			if l.MTU != 0 && l.MTU != mtu[i] {
				return fmt.Errorf("port %s must be opened anew: the MTU of device %s was %d bytes and is %d now", d.Name, d.Device, mtu[i], l.MTU)
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
