package grammar

import (
	"net/netip"
	"strconv"

	"sluice/vendor-config/schema"
)

func serverRules() rules {
	return rules{
		check: typed(func(c *schema.Config, s *schema.Server) error {
			switch {
			case s.Domain == "" && !s.IPAddress.IsValid():
				return schema.Refuse(schema.Missing, "IPAddress")
			case s.Domain != "" && s.IPAddress.IsValid():
				return schema.Refuse(schema.BadArgument, "IPAddress", s.IPAddress.String()).Because("server " + s.Name + " has the domain name " + s.Domain + "; add another one for the address")
			case s.Domain != "":
				return nil
			case s.DomainResolveRetry != schema.Of[schema.Server]().Fresh().(*schema.Server).DomainResolveRetry:
				return schema.Refuse(schema.NoPrereq, "domainResolveRetry").Because("server " + s.Name + " has an address and no domain name")
			}
			if !schema.Unicast(s.IPAddress) {
				return schema.Refuse(schema.BadAddress, "IPAddress", s.IPAddress.String()).Because("it is not an address of a host")
			}
			if own := schema.Get[schema.NSIP](c, s.IPAddress.String()); own != nil {
				return schema.Refuse(schema.BadArgument, "IPAddress", s.IPAddress.String()).Because("it is a " + own.Type + " of this appliance")
			}
			return nil
		}),
		unique: serverClaim,
		taken: func(row, other any) error {
			s := other.(*schema.Server)
			return schema.Refuse("Server already exists", s.IPAddress.String()).Because("it is server " + s.Name)
		},
		inUse: typed(func(c *schema.Config, s *schema.Server) error {
			for row := range c.Each(schema.Of[schema.Service]()) {
				if v := row.(*schema.Service); v.Server == s.Name {
					return schema.Refuse(schema.RowInUse, s.Name).Because("service " + v.Name + " is on it")
				}
			}
			for row := range c.Each(schema.Of[schema.ServiceGroupMember]()) {
				if m := row.(*schema.ServiceGroupMember); m.Server == s.Name {
					return schema.Refuse(schema.RowInUse, s.Name).Because("a member of serviceGroup " + m.Group + " is on it")
				}
			}
			return nil
		}),
	}
}

func serverClaim(row any) string {
	if s := row.(*schema.Server); s.Domain == "" {
		return s.IPAddress.String()
	}
	return ""
}

// serverAt finds the server that has the address.
func serverAt(c *schema.Config, a netip.Addr) *schema.Server {
	s, _ := c.Claimant(schema.Of[schema.Server](), serverClaim, a.String()).(*schema.Server)
	return s
}

func serviceRules() rules {
	return rules{
		prepare: typed(func(c *schema.Config, s *schema.Service) (err error) {
			if err := sourceChanged(c, s); err != nil {
				return err
			}
			s.Server, err = serverByAddress(c, s.Server)
			return err
		}),
		check: typed(func(c *schema.Config, s *schema.Service) error {
			if schema.Get[schema.ServiceGroup](c, s.Name) != nil {
				return schema.Refuse(schema.RowExists, "name", s.Name).Because("it is a serviceGroup")
			}
			return nil
		}),
		unique: func(row any) string {
			s := row.(*schema.Service)
			return endpoint(s.Server, s.Port, s.ServiceType)
		},
		taken: func(row, other any) error {
			s := other.(*schema.Service)
			return schema.Refuse(schema.RowExists, s.Server+":"+portText(s.Port), protocol(s.ServiceType)).Because("it is service " + s.Name)
		},
		bindings: true,
	}
}

// serverByAddress is the name of the server that is meant by a name or an address. For an address that no server has one
// is created.
func serverByAddress(c *schema.Config, name string) (string, error) {
	a, err := netip.ParseAddr(name)
	if schema.Get[schema.Server](c, name) != nil || err != nil {
		return name, nil
	}
	if have := serverAt(c, a); have != nil {
		return have.Name, nil
	}
	if !a.Is4() {
		return "", schema.Refuse(schema.NotSupported, "serverName", name).Because("this release knows IPv4 only")
	}
	server := schema.Of[schema.Server]().Fresh().(*schema.Server)
	server.Name, server.IPAddress = a.String(), a
	return server.Name, put(c, schema.Of[schema.Server](), server)
}

func vserverRules() rules {
	return rules{
		prepare: typed(prepareVserver),
		check:   typed(checkVserver),
		unique: func(row any) string {
			v := row.(*schema.LBVserver)
			if !v.IPAddress.IsValid() && !v.Foreign() {
				return ""
			}
			claim := v.Place() + " " + protocol(v.ServiceType)
			if v.Foreign() { // several may be there as long as their listen policies tell them apart
				claim += " " + strconv.Itoa(int(v.ListenPriority)) + " " + v.ListenPolicy
			}
			return claim
		},
		taken: func(row, other any) error {
			v := other.(*schema.LBVserver)
			return schema.Refuse(schema.RowExists, v.Place(), protocol(v.ServiceType)).Because("it is lb vserver " + v.Name)
		},
		inUse:    typed(backupInUse),
		bindings: true,
	}
}

// checkBinding: a vserver balances services of its own type.
func checkBinding(c *schema.Config, b *schema.LBVserverService) error {
	v, s := schema.Get[schema.LBVserver](c, b.Vserver), schema.Get[schema.Service](c, b.Service)
	if s == nil {
		if err := checkGroupBinding(v, schema.Get[schema.ServiceGroup](c, b.Service), b); err != nil {
			return err
		}
		return checkModeOf(c, v, b.Service)
	}
	if v.ServiceType != s.ServiceType {
		return schema.Refuse(schema.BadArgument, b.Service).Because("the service is " + s.ServiceType + " and the vserver " + v.ServiceType)
	}
	return checkModeOf(c, v, b.Service)
}

// protocol is what a service type is on the wire.
func protocol(serviceType string) string {
	if serviceType == "HTTP" {
		return "TCP"
	}
	return serviceType
}

func endpoint(host string, port uint16, serviceType string) string {
	return host + ":" + portText(port) + " " + protocol(serviceType)
}

func portText(port uint16) string {
	if port == 0 {
		return "*"
	}
	return strconv.Itoa(int(port))
}
