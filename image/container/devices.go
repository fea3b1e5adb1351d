package main

import (
	"errors"
	"fmt"
	"log/slog"
	"os"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// devices are the network devices of the container, in the order in which they came: Ethernet but neither bridges nor twins.
func devices() ([]string, error) {
	links, err := netlink.LinkList()
	if err != nil {
		return nil, fmt.Errorf("the container's network devices cannot be listed: %w", err)
	}
	var names []string
	for _, l := range links {
		a := l.Attrs()
		switch l.Type() {
		case "bridge", "bond", "tuntap", "dummy", "ifb":
			continue
		}
		if a.EncapType == "ether" && a.MasterIndex == 0 {
			names = append(names, a.Name)
		}
	}
	return names, nil
}

// twins says what a container lacks that cannot make taps; the programs would say the same, less clearly and for ever.
func twins() error {
	const path = "/dev/net/tun"
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return fmt.Errorf("the container has no %s, of which the ports' twins are made: start it with --device %s", path, path)
	case err != nil:
		return fmt.Errorf("the container may not use %s, of which the ports' twins are made (%w): start it with --device %s --cap-add NET_ADMIN --cap-add NET_RAW", path, err, path)
	}
	return f.Close()
}

// parameters says what a container lacks whose engine has closed the kernel's parameters, as most do: ports need those of their
// own network, e.g. that the kernel does not answer ARP on one device for another.
func parameters() error {
	const path = "/proc/sys/net/ipv4/ip_local_port_range"
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return fmt.Errorf("the container may not set the kernel's parameters of its own network (%w): start it with --security-opt systempaths=unconfined (Docker), --security-opt unmask=ALL (podman) or --privileged", err)
	}
	return f.Close()
}

// free takes the addresses of the engine's from the ports' devices: the kernel would answer for them beside the dataplane, and
// have two ways into their networks. They may be configured as SNIPs.
func free(p plan, log *slog.Logger) error {
	for _, name := range p.ports {
		link, err := netlink.LinkByName(name)
		if err != nil {
			return fmt.Errorf("device %s: %w", name, err)
		}
		addrs, err := netlink.AddrList(link, netlink.FAMILY_V4)
		if err != nil {
			return fmt.Errorf("the addresses of device %s: %w", name, err)
		}
		for _, a := range addrs {
			if err := netlink.AddrDel(link, &a); err != nil {
				return fmt.Errorf("the address %s of device %s cannot be removed (%w): start the container with --cap-add NET_ADMIN", a.IPNet, name, err)
			}
			log.Warn("the container's address is not the kernel's any more; it may be added as a SNIP", "device", name, "address", a.IPNet.String())
		}
		if err := netlink.LinkSetUp(link); err != nil {
			return fmt.Errorf("device %s cannot be set up (%w): start the container with --cap-add NET_ADMIN", name, err)
		}
	}
	return nil
}

// lcore is the CPU for the worker: the last one that the container may use.
func lcore() int {
	var set unix.CPUSet
	last := 0
	if unix.SchedGetaffinity(0, &set) == nil {
		for i := range len(set) * 64 {
			if set.IsSet(i) {
				last = i
			}
		}
	}
	return last
}
