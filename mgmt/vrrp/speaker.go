package vrrp

import (
	"context"
	"log/slog"
)

// Options are what a Speaker needs.
type Options struct {
	// Changed is told each change of a role at once, and at most ten times a second that the master is another one. It is
	// called in the speaker's loop, one call at a time, and must return within a few milliseconds: while it runs no advert
	// is sent or heard, and no Beat comes. On taking over it is called after the advert that has the old master yield and
	// before gratuitous ARP; on giving up before the advert of priority 0 that lets others take over.
	Changed func(State)
	Log     *slog.Logger
}

// Speaker takes part in VRRP.
type Speaker struct {
	options Options
}

// New makes a Speaker without routers.
func New(o Options) *Speaker { return &Speaker{options: o} }

// Update makes the routers those of the intents, which pass Check; one that does not is left out and logged. What stays keeps
// its state. A master that goes gives up first.
func (s *Speaker) Update(intents []Intent) {}

// States are all routers, by device and ID.
func (s *Speaker) States() []State { return nil }

// Counters are those of all routers and devices, by device and ID.
func (s *Speaker) Counters() []Count { return nil }

// Beat brings something every 100 ms as long as the loop that sends and hears adverts is alive. Who renews the dataplane's
// leases does so on each beat and never otherwise, so that mastership does not outlive the protocol.
func (s *Speaker) Beat() <-chan struct{} { return nil }

// Close gives all mastership up, with adverts of priority 0, and ends. Changed is told.
func (s *Speaker) Close(ctx context.Context) error { return nil }
