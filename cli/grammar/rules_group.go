package grammar

import (
	"cmp"
	"net/netip"
	"slices"

	"sluice/vendor-config/schema"
)

func groupRules() rules {
	return rules{
		prepare: typed(groupSourceChanged),
		check: typed(func(c *schema.Config, g *schema.ServiceGroup) error {
			if schema.Get[schema.Service](c, g.Name) != nil {
				return schema.Refuse(schema.RowExists, "serviceGroupName", g.Name).Because("it is a service")
			}
			return nil
		}),
		bindings: true,
	}
}

// memberKey puts the name of the server in the place of its address.
func memberKey(c *schema.Config, key []string) []string {
	if schema.Get[schema.Server](c, key[1]) != nil {
		return key
	}
	a, err := netip.ParseAddr(key[1])
	if err != nil {
		return key
	}
	if have := serverAt(c, a); have != nil {
		key = slices.Clone(key)
		key[1] = have.Name
	}
	return key
}

func memberServer(c *schema.Config, m *schema.ServiceGroupMember) (err error) {
	m.Server, err = serverByAddress(c, m.Server)
	return err
}

// checkMember: the monitors of the group can watch the member.
func checkMember(c *schema.Config, m *schema.ServiceGroupMember) error {
	if err := cmp.Or(memberPort(c, m), checkScaled(c, m)); err != nil {
		return err
	}
	if m.Port != 0 {
		return nil
	}
	for row := range c.Each(schema.Of[schema.ServiceGroupMonitor]()) {
		if b := row.(*schema.ServiceGroupMonitor); b.Group == m.Group {
			if err := monitorsAnyPort(c, b.Monitor, "a member of serviceGroup "+m.Group); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkScaled: a group that scales has members by domain names alone, and none of them is one in particular.
func checkScaled(c *schema.Config, m *schema.ServiceGroupMember) error {
	g, s := schema.Get[schema.ServiceGroup](c, m.Group), schema.Get[schema.Server](c, m.Server)
	switch {
	case g == nil || g.AutoScale != "DNS" || s == nil:
		return nil
	case s.Domain == "":
		return schema.Refuse(schema.Conflict, "serviceGroup "+g.Name+" -autoScale DNS", "server "+s.Name).Because("its members are the addresses of domain names: bind a server that was added by its name")
	case m.HashID != 0:
		return schema.Refuse(schema.Conflict, "serviceGroup "+g.Name+" -autoScale DNS", "-hashId").Because("the addresses of a name are several members, each by itself")
	}
	return nil
}

// checkGroupMonitor: a monitor needs a port to probe, of each member.
func checkGroupMonitor(c *schema.Config, b *schema.ServiceGroupMonitor) error {
	for row := range c.Each(schema.Of[schema.ServiceGroupMember]()) {
		if m := row.(*schema.ServiceGroupMember); m.Group == b.Group && m.Port == 0 {
			return monitorsAnyPort(c, b.Monitor, "member "+m.Server+" of serviceGroup "+b.Group)
		}
	}
	return nil
}

// monitorsAnyPort tells why a monitor cannot watch something that takes every port.
func monitorsAnyPort(c *schema.Config, monitor, what string) error {
	if m := schema.MonitorNamed(c, monitor); m != nil && m.DestPort == 0 && schema.NeedsPort(m.Type) {
		return schema.Refuse(schema.NoPrereq, "destPort").Because(what + " has no port of its own, so the monitor must name one")
	}
	return nil
}

// checkGroupBinding: a vserver balances groups of its own type; their members have weights of their own.
func checkGroupBinding(v *schema.LBVserver, g *schema.ServiceGroup, b *schema.LBVserverService) error {
	switch {
	case v.ServiceType != g.ServiceType:
		return schema.Refuse(schema.BadArgument, b.Service).Because("the serviceGroup is " + g.ServiceType + " and the vserver " + v.ServiceType)
	case b.Weight != 1:
		return schema.Refuse(schema.BadArgument, "weight").Because(b.Service + " is a serviceGroup: give its members weights by bind serviceGroup")
	}
	return nil
}
