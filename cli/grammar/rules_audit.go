package grammar

import "sluice/vendor-config/schema"

// checkSyslogAction: a server has an address, and TLS what belongs to it.
func checkSyslogAction(_ *schema.Config, a *schema.AuditSyslogAction) error {
	switch {
	case !a.ServerIP.IsValid() && a.ServerDomainName == "":
		return schema.Refuse(schema.Missing, "serverIP")
	case a.ServerIP.IsValid() && !schema.Unicast(a.ServerIP) && !a.ServerIP.IsLoopback():
		return schema.Refuse(schema.BadAddress, "serverIP", a.ServerIP.String()).Because("it is not an address of a host")
	case a.Transport != "TLS" && a.CACertFile != "":
		return schema.Refuse(schema.NoPrereq, "caCertFile").Because("it belongs to -transport TLS")
	case a.Transport != "TLS" && a.CertName != "":
		return schema.Refuse(schema.NoPrereq, "certName").Because("it belongs to -transport TLS")
	}
	return nil
}

func syslogActionInUse(c *schema.Config, a *schema.AuditSyslogAction) error {
	for row := range c.Each(schema.Of[schema.AuditSyslogPolicy]()) {
		if p := row.(*schema.AuditSyslogPolicy); p.Action == a.Name {
			return schema.Refuse(schema.RowInUse, a.Name).Because("it is the action of audit syslogPolicy " + p.Name)
		}
	}
	return nil
}

// checkSyslogPolicy: system global knows policies of several kinds by their names.
func checkSyslogPolicy(c *schema.Config, p *schema.AuditSyslogPolicy) error {
	return otherNamed(c, p.Name, schema.Of[schema.AuditSyslogPolicy](), schema.Of[schema.RadiusPolicy](), schema.Of[schema.LDAPPolicy](), schema.Of[schema.AuthenticationPolicy]())
}

func syslogPolicyInUse(c *schema.Config, p *schema.AuditSyslogPolicy) error {
	if schema.Get[schema.AuditSyslogGlobal](c, p.Name) != nil {
		return schema.Refuse(schema.RowInUse, p.Name).Because("it is bound to audit syslogGlobal")
	}
	return globalInUse(c, p.Name)
}
