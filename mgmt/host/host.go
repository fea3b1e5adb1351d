// Package host keeps the kernel's side of the ports: twin taps, addresses, routes, sysctls, the rule that silences the
// kernel on the devices that the dataplane drives, and the neighbors that the kernel resolves. It does what a
// compile.HostPlan says and tells what it sees; it decides neither, and never touches links that are no ports.
package host

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netlink/nl"
	"golang.org/x/sys/unix"

	"sluice/mgmt/compile"
)

// reprobeEvery is how often a neighbor in use is asked for again. Traffic of the dataplane confirms nothing to the
// kernel, so without this a neighbor that has gone would be used for ever.
const reprobeEvery = 30 * time.Second

// Host is the kernel's side of the ports. It lives in the network namespace of the thread that opened it; Apply must
// be called in the same.
type Host struct {
	ports   []compile.Port
	log     *slog.Logger
	nl      *netlink.Handle
	events  *nl.NetlinkSocket // neighbors, links and addresses; read by Watch
	deaf    atomic.Bool       // events is closed
	reprobe time.Duration

	linkMu    sync.Mutex
	unplugged map[string]bool // by twin: the NIC, which the kernel does not see, has no link
	relinked  chan struct{}   // it has one again, or no longer

	management string // device of the management port, "" if there is none

	mu       sync.Mutex
	plan     *compile.HostPlan // last applied; nil before the first
	silenced map[string]int    // interface index by device, when its ingress was silenced
	faults   []string
	given    []netip.Prefix // what the management port had before it got the NSIP; nil before that
	watching chan struct{}  // closed when Watch has ended; nil before it began
}

// Open prepares a host for the ports. Nothing is changed before Apply.
func Open(ports []compile.Port, log *slog.Logger) (*Host, error) {
	if len(ports) > math.MaxUint16 {
		return nil, fmt.Errorf("%d ports are more than an appliance can have", len(ports))
	}
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	h := &Host{ports: ports, log: log, reprobe: reprobeEvery, silenced: map[string]int{}, unplugged: map[string]bool{}, relinked: make(chan struct{}, 1)}
	var err error
	if h.nl, err = netlink.NewHandle(unix.NETLINK_ROUTE); err != nil {
		return nil, fmt.Errorf("cannot talk to the kernel about links and addresses (netlink): %w", err)
	}
	h.events, err = nl.Subscribe(unix.NETLINK_ROUTE, unix.RTNLGRP_NEIGH, unix.RTNLGRP_LINK, unix.RTNLGRP_IPV4_IFADDR)
	if err != nil {
		h.nl.Close()
		return nil, fmt.Errorf("cannot subscribe to neighbors and links (netlink): %w", err)
	}
	// Room for a storm of some 10,000 events; without the right to it the kernel's limit must do, and a resync helps.
	if h.events.SetReceiveBufferSize(8<<20, true) != nil {
		_ = h.events.SetReceiveBufferSize(8<<20, false)
	}
	return h, nil
}

// Manage names the device that is the management port. It is for the time between Open and all other calls.
func (h *Host) Manage(device string) { h.management = device }

// Close ends a Watch, waits for it and frees the sockets; it must not be called from one of News. Taps, addresses and routes stay: forwarding goes on without management.
func (h *Host) Close() {
	h.deafen()
	h.mu.Lock()
	watching := h.watching
	h.mu.Unlock()
	if watching != nil {
		<-watching
	}
	h.nl.Close()
}

// deafen ends the stream of events.
func (h *Host) deafen() {
	h.deaf.Store(true)
	h.events.Close()
}

// Apply makes twins, addresses and routes be as planned and removes those of an earlier plan. Applying the same plan
// again changes nothing and restores whatever has been lost since, e.g. when a dataplane that ended has flushed its
// twins. It does as much as it can: the error tells all of the plan that could not be done. What is wrong with the
// machine rather than the plan, such as a card that is missing, is no error: it is logged, and Faults tells it, so that
// the operator can still configure.
func (h *Host) Apply(ctx context.Context, plan compile.HostPlan) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.plan = &plan
	return h.apply(ctx)
}

// restore applies the last plan again, if there was one.
func (h *Host) restore(ctx context.Context) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.plan == nil {
		return nil
	}
	return h.apply(ctx)
}

// apply brings about the plan. The caller holds mu.
func (h *Host) apply(ctx context.Context) error {
	twins, why, err := h.applyPorts(ctx)
	if err != nil {
		return err
	}
	var errs []error
	want := map[string][]netip.Prefix{}
	for _, t := range h.plan.Twins {
		name := t.Port.Twin
		want[name] = append(want[name], t.Addresses...)
		if len(t.Addresses) == 0 || twins[name] != nil {
			continue
		}
		reason := why[name]
		if reason == nil {
			reason = fmt.Errorf("twin %s of port %s is not in the settings: add the port to `ports`", name, t.Port.Name)
		}
		errs = append(errs, fmt.Errorf("address %s cannot be added: %w", t.Addresses[0], reason))
	}
	for name, link := range twins {
		errs = append(errs, h.applyAddresses(link, want[name]))
	}
	errs = append(errs, h.applyRoutes(twins, h.plan.Routes), h.applyManagement(h.plan.Management))
	return errors.Join(errs...)
}

// applyPorts readies devices and twins. It returns the twins that are there by name, and why the others are not.
func (h *Host) applyPorts(ctx context.Context) (twins map[string]netlink.Link, why map[string]error, err error) {
	faults := []error{h.applySysctls()}
	twins, why = map[string]netlink.Link{}, map[string]error{}
	for _, p := range h.ports {
		if err := ctx.Err(); err != nil {
			return nil, nil, fmt.Errorf("the ports could not be readied in time: %w", err)
		}
		dev, fault := h.applyDevice(p)
		faults = append(faults, fault)
		twin, fault := h.applyTwin(p, dev)
		faults = append(faults, fault)
		if twin != nil {
			twins[p.Twin] = twin
		} else {
			why[p.Twin] = fault
		}
	}
	h.noteFaults(append(faults, h.readyManagement(), h.silence()))
	return twins, why, nil
}

// noteFaults keeps what is wrong with the machine now and logs what is new of it.
func (h *Host) noteFaults(errs []error) {
	old := h.faults
	h.faults = nil
	for _, err := range errs {
		if err == nil {
			continue
		}
		h.faults = append(h.faults, err.Error())
		if !slices.Contains(old, err.Error()) {
			h.log.Error("the ports are not ready", "error", err)
		}
	}
}

// Faults is what was wrong with the ports when the plan was applied last, a sentence each.
func (h *Host) Faults() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.faults)
}

// byTwin is the index of the port whose twin is called name, or -1.
func (h *Host) byTwin(name string) int {
	for i, p := range h.ports {
		if p.Twin == name {
			return i
		}
	}
	return -1
}

// isOurs tells whether a link is a device or twin of a port, or the management port.
func (h *Host) isOurs(link string) bool {
	return link == h.management && link != "" || slices.ContainsFunc(h.ports, func(p compile.Port) bool { return link == p.Twin || link == p.Device })
}

// link finds a link by name; it is nil without an error when there is none.
func (h *Host) link(name string) (netlink.Link, error) {
	l, err := h.nl.LinkByName(name)
	var none netlink.LinkNotFoundError
	if errors.As(err, &none) {
		return nil, nil
	}
	return l, err
}
