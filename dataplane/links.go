package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"time"

	"sluice/dataplane/api"
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
		nic := func() error {
			if _, err := net.InterfaceByName(d.Device); err != nil {
				return errors.New("the dataplane waits for device " + d.Device + " of port " + d.Name + ": create it or correct `ports`")
			}
			return nil
		}
		if d.PCI != "" {
			nic = func() error {
				if err := port.CheckPCI("/sys", d.PCI); err != nil {
					return fmt.Errorf("the dataplane waits for port %s: %w (sluice-boot start binds NICs)", d.Name, err)
				}
				return nil
			}
		}
		twin := func() error {
			if _, err := net.InterfaceByName(d.Twin); err != nil {
				return errors.New("the dataplane waits for twin " + d.Twin + " of port " + d.Name + ": management makes it when it starts (ip tuntap add dev " +
					d.Twin + " mode tap multi_queue)")
			}
			return nil
		}
		if err := waitFor(ctx, nic, log); err != nil {
			return err
		}
		if err := waitFor(ctx, twin, log); err != nil {
			return err
		}
	}
	return nil
}

// waitFor returns when nothing is missing any more. What is missing is said once.
func waitFor(ctx context.Context, missing func() error, log *slog.Logger) error {
	said := ""
	for err := missing(); err != nil; err = missing() {
		if err.Error() != said {
			said = err.Error()
			log.Warn(said)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(devicePause):
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
			l, err := net.Listen("unix", "@sluice-dataplane-"+d.Device+d.PCI)
			if err == nil {
				claims = append(claims, l)
				break
			}
			if ctx.Err() != nil || time.Now().After(deadline) {
				release()
				return nil, fmt.Errorf("device %s of port %s belongs to another dataplane that is running: stop it or correct `ports`: %w", d.Device+d.PCI, d.Name, err)
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

// watchLinks logs links that go up and down, and tells of those of NICs that the kernel does not see at each look, so that nobody
// who has missed one goes by it for long. It fails when a device or twin has been replaced by another one of the same
// name: the descriptors that the workers hold are dead, and only a new start opens the new device. It fails too when a device
// has another MTU than when the ports were opened, which workers and twins go by.
func watchLinks(ctx context.Context, ports links, tell func(api.Event), log *slog.Logger) error {
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
				return fmt.Errorf("port %s must be opened anew: the MTU of device %s was %d bytes and is %d now", d.Name, d.Device+d.PCI, mtu[i], l.MTU)
			}
			if d.PCI != "" {
				tell(api.Event{Kind: map[bool]api.EventKind{true: api.LinkUp, false: api.LinkDown}[l.Up], Port: uint16(i)})
			}
			if l.Up != up[i] {
				up[i] = l.Up
				log.Info("link of port "+d.Name+" is "+map[bool]string{true: "up", false: "down"}[l.Up], "device", d.Device+d.PCI)
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}
