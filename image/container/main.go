// Program sluice-container is what runs first in the container form of the appliance: it gives the container's network
// devices to the appliance as its ports, writes the settings, and keeps dataplane and management running.
package main

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"
)

// farewell is how long the programs may take to end; management hands its virtual routers over meanwhile.
const farewell = 8 * time.Second // container engines kill after 10

func main() {
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	if err := run(log); err != nil {
		fmt.Fprintln(os.Stderr, "sluice-container:", err)
		os.Exit(1)
	}
}

// run is the container from its devices to SIGTERM.
func run(log *slog.Logger) error {
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM, syscall.SIGINT)
	defer signal.Stop(stop)
	found, err := devices()
	if err != nil {
		return err
	}
	w, err := wishes(os.Getenv)
	if err != nil {
		return err
	}
	p, err := choose(found, w)
	if err != nil {
		return err
	}
	if err := errors.Join(twins(), parameters()); err != nil {
		return err
	}
	if err := free(p, log); err != nil {
		return err
	}
	files, err := settings(p, w, logins("/config"))
	if err != nil {
		return err
	}
	if err := files.write("/run/sluice"); err != nil {
		return err
	}
	log.Info("the appliance starts", "ports", p.text(), "management", p.management)
	keep := newKeeper(log, []program{
		{"management", []string{"/usr/bin/sluice-mgmt", "-config", "/run/sluice/mgmt.yaml"}},
		{"dataplane", []string{"/usr/bin/sluice-dataplane", "-config", "/run/sluice/dataplane.yaml"}},
	})
	return keep.run(stop, farewell)
}

// wishes are what whoever starts the container asks for by its environment.
func wishes(getenv func(string) string) (wish, error) {
	w := wish{ports: words(getenv("SLUICE_PORTS")), management: getenv("SLUICE_MANAGEMENT"), flows: 262144, memory: 64}
	var errs []error
	for _, n := range []struct {
		name string
		into *int
	}{{"SLUICE_FLOWS", &w.flows}, {"SLUICE_MEMORY", &w.memory}} {
		if text := getenv(n.name); text != "" {
			v, err := strconv.Atoi(text)
			if err != nil || v < 1 {
				errs = append(errs, fmt.Errorf("%s is %q: it is a whole number above 0", n.name, text))
			}
			*n.into = v
		}
	}
	return w, errors.Join(errs...)
}
