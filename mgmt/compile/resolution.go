package compile

import (
	"maps"
	"net/netip"
	"slices"
	"time"

	"sluice/vendor-config/schema"
)

// Query is a domain name whose addresses are wanted.
type Query struct {
	Server, Domain string
	Retry          time.Duration // until the next attempt after one that failed
}

// Resolution is what is known of a domain name.
type Resolution struct {
	Domain    string
	Addresses []netip.Addr // of the last answer that had any, ascending
	Address   netip.Addr   // the one of them that is used; zero: there has been none
	At        time.Time    // of that answer
	Next      time.Time    // when it is asked for again
	Failure   string       // why the last attempt has failed; "" if it has not
}

// Resolved notes what an attempt to resolve a server's domain name has come to: addresses, or a failure, after which the last
// addresses stay in use. An address that is used stays as long as it is among the answers, so that their order, which name
// servers change at each answer, moves nobody. It is for use within Engine.Observe.
func (s *State) Resolved(server, domain string, addresses []netip.Addr, failure string, at, next time.Time) {
	r := s.Resolutions[server]
	if r.Domain != domain {
		r = Resolution{Domain: domain}
	}
	r.Failure, r.Next = failure, next
	if failure == "" && len(addresses) > 0 {
		r.At, r.Addresses = at, slices.Compact(slices.SortedFunc(slices.Values(addresses), netip.Addr.Compare))
		if !slices.Contains(r.Addresses, r.Address) {
			r.Address = r.Addresses[0]
		}
	}
	s.Resolutions = maps.Clone(s.Resolutions)
	if s.Resolutions == nil {
		s.Resolutions = map[string]Resolution{}
	}
	s.Resolutions[server] = r
}

// SameAddresses tells whether servers have the same addresses in both states.
func SameAddresses(a, b map[string]Resolution) bool {
	return maps.EqualFunc(a, b, func(x, y Resolution) bool {
		return x.Address == y.Address && x.Domain == y.Domain && slices.Equal(x.Addresses, y.Addresses)
	})
}

// Unresolve forgets the names of servers that have none any more.
func (s *State) Unresolve(c *schema.Config) {
	gone := func(server string, r Resolution) bool {
		row, ok := c.Row(servers, server)
		return !ok || row.(*schema.Server).Domain != r.Domain
	}
	for server, r := range s.Resolutions {
		if gone(server, r) {
			s.Resolutions = maps.Clone(s.Resolutions)
			maps.DeleteFunc(s.Resolutions, gone)
			return
		}
	}
}

// named is a server with a domain name, and the same server with the address that the name has; that has none as long as it
// is not known.
type named struct {
	row, server *schema.Server
}

// indexNames finds the addresses of the servers with domain names. What is as in an earlier index is the same memory.
func (x *Index) indexNames(s *State, prev *Index) {
	if prev != nil && prev.named == nil && prev.c.Same(x.c, servers) {
		return
	}
	for row := range x.c.Each(servers) {
		r := row.(*schema.Server)
		if r.Domain == "" {
			continue
		}
		var a netip.Addr
		if s != nil && s.Resolutions[r.Name].Domain == r.Domain {
			a = s.Resolutions[r.Name].Address
		}
		if x.addrs[a] != nil {
			a = netip.Addr{} // ours: packets would go in a circle
		}
		if x.named == nil {
			x.named = map[string]named{}
		}
		if prev != nil {
			if was := prev.named[r.Name]; was.row == r && was.server.IPAddress == a {
				x.named[r.Name] = was
				continue
			}
		}
		with := *r
		with.IPAddress = a
		x.named[r.Name] = named{r, &with}
	}
}

// sameServers tells whether the servers and their addresses are the same in x and prev.
func (x *Index) sameServers(prev *Index) bool {
	return x.c.Same(prev.c, servers) && maps.Equal(x.named, prev.named)
}

// Queries are the domain names that the configuration asks for.
func (x *Index) queries() []Query {
	var out []Query
	for row := range x.c.Each(servers) {
		if r := row.(*schema.Server); r.Domain != "" {
			out = append(out, Query{r.Name, r.Domain, time.Duration(r.DomainResolveRetry) * time.Second})
		}
	}
	return out
}

// addressed tells whether the address of the service's server is known.
func (x *Index) addressed(svc *schema.Service) bool {
	srv := x.ServerOf(svc)
	return srv == nil || srv.Domain == "" || srv.IPAddress.IsValid()
}
