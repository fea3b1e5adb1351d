package grammar

import (
	"strconv"
	"strings"

	"sluice/vendor-config/schema"
)

// checkMode: what the options of a vserver that say how packets are sent ask of each other.
func checkMode(v *schema.LBVserver) error {
	switch {
	case v.Mode == "TOS" && v.TOSID == 0:
		return schema.Refuse(schema.Missing, "tosId").Because("with -m TOS the server knows the VIP by it: give -tosId 1 to 63")
	case v.Mode != "TOS" && v.TOSID != 0:
		return schema.Refuse(schema.NoPrereq, "tosId", strconv.Itoa(int(v.TOSID))).Because("it is for -m TOS, and lb vserver " + v.Name + " is -m " + v.Mode + ": unset it as well")
	case v.LBMethod == "LEASTRESPONSETIME" && (v.Mode == "TOS" || v.Mode == "IPTUNNEL"):
		return schema.Refuse(schema.Conflict, "-m "+v.Mode, "-lbMethod "+v.LBMethod).Because("the server's answers do not come by here, so that nobody can time them")
	}
	if v.Sessionless != "ENABLED" {
		return nil
	}
	switch {
	case v.ServiceType == "HTTP":
		return schema.Refuse(schema.Conflict, "-sessionless ENABLED", v.ServiceType).Because("requests belong to a connection; use a vserver of type TCP or ANY")
	case v.Mode == "IP":
		return schema.Refuse(schema.Conflict, "-sessionless ENABLED", "-m IP").Because("without sessions no answer can be given the VIP back; use -m MAC, TOS or IPTUNNEL")
	case !strings.HasSuffix(v.LBMethod, "HASH") && v.LBMethod != "TOKEN":
		return schema.Refuse(schema.Conflict, "-sessionless ENABLED", "-lbMethod "+v.LBMethod).
			Because("packets of one connection would go to different services; use a hash method, e.g. SRCIPDESTIPHASH")
	case v.L2Conn == "ON":
		return schema.Refuse(schema.Conflict, "-sessionless ENABLED", "-l2Conn ON").Because("without sessions there are no connections to tell apart")
	case v.PersistenceType != "NONE":
		return schema.Refuse(schema.Conflict, "-sessionless ENABLED", "-persistenceType "+v.PersistenceType).Because("persistence remembers sessions")
	}
	return nil
}

// checkModeOf: what the mode of a vserver asks of a service or service group.
func checkModeOf(c *schema.Config, v *schema.LBVserver, bound string) error {
	if v.Mode == "IP" || !addressed(v) { // one that others send to is sent to by their rules
		return nil
	}
	if s := schema.Get[schema.Service](c, bound); s != nil {
		return modeBears(v, "service "+s.Name, s.USIP, s.Port)
	}
	g := schema.Get[schema.ServiceGroup](c, bound)
	if g == nil {
		return nil
	}
	for row := range c.Each(schema.Of[schema.ServiceGroupMember]()) {
		if m := row.(*schema.ServiceGroupMember); m.Group == bound {
			if err := modeBears(v, "serviceGroup "+bound, g.USIP, m.Port); err != nil {
				return err
			}
		}
	}
	return modeBears(v, "serviceGroup "+bound, g.USIP, 0)
}

// addressed tells whether packets reach the vserver by an address, or a pattern, of its own.
func addressed(v *schema.LBVserver) bool { return v.IPAddress.IsValid() || v.Foreign() }

// modeBears refuses a service, or a group, for its source address or a port.
func modeBears(v *schema.LBVserver, what, usip string, port uint16) error {
	switch {
	case usip != "YES" && v.Mode != "IPTUNNEL":
		return schema.Refuse(schema.Conflict, "lb vserver "+v.Name+" -m "+v.Mode, what+" -usip "+usip).
			Because("the server gets packets with the client's address: set " + what + " -usip YES")
	case v.Port != 0 && port != 0 && port != v.Port:
		return schema.Refuse(schema.Conflict, "lb vserver "+v.Name+" -m "+v.Mode, "port "+portText(v.Port), what, "port "+portText(port)).
			Because("packets keep the port of the vserver: give the server port " + portText(v.Port) + " or *")
	}
	return nil
}

// modeChanged: after another mode, or with an address for the first time, what is bound to a vserver must still do.
func modeChanged(c *schema.Config, v *schema.LBVserver) error {
	old := schema.Get[schema.LBVserver](c, v.Name)
	if old == nil || old.Mode == v.Mode && addressed(old) == addressed(v) {
		return nil
	}
	for row := range c.Each(schema.Of[schema.LBVserverService]()) {
		if b := row.(*schema.LBVserverService); b.Vserver == v.Name {
			if err := checkModeOf(c, v, b.Service); err != nil {
				return err
			}
		}
	}
	return nil
}

// sourceChanged: after another -usip, a service must still do for its vservers.
func sourceChanged(c *schema.Config, s *schema.Service) error {
	if old := schema.Get[schema.Service](c, s.Name); old == nil || old.USIP == s.USIP {
		return nil
	}
	return modesBear(c, s.Name, "service "+s.Name, s.USIP, 0)
}

// groupSourceChanged is sourceChanged for a group.
func groupSourceChanged(c *schema.Config, g *schema.ServiceGroup) error {
	if old := schema.Get[schema.ServiceGroup](c, g.Name); old == nil || old.USIP == g.USIP {
		return nil
	}
	return modesBear(c, g.Name, "serviceGroup "+g.Name, g.USIP, 0)
}

// memberPort: a new member of a group must do for the group's vservers.
func memberPort(c *schema.Config, m *schema.ServiceGroupMember) error {
	g := schema.Get[schema.ServiceGroup](c, m.Group)
	if g == nil || m.Port == 0 {
		return nil
	}
	return modesBear(c, m.Group, "serviceGroup "+m.Group, g.USIP, m.Port)
}

// modesBear holds a service or group, as it is to be, against all vservers that it is bound to.
func modesBear(c *schema.Config, name, what, usip string, port uint16) error {
	for row := range c.Each(schema.Of[schema.LBVserverService]()) {
		b := row.(*schema.LBVserverService)
		if b.Service != name {
			continue
		}
		if v := schema.Get[schema.LBVserver](c, b.Vserver); v.Mode != "IP" && addressed(v) {
			if err := modeBears(v, what, usip, port); err != nil {
				return err
			}
		}
	}
	return nil
}
