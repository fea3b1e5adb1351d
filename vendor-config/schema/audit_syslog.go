package schema

import (
	"cmp"
	"net/netip"
	"slices"
	"strings"
)

// AuditSyslogAction is a syslog server and which messages it gets. They have the form of RFC 5424, so that dates are the same in every
// dateFormat and timeZone.
type AuditSyslogAction struct {
	Name             string     `cli:"name" key:"1" max:"127" syntax:"name" help:"Name of the action"`
	ServerIP         netip.Addr `cli:"serverIP" pos:"2" help:"IPv4 address of the server, or its domain name"`
	ServerDomainName string     `cli:"serverDomainName" instead:"serverIP" fixed:"yes" max:"253" syntax:"host" help:"Domain name of the server"`
	ServerPort       uint16     `cli:"serverPort" min:"1" help:"Port of the server; 514, or 6514 by TLS, when left out"`
	LogLevel         string     `cli:"logLevel" many:"yes" required:"yes" syntax:"severities" max:"127" help:"Severities that it gets: ALL, NONE, or some of EMERGENCY ALERT CRITICAL ERROR WARNING NOTICE INFORMATIONAL DEBUG"`
	LogFacility      string     `cli:"logFacility" enum:"LOCAL0,LOCAL1,LOCAL2,LOCAL3,LOCAL4,LOCAL5,LOCAL6,LOCAL7" def:"LOCAL0" help:"Facility that the messages bear"`
	Transport        string     `cli:"transport" enum:"UDP,TCP,TLS" def:"UDP" fixed:"yes" only:"add" help:"How messages travel: TCP counts octets (RFC 6587), TLS as in RFC 5425"`
	CACertFile       string     `cli:"caCertFile" max:"127" syntax:"file" for:"transport TLS" help:"File below ssl of the configuration directory with the authorities that vouch for the server, with TLS; those of the system when left out"`
	CertName         string     `cli:"certName" max:"253" syntax:"host" for:"transport TLS" help:"Domain name that the server's certificate must bear, with TLS; its address or domain name when left out"`
}

// Server is where the messages go: an address or a domain name, and the port.
func (a *AuditSyslogAction) Server() (host string, port uint16) {
	host, port = a.ServerDomainName, 514
	if a.ServerIP.IsValid() {
		host = a.ServerIP.String()
	}
	if a.Transport == "TLS" {
		port = 6514
	}
	return host, cmp.Or(a.ServerPort, port)
}

// AuditSyslogPolicy chooses what an action gets; so far that is everything.
type AuditSyslogPolicy struct {
	Name   string `cli:"name" key:"1" max:"127" syntax:"name" help:"Name of the policy"`
	Rule   string `cli:"rule" pos:"2" required:"yes" enum:"ns_true,true" help:"Which messages; ns_true and true are all of them"`
	Action string `cli:"action" pos:"3" required:"yes" ref:"audit syslogAction" help:"Action that gets them"`
}

// AuditSyslogGlobal puts a policy in force.
type AuditSyslogGlobal struct {
	PolicyName string `cli:"policyName" key:"1" keyword:"yes" ref:"audit syslogPolicy" help:"Policy"`
	Priority   uint32 `cli:"priority" min:"1" max:"2147483647" help:"Order of the policies; each of them gets the messages whatever the order"`
}

// AuditSyslogParams is one more server, which gets messages without a policy.
type AuditSyslogParams struct {
	ServerIP    netip.Addr `cli:"serverIP" help:"IPv4 address of the server"`
	ServerPort  uint16     `cli:"serverPort" min:"1" def:"514" help:"Port of the server"`
	LogLevel    string     `cli:"logLevel" many:"yes" syntax:"severities" max:"127" def:"EMERGENCY ALERT CRITICAL ERROR WARNING NOTICE INFORMATIONAL" help:"Severities that it gets, as in add audit syslogAction"`
	LogFacility string     `cli:"logFacility" enum:"LOCAL0,LOCAL1,LOCAL2,LOCAL3,LOCAL4,LOCAL5,LOCAL6,LOCAL7" def:"LOCAL0" help:"Facility that the messages bear"`
}

// SeverityNames are the severities of RFC 5424 in the operator's words, from 0.
var SeverityNames = []string{"EMERGENCY", "ALERT", "CRITICAL", "ERROR", "WARNING", "NOTICE", "INFORMATIONAL", "DEBUG"}

// SeverityMask has a bit for each severity of a logLevel.
func SeverityMask(logLevel string) (mask uint8) {
	for _, w := range strings.Fields(logLevel) {
		if w == "ALL" {
			return 0xff
		}
		if i := slices.Index(SeverityNames, w); i >= 0 {
			mask |= 1 << i
		}
	}
	return mask
}

func severitiesFault(s string) string {
	words := strings.Fields(s)
	if len(words) == 0 {
		return "it is ALL, NONE, or some severities"
	}
	for i, w := range words {
		switch {
		case (w == "ALL" || w == "NONE") && len(words) > 1:
			return w + " stands alone"
		case w != "ALL" && w != "NONE" && !slices.Contains(SeverityNames, w):
			return w + " is none of ALL NONE " + strings.Join(SeverityNames, " ")
		case slices.Contains(words[:i], w):
			return w + " is there twice"
		}
	}
	return ""
}

func init() {
	register[AuditSyslogAction]("audit syslogAction", "audit-syslog-action", "add set unset rm show", "Syslog server and which log messages it gets", true)
	register[AuditSyslogPolicy]("audit syslogPolicy", "audit-syslog-policy", "add set rm show", "Which log messages an action gets", true)
	register[AuditSyslogGlobal]("audit syslogGlobal", "audit-syslog-global", "bind unbind show", "Policies of log messages that are in force", true)
	register[AuditSyslogParams]("audit syslogParams", "audit-syslog-params", "set unset show", "Syslog server that gets log messages without a policy", true)
	// The log has neither connections, nor matches of ACLs, nor what policies make: these are accepted where they ask for none of it.
	const none = "dateFormat=MMDDYYYY|DDMMYYYY|YYYYMMDD timeZone=GMT_TIME|LOCAL_TIME tcp=NONE acl=DISABLED userDefinedAuditlog=NO appflowExport=DISABLED " +
		"lsn=DISABLED alg=DISABLED subscriberLog=DISABLED dns=DISABLED sslInterception=DISABLED"
	unbuilt[AuditSyslogAction](none + " lbVserverName domainResolveRetry domainResolveNow tcpProfileName maxLogDataSizeToHold netProfile")
	unbuilt[AuditSyslogParams](none)
	unbuilt[AuditSyslogGlobal]("globalBindType=SYSTEM_GLOBAL")
}
