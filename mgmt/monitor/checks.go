package monitor

import (
	"strings"

	"sluice/mgmt/compile"
)

// talks are the types of monitors that connect and talk, with the word for what they talk.
var talks = map[string]struct {
	what string
	talk talk
}{
	"DNS-TCP": {"DNS", talkDNS}, "FTP": {"FTP", talkFTP}, "SMTP": {"SMTP", talkSMTP}, "POP3": {"POP3", talkPOP3}, "LDAP": {"LDAP", talkLDAP},
	"MYSQL": {"MySQL", talkMySQL}, "MYSQL-ECV": {"MySQL", talkMySQL},
}

// checks are the types of monitors.
func checks(ping *Pinger, scripts *Scripts) map[string]Check {
	all := map[string]Check{
		"PING": ping.Check, "ARP": CheckARP, "TCP": CheckTCP, "HTTP": CheckHTTP,
		"TCP-ECV": CheckTCPECV, "HTTP-ECV": CheckHTTPECV, "UDP-ECV": CheckUDPECV,
		"DNS": CheckDNS, "RADIUS": CheckRADIUS, "SNMP": CheckSNMP, "LOAD": CheckLOAD, "USER": scripts.Check,
	}
	for kind, t := range talks {
		all[kind] = stream(t.what, t.talk)
	}
	return all
}

// turn is the outcome for a monitor that counts the other way round, for services that must not answer.
func turn(p *compile.Probe, o Outcome) Outcome {
	switch {
	case !p.Reverse || o.Unsent:
		return o
	case o.OK:
		return Outcome{Response: "Failure - the monitor is reversed and the probe succeeded: " + strings.TrimPrefix(o.Response, "Success - ")}
	}
	return Outcome{OK: true, Response: "Success - the monitor is reversed and the probe failed: " + strings.TrimPrefix(o.Response, "Failure - ")}
}
