package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"

	"sluice/image/firstboot"
	"sluice/image/lease"
	"sluice/image/record"
)

// dhcp keeps the management port an address as long as the configuration has no NSIP.
func dhcp([]string) error {
	if configured(machine.config) {
		fmt.Println("sluice: the configuration has an NSIP; no address is asked for")
		return nil
	}
	r, err := record.Read(filepath.Join(machine.config, filepath.Base(record.Path)))
	if err != nil {
		fmt.Println("sluice:", err)
	}
	if r.Management == record.AllData {
		fmt.Println("sluice: every card carries data; the NSIP must be configured from the console")
		return nil
	}
	device, err := managementDevice(machine.sys, r.Management)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	if err := machine.port(device).Keep(ctx); !errors.Is(err, lease.ErrTaken) {
		return err
	}
	return nil
}

var hasNSIP = regexp.MustCompile(`<type>\s*NSIP\s*</type>`)

// configured tells whether the configuration that management starts with has an NSIP.
func configured(config string) bool {
	if text, err := os.ReadFile(filepath.Join(config, "startup.xml")); err == nil {
		return hasNSIP.Match(text)
	}
	text, err := os.ReadFile(filepath.Join(config, "ns.conf"))
	return err == nil && firstboot.HasNSIP(string(text))
}

// managementDevice is the kernel's name of the card with this MAC address, or of the first one by its place in the machine.
func managementDevice(sys, mac string) (string, error) {
	all, err := os.ReadDir(filepath.Join(sys, "class/net"))
	if err != nil {
		return "", fmt.Errorf("the machine's cards cannot be listed: %w", err)
	}
	type card struct{ place, name string }
	var cards []card
	for _, e := range all {
		dir := filepath.Join(sys, "class/net", e.Name())
		place, err := filepath.EvalSymlinks(filepath.Join(dir, "device"))
		if err != nil {
			continue // nothing that one can touch
		}
		has, err := os.ReadFile(filepath.Join(dir, "address"))
		if err == nil && mac != "" && strings.EqualFold(strings.TrimSpace(string(has)), mac) {
			return e.Name(), nil
		}
		cards = append(cards, card{place, e.Name()})
	}
	switch {
	case mac != "":
		return "", fmt.Errorf("there is no card with the MAC address %s, which is the management card's", mac)
	case len(cards) == 0:
		return "", errors.New("the machine has no network card that the kernel knows")
	}
	return slices.MinFunc(cards, func(a, b card) int { return strings.Compare(a.place+" "+a.name, b.place+" "+b.name) }).name, nil
}
