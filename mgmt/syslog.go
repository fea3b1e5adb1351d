package main

import (
	"path/filepath"

	"sluice/mgmt/show"
	"sluice/mgmt/telemetry"
	"sluice/vendor-config/schema"
)

// sslDir is the folder of certificates in the configuration directory.
const sslDir = "ssl"

// inForce tells those who are told of a configuration beside what the engine drives: it must not wait.
func (a *appliance) inForce(c *schema.Config) {
	a.syslog.Name(hostName(c, a.system.Host))
	a.syslog.Set(syslogTargets(c, filepath.Join(a.store.Dir(), sslDir)))
	a.resolver.Ask(schema.NameServers(c))
	a.clock.Set(timeServers(c))
}

// local0 is the facility LOCAL0 (RFC 5424 section 6.2.1).
const local0 = 16

// syslogTargets are the servers of the policies that are in force, each once, and that of the parameters.
func syslogTargets(c *schema.Config, certificates string) []telemetry.Target {
	var all []telemetry.Target
	seen := map[string]bool{}
	bound := func(policy string) {
		p := schema.Get[schema.AuditSyslogPolicy](c, policy)
		if p == nil || seen[p.Action] {
			return
		}
		if a := schema.Get[schema.AuditSyslogAction](c, p.Action); a != nil {
			seen[p.Action] = true
			all = append(all, syslogTarget(a, certificates))
		}
	}
	for _, b := range schema.All[schema.AuditSyslogGlobal](c) {
		bound(b.PolicyName)
	}
	for _, b := range schema.All[schema.SystemGlobal](c) {
		bound(b.Policy)
	}
	if p := schema.Get[schema.AuditSyslogParams](c); p != nil && p.ServerIP.IsValid() {
		all = append(all, telemetry.Target{Server: p.ServerIP.String(), Port: p.ServerPort, Transport: "UDP",
			Facility: facility(p.LogFacility), Wanted: schema.SeverityMask(p.LogLevel)})
	}
	return all
}

func syslogTarget(a *schema.AuditSyslogAction, certificates string) telemetry.Target {
	t := telemetry.Target{Name: a.Name, Transport: a.Transport, Facility: facility(a.LogFacility), Wanted: schema.SeverityMask(a.LogLevel),
		CertName: a.CertName}
	t.Server, t.Port = a.Server()
	if a.CACertFile != "" {
		t.CA = filepath.Join(certificates, a.CACertFile)
	}
	return t
}

// facility is the number of LOCAL0 to LOCAL7.
func facility(word string) int { return local0 + int(word[len(word)-1]-'0') }

// receivers are the syslog servers as operators are told of them.
func (a *appliance) receivers() map[string]show.Receiver {
	all := map[string]show.Receiver{}
	for name, s := range a.syslog.Status() {
		all[name] = show.Receiver(s)
	}
	return all
}
