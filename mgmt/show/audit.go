package show

import (
	"cmp"
	"fmt"

	"sluice/vendor-config/schema"
)

func showSyslogAction(p *page) error {
	rows, one, err := chosen[schema.AuditSyslogAction](p)
	if err != nil {
		return err
	}
	for i, a := range rows {
		server, port := a.Server()
		p.number(i, one)
		p.f("Name: %s\n\tServer IP: %s\tPort: %d\tTransport: %s\n", a.Name, server, port, a.Transport)
		p.f("\tLoglevel: %s\tFacility: %s\n", a.LogLevel, a.LogFacility)
		if a.Transport == "TLS" {
			p.f("\tAuthorities: %s\tCertificate of: %s\n", cmp.Or(a.CACertFile, "those of the system"), cmp.Or(a.CertName, server))
		}
		p.receiver(a.Name)
	}
	return nil
}

// receiver writes how a server is doing.
func (p *page) receiver(name string) {
	r, used := p.Receivers[name]
	switch {
	case !used:
		p.f("\tState: no policy with it is bound\n")
		return
	case r.Connected:
		p.f("\tState: UP\n")
	default:
		p.f("\tState: DOWN: %s\n", cmp.Or(r.Problem, "it has not been reached yet"))
	}
	p.f("\tMessages sent: %d\tlost: %d\twaiting: %d\n", r.Sent, r.Lost, r.Waiting)
}

func showSyslogPolicy(p *page) error {
	rows, one, err := chosen[schema.AuditSyslogPolicy](p)
	if err != nil {
		return err
	}
	for i, r := range rows {
		p.number(i, one)
		p.f("Name: %s\tRule: %s\tAction: %s\n", r.Name, r.Rule, r.Action)
	}
	return nil
}

func showSyslogGlobal(p *page) error {
	for i, b := range schema.All[schema.AuditSyslogGlobal](p.Config) {
		p.policyBound(i, b.PolicyName, b.Priority)
	}
	return nil
}

func (p *page) policyBound(i int, policy string, priority uint32) {
	p.f("%d)\tPolicy Name: %s\tPriority: %d\n", i+1, policy, priority)
}

func showSyslogParams(p *page) error {
	s := schema.Single[schema.AuditSyslogParams](p.Config)
	server := "none"
	if s.ServerIP.IsValid() {
		server = fmt.Sprintf("%s\tPort: %d", s.ServerIP, s.ServerPort)
	}
	p.f("\tServer IP: %s\n\tLoglevel: %s\tFacility: %s\n", server, s.LogLevel, s.LogFacility)
	return nil
}
