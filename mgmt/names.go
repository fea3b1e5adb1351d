package main

import (
	"net/netip"
	"slices"
	"strings"
	"sync"

	"sluice/mgmt/compile"
	"sluice/mgmt/resolve"
	"sluice/mgmt/store"
)

// names brings answers of name servers to the engine, and keeps the last addresses for the next start.
type names struct {
	a  *appliance
	mu sync.Mutex // one writer of the file
}

// answer is the resolver's report.
func (n *names) answer(r resolve.Answer) {
	before := n.a.engine.State().Resolutions
	was := before[r.Server]
	n.a.observe(func(s *compile.State) { s.Resolved(r.Server, r.Domain, r.Addresses, r.Failure, r.At, r.Next) })
	is := n.a.engine.State().Resolutions[r.Server]
	switch {
	case r.Failure != "" && r.Failure != was.Failure:
		n.a.log.Warn("a name does not resolve; the last addresses stay in use", "server", r.Server, "domain", r.Domain, "problem", r.Failure, "address", is.Address)
	case is.Address != was.Address || is.Domain != was.Domain:
		n.a.log.Info("a name has another address", "server", r.Server, "domain", r.Domain, "address", is.Address, "before", was.Address)
	}
	if r.Failure == "" && len(was.Addresses) > 0 && !slices.Equal(is.Addresses, was.Addresses) {
		n.a.log.Info("a name has other addresses", "server", r.Server, "domain", r.Domain, "addresses", len(is.Addresses), "before", len(was.Addresses))
	}
	if r.Failure == "" && (is.Domain != was.Domain || !slices.Equal(is.Addresses, was.Addresses)) {
		n.keep()
	}
}

func (n *names) keep() {
	n.mu.Lock()
	defer n.mu.Unlock()
	var all []store.Addresses
	for server, r := range n.a.engine.State().Resolutions {
		if r.Address.IsValid() {
			all = append(all, store.Addresses{Server: server, Domain: r.Domain, Addresses: r.Addresses, Address: r.Address, At: r.At})
		}
	}
	slices.SortFunc(all, func(x, y store.Addresses) int { return strings.Compare(x.Server, y.Server) })
	if err := n.a.store.KeepAddresses(all); err != nil {
		n.a.log.Warn("the addresses of servers would not survive a restart of management", "error", err)
	}
}

// remember takes over the addresses of the last run, before the configuration that asks for them is in force.
func (n *names) remember() {
	all, err := n.a.store.LastAddresses()
	if err != nil {
		n.a.log.Warn("names start without addresses", "error", err)
	}
	n.a.observe(func(s *compile.State) {
		for _, r := range all {
			s.Resolved(r.Server, r.Domain, []netip.Addr{r.Address}, "", r.At, r.At)
			s.Resolved(r.Server, r.Domain, r.Addresses, "", r.At, r.At)
			s.Resolved(r.Server, r.Domain, nil, "it was not asked for since management has started", r.At, r.At)
		}
	})
}
