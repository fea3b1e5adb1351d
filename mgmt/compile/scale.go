package compile

import (
	"iter"
	"net/netip"

	"sluice/vendor-config/schema"
)

// A service group with -autoScale DNS has a member for each address of the domain names that are bound to it.

// scaleMost is how many addresses of one name become members: the lowest. An answer with more does not take all numbers that the
// dataplane has for services.
const scaleMost = 256

// scaled are the addresses of the name of a member's server.
func scaled(c *schema.Config, names map[string]Resolution, r *schema.ServiceGroupMember) []netip.Addr {
	srv, ok := c.Row(servers, r.Server)
	if !ok || srv.(*schema.Server).Domain == "" || names[r.Server].Domain != srv.(*schema.Server).Domain {
		return nil
	}
	all := names[r.Server].Addresses
	return all[:min(len(all), scaleMost)]
}

// scaledName is the name of the service that a member with an address is: "web?www?80?10.2.0.11".
func scaledName(r *schema.ServiceGroupMember, a netip.Addr) string {
	return MemberName(r) + "?" + a.String()
}

// memberNames are the names of the services that a member is.
func memberNames(c *schema.Config, names map[string]Resolution, r *schema.ServiceGroupMember) iter.Seq[string] {
	return func(yield func(string) bool) {
		if g := schema.Get[schema.ServiceGroup](c, r.Group); g == nil || g.AutoScale != "DNS" {
			yield(MemberName(r))
			return
		}
		for _, a := range scaled(c, names, r) {
			if !yield(scaledName(r, a)) {
				return
			}
		}
	}
}

// scale makes the members of a group that a domain name stands for, with those of an earlier index that are as they were. An
// address of this appliance is none.
func (x *Index) scale(s *State, prev *Index, g *schema.ServiceGroup, r *schema.ServiceGroupMember) {
	x.scales = true
	row, ok := x.c.Row(servers, r.Server)
	if !ok || s == nil {
		return
	}
	for _, a := range scaled(x.c, s.Resolutions, r) {
		if x.addrs[a] != nil {
			continue
		}
		name := scaledName(r, a)
		if prev != nil {
			// A server that has changed in any way is another row.
			if was := prev.memberOf[name]; was != nil && was.Row == r && was.Group == g && was.server != nil && prev.rowOf(r.Server) == row {
				x.member(was)
				continue
			}
		}
		m := newMember(r, g)
		server := *row.(*schema.Server)
		server.IPAddress = a
		m.server, m.Service.Name = &server, name
		x.member(m)
	}
}

// rowOf is the row of a server.
func (x *Index) rowOf(server string) any {
	row, _ := x.c.Row(servers, server)
	return row
}
